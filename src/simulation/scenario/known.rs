//! The objects of a scenario file by name, so that what refers to one can be checked.
//!
//! Invariant: names are unique within kind and namespace, and a reference is to something that is there by then.

use super::manifest::place;
use crate::config::tree::{Fault, Node, Position};
use crate::simulation::objects::{Key, PodExt};
use crate::simulation::world::Object;
use std::collections::{BTreeMap, BTreeSet};

/// Objects by kind and key, with the containers of Pods; and those that an earlier step has deleted.
#[derive(Debug, Default)]
pub(super) struct Known {
    there: BTreeMap<(&'static str, Key), Vec<String>>,
    deleted: BTreeSet<(&'static str, Key)>,
}

impl Known {
    /// Takes an object in.
    ///
    /// # Errors
    /// Another one has its name.
    pub(super) fn learn(&mut self, object: &Object, document: &Node) -> Result<(), Fault> {
        let (kind, key) = object.id();
        let containers = match object {
            Object::Pod(pod) => pod.containers().map(|one| one.name.clone()).collect(),
            _ => Vec::new(),
        };
        if self.there.contains_key(&(kind, key.clone())) {
            let text = format!("{kind} `{key}` is there already, expected another name");
            return Err(Fault::new(place(document, &["metadata", "name"]), text));
        }
        self.deleted.remove(&(kind, key.clone()));
        self.there.insert((kind, key), containers);
        Ok(())
    }

    /// A step deletes an object: nothing later can be about it, until another one gets its name.
    pub(super) fn forget(&mut self, kind: &'static str, key: &Key) {
        let id = (kind, key.clone());
        self.there.remove(&id);
        self.deleted.insert(id);
    }

    /// Checks what a manifest refers to.
    ///
    /// # Errors
    /// A node or a priority class that no manifest describes.
    pub(super) fn refer(&self, object: &Object, document: &Node) -> Result<(), Fault> {
        let Object::Pod(pod) = object else { return Ok(()) };
        if let Some(node) = pod.node() {
            self.expect("Node", &Key::new("", node), place(document, &["spec", "nodeName"]))?;
        }
        let class = pod.spec.as_ref().and_then(|spec| spec.priority_class_name.as_deref());
        match class {
            None | Some("system-node-critical" | "system-cluster-critical") => Ok(()),
            Some(class) => {
                let at = place(document, &["spec", "priorityClassName"]);
                self.expect("PriorityClass", &Key::new("", class), at)
            }
        }
    }

    /// Checks that an object is there.
    ///
    /// # Errors
    /// It is not; those that are there are named.
    pub(super) fn expect(&self, kind: &'static str, key: &Key, at: Position) -> Result<(), Fault> {
        if self.there.contains_key(&(kind, key.clone())) {
            return Ok(());
        }
        if self.deleted.contains(&(kind, key.clone())) {
            let text = format!("{kind} `{key}` is deleted by an earlier step, expected one that is there");
            return Err(Fault::new(at, text));
        }
        let names: Vec<String> = self
            .there
            .keys()
            .filter(|(other, _)| *other == kind)
            .map(|(_, key)| format!("`{key}`"))
            .collect();
        let expected = if names.is_empty() {
            format!("a manifest of kind {kind} in this file")
        } else {
            format!("one of {}", names.join(", "))
        };
        Err(Fault::new(at, format!("no {kind} `{key}`, expected {expected}")))
    }

    /// Containers of a Pod.
    pub(super) fn containers(&self, pod: &Key) -> &[String] {
        self.there.get(&("Pod", pod.clone())).map_or(&[], Vec::as_slice)
    }
}

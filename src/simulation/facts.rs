//! API objects as facts, by the very conversion that production uses.
//!
//! Invariant: an object goes through JSON, as over the wire; nothing is told to the engine that a watch would not.

use crate::model::{Budget, Node, Pod, Str};
use crate::resize::ResizePolicy;
use crate::{engine, wire};
use k8s_openapi::api::{core, policy};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Converts objects. One for each simulation, for it shares strings among them.
pub struct Facts {
    converter: wire::Converter,
    /// The last conversion of each Pod: most are asked for again before they change.
    pods: BTreeMap<String, (core::v1::Pod, Pod)>,
    nodes: BTreeMap<String, (core::v1::Node, Node)>,
}

impl Default for Facts {
    /// Keeps the annotations that the default policy asks about, as the driver does.
    fn default() -> Self {
        let protect = ResizePolicy::default().protect;
        let converter = wire::Converter::new(protect.annotation_keys().map(Str::to_string));
        Self { converter, pods: BTreeMap::new(), nodes: BTreeMap::new() }
    }
}

impl Facts {
    /// A Pod; `None` when it cannot be read.
    pub fn pod(&mut self, pod: &core::v1::Pod) -> Option<Pod> {
        let uid = pod.metadata.uid.clone().unwrap_or_default();
        if let Some((_, fact)) = self.pods.get(&uid).filter(|(known, _)| known == pod) {
            return Some(fact.clone());
        }
        let fact = self.converter.pod(&slim(pod)?).ok()?;
        self.pods.insert(uid, (pod.clone(), fact.clone()));
        Some(fact)
    }

    /// A Pod that is not stored anywhere; `None` when it cannot be read.
    pub fn imagined(&mut self, pod: &core::v1::Pod) -> Option<Pod> {
        self.converter.pod(&slim(pod)?).ok()
    }

    /// A Node; `None` when it cannot be read.
    pub fn node(&mut self, node: &core::v1::Node) -> Option<Node> {
        let name = node.metadata.name.clone().unwrap_or_default();
        if let Some((_, fact)) = self.nodes.get(&name).filter(|(known, _)| known == node) {
            return Some(fact.clone());
        }
        let fact = self.converter.node(&slim(node)?).ok()?;
        self.nodes.insert(name, (node.clone(), fact.clone()));
        Some(fact)
    }

    /// A budget; `None` when it cannot be read.
    pub fn budget(&mut self, budget: &policy::v1::PodDisruptionBudget) -> Option<Budget> {
        self.converter.budget(&slim(budget)?).ok()
    }

    /// A namespace; `None` when it cannot be read.
    pub fn namespace(&mut self, namespace: &core::v1::Namespace) -> Option<engine::Namespace> {
        self.converter.namespace(&slim(namespace)?).ok()
    }
}

fn slim<T: DeserializeOwned>(object: &impl Serialize) -> Option<T> {
    serde_json::from_value(serde_json::to_value(object).ok()?).ok()
}

//! From wire objects to facts.
//!
//! Invariant: an object is converted whole or refused by name and field; nothing is left out to make it fit.

mod objects;
mod placement;
mod pod;
mod qos;
mod resources;
#[cfg(test)]
mod tests;

use crate::model::pod::HostPort;
use crate::model::{Interner, Labels, Placement, Str, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::ObjectMeta;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object that decisions cannot be based on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name}: {field}: {problem}")]
pub struct Unreadable {
    /// Its kind.
    pub kind: &'static str,
    /// `namespace/name`, or the name alone.
    pub name: String,
    /// The path of the field.
    pub field: String,
    /// What is wrong with it, its text included.
    pub problem: String,
}

/// A field that cannot be read, before it is known whose it is.
struct Problem {
    field: String,
    problem: String,
}

impl Problem {
    fn of(self, kind: &'static str, metadata: &ObjectMeta) -> Unreadable {
        let name = metadata.name.as_deref().unwrap_or("without a name");
        let name = match metadata.namespace.as_deref() {
            Some(namespace) if !namespace.is_empty() => format!("{namespace}/{name}"),
            _ => name.to_owned(),
        };
        Unreadable { kind, name, field: self.field, problem: self.problem }
    }
}

/// Converts objects and shares what repeats among them: names, label sets and placements.
#[derive(Debug)]
pub struct Converter {
    texts: Interner,
    labels: FxHashSet<Labels>,
    placements: FxHashSet<Arc<Placement>>,
    sweep_at: usize,
    no_ports: Arc<[HostPort]>,
    annotations: Vec<String>,
}

impl Converter {
    /// Below this many shared values a sweep is not worth its walk.
    const SMALL: usize = 4096;

    /// A converter that keeps those annotations of Pods whose keys are given.
    pub fn new(annotations: impl IntoIterator<Item = String>) -> Self {
        Self {
            texts: Interner::default(),
            labels: FxHashSet::default(),
            placements: FxHashSet::default(),
            sweep_at: Self::SMALL,
            no_ports: Arc::from([]),
            annotations: annotations.into_iter().collect(),
        }
    }

    pub(super) fn intern(&mut self, text: &str) -> Str {
        self.texts.intern(text)
    }

    /// The shared text, `None` where it is absent or empty.
    fn given(&mut self, text: Option<&String>) -> Option<Str> {
        text.filter(|text| !text.is_empty()).map(|text| self.texts.intern(text))
    }

    fn labels(&mut self, pairs: Option<&BTreeMap<String, String>>) -> Labels {
        let texts = &mut self.texts;
        let labels: Labels = pairs
            .into_iter()
            .flatten()
            .map(|(key, value)| (texts.intern(key), texts.intern(value)))
            .collect();
        if let Some(known) = self.labels.get(&labels) {
            return known.clone();
        }
        if self.labels.len() >= Self::SMALL {
            // Sharing is only a saving, so starting over is sound.
            self.labels.clear();
        }
        self.labels.insert(labels.clone());
        labels
    }

    fn shared(&mut self, placement: Placement) -> Arc<Placement> {
        if let Some(known) = self.placements.get(&placement) {
            return Arc::clone(known);
        }
        if self.placements.len() >= self.sweep_at {
            self.placements.retain(|placement| Arc::strong_count(placement) > 1);
            self.sweep_at = Self::SMALL.max(self.placements.len() * 2);
        }
        let new = Arc::new(placement);
        self.placements.insert(Arc::clone(&new));
        new
    }
}

fn timestamp(time: &Time) -> Timestamp {
    Timestamp(time.0.as_microsecond())
}

fn name(metadata: &ObjectMeta) -> Result<Str, Problem> {
    match metadata.name.as_deref() {
        Some(name) if !name.is_empty() => Ok(name.into()),
        _ => Err(Problem { field: "metadata.name".into(), problem: "missing".into() }),
    }
}

//! The part of InterPodAffinity that protects Pods already there: their required anti-affinity keeps others away.
//!
//! Invariant: it binds a new Pod even if that Pod says nothing of affinity
//! (kube-scheduler `plugins/interpodaffinity/filtering.go`).

use crate::cluster::Cluster;
use crate::model::placement::PodTerm;
use crate::model::{Labels, Node, Pod, Str};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The reason counted for a node.
pub const REASON: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// The filter, made for one Pod: topology domains that are closed to it, by key. Few keys, perhaps many values.
#[derive(Debug)]
pub struct ExistingAntiAffinity<'a> {
    closed: SmallVec<[(&'a Str, FxHashSet<&'a Str>); 2]>,
}

impl<'a> ExistingAntiAffinity<'a> {
    /// Looks through the Pods on nodes that have such terms; `None` when no domain is closed.
    pub fn new(pod: &Pod, cluster: &'a Cluster) -> Option<Self> {
        let mut guards = cluster.pods.with_anti_affinity().peekable();
        guards.peek()?;
        let namespace_labels = cluster.namespace_labels(&pod.id.namespace);
        let mut closed: SmallVec<[(&Str, FxHashSet<&Str>); 2]> = SmallVec::new();
        for (_, guard) in guards {
            let Some(node) = guard.node else { continue };
            let labels = &cluster.nodes.row(node).node.labels;
            for term in &guard.pod.placement.anti_affinity {
                let Some(value) = labels.get(&term.topology_key) else { continue };
                if !keeps_away(term, &guard.pod.id.namespace, pod, &namespace_labels) {
                    continue;
                }
                match closed.iter_mut().find(|(key, _)| **key == term.topology_key) {
                    Some((_, values)) => {
                        values.insert(value);
                    }
                    None => closed.push((&term.topology_key, FxHashSet::from_iter([value]))),
                }
            }
        }
        (!closed.is_empty()).then_some(Self { closed })
    }

    /// Whether the node lies in no closed domain.
    pub fn admits(&self, node: &Node) -> bool {
        let shut = |(key, values): &(&Str, FxHashSet<&Str>)| {
            node.labels.get(key).is_some_and(|value| values.contains(value))
        };
        !self.closed.iter().any(shut)
    }
}

/// Whether a term of a Pod in the namespace `owner` is about `pod`. Namespaces that are listed and those that are
/// selected add up; with neither it is the owner's own. A selector that is missing selects nothing, `{}` everything.
fn keeps_away(term: &PodTerm, owner: &Str, pod: &Pod, namespace_labels: &Labels) -> bool {
    let namespace = &pod.id.namespace;
    let concerned = match &term.namespace_selector {
        None if term.namespaces.is_empty() => owner == namespace,
        None => term.namespaces.contains(namespace),
        Some(selector) => term.namespaces.contains(namespace) || selector.matches(namespace_labels),
    };
    concerned && term.selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels))
}

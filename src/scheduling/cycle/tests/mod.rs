//! Whole decisions on small clusters.
//!
//! Invariant: every expectation was worked out from kube-scheduler's rules, not read off this code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod affinity;
mod choice;
mod claims;
mod existing_anti_affinity;
mod ports;
mod resources;
mod taints;
mod unsupported;

use super::*;
use crate::cluster::PodId;
use crate::cluster::fixture::{self, cluster, node, pending, pending_with};
use crate::model::labels::Requirement;
use crate::model::node_selector::{NodeSelector, NodeTerm};
use crate::model::placement::{PodTerm, Unsupported};
use crate::model::requests::ContainerResources;
use crate::model::taint::Toleration;
use crate::model::{Placement, Pod, Quantity, Selector, Str};
use crate::scheduling::Plugin;
use std::sync::Arc;

fn outcome(cluster: &Cluster, pod: PodId) -> Outcome {
    Cycle::default().decide(cluster, cluster.pods.get(pod).unwrap())
}

/// The node's name, or the fit error.
fn say(cluster: &Cluster, pod: PodId) -> String {
    match outcome(cluster, pod) {
        Outcome::Fits(node) => cluster.nodes.row(node).node.name.to_string(),
        Outcome::Unfit(error) => error.to_string(),
    }
}

/// Where a waiting Pod of these words goes in that cluster.
fn check(text: &str, words: &str, expected: &str) {
    check_with(text, words, |_| {}, expected);
}

fn check_with(text: &str, words: &str, change: impl FnOnce(&mut Pod), expected: &str) {
    let mut cluster = cluster(text);
    let pod = pending_with(&mut cluster, words, change);
    assert_eq!(say(&cluster, pod), expected, "{words} on\n{text}");
}

/// All nodes that take the Pod, asked one by one.
fn takers(cluster: &Cluster, pod: PodId) -> Vec<String> {
    let filters = Filters::new(cluster, cluster.pods.get(pod).unwrap()).unwrap();
    let takes = |node: &&NodeId| filters.rejector(**node).is_none();
    let name = |node: &NodeId| cluster.nodes.row(*node).node.name.to_string();
    filters.nodes().iter().filter(takes).map(name).collect()
}

fn check_takers(text: &str, words: &str, change: impl FnOnce(&mut Pod), expected: &[&str]) {
    let mut cluster = cluster(text);
    let pod = pending_with(&mut cluster, words, change);
    assert_eq!(takers(&cluster, pod), expected, "{words} on\n{text}");
}

fn place(pod: &mut Pod, change: impl FnOnce(&mut Placement)) {
    change(Arc::make_mut(&mut pod.placement));
}

fn requirement(key: &str, operator: &str, values: &[&str]) -> Option<Requirement> {
    Requirement::parse(key.into(), operator, values.iter().map(|value| Str::from(*value)).collect())
}

fn labelled(key: &str, operator: &str, values: &[&str]) -> NodeTerm {
    NodeTerm::new([requirement(key, operator, values)], [])
}

fn named(name: &str) -> NodeTerm {
    NodeTerm::new([], [requirement("metadata.name", "In", &[name])])
}

fn require(pod: &mut Pod, terms: Vec<NodeTerm>) {
    place(pod, |placement| placement.required = Some(NodeSelector { terms }));
}

fn tolerate(pod: &mut Pod, key: &str) {
    let one = Toleration { key: key.into(), any_value: true, value: "".into(), effect: None };
    place(pod, |placement| placement.tolerations.push(one));
}

/// A required anti-affinity term about Pods with `key=value`, by host.
fn apart_from(key: &str, value: &str) -> PodTerm {
    PodTerm {
        selector: Some(Selector::new([requirement(key, "In", &[value])])),
        namespaces: Vec::new(),
        namespace_selector: None,
        topology_key: "kubernetes.io/hostname".into(),
    }
}

/// Puts a Pod with anti-affinity on a node.
fn guard(cluster: &mut Cluster, words: &str, node: &str, term: PodTerm) {
    let mut pod = fixture::pod(words);
    pod.node = Some(node.into());
    place(&mut pod, |placement| placement.anti_affinity.push(term));
    cluster.apply_pod(pod);
}

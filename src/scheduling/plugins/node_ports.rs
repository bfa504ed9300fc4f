//! NodePorts: a host port is taken once per node.
//!
//! Invariant: port, protocol and address decide together; an empty address is every address
//! (kube-scheduler `plugins/nodeports`).

use crate::cluster::{NodeRow, Pods};
use crate::model::Pod;
use crate::model::pod::HostPort;

/// The reason counted for a node.
pub const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

/// The filter, made for one Pod.
#[derive(Debug)]
pub struct NodePorts<'a> {
    wanted: &'a [HostPort],
    pods: &'a Pods,
}

impl<'a> NodePorts<'a> {
    /// The filter; `None` when the Pod takes no host port.
    pub fn new(pod: &'a Pod, pods: &'a Pods) -> Option<Self> {
        pod.ports.iter().any(taken).then_some(Self { wanted: &pod.ports, pods })
    }

    /// Whether every wanted port is free there.
    pub fn admits(&self, node: &NodeRow) -> bool {
        let there = node.pods.iter().filter_map(|id| self.pods.get(*id));
        let mut used = there.flat_map(|row| row.pod.ports.iter()).filter(|port| taken(port));
        !used.any(|used| self.wanted.iter().filter(|port| taken(port)).any(|port| port.clashes(used)))
    }
}

/// Port 0 asks for nothing.
fn taken(port: &HostPort) -> bool {
    port.port > 0
}

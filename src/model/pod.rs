//! What the API says of a Pod, reduced to what decisions read.
//!
//! Invariant: identity is the UID; a name is only an address, for names are used again.

use super::labels::Labels;
use super::placement::Placement;
use super::requests::PodResources;
use super::{Span, Str, Timestamp};
use std::sync::Arc;

/// The condition type by which a growing Pod says how its room is coming.
pub const REPORT_CONDITION: &str = "elbowroom.dev/PodResizePreemption";

/// The condition type of the API for placement.
pub const SCHEDULED_CONDITION: &str = "PodScheduled";

/// How to address a Pod, and which Pod of that name is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodRef {
    /// Namespace.
    pub namespace: Str,
    /// Name.
    pub name: Str,
    /// UID.
    pub uid: Str,
}

/// A Pod as last seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    /// Namespace, name and UID.
    pub id: PodRef,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.creationTimestamp`.
    pub created: Timestamp,
    /// `metadata.deletionTimestamp`: when the grace period ends. `None` unless it is being deleted.
    pub deletion: Option<Timestamp>,
    /// Labels.
    pub labels: Labels,
    /// The annotations that the policy asks about; no others are kept.
    pub annotations: Labels,
    /// The controller that owns it.
    pub controller: Option<Controller>,
    /// A mirror of a static Pod (`kubernetes.io/config.mirror`): deleting it does nothing.
    pub mirror: bool,
    /// `spec.schedulerName`.
    pub scheduler: Str,
    /// `spec.schedulingGroup.podGroupName`: it is one of a gang.
    pub gang: Option<Str>,
    /// `spec.nodeName`, once bound.
    pub node: Option<Str>,
    /// `spec.priority`; missing is 0.
    pub priority: i32,
    /// `spec.preemptionPolicy: Never`.
    pub never_preempts: bool,
    /// `spec.terminationGracePeriodSeconds`.
    pub grace: Span,
    /// `spec.schedulingGates` is not empty.
    pub gated: bool,
    /// Host ports of containers and sidecars.
    pub ports: Arc<[HostPort]>,
    /// Demands on the node.
    pub placement: Arc<Placement>,
    /// Resources, desired, allocated and actual.
    pub resources: PodResources,
    /// `status.phase`.
    pub phase: Phase,
    /// Condition `Ready` is True.
    pub ready: bool,
    /// `status.qosClass`, computed from the spec where the status has none.
    pub qos: Qos,
    /// Condition `DisruptionTarget` is True: an eviction or a preemption ends it.
    pub disrupted: bool,
    /// `status.startTime`.
    pub started: Option<Timestamp>,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
    /// `status.nominatedNodeName`.
    pub nominated: Option<Str>,
    /// Condition `PodScheduled`.
    pub scheduled: Option<Box<Condition>>,
    /// The first condition `PodResizePending`.
    pub resize: Option<Box<Condition>>,
    /// Our condition `elbowroom.dev/PodResizePreemption`.
    pub report: Option<Box<Condition>>,
}

impl Pod {
    /// Whether the kubelet holds nothing for it any more: phase Succeeded or Failed.
    pub fn finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether the kubelet deferred a resize: by the condition's reason alone, as upstream reads it.
    pub fn deferred(&self) -> bool {
        self.resize.as_ref().is_some_and(|condition| condition.reason == "Deferred")
    }
}

/// The owner that would make the Pod again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Controller {
    /// Its kind, `ReplicaSet` for example.
    pub kind: Str,
    /// Its UID.
    pub uid: Str,
}

/// One `status.conditions` entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Status `True`; `False` and `Unknown` are both false.
    pub status: bool,
    /// Reason.
    pub reason: Str,
    /// Message.
    pub message: Str,
    /// `observedGeneration`.
    pub observed_generation: Option<i64>,
    /// `lastTransitionTime`.
    pub since: Option<Timestamp>,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Accepted, not running yet.
    #[default]
    Pending,
    /// Running, or of unknown state.
    Running,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
}

/// `status.qosClass`, from least to most protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Qos {
    /// No requests or limits.
    #[default]
    BestEffort,
    /// Some requests.
    Burstable,
    /// Limits equal requests everywhere.
    Guaranteed,
}

/// A port taken on the node itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPort {
    /// `hostIP`; empty means every address.
    pub ip: Str,
    /// TCP, UDP or SCTP.
    pub protocol: Str,
    /// The port.
    pub port: i32,
}

impl HostPort {
    /// Whether both cannot be served on one node: same protocol and port, and addresses that overlap
    /// (kube-scheduler `framework.HostPortInfo`).
    pub fn clashes(&self, other: &HostPort) -> bool {
        let any = |ip: &str| ip.is_empty() || ip == "0.0.0.0";
        self.port == other.port
            && self.protocol == other.protocol
            && (any(&self.ip) || any(&other.ip) || self.ip == other.ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(ip: &str, protocol: &str, port: i32) -> HostPort {
        HostPort { ip: ip.into(), protocol: protocol.into(), port }
    }

    #[test]
    fn a_host_port_is_a_triple() {
        let taken = port("127.0.0.1", "TCP", 8080);
        assert!(!taken.clashes(&port("10.0.0.5", "TCP", 8080)));
        assert!(!taken.clashes(&port("127.0.0.1", "UDP", 8080)));
        assert!(taken.clashes(&port("127.0.0.1", "TCP", 8080)));
    }

    #[test]
    fn no_address_means_every_address() {
        assert!(port("127.0.0.1", "TCP", 8080).clashes(&port("", "TCP", 8080)));
        assert!(port("0.0.0.0", "TCP", 8080).clashes(&port("10.0.0.5", "TCP", 8080)));
    }
}

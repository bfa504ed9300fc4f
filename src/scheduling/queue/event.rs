//! What can make a rejected Pod worth another try.
//!
//! Invariant: coarse but safe. An event concerns every plugin whose answer it may change; none is ever left out
//! (kube-scheduler: `EventsToRegister` of each plugin).

use crate::cluster::{NodeChange, PodChange};
use crate::scheduling::plugins::{Plugin, PluginSet};

/// An event, as precise as wake-ups need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ClusterEvent {
    /// A node was added.
    NodeAdd,
    /// A node has more or less to give.
    NodeAllocatable,
    /// A node's labels changed.
    NodeLabel,
    /// A node's taints changed, or its cordon.
    NodeTaint,
    /// A Pod left its node, or its assumption was taken back.
    AssignedPodDelete,
    /// A Pod on a node asks for less, or a claim there was given up or is no longer held.
    AssignedPodScaleDown,
    /// A namespace's labels changed.
    NamespaceUpdate,
}

impl ClusterEvent {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// All.
    pub const ALL: [Self; Self::COUNT] = [
        Self::NodeAdd,
        Self::NodeAllocatable,
        Self::NodeLabel,
        Self::NodeTaint,
        Self::AssignedPodDelete,
        Self::AssignedPodScaleDown,
        Self::NamespaceUpdate,
    ];

    /// Upstream's label for `scheduler_queue_incoming_pods_total`. Upstream has no event for namespaces.
    pub fn label(self) -> &'static str {
        match self {
            Self::NodeAdd => "NodeAdd",
            Self::NodeAllocatable => "NodeUpdateNodeAllocatable",
            Self::NodeLabel => "NodeUpdateNodeLabel",
            Self::NodeTaint => "NodeUpdateNodeTaint",
            Self::AssignedPodDelete => "AssignedPodDelete",
            Self::AssignedPodScaleDown => "AssignedPodUpdatePodScaleDown",
            Self::NamespaceUpdate => "NamespaceUpdate",
        }
    }

    /// Whose answer may change by it.
    pub fn concerns(self) -> PluginSet {
        let none = PluginSet::default();
        match self {
            // A new node is one more answer from everybody who answers by node.
            Self::NodeAdd => {
                Plugin::ALL.into_iter().filter(|plugin| *plugin != Plugin::Unsupported).collect()
            }
            Self::NodeAllocatable | Self::AssignedPodScaleDown => none.with(Plugin::NodeResourcesFit),
            Self::NodeLabel => none.with(Plugin::NodeAffinity).with(Plugin::InterPodAffinity),
            Self::NodeTaint => none.with(Plugin::NodeUnschedulable).with(Plugin::TaintToleration),
            Self::AssignedPodDelete => {
                none.with(Plugin::NodePorts).with(Plugin::NodeResourcesFit).with(Plugin::InterPodAffinity)
            }
            Self::NamespaceUpdate => none.with(Plugin::InterPodAffinity),
        }
    }

    /// What a change of a node amounts to.
    pub fn of_node(change: NodeChange) -> impl Iterator<Item = Self> {
        let update = !change.added;
        [
            (change.added, Self::NodeAdd),
            (update && change.allocatable, Self::NodeAllocatable),
            (update && change.labels, Self::NodeLabel),
            (update && change.taints, Self::NodeTaint),
        ]
        .into_iter()
        .filter_map(|(happened, event)| happened.then_some(event))
    }

    /// What a change of a Pod means for others that wait for room.
    pub fn of_pod(change: &PodChange) -> Option<Self> {
        let stays = change.from == change.to;
        change.freed.then_some(if stays { Self::AssignedPodScaleDown } else { Self::AssignedPodDelete })
    }
}

/// Labels of moves that no event of the cluster causes, by upstream's names (`framework/events.go`).
pub mod label {
    /// A waiting Pod appeared.
    pub const ADD: &str = "UnscheduledPodAdd";
    /// The Pod's own object changed.
    pub const OWN_UPDATE: &str = "TargetPodUpdate";
    /// The Pod's last scheduling gate went.
    pub const GATES_GONE: &str = "TargetPodUpdatePodSchedulingGatesEliminated";
    /// An attempt failed.
    pub const FAILURE: &str = "ScheduleAttemptFailure";
    /// The backoff is over.
    pub const BACKOFF_COMPLETE: &str = "BackoffComplete";
    /// Nothing else was to do.
    pub const POP_FROM_BACKOFF: &str = "PopFromBackoffQ";
    /// It waited for an event too long.
    pub const TIMEOUT: &str = "UnschedulableTimeout";
}

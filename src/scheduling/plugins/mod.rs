//! What a node must meet for a Pod, and which of the nodes that meet it suits the Pod best. One file per plugin.
//!
//! Invariant: the first plugin that rejects a node, in the order of [`Plugin`], gives the reason that is counted.

pub mod balanced_allocation;
pub mod existing_anti_affinity;
mod filters;
pub mod least_allocated;
pub mod node_affinity;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_fit;
pub mod node_unschedulable;
mod normalize;
mod scores;
pub mod taint_toleration;
pub mod unsupported;

pub use filters::{Filters, PreFilterRejection, Tally};
pub use scores::Scores;

/// The highest score that a plugin gives a node, before its weight.
pub const MAX_SCORE: i64 = 100;

/// Everything that can reject a Pod, by upstream's names and in upstream's order (kube-scheduler
/// `apis/config/v1/default_plugins.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Plugin {
    /// `spec.nodeName`.
    NodeName,
    /// Cordoned nodes.
    NodeUnschedulable,
    /// Taints.
    TaintToleration,
    /// `nodeSelector` and required node affinity.
    NodeAffinity,
    /// Host ports.
    NodePorts,
    /// Resources and Pod slots.
    NodeResourcesFit,
    /// Required anti-affinity of Pods already there.
    InterPodAffinity,
    /// Demands that no plugin here checks yet. Not upstream's.
    Unsupported,
}

impl Plugin {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// All, in order.
    pub const ALL: [Plugin; Self::COUNT] = [
        Self::NodeName,
        Self::NodeUnschedulable,
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::NodePorts,
        Self::NodeResourcesFit,
        Self::InterPodAffinity,
        Self::Unsupported,
    ];

    /// The name, as metric labels and messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeName => "NodeName",
            Self::NodeUnschedulable => "NodeUnschedulable",
            Self::TaintToleration => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::NodePorts => "NodePorts",
            Self::NodeResourcesFit => "NodeResourcesFit",
            Self::InterPodAffinity => "InterPodAffinity",
            Self::Unsupported => "Unsupported",
        }
    }
}

/// A set of plugins: those that rejected a Pod, or those that an event concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PluginSet(u16);

impl FromIterator<Plugin> for PluginSet {
    fn from_iter<I: IntoIterator<Item = Plugin>>(plugins: I) -> Self {
        plugins.into_iter().fold(Self::default(), Self::with)
    }
}

impl PluginSet {
    /// The set and one more.
    #[must_use]
    pub const fn with(self, plugin: Plugin) -> Self {
        Self(self.0 | 1 << plugin as u16)
    }

    /// Whether the plugin is in it.
    pub const fn has(self, plugin: Plugin) -> bool {
        self.0 & (1 << plugin as u16) != 0
    }

    /// Whether the two have a plugin in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is none in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The plugins, in order.
    pub fn iter(self) -> impl Iterator<Item = Plugin> {
        Plugin::ALL.into_iter().filter(move |plugin| self.has(*plugin))
    }
}

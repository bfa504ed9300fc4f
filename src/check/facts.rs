//! What was read of the cluster and of the configuration.
//!
//! Invariant: plain data; `None` is what could not be read, never what is not there.

use crate::engine::Settings;
use crate::model::{Budget, Namespace, Node, Pod, Timestamp};

/// Everything that the rules read.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The API server's version, as it says it: `v1.37.2`.
    pub server: Option<String>,
    /// What elbowroom would be allowed.
    pub rights: Option<Rights>,
    /// Who else evicts for resizes.
    pub gate: GateFacts,
    /// PriorityClasses, those of the system included.
    pub classes: Option<Vec<PriorityClass>>,
    /// Nodes.
    pub nodes: Vec<NodeFacts>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<BudgetFacts>,
    /// Pods that are not finished.
    pub pods: Vec<Pod>,
    /// Namespaces.
    pub namespaces: Vec<Namespace>,
    /// Objects that could not be understood, one line each.
    pub unreadable: Vec<String>,
    /// What could not be read, and why, one line each.
    pub unread: Vec<String>,
    /// The configuration.
    pub settings: Settings,
    /// What in the configuration has no effect, one line each.
    pub warnings: Vec<String>,
    /// When all this was read.
    pub now: Timestamp,
}

/// The answer to what an account may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// The account.
    pub of: String,
    /// Each right that it lacks, verb first: `create pods/eviction`.
    pub missing: Vec<String>,
}

/// Where the gate for preemption by kube-scheduler may be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateFacts {
    /// kube-schedulers that run as Pods in `kube-system`; none where the control plane is out of sight.
    pub schedulers: Vec<KubeScheduler>,
    /// Whether the API server has the gate on, by its own metrics.
    pub api_server: Option<bool>,
}

/// A kube-scheduler that runs as a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeScheduler {
    /// The Pod's name.
    pub pod: String,
    /// Its command line, in words.
    pub words: Vec<String>,
}

/// A PriorityClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorityClass {
    /// Name.
    pub name: String,
    /// `value`.
    pub value: i32,
    /// `globalDefault`.
    pub global_default: bool,
    /// `preemptionPolicy: Never`.
    pub never_preempts: bool,
}

/// A Node, and what only this check asks of it.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// The Node.
    pub node: Node,
    /// `status.nodeInfo.kubeletVersion`; empty where the kubelet has not said.
    pub kubelet: String,
}

/// A PodDisruptionBudget, and what only this check asks of it.
#[derive(Clone, Debug, Default)]
pub struct BudgetFacts {
    /// The budget.
    pub budget: Budget,
    /// The demand of its spec, as written: `minAvailable 80%`. Empty where it has none.
    pub demand: String,
    /// `status.expectedPods`.
    pub expected: i32,
    /// Why the disruption controller cannot compute it: its condition's message with reason `SyncFailed`.
    pub sync_failed: Option<String>,
}

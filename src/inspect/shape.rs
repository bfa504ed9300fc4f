//! An explanation as `-o json` and `-o yaml` print it; `docs/explain.md` documents every field.
//!
//! Invariant: within `v1alpha1` fields are added and never renamed; amounts are Kubernetes quantities.

use serde::Serialize;
use std::collections::BTreeMap;

/// Amounts by resource name, `cpu: 700m`.
pub type AmountsByName = BTreeMap<String, String>;

/// What was asked about a Pod, and the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// `elbowroom.dev/v1alpha1`.
    pub api_version: &'static str,
    /// `Explanation`.
    pub kind: &'static str,
    /// The answer in one line.
    pub summary: String,
    /// The Pod.
    pub pod: Subject,
    /// The rules that were applied.
    pub policy: Rules,
    /// For a Deferred resize, or one that is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<Resize>,
    /// For a Pod without a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Objects and rules that are in the way.
    pub blocked_by: Vec<Blocker>,
    /// What a person can do next.
    pub next_steps: Vec<String>,
    /// What the answer could not take into account.
    pub notes: Vec<String>,
}

/// The Pod that is explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Its node, once bound.
    pub node: Option<String>,
    /// `spec.schedulerName`.
    pub scheduler_name: String,
    /// `spec.priority`.
    pub priority: i32,
    /// `status.qosClass`.
    pub qos_class: &'static str,
    /// `metadata.generation`; of a planned resize, the one it would get.
    pub generation: i64,
    /// What it asks for in all.
    pub asks: AmountsByName,
    /// What its kubelet has given it.
    pub holds: AmountsByName,
}

/// Under which rules it was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// The profile.
    pub profile: String,
    /// Its mode: Enforce, Observe or Off.
    pub mode: &'static str,
    /// Whether an elbowroom with this configuration looks after the Pod.
    pub looked_after: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// A condition, or what would be one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// Whether room is on its way; for the kubelet's own condition, its status.
    pub status: bool,
    /// The reason.
    pub reason: String,
    /// The sentence.
    pub message: String,
    /// Since when, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// A Deferred resize.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resize {
    /// Nobody has asked for it yet.
    pub planned: bool,
    /// `PodResizePending`, as the kubelet wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<Said>,
    /// `elbowroom.dev/PodResizePreemption` of this generation: what a running elbowroom said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<Said>,
    /// What the same engine finds now.
    pub state: Said,
    /// Why the API would refuse the request; only when planned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// The node, resource by resource.
    pub room: Vec<RoomLine>,
    /// `namespace/name` of Deferred resizes that the kubelet tries first, in its order.
    pub tried_before: Vec<String>,
    /// Who goes, or would.
    pub victims: Vec<Victim>,
    /// False if the search for victims used up its effort before it had seen every set.
    pub exact: bool,
    /// Who stays, by the rule that keeps them.
    pub neighbours: Vec<Group>,
}

/// An answer of the API to the request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// Why, in one sentence.
    pub message: String,
}

/// One resource of the node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomLine {
    /// The resource.
    pub resource: String,
    /// What the node has in all.
    pub allocatable: String,
    /// What the other Pods hold.
    pub held_by_others: String,
    /// What of that is leaving.
    pub leaving: String,
    /// What resizes take that the kubelet tries first.
    pub taken_before: String,
    /// What is left for the Pod.
    pub left: String,
    /// What the Pod asks for.
    pub asks: String,
    /// What is missing.
    pub short: String,
}

/// A Pod that goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Victim {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Priority.
    pub priority: i32,
    /// What it frees.
    pub frees: AmountsByName,
    /// How long it may take to leave.
    pub grace_period_seconds: i64,
    /// Since when it runs, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    /// `namespace/name` of the budget that pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// It is deleted, for no budget allows its eviction and `pdbPolicy` is BestEffort.
    pub deleted: bool,
}

/// Neighbours that stay for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// `NotNeeded`, `KeptByBudget`, `OverlappingBudgets`, `Protected`, `TooYoung`, `GraceTooLong`, `Leaving`,
    /// `MirrorPod`, `SameOrHigherPriority` or `GoesForAnother`.
    pub rule: &'static str,
    /// The rule in words, with the name of the budget or field.
    pub detail: String,
    /// The Pods.
    pub pods: Vec<Neighbour>,
}

/// A Pod that stays.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Neighbour {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Priority.
    pub priority: i32,
    /// What it holds.
    pub holds: AmountsByName,
}

/// What is in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// `PodDisruptionBudget`, `Node`, `Pod`, `Policy` or `Kubelet`.
    pub kind: &'static str,
    /// Its name: `namespace/name`, a node's name, or the field of the policy.
    pub name: String,
    /// How.
    pub detail: String,
}

/// Why a Pod has no node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// The fit error in kube-scheduler's words, or which node takes it.
    pub message: String,
    /// The node that would take it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<String>,
    /// Node by node, those nearest to fitting first; at most twenty.
    pub nodes: Vec<NodeLine>,
    /// How many more nodes there are.
    pub more_nodes: usize,
}

/// Why a node does not take the Pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeLine {
    /// The node.
    pub node: String,
    /// The plugin that rejects it; `None` if it fits.
    pub plugin: Option<&'static str>,
    /// In words.
    pub detail: String,
    /// Claims of Deferred resizes without which it would fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// What a growing Pod keeps from others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// `namespace/name`.
    pub pod: String,
    /// Its priority.
    pub priority: i32,
    /// How much.
    pub amounts: AmountsByName,
}

//! The sentences that tell people why a Pod is not growing, or how its room is coming.
//!
//! Invariant: no name of a Pod in another namespace is told; a sentence changes only when the facts do.

use super::kubelet::{Obstacle, View};
use crate::cluster::{Amounts, BudgetKey, Cluster, NodeId, PodRow, ResourceId};
use crate::model::{Node, PodRef};

/// One amount as people write it: `300m`, `2`, `512Mi`.
pub fn amount(id: ResourceId, value: i64) -> String {
    if id == ResourceId::CPU {
        return if value % 1000 == 0 { (value / 1000).to_string() } else { format!("{value}m") };
    }
    let units = [(1_i64 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let bytes = id == ResourceId::MEMORY || id == ResourceId::EPHEMERAL;
    match units.iter().find(|(unit, _)| bytes && value != 0 && value % unit == 0) {
        Some((unit, name)) => format!("{}{name}", value / unit),
        None => value.to_string(),
    }
}

/// `cpu 300m, memory 1Gi`.
pub fn amounts(cluster: &Cluster, list: &Amounts) -> String {
    let one = |(id, value)| format!("{} {}", cluster.resources.name(id), amount(id, value));
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The victims: by name where the growing Pod's owner may know them, else by number.
fn named(row: &PodRow, victims: &[PodRef]) -> String {
    let (near, far): (Vec<_>, Vec<_>) = victims.iter().partition(|v| v.namespace == row.pod.id.namespace);
    let mut parts: Vec<String> = near.iter().map(|victim| victim.name.to_string()).collect();
    if !far.is_empty() {
        parts.push(format!("{} in other namespaces", count(far.len(), "Pod")));
    }
    parts.join(", ")
}

pub(super) fn preempting(cluster: &Cluster, row: &PodRow, victims: &[PodRef], shortage: &Amounts) -> String {
    let (missing, who) = (amounts(cluster, shortage), named(row, victims));
    format!("short of {missing}; evicting {}: {who}", count(victims.len(), "Pod"))
}

pub(super) fn observing(cluster: &Cluster, row: &PodRow, victims: &[PodRef], shortage: &Amounts) -> String {
    let (missing, who) = (amounts(cluster, shortage), named(row, victims));
    format!("short of {missing}; would evict {}: {who} (mode Observe)", count(victims.len(), "Pod"))
}

pub(super) fn waiting_for_victims(leaving: usize, late: usize) -> String {
    let late = match late {
        0 => String::new(),
        n => format!("; {} outlived the grace period by a minute", count(n, "Pod")),
    };
    let out = if leaving == 1 { "on its way out" } else { "on their way out" };
    format!("{} {out} will make enough room{late}", count(leaving, "Pod"))
}

pub(super) fn waiting_for_kubelet() -> String {
    "there is room; the kubelet has not tried again yet".to_owned()
}

pub(super) fn never() -> String {
    "the Pod's preemptionPolicy is Never".to_owned()
}

pub(super) fn disabled(node: &Node) -> String {
    let owners: Vec<&str> = node.resize_preemption_disabled_by.iter().map(|owner| owner.as_str()).collect();
    format!("node {} disables resize preemption (by {})", node.name, owners.join(", "))
}

pub(super) fn node_not_ready(name: &str, exists: bool) -> String {
    let what = if exists { "is not Ready" } else { "does not exist" };
    format!("node {name} {what}, so its kubelet would not act")
}

pub(super) fn exceeds(cluster: &Cluster, node: NodeId, desired: &Amounts, over: &Amounts) -> String {
    let allocatable = cluster.nodes.allocatable();
    let one = |(id, _): (ResourceId, i64)| {
        let has = amount(id, allocatable.get(id, node.index()));
        format!("{} {} of {has}", cluster.resources.name(id), amount(id, desired.get(id)))
    };
    let list = over.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("the request alone exceeds the node's allocatable: {list}")
}

pub(super) fn obstacle(obstacle: Obstacle, kubelet: &str) -> String {
    let what = match obstacle {
        Obstacle::NodeAffinity => "the node no longer matches the Pod's node affinity or selector",
        Obstacle::Taint => "the node has a NoExecute taint that the Pod does not tolerate",
        Obstacle::HostPort => "another Pod on the node has one of its host ports",
        Obstacle::Refused => return format!("room would not help; the kubelet says: {}", kubelet.trim()),
    };
    format!("room would not help: {what}")
}

pub(super) fn insufficient(cluster: &Cluster, row: &PodRow, shortage: &Amounts) -> String {
    let priority = row.pod.priority;
    format!(
        "short of {}; evicting every Pod here of priority below {priority} would not be enough",
        amounts(cluster, shortage)
    )
}

pub(super) fn protected(cluster: &Cluster, shortage: &Amounts) -> String {
    format!("short of {}; enough only with Pods that the policy protects", amounts(cluster, shortage))
}

pub(super) fn budgets(cluster: &Cluster, shortage: &Amounts, keys: &[BudgetKey]) -> String {
    let names: Vec<String> = keys.iter().map(|(namespace, name)| format!("{namespace}/{name}")).collect();
    format!(
        "short of {}; enough only with Pods kept by PodDisruptionBudget {}",
        amounts(cluster, shortage),
        names.join(", ")
    )
}

pub(super) fn eviction_failed(refusal: &str) -> String {
    format!("an eviction was refused and is tried again: {}", refusal.trim())
}

pub(super) fn refused_elsewhere() -> String {
    "the victim is in another namespace; elbowroom's log has the API's words".to_owned()
}

pub(super) fn next_round() -> String {
    "the room that was made is taken again; the next round waits".to_owned()
}

pub(super) fn disagrees(cluster: &Cluster, node: NodeId, view: &View, row: &PodRow, kubelet: &str) -> String {
    let allocatable = cluster.nodes.allocatable();
    let one = |(id, _): (ResourceId, i64)| {
        let others = allocatable.get(id, node.index()) - view.free.get(id) - row.charge.held.get(id);
        format!("{} {others}", cluster.resources.name(id))
    };
    let sums = row.charge.desired.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("by our sums the others use {sums} and the resize fits; the kubelet says: {}", kubelet.trim())
}

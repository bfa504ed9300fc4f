//! Why a Pod has no node.
//!
//! Invariant: the message is what the scheduling cycle itself says; nothing is assumed or bound.

use super::names;
use super::shape::{Blocker, Claim, NodeLine, Placement};
use crate::cluster::{Amounts, Cluster, NodeId, PodRow, ResourceId};
use crate::resize::text::amount;
use crate::scheduling::plugins::Filters;
use crate::scheduling::{Cycle, Outcome, Plugin};

/// Nodes that are listed one by one.
const MOST: usize = 20;

/// Asks the cycle, and then each node.
pub fn explain(cluster: &Cluster, row: &PodRow) -> Placement {
    let outcome = Cycle::default().decide(cluster, row);
    let (message, fits) = match outcome {
        Outcome::Fits(node) => {
            let name = cluster.nodes.row(node).node.name.to_string();
            (format!("node {name} takes it"), Some(name))
        }
        Outcome::Unfit(error) => (error.to_string(), None),
    };
    let mut lines: Vec<(usize, NodeLine)> = match Filters::new(cluster, row) {
        Ok(filters) => filters.nodes().iter().map(|node| line(cluster, row, &filters, *node)).collect(),
        Err(_) => Vec::new(),
    };
    lines.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.node.cmp(&other.node)));
    let more_nodes = lines.len().saturating_sub(MOST);
    let nodes = lines.into_iter().map(|(_, line)| line).take(MOST).collect();
    Placement { message, fits, nodes, more_nodes }
}

/// The node, and how far it is from fitting: it fits, only claims are in the way, the room is short, or
/// something else rejects it.
fn line(cluster: &Cluster, row: &PodRow, filters: &Filters<'_>, node: NodeId) -> (usize, NodeLine) {
    let host = &cluster.nodes.row(node).node;
    let name = host.name.to_string();
    let plugin = filters.rejector(node);
    let Some(rejector) = plugin else {
        return (0, NodeLine { node: name, plugin: None, detail: "fits".to_owned(), claims: Vec::new() });
    };
    let every: Amounts =
        claimants(cluster, node).flat_map(|other| other.claim().iter().collect::<Vec<_>>()).collect();
    let claims: Vec<Claim> = if !every.is_empty() && filters.admits_with(node, &every) {
        claimants(cluster, node)
            .map(|other| Claim {
                pod: names::path(&other.pod.id),
                priority: other.pod.priority,
                amounts: names::amounts(cluster, &other.claim()),
            })
            .collect()
    } else {
        Vec::new()
    };
    let detail = match rejector {
        Plugin::NodeResourcesFit => lacks(cluster, row, node),
        Plugin::NodeUnschedulable => "cordoned".to_owned(),
        Plugin::TaintToleration => {
            let taints = host.taints.iter().map(|taint| format!("{}={}", taint.key, taint.value));
            let taints: Vec<String> = taints.map(|taint| taint.trim_end_matches('=').to_owned()).collect();
            format!("taints, not all tolerated: {}", taints.join(", "))
        }
        Plugin::NodeAffinity => "its labels do not match the Pod's node selector or affinity".to_owned(),
        Plugin::NodePorts => "a host port of the Pod is taken there".to_owned(),
        Plugin::InterPodAffinity => "a Pod there keeps it away by anti-affinity".to_owned(),
        Plugin::NodeName | Plugin::Unsupported => rejector.name().to_owned(),
    };
    let rank = match rejector {
        _ if !claims.is_empty() => 1,
        Plugin::NodeResourcesFit => 2,
        _ => 3,
    };
    (rank, NodeLine { node: name, plugin: Some(rejector.name()), detail, claims })
}

fn claimants(cluster: &Cluster, node: NodeId) -> impl Iterator<Item = &PodRow> {
    let rows = cluster.nodes.row(node).deferred.iter().filter_map(|id| cluster.pods.get(*id));
    rows.filter(|row| !row.claim().is_empty())
}

/// `asks for cpu 2, 500m is free; no Pod slot is free`.
fn lacks(cluster: &Cluster, row: &PodRow, node: NodeId) -> String {
    let (allocatable, requested) = (cluster.nodes.allocatable(), cluster.nodes.requested());
    let free = |id: ResourceId| allocatable.get(id, node.index()) - requested.get(id, node.index());
    let asked = row.charge.desired.iter().filter(|(id, asked)| *id != ResourceId::PODS && *asked > free(*id));
    let mut parts: Vec<String> = asked
        .map(|(id, asked)| {
            let name = cluster.resources.name(id);
            let (asked, free) = (amount(id, asked), amount(id, free(id).max(0)));
            format!("{name}: asks for {asked}, {free} is free")
        })
        .collect();
    if free(ResourceId::PODS) < 1 {
        parts.push("no Pod slot is free".to_owned());
    }
    parts.join("; ")
}

/// Claims and taints that are in the way, by name.
pub fn blockers(placement: &Placement) -> Vec<Blocker> {
    let claims = placement.nodes.iter().flat_map(|line| line.claims.iter().map(move |claim| (line, claim)));
    claims
        .map(|(line, claim)| Blocker {
            kind: "Pod",
            name: claim.pod.clone(),
            detail: format!("claims {} on node {} for its resize", names::listed(&claim.amounts), line.node),
        })
        .collect()
}

/// What a person can do.
pub fn next_steps(placement: &Placement) -> Vec<String> {
    if let Some(node) = &placement.fits {
        return vec![format!(
            "nothing to do: the scheduler of this Pod should bind it to {node}; look at its log if not"
        )];
    }
    let mut steps = Vec::new();
    if placement.nodes.iter().any(|line| !line.claims.is_empty()) {
        steps.push("wait for those resizes, or take them back".to_owned());
    }
    if placement.nodes.iter().any(|line| line.plugin == Some(Plugin::NodeResourcesFit.name())) {
        steps.push("ask for less, free room, or add a node".to_owned());
    }
    if placement.nodes.iter().any(|line| line.plugin == Some(Plugin::NodeUnschedulable.name())) {
        steps.push("uncordon a node: kubectl uncordon NODE".to_owned());
    }
    if placement.nodes.iter().any(|line| line.plugin == Some(Plugin::TaintToleration.name())) {
        steps.push("tolerate the taint, or take it off: kubectl describe node NODE".to_owned());
    }
    if steps.is_empty() {
        steps.push("change what the message names, or add a node that meets it".to_owned());
    }
    steps
}

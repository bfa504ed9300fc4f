//! How a simulated kubelet decides about a resize: what Pods ask for and hold, and whether the node has it.
//!
//! Invariant: knows nothing of elbowroom's arithmetic; sums of containers and the overhead, as far as tests use.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, NodeSelectorRequirement, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde_json::{Value, json};

use super::workers::amount;

/// Thousandths by resource name: milli-CPU, milli-bytes.
pub type Milli = BTreeMap<String, i64>;

type Amounts = BTreeMap<String, Quantity>;

/// What the node has, for all resources that it names.
pub fn capacity(node: &Node) -> Milli {
    let mut sum = Milli::new();
    if let Some(allocatable) = node.status.as_ref().and_then(|s| s.allocatable.as_ref()) {
        add(&mut sum, allocatable);
    }
    sum
}

/// What the Pod asks for now.
pub fn desired(pod: &Pod) -> Milli {
    let mut sum = overhead(pod);
    let containers = pod.spec.as_ref().map(|s| s.containers.as_slice()).unwrap_or_default();
    containers
        .iter()
        .filter_map(|c| c.resources.as_ref()?.requests.as_ref())
        .for_each(|list| add(&mut sum, list));
    sum
}

/// What the kubelet has set aside for it.
pub fn allocated(pod: &Pod) -> Milli {
    let mut sum = overhead(pod);
    let statuses = pod.status.as_ref().and_then(|s| s.container_statuses.as_deref()).unwrap_or_default();
    statuses.iter().filter_map(|s| s.allocated_resources.as_ref()).for_each(|list| add(&mut sum, list));
    sum
}

/// Whether the Pod has what it asks for.
pub fn settled(pod: &Pod) -> bool {
    desired(pod) == allocated(pod)
}

/// The larger of allocation and what the containers really have, resource by resource. A Pod that is yet to start
/// will get what it asks for.
pub fn held(pod: &Pod) -> Milli {
    if pod.status.as_ref().is_none_or(|s| s.container_statuses.is_none()) {
        return desired(pod);
    }
    let mut held = allocated(pod);
    let mut actual = overhead(pod);
    let statuses = pod.status.as_ref().and_then(|s| s.container_statuses.as_deref()).unwrap_or_default();
    statuses
        .iter()
        .filter_map(|s| s.resources.as_ref()?.requests.as_ref())
        .for_each(|list| add(&mut actual, list));
    for (name, amount) in actual {
        let entry = held.entry(name).or_default();
        *entry = amount.max(*entry);
    }
    held
}

fn overhead(pod: &Pod) -> Milli {
    let mut sum = Milli::new();
    if let Some(overhead) = pod.spec.as_ref().and_then(|s| s.overhead.as_ref()) {
        add(&mut sum, overhead);
    }
    sum
}

fn add(sum: &mut Milli, list: &Amounts) {
    for name in list.keys() {
        *sum.entry(name.clone()).or_default() += amount(list, name, 1000).unwrap_or_default();
    }
}

/// Why the node cannot give the Pod what it asks for, in the kubelet's words; `None` when it can.
pub fn refusal(node: Option<&Node>, capacity: &Milli, used: &Milli, pod: &Pod) -> Option<String> {
    for (name, requested) in desired(pod) {
        let (Some(&capacity), used) = (capacity.get(&name), used.get(&name).copied().unwrap_or_default())
        else {
            continue;
        };
        if used + requested > capacity {
            // CPU is told in milli-CPU, everything else in units.
            let shown = |milli: i64| if name == "cpu" { milli } else { milli / 1000 };
            return Some(format!(
                "Node didn't have enough resource: {name}, requested: {}, used: {}, capacity: {}",
                shown(requested),
                shown(used),
                shown(capacity)
            ));
        }
    }
    let fits = node.is_none_or(|node| affinity_matches(node, pod));
    let refused = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    (!fits).then(|| refused.to_owned())
}

/// `nodeSelector`, and of the required node affinity the label expressions.
fn affinity_matches(node: &Node, pod: &Pod) -> bool {
    let labels = node.metadata.labels.clone().unwrap_or_default();
    let spec = pod.spec.clone().unwrap_or_default();
    let selected = spec.node_selector.iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    let required = spec
        .affinity
        .and_then(|a| a.node_affinity)
        .and_then(|a| a.required_during_scheduling_ignored_during_execution);
    let holds = |one: &NodeSelectorRequirement| {
        let (value, values) = (labels.get(&one.key), one.values.as_deref().unwrap_or_default());
        match one.operator.as_str() {
            "In" => value.is_some_and(|value| values.contains(value)),
            "NotIn" => value.is_none_or(|value| !values.contains(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    };
    selected
        && required.is_none_or(|selector| {
            selector
                .node_selector_terms
                .iter()
                .any(|term| term.match_expressions.as_deref().unwrap_or_default().iter().all(holds))
        })
}

/// What the requests of the spec look like in the status once they are allocated.
pub fn allocation(pod: &Pod, started_at: &str) -> Value {
    let containers = pod.spec.as_ref().map(|s| s.containers.as_slice()).unwrap_or_default();
    let requests = |c: &k8s_openapi::api::core::v1::Container| {
        c.resources.clone().and_then(|r| r.requests).unwrap_or_default()
    };
    let statuses: Vec<_> = containers
        .iter()
        .map(|container| {
            json!({
                "name": container.name, "image": container.image, "imageID": "", "restartCount": 0,
                "ready": true, "started": true, "state": {"running": {"startedAt": started_at}},
                "allocatedResources": requests(container), "resources": {"requests": requests(container)},
            })
        })
        .collect();
    // Of the Pod as a whole, overhead included, as a kubelet writes it.
    let whole: BTreeMap<_, _> =
        desired(pod).into_iter().map(|(name, amount)| (name, format!("{amount}m"))).collect();
    json!({
        "observedGeneration": pod.metadata.generation, "containerStatuses": statuses,
        "allocatedResources": whole, "resources": {"requests": whole},
    })
}

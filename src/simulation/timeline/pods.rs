//! What a change of a Pod means.
//!
//! Invariant: only what a reader can see in the object is told, oldest cause first.

use super::amount::quantity;
use crate::model::pod::REPORT_CONDITION;
use crate::simulation::objects::{Amounts, PodExt, exact, requests};
use k8s_openapi::api::core::v1::Pod;

/// The sentences for one change; none for one that is not worth a line.
pub(super) fn changes(pod: &Pod, before: Option<&Pod>) -> Vec<String> {
    let Some(old) = before else { return vec![format!("created, asks for {}", listed(&desired(pod)))] };
    let mut told = Vec::new();
    if let (None, Some(node)) = (old.node(), pod.node()) {
        told.push(format!("bound to {node}"));
    }
    let reason =
        |pod: &Pod, kind: &str| pod.condition(kind).map(|one| one.reason.clone().unwrap_or_default());
    let message =
        |pod: &Pod, kind: &str| pod.condition(kind).and_then(|one| one.message.clone()).unwrap_or_default();
    if message(old, "PodScheduled") != message(pod, "PodScheduled") && pod.node().is_none() {
        told.push(format!("cannot be placed yet: {}", message(pod, "PodScheduled")));
    }
    let started = |pod: &Pod| pod.status.as_ref().is_some_and(|status| status.start_time.is_some());
    if !started(old) && started(pod) && !pod.finished() {
        told.push("admitted by the kubelet".to_owned());
    }
    told.extend(grown("resize asked for", &desired(old), &desired(pod)));
    let pending = "PodResizePending";
    if (reason(old, pending), message(old, pending)) != (reason(pod, pending), message(pod, pending)) {
        match reason(pod, pending) {
            Some(reason) => told.push(format!("{reason} by the kubelet: {}", message(pod, pending))),
            None if allocated(old) == allocated(pod) && !pod.finished() => {
                told.push("the resize is no longer pending".to_owned());
            }
            None => {}
        }
    }
    if started(old) {
        told.extend(grown("resize allocated", &allocated(old), &allocated(pod)));
    }
    let progress = "PodResizeInProgress";
    if old.condition(progress).is_some() && pod.condition(progress).is_none() && !pod.finished() {
        told.push(format!("resize in force, restarts: {}", restarts(pod)));
    }
    if (reason(old, REPORT_CONDITION), message(old, REPORT_CONDITION))
        != (reason(pod, REPORT_CONDITION), message(pod, REPORT_CONDITION))
    {
        match reason(pod, REPORT_CONDITION) {
            Some(reason) => told.push(format!("condition {reason}: {}", message(pod, REPORT_CONDITION))),
            None => told.push("condition removed".to_owned()),
        }
    }
    if !old.leaving() && pod.leaving() {
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or_default();
        let evicted = pod.condition("DisruptionTarget").is_some();
        let how = if evicted { "evicted" } else { "deleted" };
        told.push(format!("{how}, has {grace} s to end"));
    }
    if old.phase() != pod.phase() {
        match pod.phase() {
            "Running" => told.push("running".to_owned()),
            phase if pod.leaving() => told.push(format!("containers have ended ({phase})")),
            "Failed" => {
                let text = pod.status.as_ref().and_then(|status| status.message.clone()).unwrap_or_default();
                told.push(format!("failed: {text}"));
            }
            phase => told.push(phase.to_lowercase()),
        }
    }
    told
}

/// Restarts of all containers.
pub(super) fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    statuses.map(|one| one.restart_count).sum()
}

/// The sum of what the containers ask for.
pub(super) fn desired(pod: &Pod) -> Amounts {
    sum(pod.containers().map(|one| requests(one.resources.as_ref())))
}

/// The sum of what their kubelet has allocated.
pub(super) fn allocated(pod: &Pod) -> Amounts {
    let status = pod.status.as_ref();
    let all = status.iter().flat_map(|status| {
        status.init_container_statuses.iter().flatten().chain(status.container_statuses.iter().flatten())
    });
    sum(all.map(|one| one.allocated_resources.clone().unwrap_or_default()))
}

fn sum(lists: impl Iterator<Item = Amounts>) -> Amounts {
    let mut total: std::collections::BTreeMap<String, crate::model::Quantity> = Default::default();
    for (name, amount) in lists.flatten() {
        let entry = total.entry(name).or_default();
        *entry = *entry + exact(&amount).unwrap_or_default();
    }
    total
        .into_iter()
        .map(|(name, amount)| {
            let text = quantity(&name, amount);
            (name, k8s_openapi::apimachinery::pkg::api::resource::Quantity(text))
        })
        .collect()
}

/// `cpu 1, memory 2Gi`.
pub(super) fn listed(amounts: &Amounts) -> String {
    if amounts.is_empty() {
        return "nothing".to_owned();
    }
    amounts.iter().map(|(name, amount)| format!("{name} {}", amount.0)).collect::<Vec<_>>().join(", ")
}

fn grown(what: &str, old: &Amounts, new: &Amounts) -> Option<String> {
    let changed: Vec<String> = new
        .iter()
        .filter(|(name, amount)| old.get(*name) != Some(amount))
        .map(|(name, amount)| {
            format!("{name} {} -> {}", old.get(name).map_or("0", |amount| amount.0.as_str()), amount.0)
        })
        .collect();
    (!changed.is_empty()).then(|| format!("{what}: {}", changed.join(", ")))
}

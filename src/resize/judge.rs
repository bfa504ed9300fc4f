//! What is true of one Deferred resize right now.
//!
//! Invariant: judging changes nothing; the same tables give the same verdict.

use super::kubelet::{Obstacle, View};
use super::policy::{Mode, ResizePolicy};
use super::said::Said;
use super::text;
use super::victims::{Lack, Plan, plan};
use super::{Reason, Verdict};
use crate::cluster::{Amounts, Cluster, NodeId, PodId, PodRow};
use crate::model::{Pod, PodRef, Span, Timestamp};

/// After its grace period and this long, a victim that is still there is reported.
pub const OVERDUE_AFTER: Span = Span::from_seconds(60);

/// Whether the kubelet has judged what the spec asks for now: the condition is of this generation, or does not
/// say, or is behind although the status is not (the kubelet judges a resize before it syncs the Pod).
pub fn current(pod: &Pod) -> bool {
    let Some(condition) = &pod.resize else { return false };
    let judged = match condition.observed_generation {
        None => true,
        Some(seen) => {
            seen == pod.generation || seen < pod.generation && pod.observed_generation == Some(pod.generation)
        }
    };
    condition.status && condition.reason == "Deferred" && judged
}

/// Judges one resize.
pub fn judge(
    cluster: &Cluster,
    view: &View,
    node: NodeId,
    id: PodId,
    policy: &ResizePolicy,
    now: Timestamp,
) -> Verdict {
    let (Some(row), Some(own)) = (cluster.pods.get(id), view.of(id)) else { return Verdict::Unread };
    if !current(&row.pod) {
        return Verdict::Unread;
    }
    let state = |reason, message| Verdict::State { reason, message, wake: None, overdue: Vec::new() };
    let host = cluster.nodes.row(node);
    let ready = host.exists && host.node.ready;
    if ready && own.obstacle.is_none() && view.grants(&view.free, &[]).contains(&id) {
        return room_is_there(row);
    }
    if ready && own.obstacle.is_none() && view.grants(&view.free_later, &[]).contains(&id) {
        return waiting(cluster, node, now);
    }
    if row.pod.never_preempts {
        return state(Reason::PreemptionPolicyNever, text::never());
    }
    if !host.node.resize_preemption_disabled_by.is_empty() {
        return state(Reason::DisabledByNode, text::disabled(&host.node));
    }
    if !ready {
        return state(Reason::NodeNotReady, text::node_not_ready(&host.node.name, host.exists));
    }
    let over = exceeds(cluster, node, row);
    if !over.is_empty() {
        return state(Reason::ExceedsNode, text::exceeds(cluster, node, &row.charge.desired, &over));
    }
    if let Some(obstacle) = own.obstacle {
        return state(Reason::NotAShortage, text::obstacle(obstacle, kubelet_words(row)));
    }
    let shortage = own.shortage(&view.room_at_turn(&view.free_later, id));
    match plan(cluster, view, node, id, policy) {
        Ok(plan) if policy.mode == Mode::Observe => {
            let message = text::observing(cluster, row, &refs(cluster, &plan), &shortage);
            state(Reason::Observing, message)
        }
        Ok(plan) => {
            let victims = refs(cluster, &plan);
            let message = text::preempting(cluster, row, &victims, &shortage);
            Verdict::Evict { victims, exact: plan.exact, message }
        }
        Err(Lack::Victims) => state(Reason::InsufficientVictims, text::insufficient(cluster, row, &shortage)),
        Err(Lack::Protection) => state(Reason::ProtectedVictims, text::protected(cluster, &shortage)),
        Err(Lack::Budgets(keys)) => state(Reason::BlockedByPdb, text::budgets(cluster, &shortage, &keys)),
    }
}

fn refs(cluster: &Cluster, plan: &Plan) -> Vec<PodRef> {
    plan.victims.iter().filter_map(|id| Some(cluster.pods.get(*id)?.pod.id.clone())).collect()
}

fn kubelet_words(row: &PodRow) -> &str {
    row.pod.resize.as_ref().map_or("", |condition| condition.message.as_str())
}

/// By our sums the kubelet can allocate it. A text that speaks of no shortage, and of nothing that the model
/// checks, is then the better witness.
fn room_is_there(row: &PodRow) -> Verdict {
    let words = kubelet_words(row);
    let unknown = Said::parse(words) == Said::Other && !words.is_empty() && !words.starts_with("Predicate ");
    let (reason, message) = if unknown {
        (Reason::NotAShortage, text::obstacle(Obstacle::Refused, words))
    } else {
        (Reason::WaitingForKubelet, text::waiting_for_kubelet())
    };
    Verdict::State { reason, message, wake: None, overdue: Vec::new() }
}

/// Enough is leaving already.
fn waiting(cluster: &Cluster, node: NodeId, now: Timestamp) -> Verdict {
    let rows = cluster.nodes.row(node).pods.iter().filter_map(|id| cluster.pods.get(*id));
    let leaving: Vec<&PodRow> = rows.filter(|row| row.releasing()).collect();
    let due = |row: &PodRow| Some(row.pod.deletion? + OVERDUE_AFTER);
    let late: Vec<&PodRow> =
        leaving.iter().copied().filter(|row| due(row).is_some_and(|due| due <= now)).collect();
    let wake = leaving.iter().filter_map(|row| due(row)).filter(|due| *due > now).min();
    Verdict::State {
        reason: Reason::WaitingForVictims,
        message: text::waiting_for_victims(leaving.len(), late.len()),
        wake,
        overdue: late.iter().map(|row| row.pod.id.clone()).collect(),
    }
}

/// What the request alone asks beyond all that the node has.
fn exceeds(cluster: &Cluster, node: NodeId, row: &PodRow) -> Amounts {
    let allocatable = cluster.nodes.allocatable();
    let over = |(id, want): (_, i64)| (id, want.saturating_sub(allocatable.get(id, node.index())).max(0));
    row.charge.desired.iter().map(over).collect()
}

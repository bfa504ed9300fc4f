//! What is true of one Deferred resize right now.
//!
//! Invariant: judging changes nothing; the same tables give the same verdict.

use super::eligible::next_grown;
use super::kubelet::{Obstacle, View};
use super::policies::Terms;
use super::policy::Mode;
use super::said::Said;
use super::text::{self, Case};
use super::victims::{Lack, Limit, plan};
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

/// Judges one resize. The resizes in `company`, which the kubelet serves before it, are to be granted as well.
pub fn judge(
    cluster: &Cluster,
    view: &View,
    node: NodeId,
    (id, company): (PodId, &[PodId]),
    terms: &Terms<'_>,
) -> Verdict {
    let (Some(row), Some(own)) = (cluster.pods.get(id), view.of(id)) else { return Verdict::Unread };
    if !current(&row.pod) {
        return Verdict::Unread;
    }
    let (policy, now) = (terms.policy, terms.now);
    let host = cluster.nodes.row(node);
    let ready = host.exists && host.node.ready;
    if ready && own.obstacle.is_none() && view.grants(&view.free, &[]).contains(&id) {
        return room_is_there(row, &host.node.name);
    }
    if ready && own.obstacle.is_none() && view.grants(&view.free_later, &[]).contains(&id) {
        return waiting(cluster, node, row, now);
    }
    let shortage = own.shortage(&view.room_at_turn(&view.free_later, id));
    let case = Case { cluster, row, node: &host.node, shortage: &shortage };
    if row.pod.never_preempts {
        return state(Reason::PreemptionPolicyNever, text::never(&case));
    }
    if !host.node.resize_preemption_disabled_by.is_empty() {
        return state(Reason::DisabledByNode, text::disabled(&host.node));
    }
    let labels = cluster.namespace_labels(&row.pod.id.namespace);
    if let Some(exclusion) = policy.preemptors.excludes(&row.pod, &labels) {
        return state(Reason::NotAllowed, text::not_allowed(&row.pod, exclusion));
    }
    if !ready {
        return state(Reason::NodeNotReady, text::node_not_ready(&host.node.name, host.exists));
    }
    let over = exceeds(cluster, node, row);
    if !over.is_empty() {
        return state(Reason::ExceedsNode, text::exceeds(&case, node, &over));
    }
    if let Some(obstacle) = own.obstacle {
        return state(Reason::NotAShortage, text::obstacle(obstacle, &host.node.name, kubelet_words(row)));
    }
    let plan = match plan(cluster, view, node, (id, company), terms) {
        Ok(plan) => plan,
        Err(lack) => return lacking(&case, lack, terms, next_grown(cluster, node, id, terms)),
    };
    let victims = refs(cluster, &plan.victims);
    if policy.mode == Mode::Observe {
        return state(Reason::Observing, text::observing(&case, &victims));
    }
    if terms.acts_from() > now {
        let from = terms.acts_from();
        let message = text::wait(&case, &victims, from);
        return Verdict::State { reason: Reason::Waiting, message, wake: Some(from), overdue: Vec::new() };
    }
    let (message, forced) = (text::preempting(&case, &victims), refs(cluster, &plan.forced));
    Verdict::Evict { victims, forced, exact: plan.exact, message }
}

/// What one resize says of victims that were chosen for it and others.
pub(super) fn preempting(cluster: &Cluster, view: &View, id: PodId, victims: &[PodRef]) -> Option<String> {
    let (row, own) = (cluster.pods.get(id)?, view.of(id)?);
    let node = &cluster.nodes.row(row.node?).node;
    let shortage = own.shortage(&view.room_at_turn(&view.free_later, id));
    Some(text::preempting(&Case { cluster, row, node, shortage: &shortage }, victims))
}

fn state(reason: Reason, message: String) -> Verdict {
    Verdict::State { reason, message, wake: None, overdue: Vec::new() }
}

/// There is no plan. It is looked for again when a Pod is old enough to go, or the pace allows one more.
fn lacking(case: &Case<'_>, lack: Lack, terms: &Terms<'_>, grown: Option<Timestamp>) -> Verdict {
    let mut wake = grown;
    let (reason, message) = match lack {
        Lack::Victims(held) => (Reason::InsufficientVictims, text::insufficient(case, &held)),
        Lack::Protection(rules) => (Reason::ProtectedVictims, text::protected(case, &rules)),
        Lack::Budgets { keys, overlap } => (Reason::BlockedByPdb, text::budgets(case, &keys, overlap)),
        Lack::Grace(ids) => (Reason::GraceTooLong, text::grace(case, &ids, terms)),
        Lack::Limit(limit) => {
            if let Limit::PerMinute { again: Some(at), .. } = limit {
                wake = Some(wake.map_or(at, |grown| grown.min(at)));
            }
            (Reason::LimitReached, text::limit(case, limit))
        }
    };
    Verdict::State { reason, message, wake, overdue: Vec::new() }
}

fn refs(cluster: &Cluster, ids: &[PodId]) -> Vec<PodRef> {
    ids.iter().filter_map(|id| Some(cluster.pods.get(*id)?.pod.id.clone())).collect()
}

fn kubelet_words(row: &PodRow) -> &str {
    row.pod.resize.as_ref().map_or("", |condition| condition.message.as_str())
}

/// By our sums the kubelet can allocate it. A text that speaks of no shortage, and of nothing that the model
/// checks, is then the better witness.
fn room_is_there(row: &PodRow, node: &str) -> Verdict {
    let words = kubelet_words(row);
    let unknown = Said::parse(words) == Said::Other && !words.is_empty() && !words.starts_with("Predicate ");
    let (reason, message) = if unknown {
        (Reason::NotAShortage, text::obstacle(Obstacle::Refused, node, words))
    } else {
        (Reason::WaitingForKubelet, text::waiting_for_kubelet(node))
    };
    state(reason, message)
}

/// Enough is leaving already.
fn waiting(cluster: &Cluster, node: NodeId, own: &PodRow, now: Timestamp) -> Verdict {
    let rows = cluster.nodes.row(node).pods.iter().filter_map(|id| cluster.pods.get(*id));
    let leaving: Vec<&PodRow> = rows.filter(|row| row.releasing()).collect();
    let due = |row: &PodRow| Some(row.pod.deletion? + OVERDUE_AFTER);
    let late: Vec<&PodRow> =
        leaving.iter().copied().filter(|row| due(row).is_some_and(|due| due <= now)).collect();
    let wake = leaving.iter().filter_map(|row| due(row)).filter(|due| *due > now).min();
    Verdict::State {
        reason: Reason::WaitingForVictims,
        message: text::waiting_for_victims(own, &leaving, &late),
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

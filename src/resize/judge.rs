//! What is true of one Deferred resize right now.
//!
//! Invariant: judging changes nothing; the same tables give the same verdict.

use super::kubelet::{Obstacle, View};
use super::policies::Terms;
use super::policy::{Mode, Protection};
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
        Err(lack) => return lacking(&case, lack, terms),
    };
    let victims = refs(cluster, &plan.victims);
    if policy.mode == Mode::Observe {
        return state(Reason::Observing, text::observing(&case, &victims));
    }
    if terms.acts_from() > now {
        let message = text::wait(&case, &victims, terms.acts_from());
        return state_until(Reason::Waiting, message, terms.acts_from());
    }
    let (message, forced) = (text::preempting(&case, &victims), refs(cluster, &plan.forced));
    Verdict::Evict { victims, forced, exact: plan.exact, message }
}

fn state(reason: Reason, message: String) -> Verdict {
    Verdict::State { reason, message, wake: None, overdue: Vec::new() }
}

fn state_until(reason: Reason, message: String, at: Timestamp) -> Verdict {
    Verdict::State { reason, message, wake: Some(at), overdue: Vec::new() }
}

fn lacking(case: &Case<'_>, lack: Lack, terms: &Terms<'_>) -> Verdict {
    match lack {
        Lack::Victims(held) => state(Reason::InsufficientVictims, text::insufficient(case, &held)),
        Lack::Protection(rules) => {
            let message = text::protected(case, &rules);
            let grown = rules.iter().filter_map(|(rule, _)| match rule {
                Protection::Young(at) => Some(*at),
                _ => None,
            });
            let wake = grown.min();
            Verdict::State { reason: Reason::ProtectedVictims, message, wake, overdue: Vec::new() }
        }
        Lack::Budgets(keys) => state(Reason::BlockedByPdb, text::budgets(case, &keys)),
        Lack::Grace(ids) => state(Reason::GraceTooLong, text::grace(case, &ids, terms)),
        Lack::Limit(limit) => {
            let message = text::limit(case, limit);
            match limit {
                Limit::PerMinute { again: Some(at), .. } => state_until(Reason::LimitReached, message, at),
                _ => state(Reason::LimitReached, message),
            }
        }
    }
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

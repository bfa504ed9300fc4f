//! Carrying out a plan: asked first, decided once more, then evicted.
//!
//! Invariant: from the moment a plan exists its victims count as releasing and its budgets as spent; whatever is
//! refused is given back.

use super::eligible::payer;
use super::entry::{Calls, Entry, Stage};
use super::kubelet::View;
use super::orders::{Answered, Ask, Order, Reply, Verdict};
use super::queue::Queue;
use super::telling::tell;
use super::{Reason, fallback, text};
use crate::cluster::{Cluster, PodId};
use crate::model::{PodRef, Span, Str, Timestamp};

/// Between two looks at an eviction whose outcome is unknown.
const LOOK_AGAIN: Span = Span::from_seconds(2);

/// A look to be taken.
#[derive(Debug)]
pub(super) struct Look {
    at: Timestamp,
    preemptor: Str,
    victim: PodRef,
    plan: u64,
}

impl Queue {
    /// Takes in the answer to an `Ask`.
    pub fn answer(
        &mut self,
        cluster: &mut Cluster,
        answered: Answered<'_>,
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        let Answered { preemptor, victim, ask, plan, reply, may_act } = answered;
        let mut refused = None;
        match (ask, reply) {
            (Ask::Evict | Ask::Delete, Reply::Unknown(_)) => {
                let (preemptor, victim) = (preemptor.clone(), victim.clone());
                orders.push(Order::Ask { preemptor, victim, ask: Ask::Look, plan });
                return;
            }
            (Ask::Look, Reply::Unknown(_)) if self.look_later(preemptor, victim, plan, now) => return,
            (Ask::Evict | Ask::Delete | Ask::Look, Reply::Done) => {
                if let Some(entry) = self.entries.get_mut(preemptor).filter(|_| victim.uid != *preemptor) {
                    entry.preempted = true;
                    let (preemptor, profile) = (preemptor.clone(), entry.profile.clone());
                    orders.push(Order::Evicted { preemptor, profile, victim: victim.clone() });
                }
            }
            (Ask::Evict | Ask::Delete | Ask::Look, Reply::Gone) => {}
            (Ask::Read | Ask::DryRun, Reply::Done) => {}
            (Ask::Read | Ask::DryRun, Reply::Gone) => refused = Some("it is gone or replaced".to_owned()),
            (_, Reply::Unknown(text) | Reply::Refused(text)) => refused = Some(text),
        }
        if refused.is_some() && matches!(ask, Ask::Evict | Ask::Delete | Ask::Look) {
            self.spare(cluster, std::slice::from_ref(victim));
        }
        let Some(entry) = self.entries.get_mut(preemptor) else { return };
        self.dirty.insert(entry.node);
        let (Stage::Checking(calls) | Stage::Evicting(calls)) = &mut entry.stage else { return };
        if calls.plan != plan {
            return;
        }
        calls.open = calls.open.saturating_sub(1);
        calls.failed |= refused.is_some();
        let (open, failed) = (calls.open, calls.failed);
        if let Some(words) = refused {
            // The API's words may name the victim, and a name is a leak between tenants.
            let near = victim.namespace == entry.pod.namespace;
            entry.refusal = Some(if near { words } else { text::refused_elsewhere() });
        }
        if open > 0 {
            return;
        }
        match std::mem::replace(&mut entry.stage, Stage::Parked) {
            Stage::Checking(calls) => {
                if failed {
                    entry.back_off(now);
                }
                self.spare(cluster, &calls.victims);
                if !failed && may_act {
                    self.confirm(cluster, preemptor, &calls, now, orders);
                }
            }
            _ => {
                if !failed {
                    entry.refusal = None;
                }
                entry.back_off(now);
            }
        }
    }

    /// An eviction that may have happened stays credit until the API can say. False if nobody waits for it.
    fn look_later(&mut self, preemptor: &Str, victim: &PodRef, plan: u64, now: Timestamp) -> bool {
        let Some(entry) = self.entries.get(preemptor) else { return false };
        let at = now + LOOK_AGAIN;
        self.wakes.insert((at, entry.node));
        self.looks.push(Look { at, preemptor: preemptor.clone(), victim: victim.clone(), plan });
        true
    }

    /// Looks again for evictions whose outcome is still unknown.
    pub(super) fn run_looks(&mut self, now: Timestamp, orders: &mut Vec<Order>) {
        let (due, later) = std::mem::take(&mut self.looks).into_iter().partition(|look| look.at <= now);
        self.looks = later;
        let due: Vec<Look> = due;
        for Look { preemptor, victim, plan, .. } in due {
            orders.push(Order::Ask { preemptor, victim, ask: Ask::Look, plan });
        }
    }

    /// All were asked and all agreed: decide once more, with the very same rules, and go if the answer stands.
    fn confirm(
        &mut self,
        cluster: &mut Cluster,
        preemptor: &Str,
        asked: &Calls,
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        let Some(entry) = self.entries.get(preemptor) else { return };
        let order: Vec<PodId> = View::read(cluster, entry.node).pending.iter().map(|one| one.pod).collect();
        let followers = order.iter().skip_while(|id| **id != entry.id).skip(1).copied().collect::<Vec<_>>();
        let Some(verdict) = self.verdict(cluster, entry.node, entry.id, &followers, now) else { return };
        let itself = asked.victims.iter().all(|victim| victim.uid == *preemptor);
        let stands = match &verdict {
            Verdict::Evict { victims, forced, .. } => *victims == asked.victims && *forced == asked.forced,
            Verdict::State { reason, .. } => itself && fallback::applies(*reason),
            Verdict::Unread => false,
        };
        let Some(entry) = self.entries.get_mut(preemptor).filter(|_| stands) else { return };
        self.plans += 1;
        evict(entry, cluster, (&asked.victims, &asked.forced), self.plans, now, orders);
        match verdict {
            Verdict::Evict { victims, exact, message, .. } => {
                self.recent.note(&entry.profile, victims.len(), now);
                tell(entry, cluster, (Reason::Preempting, message), now, orders, &mut self.wakes);
                orders.push(entry.preempting(victims, exact));
            }
            Verdict::State { reason, message, .. } => {
                entry.announced = None;
                let told = (reason, text::evicting_itself(&message));
                tell(entry, cluster, told, now, orders, &mut self.wakes);
            }
            Verdict::Unread => {}
        }
    }
}

impl Entry {
    pub(super) fn preempting(&self, victims: Vec<PodRef>, exact: bool) -> Order {
        Order::Preempting { pod: self.pod.clone(), node: self.node_name.clone(), victims, exact }
    }
}

/// Starts on a plan: the victims, and those of them that are deleted. One victim that no budget covers is evicted at
/// once, and this is true; else everybody is asked about first.
pub(super) fn begin(
    entry: &mut Entry,
    cluster: &mut Cluster,
    (victims, forced): (&[PodRef], &[PodRef]),
    plan: u64,
    now: Timestamp,
    orders: &mut Vec<Order>,
) -> bool {
    let row = |victim: &PodRef| cluster.pods.by_uid(&victim.uid).map(|(_, row)| row);
    let mut asks: Vec<(PodRef, Ask)> = Vec::new();
    // Of those that are deleted nothing is asked: the answer would be no.
    for victim in victims.iter().filter(|victim| !forced.contains(victim)) {
        if row(victim).is_some_and(|row| payer(cluster, row).is_some()) {
            asks.push((victim.clone(), Ask::Read));
        }
        if victims.len() > 1 {
            asks.push((victim.clone(), Ask::DryRun));
        }
    }
    if asks.is_empty() {
        evict(entry, cluster, (victims, forced), plan, now, orders);
        return true;
    }
    mark(cluster, victims, now);
    entry.stage = Stage::Checking(Calls::new(plan, victims, forced, asks.len()));
    for (victim, ask) in asks {
        orders.push(Order::Ask { preemptor: entry.pod.uid.clone(), victim, ask, plan });
    }
    false
}

fn evict(
    entry: &mut Entry,
    cluster: &mut Cluster,
    (victims, forced): (&[PodRef], &[PodRef]),
    plan: u64,
    now: Timestamp,
    orders: &mut Vec<Order>,
) {
    mark(cluster, victims, now);
    entry.stage = Stage::Evicting(Calls::new(plan, victims, forced, victims.len()));
    for victim in victims {
        let ask = if forced.contains(victim) { Ask::Delete } else { Ask::Evict };
        let (preemptor, victim) = (entry.pod.uid.clone(), victim.clone());
        orders.push(Order::Ask { preemptor, victim, ask, plan });
    }
}

/// From here on the victims count as releasing and their budgets as spent, for every other plan.
fn mark(cluster: &mut Cluster, victims: &[PodRef], now: Timestamp) {
    for victim in victims {
        if let Some(id) = cluster.pods.id(&victim.uid) {
            cluster.evicting(id, now);
        }
    }
}

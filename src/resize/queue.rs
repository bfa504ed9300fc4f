//! The queue of Deferred resizes: who is in it, what wakes it, and what is evicted.
//!
//! Invariant: a parked entry costs nothing; only what happens on its own node, a budget, or its own timer wakes it.

use super::entry::{Calls, Entry, Fits, Stage};
use super::judge::judge;
use super::kubelet::View;
use super::orders::{Answered, Ask, Order, Outcome, Reply, Verdict};
use super::policy::{Mode, ResizePolicy};
use super::said::Said;
use super::{Reason, text, victims};
use crate::cluster::{Cluster, NodeId, PodId};
use crate::model::{Pod, PodRef, Span, Str, Timestamp};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The kubelet's words may be older than what we see; only after this long do they contradict us.
const SETTLE: Span = Span::from_seconds(5);

/// The same blocking reason is not announced again sooner than this.
const QUIET: Span = Span::from_seconds(300);

/// All Deferred resizes that are ours.
#[derive(Debug)]
pub struct Queue {
    policies: FxHashMap<Str, ResizePolicy>,
    entries: BTreeMap<Str, Entry>,
    dirty: BTreeSet<NodeId>,
    wakes: BTreeSet<(Timestamp, NodeId)>,
}

impl Queue {
    /// A queue for these profiles.
    pub fn new(policies: FxHashMap<Str, ResizePolicy>) -> Self {
        Self { policies, entries: BTreeMap::new(), dirty: BTreeSet::new(), wakes: BTreeSet::new() }
    }

    /// Whether the Pod's resizes are ours to look after.
    pub fn responsible(&self, pod: &Pod) -> bool {
        self.policies.get(&pod.scheduler).is_some_and(|policy| policy.mode != Mode::Off)
    }

    /// Every entry, in the order of UIDs.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Something on this node changed: its entries are judged again.
    pub fn touch(&mut self, node: NodeId) {
        self.dirty.insert(node);
    }

    /// Some budget changed: whoever was blocked by one is judged again.
    pub fn touch_blocked_by_budgets(&mut self) {
        let blocked = |entry: &&Entry| matches!(&entry.state, Some((Reason::BlockedByPdb, _)));
        self.dirty.extend(self.entries.values().filter(blocked).map(|entry| entry.node));
    }

    /// When something here wants to be looked at next.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.wakes.first().map(|(at, _)| *at)
    }

    /// Follows a Pod after its row changed: an entry begins, goes on or ends.
    pub fn follow(&mut self, cluster: &mut Cluster, id: PodId, now: Timestamp, orders: &mut Vec<Order>) {
        let Some(row) = cluster.pods.get(id) else { return };
        let pending = row.pod.resize.as_ref().is_some_and(|c| c.status && c.reason == "Deferred");
        let node = row.node.filter(|_| pending && row.pod.deletion.is_none() && self.responsible(&row.pod));
        let uid = row.pod.id.uid.clone();
        match (self.entries.get_mut(&uid), node) {
            (Some(entry), Some(_)) => entry.follow(row),
            (None, Some(node)) => {
                let name = cluster.nodes.row(node).node.name.clone();
                self.entries.insert(uid, Entry::new(id, row, node, name, now));
                self.touch(node);
            }
            (Some(entry), None) => {
                let outcome = Outcome::read(&row.pod, &row.charge.held, &entry.desired);
                self.end(cluster, &uid, outcome, now, orders);
            }
            (None, None) => {}
        }
    }

    /// A Pod is gone.
    pub fn gone(&mut self, cluster: &mut Cluster, uid: &Str, now: Timestamp, orders: &mut Vec<Order>) {
        self.end(cluster, uid, Outcome::Deleted, now, orders);
    }

    fn end(
        &mut self,
        cluster: &mut Cluster,
        uid: &Str,
        outcome: Outcome,
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        let Some(entry) = self.entries.remove(uid) else { return };
        self.touch(entry.node);
        if let Stage::Checking(calls) = &entry.stage {
            calls.victims.iter().for_each(|victim| cluster.spare(&victim.uid));
        }
        orders.push(Order::Ended {
            pod: entry.pod,
            profile: entry.profile,
            outcome,
            preempted: entry.preempted,
            since: entry.since,
            waited: now - entry.since,
        });
    }

    /// Judges what was touched or is due.
    pub fn run(&mut self, cluster: &mut Cluster, now: Timestamp, orders: &mut Vec<Order>) {
        while let Some((at, node)) = self.wakes.first().copied().filter(|(at, _)| *at <= now) {
            self.wakes.remove(&(at, node));
            self.dirty.insert(node);
        }
        while let Some(node) = self.dirty.pop_first() {
            if !cluster.nodes.row(node).deferred.is_empty() {
                self.run_node(cluster, node, now, orders);
            }
        }
    }

    fn run_node(&mut self, cluster: &mut Cluster, node: NodeId, now: Timestamp, orders: &mut Vec<Order>) {
        let mut view = View::read(cluster, node);
        let order: Vec<PodId> = view.pending.iter().map(|one| one.pod).collect();
        for id in order {
            let Some(uid) = cluster.pods.get(id).map(|row| row.pod.id.uid.clone()) else { continue };
            let Some(entry) = self.entries.get_mut(&uid) else { continue };
            let Some(policy) = self.policies.get(&entry.profile) else { continue };
            if !matches!(entry.stage, Stage::Parked) {
                continue;
            }
            match judge(cluster, &view, node, id, policy, now) {
                Verdict::Unread => entry.fits = None,
                Verdict::State { reason, message, wake, overdue } => {
                    let (reason, message) =
                        heed_kubelet(entry, cluster, &view, reason, message, now, &mut self.wakes);
                    self.wakes.extend(wake.map(|at| (at, node)));
                    for victim in overdue {
                        if !entry.overdue.contains(&victim) {
                            entry.overdue.push(victim.clone());
                            let (pod, node) = (entry.pod.clone(), entry.node_name.clone());
                            orders.push(Order::Overdue { pod, victim, node });
                        }
                    }
                    tell(entry, cluster, reason, message, now, orders);
                }
                Verdict::Evict { victims, exact, message } => {
                    entry.fits = None;
                    match entry.not_before.filter(|at| *at > now) {
                        Some(at) => {
                            self.wakes.insert((at, node));
                            let (reason, message) = put_off(entry);
                            tell(entry, cluster, reason, message, now, orders);
                        }
                        None => {
                            if begin(entry, cluster, &victims, now, orders) {
                                tell(entry, cluster, Reason::Preempting, message, now, orders);
                                orders.push(entry.preempting(victims, exact));
                            }
                            view = View::read(cluster, node);
                        }
                    }
                }
            }
        }
        self.hold_claims(cluster, node, orders);
    }

    /// A claim is held once its resize fits, or what is leaving will make it fit.
    fn hold_claims(&mut self, cluster: &mut Cluster, node: NodeId, orders: &mut Vec<Order>) {
        let view = View::read(cluster, node);
        let granted = view.grants(&view.free_later, &[]);
        let mut released = false;
        for one in &view.pending {
            let held = granted.contains(&one.pod);
            released |= cluster.hold_claim(one.pod, held) && !held;
        }
        if released {
            orders.push(Order::ClaimReleased(node));
        }
    }

    /// Takes in the answer to an `Ask`.
    pub fn answer(
        &mut self,
        cluster: &mut Cluster,
        answered: Answered<'_>,
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        let Answered { preemptor, victim, ask, reply } = answered;
        let mut entry = self.entries.get_mut(preemptor);
        let (mut again, mut refused) = (None, None);
        match (ask, reply) {
            (Ask::Evict, Reply::Unknown(_)) => again = Some(Ask::Look),
            (Ask::Evict | Ask::Look, Reply::Done) => {
                orders.push(Order::Evicted { preemptor: preemptor.clone(), victim: victim.clone() });
                if let Some(entry) = entry.as_deref_mut() {
                    entry.preempted = true;
                }
            }
            (Ask::Evict | Ask::Look, Reply::Gone) => {}
            (Ask::Read | Ask::DryRun, Reply::Done) => {}
            (Ask::Read | Ask::DryRun, Reply::Gone) => refused = Some("it is gone or replaced".to_owned()),
            (_, Reply::Unknown(text) | Reply::Refused(text)) => refused = Some(text),
        }
        if let Some(again) = again {
            orders.push(Order::Ask { preemptor: preemptor.clone(), victim: victim.clone(), ask: again });
            return;
        }
        if refused.is_some() && matches!(ask, Ask::Evict | Ask::Look) {
            cluster.spare(&victim.uid);
        }
        let Some(entry) = entry else { return };
        self.dirty.insert(entry.node);
        let (Stage::Checking(calls) | Stage::Evicting(calls)) = &mut entry.stage else { return };
        calls.open = calls.open.saturating_sub(1);
        calls.failed |= refused.is_some();
        let (open, failed) = (calls.open, calls.failed);
        if refused.is_some() {
            entry.refusal = refused;
        }
        if open > 0 {
            return;
        }
        match std::mem::replace(&mut entry.stage, Stage::Parked) {
            Stage::Checking(calls) => {
                calls.victims.iter().for_each(|one| cluster.spare(&one.uid));
                if failed {
                    entry.back_off(now);
                } else {
                    self.confirm(cluster, preemptor, &calls.victims, now, orders);
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

    /// All were asked and all agreed: decide once more, with the very same rules, and go if the answer stands.
    fn confirm(
        &mut self,
        cluster: &mut Cluster,
        preemptor: &Str,
        planned: &[PodRef],
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        let Some(entry) = self.entries.get_mut(preemptor) else { return };
        let Some(policy) = self.policies.get(&entry.profile) else { return };
        let view = View::read(cluster, entry.node);
        let verdict = judge(cluster, &view, entry.node, entry.id, policy, now);
        let Verdict::Evict { victims, exact, message } = verdict else { return };
        if victims != planned {
            return;
        }
        evict(entry, cluster, &victims, now, orders);
        tell(entry, cluster, Reason::Preempting, message, now, orders);
        orders.push(entry.preempting(victims, exact));
    }
}

impl Entry {
    fn preempting(&self, victims: Vec<PodRef>, exact: bool) -> Order {
        let (pod, profile, node) = (self.pod.clone(), self.profile.clone(), self.node_name.clone());
        Order::Preempting { pod, profile, node, victims, exact }
    }
}

/// Starts on a plan. One victim that no budget covers is evicted at once, and this is true; else everybody is
/// asked about first.
fn begin(
    entry: &mut Entry,
    cluster: &mut Cluster,
    victims: &[PodRef],
    now: Timestamp,
    orders: &mut Vec<Order>,
) -> bool {
    let row = |victim: &PodRef| cluster.pods.by_uid(&victim.uid).map(|(_, row)| row);
    let paid: Vec<bool> =
        victims.iter().map(|v| row(v).is_some_and(|row| victims::payer(cluster, row).is_some())).collect();
    let mut asks: Vec<(PodRef, Ask)> = Vec::new();
    for (victim, paid) in victims.iter().zip(paid) {
        if paid {
            asks.push((victim.clone(), Ask::Read));
        }
        if victims.len() > 1 {
            asks.push((victim.clone(), Ask::DryRun));
        }
    }
    if asks.is_empty() {
        evict(entry, cluster, victims, now, orders);
        return true;
    }
    mark(cluster, victims, now);
    entry.stage = Stage::Checking(Calls { victims: victims.to_vec(), open: asks.len(), failed: false });
    for (victim, ask) in asks {
        orders.push(Order::Ask { preemptor: entry.pod.uid.clone(), victim, ask });
    }
    false
}

fn evict(
    entry: &mut Entry,
    cluster: &mut Cluster,
    victims: &[PodRef],
    now: Timestamp,
    orders: &mut Vec<Order>,
) {
    mark(cluster, victims, now);
    entry.stage = Stage::Evicting(Calls { victims: victims.to_vec(), open: victims.len(), failed: false });
    for victim in victims {
        let (preemptor, victim) = (entry.pod.uid.clone(), victim.clone());
        orders.push(Order::Ask { preemptor, victim, ask: Ask::Evict });
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

/// The words for a round that has to wait.
fn put_off(entry: &Entry) -> (Reason, String) {
    match &entry.refusal {
        Some(refusal) => (Reason::EvictionFailed, text::eviction_failed(refusal)),
        None => (Reason::Waiting, text::next_round()),
    }
}

/// Turns `WaitingForKubelet` into `KubeletDisagrees` where the kubelet judged again and named a shortage.
fn heed_kubelet(
    entry: &mut Entry,
    cluster: &Cluster,
    view: &View,
    reason: Reason,
    message: String,
    now: Timestamp,
    wakes: &mut BTreeSet<(Timestamp, NodeId)>,
) -> (Reason, String) {
    if reason != Reason::WaitingForKubelet {
        entry.fits = None;
        return (reason, message);
    }
    let Some(row) = cluster.pods.get(entry.id) else { return (reason, message) };
    let words = row.pod.resize.as_ref().map(|condition| condition.message.clone()).unwrap_or_default();
    let fits = entry.fits.get_or_insert_with(|| Fits { since: now, words: words.clone(), disagreed: false });
    if fits.words != words {
        let ripe = fits.since + SETTLE;
        if ripe > now {
            wakes.insert((ripe, entry.node));
        } else if matches!(Said::parse(&words), Said::Shortage { .. }) {
            fits.disagreed = true;
        }
    }
    if fits.disagreed {
        return (Reason::KubeletDisagrees, text::disagrees(cluster, entry.node, view, row, &words));
    }
    (reason, message)
}

/// Tells a state if it is a new one.
fn tell(
    entry: &mut Entry,
    cluster: &Cluster,
    reason: Reason,
    message: String,
    now: Timestamp,
    orders: &mut Vec<Order>,
) {
    let Some(row) = cluster.pods.get(entry.id) else { return };
    let told_before_us = row.pod.report.as_ref().is_some_and(|told| {
        told.reason == reason.as_str()
            && told.message == *message
            && told.observed_generation == Some(entry.generation)
    });
    let new = entry.state.as_ref() != Some(&(reason, message.clone()));
    let fresh = match entry.announced {
        Some((known, at)) => known != reason || (new && now - at >= QUIET) || reason == Reason::Preempting,
        None => !told_before_us,
    };
    if fresh || entry.announced.is_none() {
        entry.announced = Some((reason, now));
    }
    if new {
        entry.state = Some((reason, message.clone()));
    }
    if new || !told_before_us {
        orders.push(Order::State {
            pod: entry.pod.clone(),
            profile: entry.profile.clone(),
            node: entry.node_name.clone(),
            generation: entry.generation,
            reason,
            message,
            announce: fresh && new,
            new,
        });
    }
}

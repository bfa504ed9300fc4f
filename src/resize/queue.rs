//! The queue of Deferred resizes: who is in it, what wakes it, and what is evicted.
//!
//! Invariant: a parked entry costs nothing; only what happens on its own node, a budget, or its own timer wakes it.

use super::entry::{Entry, Stage};
use super::execution::{Look, begin};
use super::kubelet::View;
use super::orders::{Order, Outcome, Verdict};
use super::pace::Recent;
use super::policies::{Policies, Terms};
use super::telling::{heed_kubelet, put_off, tell};
use super::together::{Member, judge_together};
use super::{Reason, fallback, text};
use crate::cluster::{Cluster, NodeId, PodId};
use crate::model::{PodRef, Str, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// All Deferred resizes that are ours.
#[derive(Debug)]
pub struct Queue {
    pub(super) policies: Policies,
    pub(super) entries: BTreeMap<Str, Entry>,
    pub(super) dirty: BTreeSet<NodeId>,
    pub(super) wakes: BTreeSet<(Timestamp, NodeId)>,
    /// Evictions whose outcome is unknown.
    pub(super) looks: Vec<Look>,
    /// Number of the plan begun last.
    pub(super) plans: u64,
    /// Evictions of the last minute.
    pub(super) recent: Recent,
}

impl Queue {
    /// A queue under these policies.
    pub fn new(policies: Policies) -> Self {
        Self {
            policies,
            entries: BTreeMap::new(),
            dirty: BTreeSet::new(),
            wakes: BTreeSet::new(),
            looks: Vec::new(),
            plans: 0,
            recent: Recent::default(),
        }
    }

    /// The policies in force.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Puts other policies in force: everything is judged again by them. What nobody looks after any more is
    /// dropped; evictions that are out go on.
    pub fn obey(
        &mut self,
        policies: Policies,
        cluster: &mut Cluster,
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        self.policies = policies;
        let deferred: Vec<PodId> =
            cluster.pods.iter().filter(|(_, row)| row.pod.deferred()).map(|(id, _)| id).collect();
        for id in deferred {
            let Some(row) = cluster.pods.get(id) else { continue };
            self.dirty.extend(row.node);
            let (uid, charged) = (row.pod.id.uid.clone(), self.policies.in_charge(&row.pod));
            let same = self
                .entries
                .get(&uid)
                .is_none_or(|entry| Some(&entry.profile) == charged.map(|(name, _)| name));
            if !same && let Some(entry) = self.drop_entry(cluster, &uid) {
                orders.push(Order::Dropped { pod: entry.pod });
            }
            self.follow(cluster, id, now, orders);
        }
    }

    /// Every entry, in the order of UIDs.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Something on this node changed: its entries are judged again.
    pub fn touch(&mut self, node: NodeId) {
        self.dirty.insert(node);
    }

    /// Some budget changed: whoever was blocked by one is judged again, and whose best set within budgets was too
    /// large or too slow.
    pub fn touch_blocked_by_budgets(&mut self) {
        let blocked = |entry: &&Entry| {
            let reason = entry.state.as_ref().map(|(reason, _)| *reason);
            matches!(reason, Some(Reason::BlockedByPdb | Reason::GraceTooLong | Reason::LimitReached))
        };
        self.dirty.extend(self.entries.values().filter(blocked).map(|entry| entry.node));
    }

    /// A namespace's labels changed: whoever `preemptors` left out is judged again.
    pub fn touch_excluded(&mut self) {
        let excluded = |entry: &&Entry| matches!(&entry.state, Some((Reason::NotAllowed, _)));
        self.dirty.extend(self.entries.values().filter(excluded).map(|entry| entry.node));
    }

    /// When something here wants to be looked at next.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.wakes.first().map(|(at, _)| *at)
    }

    /// Follows a Pod after its row changed: an entry begins, goes on or ends.
    pub fn follow(&mut self, cluster: &mut Cluster, id: PodId, now: Timestamp, orders: &mut Vec<Order>) {
        let Some(row) = cluster.pods.get(id) else { return };
        let pending = row.pod.resize.as_ref().is_some_and(|c| c.status && c.reason == "Deferred");
        let profile = self.policies.in_charge(&row.pod).map(|(name, _)| name.clone());
        let node = row.node.filter(|_| pending && row.pod.deletion.is_none()).zip(profile);
        let uid = row.pod.id.uid.clone();
        match (self.entries.get_mut(&uid), node) {
            (Some(entry), Some(_)) => entry.follow(row, now),
            (None, Some((node, profile))) => {
                let name = cluster.nodes.row(node).node.name.clone();
                self.entries.insert(uid, Entry::new((id, row), (node, name), profile, now));
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
        let Some(entry) = self.drop_entry(cluster, uid) else { return };
        orders.push(Order::Ended {
            pod: entry.pod,
            profile: entry.profile,
            outcome,
            preempted: entry.preempted,
            since: entry.since,
            waited: now - entry.since,
        });
    }

    fn drop_entry(&mut self, cluster: &mut Cluster, uid: &Str) -> Option<Entry> {
        let entry = self.entries.remove(uid)?;
        self.touch(entry.node);
        if let Stage::Checking(calls) = &entry.stage {
            self.spare(cluster, &calls.victims);
        }
        Some(entry)
    }

    /// Gives victims back, and their budgets to whoever waits for one.
    pub(super) fn spare(&mut self, cluster: &mut Cluster, victims: &[PodRef]) {
        let mut refunded = false;
        for victim in victims {
            refunded |= cluster.spare(&victim.uid);
        }
        if refunded {
            self.touch_blocked_by_budgets();
        }
    }

    /// Judges what was touched or is due.
    pub fn run(&mut self, cluster: &mut Cluster, now: Timestamp, orders: &mut Vec<Order>) {
        self.run_looks(now, orders);
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
        let order: Vec<PodId> = View::read(cluster, node).pending.iter().map(|one| one.pod).collect();
        for (place, id) in order.iter().enumerate() {
            let followers = order.get(place + 1..).unwrap_or_default();
            let Some(verdict) = self.verdict(cluster, node, *id, followers, now) else { continue };
            self.act(cluster, *id, verdict, now, orders);
        }
        self.hold_claims(cluster, node, orders);
    }

    /// What is true of one resize, if an entry of ours is parked for it.
    pub(super) fn verdict(
        &self,
        cluster: &mut Cluster,
        node: NodeId,
        id: PodId,
        followers: &[PodId],
        now: Timestamp,
    ) -> Option<Verdict> {
        let first = self.member(cluster, id, now)?;
        let followers: Vec<Member<'_>> =
            followers.iter().filter_map(|id| self.member(cluster, *id, now)).collect();
        let view = View::read(cluster, node);
        Some(judge_together(cluster, &view, node, first, &followers))
    }

    /// The Pod with what counts for it, if an entry of ours is parked for it.
    fn member(&self, cluster: &Cluster, id: PodId, now: Timestamp) -> Option<Member<'_>> {
        let entry = self.entries.get(&cluster.pods.get(id)?.pod.id.uid)?;
        matches!(entry.stage, Stage::Parked).then_some(())?;
        Some((id, self.terms(entry, now)?))
    }

    /// What counts for an entry now.
    pub fn terms(&self, entry: &Entry, now: Timestamp) -> Option<Terms<'_>> {
        let policy = self.policies.named(&entry.profile)?;
        let pace = policy.max_evictions_per_minute.map(|most| self.recent.left(&entry.profile, most, now));
        Some(Terms { policy, counted_from: entry.counted_from, now, pace })
    }

    fn act(
        &mut self,
        cluster: &mut Cluster,
        id: PodId,
        verdict: Verdict,
        now: Timestamp,
        orders: &mut Vec<Order>,
    ) {
        let Some(row) = cluster.pods.get(id) else { return };
        let uid = row.pod.id.uid.clone();
        let Some(entry) = self.entries.get(&uid) else { return };
        let last = self.terms(entry, now).and_then(|terms| fallback::due(&row.pod, &terms));
        let Some(entry) = self.entries.get_mut(&uid) else { return };
        let node = entry.node;
        let (reason, mut message) = match verdict {
            Verdict::Unread => {
                entry.fits = None;
                return;
            }
            Verdict::State { reason, message, wake, overdue } => {
                self.wakes.extend(wake.map(|at| (at, node)));
                for victim in overdue {
                    if !entry.overdue.contains(&victim) {
                        entry.overdue.push(victim.clone());
                        let (pod, node) = (entry.pod.clone(), entry.node_name.clone());
                        orders.push(Order::Overdue { pod, victim, node });
                    }
                }
                heed_kubelet(entry, cluster, reason, message, now, &mut self.wakes)
            }
            Verdict::Evict { victims, forced, exact, message } => {
                entry.fits = None;
                match entry.not_before.filter(|at| *at > now) {
                    Some(at) => {
                        self.wakes.insert((at, node));
                        put_off(entry, at)
                    }
                    None => {
                        self.plans += 1;
                        let calls = (victims.as_slice(), forced.as_slice());
                        if begin(entry, cluster, calls, self.plans, now, orders) {
                            self.recent.note(&entry.profile, victims.len(), now);
                            tell(entry, cluster, (Reason::Preempting, message), now, orders, &mut self.wakes);
                            orders.push(entry.preempting(victims, exact));
                        }
                        return;
                    }
                }
            }
        };
        match last.filter(|_| fallback::applies(reason)) {
            Some(at) if at > now => {
                self.wakes.insert((at, node));
            }
            Some(_) => match entry.not_before.filter(|at| *at > now) {
                Some(at) => {
                    self.wakes.insert((at, node));
                    message = text::own_eviction_refused(&message, entry.refusal.as_deref(), at);
                }
                None => {
                    self.plans += 1;
                    let own = [entry.pod.clone()];
                    if !begin(entry, cluster, (&own, &[]), self.plans, now, orders) {
                        // Its budget is read first, and until that says yes nothing has changed.
                        return;
                    }
                    message = text::evicting_itself(&message);
                    entry.announced = None;
                }
            },
            None => {}
        }
        tell(entry, cluster, (reason, message), now, orders, &mut self.wakes);
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
}

//! The queue of Deferred resizes: who is in it, what wakes it, and what is evicted.
//!
//! Invariant: a parked entry costs nothing; only what happens on its own node, a budget, or its own timer wakes it.

use super::Reason;
use super::entry::{Entry, Stage};
use super::execution::{Look, begin};
use super::judge::judge;
use super::kubelet::View;
use super::orders::{Order, Outcome, Verdict};
use super::policy::{Mode, ResizePolicy};
use super::telling::{heed_kubelet, put_off, tell};
use crate::cluster::{Cluster, NodeId, PodId};
use crate::model::{Pod, PodRef, Str, Timestamp};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// All Deferred resizes that are ours.
#[derive(Debug)]
pub struct Queue {
    pub(super) policies: FxHashMap<Str, ResizePolicy>,
    pub(super) entries: BTreeMap<Str, Entry>,
    pub(super) dirty: BTreeSet<NodeId>,
    pub(super) wakes: BTreeSet<(Timestamp, NodeId)>,
    /// Evictions whose outcome is unknown.
    pub(super) looks: Vec<Look>,
    /// Number of the plan begun last.
    pub(super) plans: u64,
}

impl Queue {
    /// A queue for these profiles.
    pub fn new(policies: FxHashMap<Str, ResizePolicy>) -> Self {
        Self {
            policies,
            entries: BTreeMap::new(),
            dirty: BTreeSet::new(),
            wakes: BTreeSet::new(),
            looks: Vec::new(),
            plans: 0,
        }
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
            self.spare(cluster, &calls.victims);
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
                            self.plans += 1;
                            if begin(entry, cluster, &victims, self.plans, now, orders) {
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
}

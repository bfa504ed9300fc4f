//! The best of the sets that are enough: the search, asked about one node as its kubelet reads it.
//!
//! Invariant: a set counts only if, with it gone, the kubelet would allocate the resize and those it is planned
//! together with.

use super::eligible::{Lower, payer};
use super::kubelet::{Room, View};
use super::search::{Answer, Candidate, DEFAULT_EFFORT, Problem, Shortage, Victims, best_set};
use crate::cluster::{Amounts, BudgetKey, Cluster, PodId, PodRow};

/// Sets that are enough for these resizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quest<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) view: &'a View,
    /// The growing Pod.
    pub(super) preemptor: PodId,
    /// Resizes that the kubelet serves before it and that must be granted as well.
    pub(super) company: &'a [PodId],
}

/// Which sets are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    pub(super) budgets: Heed<'a>,
    /// Most victims.
    pub(super) cap: Option<usize>,
}

/// Which budgets are kept to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Heed<'a> {
    All,
    AllBut(&'a BudgetKey),
    None,
}

impl Heed<'_> {
    fn applies(self, key: &BudgetKey) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(relaxed) => key != relaxed,
            Self::None => false,
        }
    }
}

/// A set that is enough.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) victims: Vec<PodId>,
    pub(super) exact: bool,
}

/// Priorities from the highest down: the order of these lists is the order of victim counts by priority.
pub(super) fn weight(cluster: &Cluster, victims: &[PodId]) -> Vec<i32> {
    let priority = |id: &PodId| cluster.pods.get(*id).map(|row| row.pod.priority);
    let mut priorities: Vec<i32> = victims.iter().filter_map(priority).collect();
    priorities.sort_unstable_by(|a, b| b.cmp(a));
    priorities
}

impl Quest<'_> {
    /// The best set among these Pods.
    pub(super) fn best(&self, pods: &[&Lower<'_>], bounds: Bounds<'_>) -> Option<Found> {
        let found = self.best_of(pods, bounds)?;
        let in_gang = |id: &PodId| self.cluster.pods.get(*id).is_some_and(|row| row.pod.gang.is_some());
        if !found.victims.iter().any(in_gang) {
            return Some(found);
        }
        // One member's end is the end of what the whole gang does: of sets with the same counts, one without.
        let alone: Vec<&Lower<'_>> = pods.iter().copied().filter(|one| !in_gang(&one.id)).collect();
        let other = self.best_of(&alone, bounds).filter(|other| self.weigh(other) == self.weigh(&found));
        Some(other.unwrap_or(found))
    }

    fn best_of(&self, pods: &[&Lower<'_>], bounds: Bounds<'_>) -> Option<Found> {
        let own = self.view.of(self.preemptor)?;
        let later = &self.view.free_later;
        let gone: Vec<PodId> = pods.iter().map(|one| one.id).collect();
        let everything = room_without(later, pods.iter().map(|one| one.row));
        let all_served = self.view.grants(&everything, &gone);
        // First with those before us in the order that fit already; then, since room we free may serve more of
        // them, with all that could.
        let near = own.shortage(&self.view.room_at_turn(later, self.preemptor));
        let mut room = later.clone();
        for other in self.view.pending.iter().take_while(|one| one.pod != self.preemptor) {
            if all_served.contains(&other.pod) {
                room.add(&other.growth, -1);
            }
        }
        let far = own.shortage(&room);
        let first = self.cover(pods, bounds, &near);
        if near == far {
            return first;
        }
        let second = self.cover(pods, bounds, &far);
        [first, second].into_iter().flatten().min_by_key(|found| self.weigh(found))
    }

    fn weigh(&self, found: &Found) -> Vec<i32> {
        weight(self.cluster, &found.victims)
    }

    fn cover(&self, pods: &[&Lower<'_>], bounds: Bounds<'_>, shortage: &Amounts) -> Option<Found> {
        let cluster = self.cluster;
        let node = cluster.pods.get(self.preemptor)?.node?;
        let allocatable = |id| cluster.nodes.allocatable().get(id, node.index());
        let shortages: Vec<Shortage> = shortage
            .iter()
            .map(|(id, missing)| Shortage { missing, allocatable: allocatable(id).max(1) })
            .collect();
        let mut budgets: Vec<BudgetKey> = Vec::new();
        let mut kinds: Vec<(&Amounts, Option<PodId>)> = Vec::new();
        let candidates: Vec<Candidate> = pods
            .iter()
            .map(|Lower { id, row, .. }| Candidate {
                priority: row.pod.priority,
                frees: shortage.iter().map(|(id, _)| row.charge.held.get(id)).collect(),
                start: row.pod.started,
                uid: row.pod.id.uid.clone(),
                budget: payer(cluster, row)
                    .filter(|key| bounds.budgets.applies(key))
                    .map(|key| place(&mut budgets, key)),
                // To the kubelet two neighbours are alike when they hold the same and neither waits to grow.
                kind: place(&mut kinds, (&row.charge.held, self.view.of(*id).map(|own| own.pod))) as u32,
            })
            .collect();
        let left: Vec<i64> = budgets.iter().map(|key| cluster.budgets.left(key)).collect();
        let problem = Problem {
            shortages: &shortages,
            candidates: &candidates,
            budgets: &left,
            max_victims: bounds.cap,
            effort: DEFAULT_EFFORT,
        };
        let chosen = |indices: &[usize]| -> Vec<&Lower<'_>> {
            indices.iter().filter_map(|at| pods.get(*at).copied()).collect()
        };
        let granted = |indices: &[usize]| {
            let victims = chosen(indices);
            let gone: Vec<PodId> = victims.iter().map(|one| one.id).collect();
            let room = room_without(&self.view.free_later, victims.iter().map(|one| one.row));
            let granted = self.view.grants(&room, &gone);
            granted.contains(&self.preemptor) && self.company.iter().all(|one| granted.contains(one))
        };
        let Answer::Victims(Victims { indices, exact, .. }) = best_set(&problem, granted) else {
            return None;
        };
        Some(Found { victims: chosen(&indices).into_iter().map(|one| one.id).collect(), exact })
    }
}

fn room_without<'a>(room: &Room, pods: impl Iterator<Item = &'a PodRow>) -> Room {
    let mut room = room.clone();
    pods.for_each(|row| room.add(&row.charge.held, 1));
    room
}

fn place<T: PartialEq>(known: &mut Vec<T>, one: T) -> usize {
    if let Some(at) = known.iter().position(|other| *other == one) {
        return at;
    }
    known.push(one);
    known.len() - 1
}

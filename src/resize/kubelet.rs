//! A node as its kubelet will read it when it next looks at the resizes it has deferred.
//!
//! Invariant: neighbours count at what they hold, never at what they wish for; a wish counts only once it is granted
//! (`pkg/kubelet/allocation/allocation_manager.go`).

use super::said::Said;
use crate::cluster::{Amounts, Cluster, NodeId, PodId, PodRow, ResourceId};
use crate::model::taint::{TaintEffect, tolerated};
use crate::model::{Pod, Timestamp};
use std::cmp::Reverse;

/// What is free on a node, resource by resource; negative where the node is over its limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Room(Vec<i64>);

impl Room {
    /// What is free of one resource.
    pub fn get(&self, id: ResourceId) -> i64 {
        self.0.get(id.index()).copied().unwrap_or(0)
    }

    /// Adds `sign` times the amounts.
    pub fn add(&mut self, amounts: &Amounts, sign: i64) {
        for (id, amount) in amounts.iter() {
            if self.0.len() <= id.index() {
                self.0.resize(id.index() + 1, 0);
            }
            if let Some(cell) = self.0.get_mut(id.index()) {
                *cell = cell.saturating_add(amount.saturating_mul(sign));
            }
        }
    }
}

/// A Deferred resize that the kubelet will try again.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The Pod.
    pub pod: PodId,
    /// What it needs of each resource beyond what it holds now.
    pub growth: Amounts,
    desired: Amounts,
    held: Amounts,
    /// Something other than room is in its way.
    pub obstacle: Option<Obstacle>,
}

impl Pending {
    /// What is missing of each resource with this much room. A resource that the Pod asks for and the node is
    /// short of counts even when the Pod does not grow in it: the kubelet checks all that is requested.
    pub fn shortage(&self, room: &Room) -> Amounts {
        let missing = |(id, want): (ResourceId, i64)| {
            let free = room.get(id).saturating_add(self.held.get(id));
            (id, want.saturating_sub(free).max(0))
        };
        self.desired.iter().map(missing).collect()
    }

    fn fits(&self, room: &Room) -> bool {
        self.obstacle.is_none() && self.shortage(room).is_empty()
    }
}

/// What the kubelet checks again besides room (`pkg/kubelet/lifecycle/predicate.go`). Cordon and `NoSchedule`
/// taints are not among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Node labels no longer meet nodeSelector or required node affinity.
    NodeAffinity,
    /// A `NoExecute` taint is not tolerated.
    Taint,
    /// Another Pod has one of its host ports.
    HostPort,
    /// The kubelet refuses for its own reasons: pressure, shutdown.
    Refused,
}

/// One node, as its kubelet reads it.
#[derive(Clone, Debug)]
pub struct View {
    /// Allocatable minus what every Pod holds.
    pub free: Room,
    /// The same, with what is leaving already gone.
    pub free_later: Room,
    /// Deferred resizes, in the order in which the kubelet tries them.
    pub pending: Vec<Pending>,
}

impl View {
    /// Reads `node` from the tables.
    pub fn read(cluster: &Cluster, node: NodeId) -> Self {
        let row = cluster.nodes.row(node);
        let mut free = Room::default();
        let allocatable = cluster.nodes.allocatable();
        for id in (0..cluster.resources.len()).map(ResourceId) {
            free.add(&[(id, allocatable.get(id, node.index()))].into_iter().collect(), 1);
        }
        let pods = || row.pods.iter().filter_map(|id| cluster.pods.get(*id));
        pods().for_each(|pod| free.add(&pod.charge.held, -1));
        let mut free_later = free.clone();
        pods().filter(|pod| pod.releasing()).for_each(|pod| free_later.add(&pod.charge.held, 1));
        Self { free, free_later, pending: pending(cluster, node) }
    }

    /// Which of the pending resizes are granted with this much room, `without` being gone: all are tried in
    /// order, and one that does not fit does not hold up the next. What a grant gives up is not free until it is
    /// in force, so only growth is taken off.
    pub fn grants(&self, room: &Room, without: &[PodId]) -> Vec<PodId> {
        let mut room = room.clone();
        let mut granted = Vec::new();
        for one in self.pending.iter().filter(|one| !without.contains(&one.pod)) {
            if one.fits(&room) {
                room.add(&one.growth, -1);
                granted.push(one.pod);
            }
        }
        granted
    }

    /// The room that is left for `pod` once those before it in the order have been served.
    pub fn room_at_turn(&self, room: &Room, pod: PodId) -> Room {
        let mut room = room.clone();
        for one in self.pending.iter().take_while(|one| one.pod != pod) {
            if one.fits(&room) {
                room.add(&one.growth, -1);
            }
        }
        room
    }

    /// The pending resize of one Pod.
    pub fn of(&self, pod: PodId) -> Option<&Pending> {
        self.pending.iter().find(|one| one.pod == pod)
    }
}

/// The kubelet's list: no growth first, then higher priority, then Guaranteed, then longest waiting.
fn pending(cluster: &Cluster, node: NodeId) -> Vec<Pending> {
    let row = cluster.nodes.row(node);
    let mut waiting: Vec<(PodId, &PodRow)> = row
        .deferred
        .iter()
        .filter_map(|id| Some((*id, cluster.pods.get(*id)?)))
        .filter(|(_, pod)| !pod.releasing() && pod.pod.resize.as_ref().is_some_and(|c| c.status))
        .collect();
    waiting.sort_by_key(|(_, row)| order(row));
    let on_node = |(id, row): (PodId, &PodRow)| Pending {
        pod: id,
        growth: row.charge.desired.above(&row.charge.held),
        desired: row.charge.desired.clone(),
        held: row.charge.held.clone(),
        obstacle: obstacle(cluster, node, id, &row.pod),
    };
    waiting.into_iter().map(on_node).collect()
}

type Order<'a> = (bool, Reverse<i32>, Reverse<bool>, Timestamp, &'a str);

fn order(row: &PodRow) -> Order<'_> {
    let growth = row.charge.desired.above(&row.charge.held);
    let grows = growth.get(ResourceId::CPU) > 0 || growth.get(ResourceId::MEMORY) > 0;
    let guaranteed = row.pod.qos == crate::model::pod::Qos::Guaranteed;
    let since = row.pod.resize.as_ref().and_then(|c| c.since).unwrap_or(Timestamp(i64::MAX));
    (grows, Reverse(row.pod.priority), Reverse(guaranteed), since, &row.pod.id.uid)
}

fn obstacle(cluster: &Cluster, node: NodeId, id: PodId, pod: &Pod) -> Option<Obstacle> {
    let row = cluster.nodes.row(node);
    if !pod.placement.accepts(&row.node.name, &row.node.labels) {
        return Some(Obstacle::NodeAffinity);
    }
    let harsh = |taint: &&crate::model::taint::Taint| taint.effect == TaintEffect::NoExecute;
    if row.node.taints.iter().filter(harsh).any(|taint| !tolerated(&pod.placement.tolerations, taint)) {
        return Some(Obstacle::Taint);
    }
    let others = row.pods.iter().filter(|other| **other != id).filter_map(|other| cluster.pods.get(*other));
    let clash = |other: &PodRow| other.pod.ports.iter().any(|a| pod.ports.iter().any(|b| a.clashes(b)));
    if !pod.ports.is_empty() && others.into_iter().any(clash) {
        return Some(Obstacle::HostPort);
    }
    let said = pod.resize.as_ref().map(|condition| Said::parse(&condition.message));
    (said == Some(Said::Refusal)).then_some(Obstacle::Refused)
}

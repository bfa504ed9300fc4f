//! A Deferred resize as people need to see it: the room on its node, and why each neighbour goes or stays.
//!
//! Invariant: this reads what `judge` reads and decides nothing; facts, no prose.

use super::kubelet::{Obstacle, View};
use super::policy::{Protect, ResizePolicy};
use super::victims::payer;
use crate::cluster::{BudgetKey, Cluster, NodeId, PodId, PodRow, ResourceId};
use crate::model::pod::Phase;
use crate::model::{Pod, PodRef, Span, Str, Timestamp};

/// One resource of the node, as its kubelet counts it for this resize. Milli-CPU, bytes or whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The resource.
    pub resource: ResourceId,
    /// What the node has in all.
    pub allocatable: i64,
    /// What the other Pods hold, those that leave included.
    pub others: i64,
    /// What of that is leaving.
    pub leaving: i64,
    /// What Deferred resizes take that the kubelet tries before this one.
    pub before: i64,
    /// What the Pod asks for in all.
    pub asks: i64,
    /// What is missing once everybody who leaves is gone; 0 when it is enough.
    pub short: i64,
}

impl Room {
    /// What is left for the Pod, its own part included; negative where the node is over its limit.
    pub fn left(&self) -> i64 {
        self.allocatable - self.others + self.leaving - self.before
    }
}

/// Which rule of `protect` covers a Pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtectedBy {
    /// `namespaces`.
    Namespace,
    /// `labelSelector`.
    Labels,
    /// `annotations`: this one.
    Annotation(Str),
    /// `daemonSets`.
    DaemonSet,
    /// `unmanaged`.
    Unmanaged,
}

/// Why a neighbour goes or stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It is chosen.
    Victim,
    /// It is leaving already.
    Leaving,
    /// It could go and does not have to; the budget that would pay for it, if any.
    Spared(Option<BudgetKey>),
    /// Its budget allows no eviction now.
    Budget(BudgetKey),
    /// Several budgets cover it: the Eviction API refuses whatever they allow.
    Overlap(Vec<BudgetKey>),
    /// The policy protects it.
    Protected(ProtectedBy),
    /// It is younger than `minVictimAge`.
    Young,
    /// Its grace period would end after the deadline.
    Grace,
    /// A mirror of a static Pod.
    Mirror,
    /// Its priority is the same or higher.
    Priority,
}

/// A Deferred resize and its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Every resource that the Pod asks for and that grows or is short, in order.
    pub room: Vec<Room>,
    /// Deferred resizes that the kubelet tries before this one, in its order.
    pub before: Vec<PodId>,
    /// What is in the way besides room.
    pub obstacle: Option<Obstacle>,
    /// Everybody else on the node: by standing, then by priority from the lowest, then by name.
    pub others: Vec<(PodId, Standing)>,
}

impl Picture {
    /// Draws it for the Deferred resize of `id`; `victims` are those that were chosen. `None` if the Pod has no
    /// node or no Deferred resize.
    pub fn draw(
        cluster: &Cluster,
        id: PodId,
        policy: &ResizePolicy,
        victims: &[PodRef],
        now: Timestamp,
    ) -> Option<Self> {
        let row = cluster.pods.get(id)?;
        let node = row.node?;
        let view = View::read(cluster, node);
        let own = view.of(id)?;
        let turn = view.room_at_turn(&view.free_later, id);
        let short = own.shortage(&turn);
        let room = row.charge.desired.iter().map(|(resource, asks)| {
            let allocatable = cluster.nodes.allocatable().get(resource, node.index());
            let held = row.charge.held.get(resource);
            Room {
                resource,
                allocatable,
                others: allocatable - view.free.get(resource) - held,
                leaving: view.free_later.get(resource) - view.free.get(resource),
                before: view.free_later.get(resource) - turn.get(resource),
                asks,
                short: short.get(resource),
            }
        });
        let matters = |room: &Room| room.short > 0 || own.growth.get(room.resource) > 0;
        let earlier = view.pending.iter().map(|one| one.pod).take_while(|one| *one != id);
        Some(Self {
            room: room.filter(matters).collect(),
            before: earlier.collect(),
            obstacle: own.obstacle,
            others: standings(cluster, node, (id, row), policy, victims, now),
        })
    }
}

fn standings(
    cluster: &Cluster,
    node: NodeId,
    (id, growing): (PodId, &PodRow),
    policy: &ResizePolicy,
    victims: &[PodRef],
    now: Timestamp,
) -> Vec<(PodId, Standing)> {
    let ids = cluster.nodes.row(node).pods.iter().filter(|other| **other != id);
    let rows = ids.filter_map(|other| Some((*other, cluster.pods.get(*other)?)));
    let ends = policy.deadline.and_then(|span| Some(growing.pod.resize.as_ref()?.since? + span));
    let mut list: Vec<(PodId, &PodRow, Standing)> = rows
        .map(|(other, row)| {
            let chosen = victims.iter().any(|victim| victim.uid == row.pod.id.uid);
            let standing =
                if chosen { Standing::Victim } else { standing(cluster, growing, row, policy, ends, now) };
            (other, row, standing)
        })
        .collect();
    list.sort_by(|(_, a, why_a), (_, b, why_b)| {
        let key = |row: &PodRow| (row.pod.priority, row.pod.id.namespace.clone(), row.pod.id.name.clone());
        why_a.cmp(why_b).then_with(|| key(a).cmp(&key(b)))
    });
    list.into_iter().map(|(id, _, standing)| (id, standing)).collect()
}

fn standing(
    cluster: &Cluster,
    growing: &PodRow,
    row: &PodRow,
    policy: &ResizePolicy,
    ends: Option<Timestamp>,
    now: Timestamp,
) -> Standing {
    let pod = &row.pod;
    if row.releasing() {
        return Standing::Leaving;
    }
    if pod.mirror {
        return Standing::Mirror;
    }
    if pod.priority >= growing.pod.priority {
        return Standing::Priority;
    }
    if let Some(rule) = protected_by(&policy.protect, pod) {
        return Standing::Protected(rule);
    }
    if policy.min_victim_age > Span::default() && now - pod.started.unwrap_or(now) < policy.min_victim_age {
        return Standing::Young;
    }
    if ends.is_some_and(|ends| now + pod.grace > ends) {
        return Standing::Grace;
    }
    let covering = cluster.budgets.covering(&pod.id.namespace, &pod.labels);
    if pod.phase != Phase::Pending && covering.len() > 1 {
        let key = |budget: &&crate::model::Budget| (budget.namespace.clone(), budget.name.clone());
        return Standing::Overlap(covering.iter().map(key).collect());
    }
    match payer(cluster, row) {
        Some(key) if cluster.budgets.left(&key) == 0 => Standing::Budget(key),
        payer => Standing::Spared(payer),
    }
}

/// The first rule of `protect` that covers the Pod; `None` exactly when [`Protect::covers`] is false.
fn protected_by(protect: &Protect, pod: &Pod) -> Option<ProtectedBy> {
    if !protect.covers(pod) {
        return None;
    }
    if protect.namespaces.contains(&pod.id.namespace) {
        return Some(ProtectedBy::Namespace);
    }
    if protect.label_selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels)) {
        return Some(ProtectedBy::Labels);
    }
    let annotation = protect.annotations.iter().find(|(key, value)| pod.annotations.get(key) == Some(value));
    if let Some((key, _)) = annotation {
        return Some(ProtectedBy::Annotation(key.clone()));
    }
    Some(if pod.controller.is_some() { ProtectedBy::DaemonSet } else { ProtectedBy::Unmanaged })
}

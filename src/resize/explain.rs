//! A Deferred resize as people need to see it: the room on its node, and why each neighbour goes or stays.
//!
//! Invariant: this reads what `judge` reads and decides nothing; facts, no prose.

use super::eligible::{self, payer};
use super::kubelet::{Obstacle, View};
use super::policies::Terms;
use super::policy::Protection;
use crate::cluster::{BudgetKey, Cluster, NodeId, PodId, PodRow, ResourceId};
use crate::model::PodRef;

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

/// Why a neighbour goes or stays. [`eligible::Standing`] says what is so before anybody is chosen.
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
    Protected(Protection),
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
    pub fn draw(cluster: &Cluster, id: PodId, terms: &Terms<'_>, victims: &[PodRef]) -> Option<Self> {
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
            others: standings(cluster, node, id, terms, victims),
        })
    }
}

fn standings(
    cluster: &Cluster,
    node: NodeId,
    growing: PodId,
    terms: &Terms<'_>,
    victims: &[PodRef],
) -> Vec<(PodId, Standing)> {
    let ids = cluster.nodes.row(node).pods.iter();
    let rows = ids.filter_map(|id| Some((*id, cluster.pods.get(*id)?)));
    let mut list: Vec<(PodId, &PodRow, Standing)> = rows
        .filter_map(|(id, row)| {
            let chosen = victims.iter().any(|victim| victim.uid == row.pod.id.uid);
            let standing =
                if chosen { Standing::Victim } else { standing(cluster, (id, row), growing, terms)? };
            Some((id, row, standing))
        })
        .collect();
    list.sort_by(|(_, a, why_a), (_, b, why_b)| {
        let key = |row: &PodRow| (row.pod.priority, row.pod.id.namespace.clone(), row.pod.id.name.clone());
        why_a.cmp(why_b).then_with(|| key(a).cmp(&key(b)))
    });
    list.into_iter().map(|(id, _, standing)| (id, standing)).collect()
}

/// Why one that was not chosen stays; `None` for the growing Pod itself, and for one that nobody has bound yet.
fn standing(
    cluster: &Cluster,
    (id, row): (PodId, &PodRow),
    growing: PodId,
    terms: &Terms<'_>,
) -> Option<Standing> {
    use eligible::Standing as Before;
    Some(match eligible::standing(cluster, id, row, growing, terms) {
        Before::Itself | Before::Unconfirmed => return None,
        Before::Eligible => match payer(cluster, row) {
            Some(key) if cluster.budgets.left(&key) == 0 => Standing::Budget(key),
            payer => Standing::Spared(payer),
        },
        Before::Leaving => Standing::Leaving,
        Before::Outranks => Standing::Priority,
        Before::Mirror => Standing::Mirror,
        Before::Protected(rule) => Standing::Protected(rule),
        Before::Overlapped(keys) => Standing::Overlap(keys),
        Before::GraceTooLong => Standing::Grace,
    })
}

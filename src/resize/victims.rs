//! Who may go for a resize, and whether that can be enough.
//!
//! Invariant: a Pod of equal or higher priority, a protected one, or one that a budget keeps, is in no plan.

use super::kubelet::{Room, View};
use super::policy::ResizePolicy;
use super::search::{Answer, Candidate, DEFAULT_EFFORT, Problem, Shortage, Victims, best_set};
use crate::cluster::{Amounts, BudgetKey, Cluster, NodeId, PodId, PodRow};
use crate::model::pod::Phase;

/// A set of Pods whose leaving lets the kubelet allocate the resize.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Who goes.
    pub victims: Vec<PodId>,
    /// Whether no better set exists, or the search was cut short.
    pub exact: bool,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// All Pods of lower priority together are not enough.
    Victims,
    /// Enough only with Pods that the policy protects.
    Protection,
    /// Enough only with Pods that these budgets keep.
    Budgets(Vec<BudgetKey>),
}

/// Finds the best plan for `preemptor` on `node`.
pub fn plan(
    cluster: &Cluster,
    view: &View,
    node: NodeId,
    preemptor: PodId,
    policy: &ResizePolicy,
) -> Result<Plan, Lack> {
    let Some(row) = cluster.pods.get(preemptor) else { return Err(Lack::Victims) };
    let lower = lower_priority(cluster, node, row.pod.priority);
    let (protected, open): (Vec<_>, Vec<_>) =
        lower.iter().copied().partition(|(_, pod)| policy.protect.covers(&pod.pod));
    let (overlapped, eligible): (Vec<_>, Vec<_>) =
        open.iter().copied().partition(|(_, pod)| overlap(cluster, pod));

    let search = |pods: &[(PodId, &PodRow)], heed: bool| attempt(cluster, view, preemptor, pods, heed);
    if let Some(plan) = search(&eligible, true) {
        return Ok(plan);
    }
    if search(&open, false).is_some() {
        return Err(Lack::Budgets(binding_budgets(cluster, &eligible, &overlapped)));
    }
    let enough_with_protected = !protected.is_empty() && search(&lower, false).is_some();
    Err(if enough_with_protected { Lack::Protection } else { Lack::Victims })
}

/// Pods on the node that rank below `priority` and could be evicted at all: not those that leave anyway, nor
/// mirrors of static Pods, nor those whose binding the API has not confirmed.
fn lower_priority(cluster: &Cluster, node: NodeId, priority: i32) -> Vec<(PodId, &PodRow)> {
    let rows = cluster.nodes.row(node).pods.iter().filter_map(|id| Some((*id, cluster.pods.get(*id)?)));
    rows.filter(|(_, row)| row.pod.priority < priority && !row.releasing() && !row.pod.mirror && !row.assumed)
        .collect()
}

/// Two budgets over one running Pod: the Eviction API answers 500 whatever they allow.
fn overlap(cluster: &Cluster, row: &PodRow) -> bool {
    row.pod.phase != Phase::Pending
        && cluster.budgets.covering(&row.pod.id.namespace, &row.pod.labels).len() > 1
}

/// The budget that evicting this Pod would spend from.
pub fn payer(cluster: &Cluster, row: &PodRow) -> Option<BudgetKey> {
    let budgets = cluster.budgets.covering(&row.pod.id.namespace, &row.pod.labels);
    let payer = budgets.into_iter().find(|budget| budget.charges(&row.pod))?;
    Some((payer.namespace.clone(), payer.name.clone()))
}

fn attempt(
    cluster: &Cluster,
    view: &View,
    preemptor: PodId,
    pods: &[(PodId, &PodRow)],
    heed_budgets: bool,
) -> Option<Plan> {
    let own = view.of(preemptor)?;
    let gone: Vec<PodId> = pods.iter().map(|(id, _)| *id).collect();
    let everything = room_without(&view.free_later, pods.iter().map(|(_, row)| *row));
    let all_served = view.grants(&everything, &gone);
    // First with those before us in the order that fit already; then, since room we free may serve more of them,
    // with all that could.
    let near = own.shortage(&view.room_at_turn(&view.free_later, preemptor));
    let mut room = view.free_later.clone();
    for other in view.pending.iter().take_while(|one| one.pod != preemptor) {
        if all_served.contains(&other.pod) {
            room.add(&other.growth, -1);
        }
    }
    let far = own.shortage(&room);
    let first = cover(cluster, view, preemptor, pods, heed_budgets, &near);
    if near == far {
        return first;
    }
    let second = cover(cluster, view, preemptor, pods, heed_budgets, &far);
    [first, second].into_iter().flatten().min_by_key(|plan| weight(cluster, plan))
}

/// Priorities from the highest down: the order of these lists is the order of victim counts by priority.
fn weight(cluster: &Cluster, plan: &Plan) -> Vec<i32> {
    let priority = |id: &PodId| cluster.pods.get(*id).map(|row| row.pod.priority);
    let mut priorities: Vec<i32> = plan.victims.iter().filter_map(priority).collect();
    priorities.sort_unstable_by(|a, b| b.cmp(a));
    priorities
}

fn cover(
    cluster: &Cluster,
    view: &View,
    preemptor: PodId,
    pods: &[(PodId, &PodRow)],
    heed_budgets: bool,
    shortage: &Amounts,
) -> Option<Plan> {
    let node = cluster.pods.get(preemptor)?.node?;
    let allocatable = |id| cluster.nodes.allocatable().get(id, node.index());
    let shortages: Vec<Shortage> = shortage
        .iter()
        .map(|(id, missing)| Shortage { missing, allocatable: allocatable(id).max(1) })
        .collect();
    let mut budgets: Vec<BudgetKey> = Vec::new();
    let mut kinds: Vec<(&Amounts, Option<PodId>)> = Vec::new();
    let candidates: Vec<Candidate> = pods
        .iter()
        .map(|(id, row)| Candidate {
            priority: row.pod.priority,
            frees: shortage.iter().map(|(id, _)| row.charge.held.get(id)).collect(),
            start: row.pod.started,
            uid: row.pod.id.uid.clone(),
            budget: payer(cluster, row).filter(|_| heed_budgets).map(|key| place(&mut budgets, key)),
            // To the kubelet two neighbours are alike when they hold the same and neither waits to grow.
            kind: place(&mut kinds, (&row.charge.held, view.of(*id).map(|own| own.pod))) as u32,
        })
        .collect();
    let left: Vec<i64> = budgets.iter().map(|key| cluster.budgets.left(key)).collect();
    let problem = Problem {
        shortages: &shortages,
        candidates: &candidates,
        budgets: &left,
        max_victims: None,
        effort: DEFAULT_EFFORT,
    };
    let chosen = |indices: &[usize]| -> Vec<(PodId, &PodRow)> {
        indices.iter().filter_map(|at| pods.get(*at).copied()).collect()
    };
    let granted = |indices: &[usize]| {
        let victims = chosen(indices);
        let gone: Vec<PodId> = victims.iter().map(|(id, _)| *id).collect();
        let room = room_without(&view.free_later, victims.iter().map(|(_, row)| *row));
        view.grants(&room, &gone).contains(&preemptor)
    };
    let Answer::Victims(Victims { indices, exact, .. }) = best_set(&problem, granted) else { return None };
    Some(Plan { victims: chosen(&indices).into_iter().map(|(id, _)| id).collect(), exact })
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

/// Budgets that keep somebody: those that allow fewer evictions than they cover Pods here, and those that overlap.
fn binding_budgets(
    cluster: &Cluster,
    eligible: &[(PodId, &PodRow)],
    overlapped: &[(PodId, &PodRow)],
) -> Vec<BudgetKey> {
    let mut covered: Vec<BudgetKey> = eligible.iter().filter_map(|(_, row)| payer(cluster, row)).collect();
    covered.sort();
    let mut named: Vec<BudgetKey> = covered
        .chunk_by(|a, b| a == b)
        .filter_map(|same| Some((same.first()?, i64::try_from(same.len()).unwrap_or(i64::MAX))))
        .filter(|(key, count)| cluster.budgets.left(key) < *count)
        .map(|(key, _)| key.clone())
        .collect();
    for (_, row) in overlapped {
        let both = cluster.budgets.covering(&row.pod.id.namespace, &row.pod.labels);
        named.extend(both.iter().map(|budget| (budget.namespace.clone(), budget.name.clone())));
    }
    named.sort();
    named.dedup();
    named
}

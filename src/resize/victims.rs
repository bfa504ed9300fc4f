//! Whom to evict for a resize, or why nobody.
//!
//! Invariant: a Pod of equal or higher priority, a protected one, one whose grace period outlasts the deadline,
//! or, under `Strict`, one that a budget keeps, is in no plan.

use super::eligible::{Lower, budgets_of, lower, payer};
use super::enough::{Bounds, Found, Heed, Quest};
use super::kubelet::View;
use super::policies::Terms;
use super::policy::{PdbPolicy, Protection};
use crate::cluster::{Amounts, BudgetKey, Cluster, NodeId, PodId};
use crate::model::Timestamp;

/// A set of Pods whose leaving lets the kubelet allocate the resize.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Who goes.
    pub victims: Vec<PodId>,
    /// Those of them that no budget allows: they are deleted, for the policy says BestEffort.
    pub forced: Vec<PodId>,
    /// Whether no better set exists, or the search was cut short.
    pub exact: bool,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// All Pods of lower priority together are not enough; this is what they hold of what is short.
    Victims(Amounts),
    /// Enough only with Pods that these rules protect, each with how many it keeps of the best such set.
    Protection(Vec<(Protection, usize)>),
    /// Enough only with Pods that budgets keep.
    Budgets {
        /// Which.
        keys: Vec<BudgetKey>,
        /// Two of them cover one Pod: the Eviction API refuses that whatever they allow.
        overlap: bool,
    },
    /// Enough only with these, whose grace period ends after the deadline.
    Grace(Vec<PodId>),
    /// Enough only beyond a limit.
    Limit(Limit),
}

/// A limit that stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `maxVictims`.
    Victims {
        /// How many would have to go.
        needed: usize,
        /// The limit.
        most: u32,
    },
    /// `maxEvictingPerNode`.
    PerNode {
        /// How many would have to go.
        needed: usize,
        /// How many evicted Pods are leaving the node already.
        leaving: usize,
        /// The limit.
        most: u32,
    },
    /// `maxEvictionsPerMinute`.
    PerMinute {
        /// How many would have to go.
        needed: usize,
        /// The limit.
        most: u32,
        /// When there is room for one more; `None`: there never is for so many.
        again: Option<Timestamp>,
    },
}

/// Finds the best plan for `preemptor` on `node`. The resizes in `company`, which the kubelet serves before it, must
/// be granted as well.
pub fn plan(
    cluster: &Cluster,
    view: &View,
    node: NodeId,
    (preemptor, company): (PodId, &[PodId]),
    terms: &Terms<'_>,
) -> Result<Plan, Lack> {
    let lower = lower(cluster, node, preemptor, terms);
    let with =
        |wanted: &dyn Fn(&Lower<'_>) -> bool| lower.iter().filter(|one| wanted(one)).collect::<Vec<_>>();
    let quest = Quest { cluster, view, preemptor, company };
    let search = |pods: &[&Lower<'_>], budgets, cap| quest.best(pods, Bounds { budgets, cap });

    let eligible = with(&|one| one.eligible());
    let cap = widest(terms);
    if let Some(found) = search(&eligible, Heed::All, cap) {
        return within_limits(cluster, node, found, Vec::new(), terms);
    }
    // In the order of the reasons: what keeps all that are left after the rule before it.
    let Some(least) = search(&with(&|_| true), Heed::None, None) else {
        return Err(Lack::Victims(lower.iter().flat_map(|one| one.row.charge.held.iter()).collect()));
    };
    let open = with(&|one| one.protection.is_none());
    if search(&open, Heed::None, None).is_none() {
        return Err(Lack::Protection(rules(&lower, &least)));
    }
    let payable = with(&|one| one.protection.is_none() && !one.overlap);
    let Some(patient) = search(&payable, Heed::All, None) else {
        let quick = with(&|one| one.protection.is_none() && !one.too_long);
        return match terms.policy.pdb_policy {
            PdbPolicy::BestEffort => match beyond_budgets(&quest, &quick, cap) {
                Some((found, forced)) => within_limits(cluster, node, found, forced, terms),
                None => Err(binding_budgets(cluster, &open)),
            },
            PdbPolicy::Strict => Err(binding_budgets(cluster, &open)),
        };
    };
    match search(&eligible, Heed::All, None) {
        Some(found) => Err(Lack::Limit(standing_limit(found.victims.len(), terms))),
        None => {
            let late = |id: &PodId| lower.iter().any(|one| one.id == *id && one.too_long);
            Err(Lack::Grace(patient.victims.into_iter().filter(late).collect()))
        }
    }
}

/// The most victims that any time allows. What is used up for the moment only makes the best set wait.
fn widest(terms: &Terms<'_>) -> Option<usize> {
    let policy = terms.policy;
    let limits = [policy.max_victims, policy.max_evicting_per_node, policy.max_evictions_per_minute];
    limits.into_iter().flatten().min().and_then(|most| usize::try_from(most).ok())
}

/// The limit that never allows so many.
fn standing_limit(needed: usize, terms: &Terms<'_>) -> Limit {
    let policy = terms.policy;
    let below = |most: &u32| (*most as usize) < needed;
    if let Some(most) = policy.max_victims.filter(below) {
        Limit::Victims { needed, most }
    } else if let Some(most) = policy.max_evicting_per_node.filter(below) {
        Limit::PerNode { needed, leaving: 0, most }
    } else {
        Limit::PerMinute { needed, most: policy.max_evictions_per_minute.unwrap_or_default(), again: None }
    }
}

fn within_limits(
    cluster: &Cluster,
    node: NodeId,
    found: Found,
    forced: Vec<PodId>,
    terms: &Terms<'_>,
) -> Result<Plan, Lack> {
    let needed = found.victims.len();
    let rows = cluster.nodes.row(node).pods.iter().filter_map(|id| cluster.pods.get(*id));
    let leaving = rows.filter(|row| row.evicted()).count();
    if let Some(most) = terms.policy.max_evicting_per_node.filter(|most| leaving + needed > *most as usize) {
        return Err(Lack::Limit(Limit::PerNode { needed, leaving, most }));
    }
    if let (Some(most), Some(pace)) = (terms.policy.max_evictions_per_minute, terms.pace)
        && needed > pace.left as usize
    {
        return Err(Lack::Limit(Limit::PerMinute { needed, most, again: Some(pace.again) }));
    }
    Ok(Plan { victims: found.victims, forced, exact: found.exact })
}

/// The best set that goes beyond budgets, and those of it that no budget allows: one budget is broken rather than
/// several. Pods of one budget that it still allows are evicted, the rest is deleted.
fn beyond_budgets(quest: &Quest<'_>, pods: &[&Lower<'_>], cap: Option<usize>) -> Option<(Found, Vec<PodId>)> {
    let cluster = quest.cluster;
    let simple: Vec<&Lower<'_>> = pods.iter().copied().filter(|one| !one.overlap).collect();
    let mut keys: Vec<BudgetKey> = simple.iter().filter_map(|one| payer(cluster, one.row)).collect();
    keys.sort();
    keys.dedup();
    let one_broken = keys
        .iter()
        .filter_map(|key| quest.best(&simple, Bounds { budgets: Heed::AllBut(key), cap }))
        .min_by_key(|found| super::enough::weight(cluster, &found.victims));
    let found = one_broken.or_else(|| quest.best(pods, Bounds { budgets: Heed::None, cap }))?;
    let mut left: Vec<(BudgetKey, i64)> =
        keys.into_iter().map(|key| (key.clone(), cluster.budgets.left(&key))).collect();
    let mut forced = Vec::new();
    for one in pods.iter().filter(|one| found.victims.contains(&one.id)) {
        let payer = payer(cluster, one.row);
        let unit = left.iter_mut().find(|(key, units)| Some(key) == payer.as_ref() && *units > 0);
        match (payer.is_some(), unit) {
            _ if one.overlap => forced.push(one.id),
            (true, None) => forced.push(one.id),
            (true, Some((_, units))) => *units -= 1,
            (false, _) => {}
        }
    }
    Some((found, forced))
}

/// The rules that keep members of a set, with how many each keeps.
fn rules(lower: &[Lower<'_>], set: &Found) -> Vec<(Protection, usize)> {
    let kept = lower.iter().filter(|one| set.victims.contains(&one.id));
    let mut rules: Vec<Protection> = kept.filter_map(|one| one.protection.clone()).collect();
    rules.sort();
    rules.chunk_by(|a, b| a == b).filter_map(|same| Some((same.first()?.clone(), same.len()))).collect()
}

/// Budgets that keep somebody: those that allow fewer evictions than they cover Pods here, and those that overlap.
fn binding_budgets(cluster: &Cluster, open: &[&Lower<'_>]) -> Lack {
    let simple = open.iter().filter(|one| !one.overlap);
    let mut covered: Vec<BudgetKey> = simple.filter_map(|one| payer(cluster, one.row)).collect();
    covered.sort();
    let mut named: Vec<BudgetKey> = covered
        .chunk_by(|a, b| a == b)
        .filter_map(|same| Some((same.first()?, i64::try_from(same.len()).unwrap_or(i64::MAX))))
        .filter(|(key, count)| cluster.budgets.left(key) < *count)
        .map(|(key, _)| key.clone())
        .collect();
    let overlapped = open.iter().filter(|one| one.overlap);
    named.extend(overlapped.flat_map(|one| budgets_of(cluster, one.row)));
    named.sort();
    named.dedup();
    Lack::Budgets { keys: named, overlap: open.iter().any(|one| one.overlap) }
}

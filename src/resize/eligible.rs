//! Who on a node could go for a growing Pod, and which rule keeps the others.
//!
//! Invariant: only a Pod of strictly lower priority, that the API could evict, is ever in this list.

use super::policies::Terms;
use super::policy::Protection;
use crate::cluster::{BudgetKey, Cluster, NodeId, PodId, PodRow};
use crate::model::Timestamp;
use crate::model::pod::Phase;

/// A Pod that ranks below the growing one, with all that speaks against its eviction.
#[derive(Clone, Debug)]
pub struct Lower<'a> {
    /// Its row's id.
    pub id: PodId,
    /// Its row.
    pub row: &'a PodRow,
    /// The rule of the policy that keeps it.
    pub protection: Option<Protection>,
    /// Several budgets cover it: the Eviction API answers 500 whatever they allow.
    pub overlap: bool,
    /// Its grace period may end after the deadline.
    pub too_long: bool,
}

impl Lower<'_> {
    /// Whether nothing but its budget, if it has one, can keep it.
    pub fn eligible(&self) -> bool {
        self.protection.is_none() && !self.overlap && !self.too_long
    }
}

/// Where one Pod of the node stands towards a growing one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It could go.
    Eligible,
    /// It is the growing Pod.
    Itself,
    /// Its priority is the same or higher.
    Outranks,
    /// It is on its way out already.
    Leaving,
    /// It mirrors a static Pod: deleting it does nothing.
    Mirror,
    /// Its binding is not confirmed by the API yet.
    Unconfirmed,
    /// A rule of the policy keeps it.
    Protected(Protection),
    /// These budgets cover it, and the Eviction API refuses a Pod with more than one.
    Overlapped(Vec<BudgetKey>),
    /// Its grace period ends after the deadline.
    GraceTooLong,
}

/// Where a Pod stands towards the growing Pod `growing`.
pub fn standing(cluster: &Cluster, id: PodId, row: &PodRow, growing: PodId, terms: &Terms<'_>) -> Standing {
    let outranks = cluster.pods.get(growing).is_none_or(|own| row.pod.priority >= own.pod.priority);
    if id == growing {
        Standing::Itself
    } else if row.releasing() {
        Standing::Leaving
    } else if outranks {
        Standing::Outranks
    } else if row.pod.mirror {
        Standing::Mirror
    } else if row.assumed {
        Standing::Unconfirmed
    } else if let Some(rule) = terms.policy.protects(&row.pod, terms.now) {
        Standing::Protected(rule)
    } else if overlap(cluster, row) {
        Standing::Overlapped(budgets_of(cluster, row))
    } else if terms.outlasts(row.pod.grace) {
        Standing::GraceTooLong
    } else {
        Standing::Eligible
    }
}

/// The Pods on `node` that rank below `growing` and could be evicted at all: not those that leave anyway, nor
/// mirrors of static Pods, nor those whose binding the API has not confirmed.
pub fn lower<'a>(cluster: &'a Cluster, node: NodeId, growing: PodId, terms: &Terms<'_>) -> Vec<Lower<'a>> {
    let ids = cluster.nodes.row(node).pods.iter();
    let members = ids.filter_map(|id| Some((*id, cluster.pods.get(*id)?)));
    members
        .filter_map(|(id, row)| {
            let standing = standing(cluster, id, row, growing, terms);
            let protection = match standing {
                Standing::Eligible | Standing::Overlapped(_) | Standing::GraceTooLong => None,
                Standing::Protected(rule) => Some(rule),
                _ => return None,
            };
            let (overlap, too_long) = (overlap(cluster, row), terms.outlasts(row.pod.grace));
            Some(Lower { id, row, protection, overlap, too_long })
        })
        .collect()
}

/// When the next Pod on `node` becomes old enough to go for `growing`.
pub fn next_grown(cluster: &Cluster, node: NodeId, growing: PodId, terms: &Terms<'_>) -> Option<Timestamp> {
    let lower = lower(cluster, node, growing, terms);
    let grown = lower.iter().filter_map(|one| match one.protection {
        Some(Protection::Young(at)) => Some(at),
        _ => None,
    });
    grown.min()
}

/// Two budgets over one running Pod.
fn overlap(cluster: &Cluster, row: &PodRow) -> bool {
    row.pod.phase != Phase::Pending
        && cluster.budgets.covering(&row.pod.id.namespace, &row.pod.labels).len() > 1
}

/// Every budget that covers the Pod.
pub fn budgets_of(cluster: &Cluster, row: &PodRow) -> Vec<BudgetKey> {
    let covering = cluster.budgets.covering(&row.pod.id.namespace, &row.pod.labels);
    covering.iter().map(|budget| (budget.namespace.clone(), budget.name.clone())).collect()
}

/// The budget that evicting this Pod would spend from.
pub fn payer(cluster: &Cluster, row: &PodRow) -> Option<BudgetKey> {
    let budgets = cluster.budgets.covering(&row.pod.id.namespace, &row.pod.labels);
    let payer = budgets.into_iter().find(|budget| budget.charges(&row.pod))?;
    Some((payer.namespace.clone(), payer.name.clone()))
}

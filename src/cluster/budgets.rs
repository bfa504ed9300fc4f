//! The table of PodDisruptionBudgets, and what we have spent of them.
//!
//! Invariant: a unit that one of our evictions takes counts from the moment it is asked for until the budget's
//! own status shows it, so that two plans never spend it twice.

use crate::model::{Budget, Labels, Pod, Span, Str, Timestamp};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A budget by namespace and name.
pub type BudgetKey = (Str, Str);

/// An eviction of ours that a budget pays for.
#[derive(Clone, Debug, PartialEq)]
struct Spent {
    pod_name: Str,
    pod_uid: Str,
    at: Timestamp,
}

#[derive(Debug, Default)]
struct Row {
    budget: Budget,
    spent: Vec<Spent>,
    epoch: u32,
}

/// All budgets.
#[derive(Debug, Default)]
pub struct Budgets {
    rows: BTreeMap<BudgetKey, Row>,
    epoch: u32,
}

/// After this the API server itself forgets an eviction that was counted but never seen
/// (disruption controller, `DeletionTimeout`).
const FORGET_AFTER: Span = Span::from_seconds(120);

impl Budgets {
    /// The budgets that cover a Pod, by key.
    pub fn covering<'a>(&'a self, namespace: &Str, labels: &Labels) -> SmallVec<[&'a Budget; 2]> {
        let from = (namespace.clone(), Str::default());
        self.rows
            .range(from..)
            .take_while(|((ns, _), _)| ns == namespace)
            .filter(|(_, row)| row.budget.covers(namespace, labels))
            .map(|(_, row)| &row.budget)
            .collect()
    }

    /// The budget of that key.
    pub fn get(&self, key: &BudgetKey) -> Option<&Budget> {
        self.rows.get(key).map(|row| &row.budget)
    }

    /// What may still be spent of a budget, our own spending taken off.
    pub fn left(&self, key: &BudgetKey) -> i64 {
        self.rows.get(key).map_or(0, |row| {
            let unseen = row.spent.iter().filter(|one| !row.budget.counts(&one.pod_name)).count();
            (i64::from(row.budget.allowance()) - i64::try_from(unseen).unwrap_or(i64::MAX)).max(0)
        })
    }

    /// Counts an eviction of `pod` against every budget that it costs.
    pub(super) fn spend(&mut self, pod: &Pod, now: Timestamp) {
        for ((namespace, _), row) in &mut self.rows {
            if *namespace == pod.id.namespace
                && row.budget.covers(&pod.id.namespace, &pod.labels)
                && row.budget.charges(pod)
                && row.spent.iter().all(|one| one.pod_uid != pod.id.uid)
            {
                let (pod_name, pod_uid) = (pod.id.name.clone(), pod.id.uid.clone());
                row.spent.push(Spent { pod_name, pod_uid, at: now });
            }
        }
    }

    /// Takes back what was counted for an eviction that did not happen. True if anything was.
    pub(super) fn refund(&mut self, pod_uid: &str) -> bool {
        let mut refunded = false;
        for row in self.rows.values_mut() {
            let before = row.spent.len();
            row.spent.retain(|one| one.pod_uid != *pod_uid);
            refunded |= row.spent.len() != before;
        }
        refunded
    }

    /// Folds in a budget. `gone` tells whether a Pod is out of the table: then a status that does not name it
    /// is newer than its eviction, not older.
    pub(super) fn apply(&mut self, budget: Budget, now: Timestamp, gone: impl Fn(&str) -> bool) -> bool {
        let row = self.rows.entry((budget.namespace.clone(), budget.name.clone())).or_default();
        let before = row.spent.len();
        row.spent.retain(|one| {
            !budget.counts(&one.pod_name) && !gone(&one.pod_uid) && now - one.at < FORGET_AFTER
        });
        row.epoch = self.epoch;
        let changed = row.budget != budget || row.spent.len() != before;
        row.budget = budget;
        changed
    }

    pub(super) fn remove(&mut self, namespace: &Str, name: &Str) -> bool {
        self.rows.remove(&(namespace.clone(), name.clone())).is_some()
    }

    pub(super) fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// The list holds this budget, if it is known.
    pub(super) fn keep(&mut self, namespace: &Str, name: &Str) {
        if let Some(row) = self.rows.get_mut(&(namespace.clone(), name.clone())) {
            row.epoch = self.epoch;
        }
    }

    /// Drops what the list just ended did not hold; true if there was any.
    pub(super) fn sweep(&mut self) -> bool {
        let before = self.rows.len();
        let epoch = self.epoch;
        self.rows.retain(|_, row| row.epoch == epoch);
        self.rows.len() != before
    }
}

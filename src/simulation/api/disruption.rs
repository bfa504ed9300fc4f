//! PodDisruptionBudgets and the controller that keeps their status (`pkg/controller/disruption`).
//!
//! Invariant: a budget whose manifest or step gives `status.disruptionsAllowed` is pinned: only evictions change that
//! number. All others are counted anew [`SETTLING`] after a change, so their status can be behind for a moment.

use super::eviction::covers;
use super::{Api, Change, Refusal, not_found};
use crate::model::{Span, Timestamp};
use crate::simulation::objects::{Key, PodExt, timestamp};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::collections::{BTreeMap, BTreeSet};

/// How long the controller takes to react.
pub const SETTLING: Span = Span::from_millis(50);

/// An eviction that nothing came of is forgotten after this.
const DISRUPTED_FOR: Span = Span::from_seconds(120);

/// What the controller keeps between counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pinned: BTreeSet<Key>,
    /// The most Pods a budget ever covered: stands for the scale of their controllers, which are not simulated.
    scale: BTreeMap<Key, i32>,
}

impl Api {
    /// Creates or replaces a budget. A new spec raises the generation, so that its status is behind until counted.
    pub fn apply_budget(&mut self, mut budget: PodDisruptionBudget) {
        budget.metadata.namespace.get_or_insert_with(|| "default".to_owned());
        let key = Key::of(&budget.metadata);
        let old = self.budgets.get(&key);
        let generation = match old {
            Some(old) if old.spec == budget.spec => old.metadata.generation.unwrap_or(1),
            Some(old) => old.metadata.generation.unwrap_or(1) + 1,
            None => 1,
        };
        let uid = old.and_then(|old| old.metadata.uid.clone());
        budget.metadata.generation = Some(generation);
        budget.metadata.uid = Some(uid.unwrap_or_else(|| self.uid()));
        match budget.status.as_mut() {
            Some(status) => {
                status.observed_generation.get_or_insert(generation);
                self.disruption.pinned.insert(key);
            }
            None => {
                budget.status = self.budgets.get(&key).and_then(|old| old.status.clone());
                self.disruption.pinned.remove(&key);
            }
        }
        self.store_budget(budget);
    }

    /// Deletes a budget.
    ///
    /// # Errors
    /// 404.
    pub fn delete_budget(&mut self, key: &Key) -> Result<(), Refusal> {
        let budget =
            self.budgets.remove(key).ok_or_else(|| not_found("poddisruptionbudgets.policy", &key.name))?;
        self.disruption.pinned.remove(key);
        self.disruption.scale.remove(key);
        self.journal.push(Change::BudgetGone(Box::new(budget)));
        Ok(())
    }

    /// Counts all budgets anew. Returns when an unconfirmed eviction runs out, if any is left.
    pub fn count_budgets(&mut self, now: Timestamp) -> Option<Timestamp> {
        let mut again: Option<Timestamp> = None;
        for (key, mut budget) in self.budgets.clone() {
            let pods: Vec<&Pod> = self
                .pods
                .iter()
                .filter(|(at, pod)| at.namespace == key.namespace && covers(&budget, pod) && !pod.finished())
                .map(|(_, pod)| pod)
                .collect();
            let mut disrupted =
                budget.status.as_ref().and_then(|s| s.disrupted_pods.clone()).unwrap_or_default();
            // Confirmed once the Pod is going or gone.
            disrupted.retain(|name, since| {
                let waits = pods.iter().any(|pod| pod.key().name == *name && !pod.leaving());
                waits && now < timestamp(since) + DISRUPTED_FOR
            });
            for since in disrupted.values() {
                let ends = timestamp(since) + DISRUPTED_FOR;
                again = Some(again.map_or(ends, |other| other.min(ends)));
            }
            let healthy = pods
                .iter()
                .filter(|pod| pod.ready() && !pod.leaving() && !disrupted.contains_key(&pod.key().name))
                .count();
            let healthy = i32::try_from(healthy).unwrap_or(i32::MAX);
            let covered = i32::try_from(pods.len()).unwrap_or(i32::MAX);
            let scale = self.disruption.scale.entry(key.clone()).or_default();
            *scale = covered.max(*scale);
            let (expected, desired) = goals(&budget, covered, *scale);
            let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
            let generation = budget.metadata.generation;
            let status = budget.status.get_or_insert_default();
            status.disrupted_pods = Some(disrupted).filter(|list| !list.is_empty());
            if !self.disruption.pinned.contains(&key) {
                *status = PodDisruptionBudgetStatus {
                    observed_generation: generation,
                    expected_pods: Some(expected),
                    desired_healthy: Some(desired),
                    current_healthy: Some(healthy),
                    disruptions_allowed: Some(allowed),
                    disrupted_pods: status.disrupted_pods.clone(),
                    conditions: None,
                };
            }
            self.store_budget(budget);
        }
        again
    }

    /// Stores a budget, if it differs.
    pub(super) fn store_budget(&mut self, budget: PodDisruptionBudget) {
        let key = Key::of(&budget.metadata);
        if self.budgets.get(&key) != Some(&budget) {
            self.journal.push(Change::Budget(Box::new(budget.clone())));
            self.budgets.insert(key, budget);
        }
    }
}

/// Expected and desired healthy Pods: an integer minAvailable counts what is there, everything else the scale.
fn goals(budget: &PodDisruptionBudget, covered: i32, scale: i32) -> (i32, i32) {
    let Some(spec) = budget.spec.as_ref() else { return (covered, 0) };
    match (&spec.max_unavailable, &spec.min_available) {
        (Some(limit), _) => (scale, (scale - scaled(limit, scale)).max(0)),
        (None, Some(IntOrString::Int(least))) => (covered, *least),
        (None, Some(share)) => (scale, scaled(share, scale)),
        (None, None) => (covered, 1),
    }
}

/// A number, or a percentage of `whole`, rounded up. What cannot be read is zero.
fn scaled(value: &IntOrString, whole: i32) -> i32 {
    match value {
        IntOrString::Int(number) => *number,
        IntOrString::String(text) => {
            let percent =
                text.strip_suffix('%').and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
            let product = percent.saturating_mul(i64::from(whole));
            i32::try_from(product.saturating_add(99).div_euclid(100)).unwrap_or(i32::MAX)
        }
    }
}

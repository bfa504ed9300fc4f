//! The Eviction API (`pkg/registry/core/pod/storage/eviction.go`).
//!
//! Invariant: a unit of a budget is spent before the UID is checked, as the real server does; callers feel it.

use super::lifecycle::uid_conflict;
use super::{Api, Refusal, not_found};
use crate::model::Timestamp;
use crate::simulation::objects::{Key, PodExt, condition, time};
use k8s_openapi::api::core::v1::{Pod, PodCondition};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// More unconfirmed evictions than this and the server takes no more.
const MAX_DISRUPTED: usize = 2000;

impl Api {
    /// Evicts a Pod, or only asks.
    ///
    /// # Errors
    /// 404; 409 for another UID; 429 when the budget is used up or (`retryAfterSeconds` 10) its status is behind;
    /// 403 when its status makes no sense; 500 when two budgets cover the Pod.
    pub fn evict_pod(&mut self, now: Timestamp, key: &Key, uid: &str, dry_run: bool) -> Result<(), Refusal> {
        let pod = self.pods.get(key).cloned().ok_or_else(|| not_found("pods", &key.name))?;
        let exempt = pod.phase() == "Pending" || pod.finished() || pod.leaving();
        if !exempt {
            let mut covering = self
                .budgets
                .iter()
                .filter(|(at, budget)| at.namespace == key.namespace && covers(budget, &pod));
            let budget = covering.next().map(|(at, budget)| (at.clone(), budget.clone()));
            if covering.next().is_some() {
                let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does \
                            not support.";
                return Err(Refusal::new(500, text));
            }
            if let Some((at, budget)) = budget {
                self.spend(now, &pod, &at, budget, dry_run)?;
            }
        }
        if pod.uid() != uid {
            return Err(uid_conflict(key, uid, pod.uid()));
        }
        if dry_run {
            return Ok(());
        }
        if !exempt {
            let target = PodCondition {
                observed_generation: Some(pod.generation()),
                ..condition("DisruptionTarget", true, "EvictionByEvictionAPI", "Eviction API: evicting")
            };
            self.patch_condition(now, key, uid, "DisruptionTarget", Some(target))?;
        }
        self.delete_pod(now, key, Some(uid), None)
    }

    /// Checks the budget and takes one unit of it.
    fn spend(
        &mut self,
        now: Timestamp,
        pod: &Pod,
        at: &Key,
        mut budget: PodDisruptionBudget,
        dry_run: bool,
    ) -> Result<(), Refusal> {
        let spec = budget.spec.clone().unwrap_or_default();
        let generation = budget.metadata.generation.unwrap_or_default();
        let status = budget.status.get_or_insert_default();
        let desired = status.desired_healthy.unwrap_or_default();
        let current = status.current_healthy.unwrap_or_default();
        if !pod.ready() {
            let always = spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow");
            let healthy = desired > 0 && current >= desired;
            if always || healthy {
                return Ok(());
            }
        }
        let refuse =
            |code, message: String, retry_after| Err(Refusal { code, message, budget: true, retry_after });
        let violates = "Cannot evict pod as it would violate the pod's disruption budget.";
        if status.observed_generation.unwrap_or_default() < generation {
            let text = format!(
                "{violates} The disruption budget {} is still being processed by the server.",
                at.name
            );
            return refuse(429, text, Some(10));
        }
        let allowed = status.disruptions_allowed.unwrap_or_default();
        if allowed < 0 {
            return refuse(403, format!("{}: pdb disruptions allowed is negative", at.name), None);
        }
        if status.disrupted_pods.as_ref().is_some_and(|list| list.len() > MAX_DISRUPTED) {
            let text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
            return refuse(403, format!("{}: {text}", at.name), None);
        }
        if allowed == 0 {
            let text = format!(
                "{violates} The disruption budget {} needs {} healthy pods and has {} currently",
                at.name, desired, current
            );
            return refuse(429, text, None);
        }
        if dry_run {
            return Ok(());
        }
        status.disruptions_allowed = Some(allowed - 1);
        status.disrupted_pods.get_or_insert_default().insert(pod.key().name, time(now));
        self.store_budget(budget);
        Ok(())
    }
}

/// Whether a budget covers a Pod of its namespace. No selector covers nothing, an empty one everything.
pub(super) fn covers(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let Some(selector) = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref()) else { return false };
    let none = std::collections::BTreeMap::new();
    matches(selector, pod.metadata.labels.as_ref().unwrap_or(&none))
}

fn matches(selector: &LabelSelector, labels: &std::collections::BTreeMap<String, String>) -> bool {
    let exact = selector.match_labels.iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    exact
        && selector.match_expressions.iter().flatten().all(|one| {
            let value = labels.get(&one.key);
            let listed = value.is_some_and(|value| one.values.iter().flatten().any(|each| each == value));
            match one.operator.as_str() {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

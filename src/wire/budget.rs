//! A PodDisruptionBudget on the wire.
//!
//! Invariant: what it allows is read from its status alone; `minAvailable` is the controller's business, and only
//! told to people.

use super::lenient::or_default;
use super::metadata;
use super::selector::LabelSelector;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::core::ObjectMeta;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A PodDisruptionBudget with the fields that decisions read.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = k8s_openapi::api::policy::v1::PodDisruptionBudget)]
pub struct Budget {
    #[serde(deserialize_with = "metadata::slim")]
    pub(super) metadata: ObjectMeta,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) spec: BudgetSpec,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) status: BudgetStatus,
}

impl Budget {
    /// What its spec demands, as written: `minAvailable 80%`; empty where it demands nothing.
    pub fn demand(&self) -> String {
        let told = |name: &str, value: &IntOrString| match value {
            IntOrString::Int(number) => format!("{name} {number}"),
            IntOrString::String(text) => format!("{name} {text}"),
        };
        let least = self.spec.min_available.as_ref().map(|value| told("minAvailable", value));
        let most = self.spec.max_unavailable.as_ref().map(|value| told("maxUnavailable", value));
        least.or(most).unwrap_or_default()
    }

    /// How many Pods it should cover, as its controller counts: `status.expectedPods`.
    pub fn expected_pods(&self) -> i32 {
        self.status.expected_pods.unwrap_or_default()
    }

    /// Why its controller cannot compute it, if it says so.
    pub fn sync_failed(&self) -> Option<&str> {
        let failed = self.status.conditions.iter().find(|one| one.reason == "SyncFailed");
        failed.map(|condition| condition.message.as_str())
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct BudgetSpec {
    pub(super) selector: Option<LabelSelector>,
    min_available: Option<IntOrString>,
    max_unavailable: Option<IntOrString>,
    pub(super) unhealthy_pod_eviction_policy: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct BudgetStatus {
    pub(super) observed_generation: Option<i64>,
    pub(super) disruptions_allowed: Option<i32>,
    pub(super) current_healthy: Option<i32>,
    pub(super) desired_healthy: Option<i32>,
    #[serde(deserialize_with = "or_default")]
    pub(super) disrupted_pods: BTreeMap<String, Time>,
    expected_pods: Option<i32>,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<BudgetCondition>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct BudgetCondition {
    #[serde(deserialize_with = "or_default")]
    reason: String,
    #[serde(deserialize_with = "or_default")]
    message: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::{Value, json};

    fn budget(spec: Value, status: Value) -> Budget {
        serde_json::from_value(json!({"metadata": {"name": "b"}, "spec": spec, "status": status})).unwrap()
    }

    #[test]
    fn its_demand_is_told_as_it_is_written() {
        assert_eq!(budget(json!({"minAvailable": "80%"}), json!({})).demand(), "minAvailable 80%");
        assert_eq!(budget(json!({"maxUnavailable": 0}), json!({})).demand(), "maxUnavailable 0");
        assert_eq!(budget(json!({}), json!({})).demand(), "");
    }

    #[test]
    fn a_controller_that_cannot_compute_it_says_why() {
        let condition = json!({"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed",
                               "message": "no scale"});
        let failed = budget(json!({}), json!({"expectedPods": 3, "conditions": [condition]}));
        assert_eq!((failed.sync_failed(), failed.expected_pods()), (Some("no scale"), 3));
        let condition = json!({"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods"});
        assert_eq!(budget(json!({}), json!({"conditions": [condition]})).sync_failed(), None);
    }
}

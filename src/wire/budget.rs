//! A PodDisruptionBudget on the wire.
//!
//! Invariant: what it allows is read from its status alone; `minAvailable` is the controller's business.

use super::lenient::or_default;
use super::metadata;
use super::selector::LabelSelector;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
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

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct BudgetSpec {
    pub(super) selector: Option<LabelSelector>,
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
}

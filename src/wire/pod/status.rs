//! `status` of a Pod.
//!
//! Invariant: a resource list that is absent stays apart from one that is empty.

use crate::wire::amounts::{Amounts, Resources};
use crate::wire::lenient::or_default;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct PodStatus {
    pub(in crate::wire) phase: Option<String>,
    pub(in crate::wire) qos_class: Option<String>,
    pub(in crate::wire) start_time: Option<Time>,
    pub(in crate::wire) observed_generation: Option<i64>,
    pub(in crate::wire) nominated_node_name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) conditions: Vec<PodCondition>,
    pub(in crate::wire) allocated_resources: Option<Amounts>,
    pub(in crate::wire) resources: Option<Resources>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) container_statuses: Vec<ContainerStatus>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) init_container_statuses: Vec<ContainerStatus>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct PodCondition {
    #[serde(rename = "type")]
    pub(in crate::wire) kind: String,
    pub(in crate::wire) status: String,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) reason: String,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) message: String,
    pub(in crate::wire) observed_generation: Option<i64>,
    pub(in crate::wire) last_transition_time: Option<Time>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct ContainerStatus {
    pub(in crate::wire) name: String,
    pub(in crate::wire) allocated_resources: Option<Amounts>,
    pub(in crate::wire) resources: Option<Resources>,
}

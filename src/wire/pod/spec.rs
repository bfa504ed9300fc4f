//! `spec` of a Pod.
//!
//! Invariant: what the API server defaults is read as it stands, not defaulted a second time.

use super::{Affinity, SpreadConstraint, Toleration, Volume};
use crate::wire::amounts::{Amounts, Resources};
use crate::wire::lenient::or_default;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct PodSpec {
    pub(in crate::wire) scheduler_name: Option<String>,
    pub(in crate::wire) node_name: Option<String>,
    pub(in crate::wire) priority: Option<i32>,
    pub(in crate::wire) preemption_policy: Option<String>,
    pub(in crate::wire) termination_grace_period_seconds: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) scheduling_gates: Vec<IgnoredAny>,
    pub(in crate::wire) scheduling_group: Option<SchedulingGroup>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) resource_claims: Vec<Named>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) node_selector: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) affinity: Affinity,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) topology_spread_constraints: Vec<SpreadConstraint>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) volumes: Vec<Volume>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) init_containers: Vec<Container>,
    pub(in crate::wire) resources: Option<Resources>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) overhead: Amounts,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct Named {
    pub(in crate::wire) name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct Container {
    pub(in crate::wire) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) resources: Resources,
    pub(in crate::wire) restart_policy: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) ports: Vec<Port>,
}

/// The gang that a Pod is one of.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct SchedulingGroup {
    pub(in crate::wire) pod_group_name: Option<String>,
}

impl Container {
    /// Whether an init container with this restart policy is a sidecar.
    pub(in crate::wire) fn restarts_always(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct Port {
    #[serde(rename = "hostIP")]
    pub(in crate::wire) host_ip: Option<String>,
    pub(in crate::wire) host_port: Option<i32>,
    pub(in crate::wire) protocol: Option<String>,
}

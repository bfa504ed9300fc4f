//! A PriorityClass on the wire.
//!
//! Invariant: no decision rests on it; `check` alone reads it.

use super::metadata;
use kube::core::ObjectMeta;
use serde::Deserialize;

/// A PriorityClass.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = k8s_openapi::api::scheduling::v1::PriorityClass)]
#[serde(rename_all = "camelCase")]
pub struct PriorityClass {
    #[serde(deserialize_with = "metadata::slim")]
    metadata: ObjectMeta,
    /// Its priority.
    #[serde(default)]
    pub value: i32,
    /// Whether Pods that name no class get it.
    #[serde(default)]
    pub global_default: Option<bool>,
    /// `Never` or `PreemptLowerPriority`; missing is the latter.
    #[serde(default)]
    pub preemption_policy: Option<String>,
}

impl PriorityClass {
    /// Its name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }
}

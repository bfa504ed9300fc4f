//! A Node on the wire.
//!
//! Invariant: of its conditions only `Ready` counts, of its policy only who forbids preemption for resizes.

use super::amounts::Amounts;
use super::lenient::or_default;
use super::metadata;
use kube::core::ObjectMeta;
use serde::Deserialize;

/// A Node with the fields that decisions read.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = k8s_openapi::api::core::v1::Node)]
pub struct Node {
    #[serde(deserialize_with = "metadata::slim")]
    pub(super) metadata: ObjectMeta,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) spec: NodeSpec,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) status: NodeStatus,
}

impl Node {
    /// The version of its kubelet, which no decision rests on; empty where it has not said.
    pub fn kubelet_version(&self) -> &str {
        &self.status.node_info.kubelet_version
    }

    /// Who it is, without its size: enough to say that it is gone.
    pub fn identity(self) -> Self {
        Self { metadata: self.metadata, spec: NodeSpec::default(), status: NodeStatus::default() }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct NodeSpec {
    pub(super) unschedulable: Option<bool>,
    #[serde(deserialize_with = "or_default")]
    pub(super) taints: Vec<Taint>,
    #[serde(deserialize_with = "or_default")]
    pub(super) pod_preemption_policy: PreemptionPolicy,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Taint {
    pub(super) key: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) value: String,
    pub(super) effect: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PreemptionPolicy {
    #[serde(deserialize_with = "or_default")]
    pub(super) disable_resize_preemption: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct NodeStatus {
    pub(super) capacity: Option<Amounts>,
    pub(super) allocatable: Option<Amounts>,
    #[serde(deserialize_with = "or_default")]
    pub(super) conditions: Vec<NodeCondition>,
    #[serde(deserialize_with = "or_default")]
    node_info: NodeInfo,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeInfo {
    #[serde(deserialize_with = "or_default")]
    kubelet_version: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct NodeCondition {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
}

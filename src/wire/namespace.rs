//! A Namespace on the wire.
//!
//! Invariant: only its name and labels are read.

use super::metadata;
use kube::core::ObjectMeta;
use serde::Deserialize;

/// A Namespace with the fields that decisions read.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = k8s_openapi::api::core::v1::Namespace)]
pub struct Namespace {
    #[serde(deserialize_with = "metadata::slim")]
    pub(super) metadata: ObjectMeta,
}

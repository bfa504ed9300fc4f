//! A Pod on the wire.
//!
//! Invariant: one field here for each field that a fact needs; images, commands, mounts, probes and
//! environments are skipped by the parser.

mod affinity;
mod spec;
mod status;
mod volume;
mod wish;

pub(super) use affinity::{Affinity, PodTerm, SpreadConstraint, Toleration};
pub(super) use spec::{Container, PodSpec};
pub(super) use status::{ContainerStatus, PodCondition, PodStatus};
pub(super) use volume::Volume;
pub use wish::{AboveLimit, Wish};

use super::lenient::or_default;
use super::metadata;
use kube::core::ObjectMeta;
use serde::Deserialize;

/// A Pod with the fields that decisions read.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = k8s_openapi::api::core::v1::Pod)]
pub struct Pod {
    #[serde(deserialize_with = "metadata::slim")]
    pub(super) metadata: ObjectMeta,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) spec: PodSpec,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) status: PodStatus,
}

impl Pod {
    /// `spec.nodeName`, once bound.
    pub fn node_name(&self) -> Option<&str> {
        self.spec.node_name.as_deref().filter(|name| !name.is_empty())
    }

    /// Who it is, without what it asks for: enough to say that it is gone.
    pub fn identity(self) -> Self {
        Self { metadata: self.metadata, spec: PodSpec::default(), status: PodStatus::default() }
    }
}

//! What a Pod demands and prefers of nodes and of other Pods.
//!
//! Invariant: terms keep their order; which of them bind is decided in the conversion.

use crate::wire::lenient::or_default;
use crate::wire::selector::{LabelSelector, Term, Terms};
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct Affinity {
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) node_affinity: NodeAffinity,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) pod_affinity: PodAffinity,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) pod_anti_affinity: PodAffinity,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct NodeAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub(in crate::wire) required: Option<Terms>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub(in crate::wire) preferred: Vec<Preference>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct Preference {
    pub(in crate::wire) weight: i32,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) preference: Term,
}

/// Affinity or anti-affinity to Pods.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct PodAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub(in crate::wire) required: Vec<PodTerm>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub(in crate::wire) preferred: Vec<IgnoredAny>,
}

/// `matchLabelKeys` is left out: the API server merges it into `labelSelector` when the Pod is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct PodTerm {
    pub(in crate::wire) label_selector: Option<LabelSelector>,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) namespaces: Vec<String>,
    pub(in crate::wire) namespace_selector: Option<LabelSelector>,
    pub(in crate::wire) topology_key: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct SpreadConstraint {
    pub(in crate::wire) topology_key: String,
    pub(in crate::wire) when_unsatisfiable: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct Toleration {
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) operator: String,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) value: String,
    #[serde(deserialize_with = "or_default")]
    pub(in crate::wire) effect: String,
}

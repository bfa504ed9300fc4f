//! `metadata`, read into kube's own type without what nobody reads.
//!
//! Invariant: managed fields and large annotations are skipped by the parser, never built.

use super::lenient::or_default;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::core::ObjectMeta;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// For `#[serde(deserialize_with)]` on a `metadata` field.
pub(super) fn slim<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let slim = Slim::deserialize(deserializer)?;
    Ok(ObjectMeta {
        name: slim.name,
        namespace: slim.namespace,
        uid: slim.uid,
        resource_version: slim.resource_version,
        generation: slim.generation,
        creation_timestamp: slim.creation_timestamp,
        deletion_timestamp: slim.deletion_timestamp,
        deletion_grace_period_seconds: slim.deletion_grace_period_seconds,
        labels: slim.labels,
        annotations: (!slim.annotations.0.is_empty()).then_some(slim.annotations.0),
        owner_references: slim.owner_references,
        ..ObjectMeta::default()
    })
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Slim {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    labels: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "or_default")]
    annotations: Annotations,
    owner_references: Option<Vec<OwnerReference>>,
}

/// Annotations without those that hold a copy of the whole object.
#[derive(Default)]
struct Annotations(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Annotations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Kept;
        impl<'de> Visitor<'de> for Kept {
            type Value = Annotations;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("annotations")
            }
            fn visit_unit<E: Error>(self) -> Result<Annotations, E> {
                Ok(Annotations::default())
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Annotations, M::Error> {
                let mut kept = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "kubectl.kubernetes.io/last-applied-configuration" {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        kept.insert(key, map.next_value()?);
                    }
                }
                Ok(Annotations(kept))
            }
        }
        deserializer.deserialize_any(Kept)
    }
}

//! What a kubelet writes into the status of a Pod, said by a scenario instead.
//!
//! Invariant: what is not given stays; conditions and containers are told apart by type and name, as in a
//! strategic merge patch.

use super::{Api, Refusal, not_found};
use crate::model::Timestamp;
use crate::simulation::objects::{Key, PodExt};
use k8s_openapi::api::core::v1::{ContainerStatus, PodStatus};
use serde_json::Value;

/// A part of a Pod's status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Fields that change.
    pub status: PodStatus,
    /// Types of conditions that go.
    pub withdrawn: Vec<String>,
}

/// Lists that are merged by a key of their items; every other field is replaced.
const MERGED: [&str; 3] = ["conditions", "containerStatuses", "initContainerStatuses"];

impl Api {
    /// Merges a report into a Pod's status.
    ///
    /// # Errors
    /// 404; 422 for a container that the Pod does not have.
    pub fn report_pod(&mut self, now: Timestamp, key: &Key, report: &Report) -> Result<(), Refusal> {
        let mut pod = self.pods.get(key).cloned().ok_or_else(|| not_found("pods", &key.name))?;
        let status = pod.status_mut();
        *status = replaced(status, &report.status)
            .ok_or_else(|| Refusal::new(422, format!("Pod \"{}\" is invalid: status", key.name)))?;
        let lists = [
            (&mut status.container_statuses, &report.status.container_statuses),
            (&mut status.init_container_statuses, &report.status.init_container_statuses),
        ];
        for (known, given) in lists {
            for one in given.iter().flatten() {
                let found = known.iter_mut().flatten().find(|other| other.name == one.name);
                let found = found.ok_or_else(|| {
                    let text = format!("Pod \"{}\" is invalid: no container \"{}\"", key.name, one.name);
                    Refusal::new(422, text)
                })?;
                set_resources(found, one);
            }
        }
        for one in report.status.conditions.iter().flatten() {
            pod.set_condition(now, one.clone());
        }
        for kind in &report.withdrawn {
            pod.remove_condition(kind);
        }
        self.store_pod(pod);
        Ok(())
    }
}

/// Of a container that is there, a report moves what is allocated and what is in force.
fn set_resources(known: &mut ContainerStatus, given: &ContainerStatus) {
    known.allocated_resources = given.allocated_resources.clone().or(known.allocated_resources.take());
    known.resources = given.resources.clone().or(known.resources.take());
}

/// The status with every given field in place of its own, the merged lists left out.
fn replaced(status: &PodStatus, given: &PodStatus) -> Option<PodStatus> {
    let (mut whole, given) = (serde_json::to_value(status).ok()?, serde_json::to_value(given).ok()?);
    let (Value::Object(whole_fields), Value::Object(given)) = (&mut whole, given) else { return None };
    whole_fields.extend(given.into_iter().filter(|(name, _)| !MERGED.contains(&name.as_str())));
    serde_json::from_value(whole).ok()
}

//! `DELETE pods`, for `pdbPolicy: BestEffort` alone.
//!
//! Invariant: the Pod is marked before it is deleted, so that a Job's `podFailurePolicy` sees a disruption, and both
//! writes carry the UID (`pkg/scheduler/framework/preemption` marks it so; it does not carry the UID).

use super::evict::refusal;
use super::{Failure, pods, within};
use crate::engine::EvictAnswer;
use crate::model::PodRef;
use k8s_openapi::jiff;
use kube::Client;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use serde::de::IgnoredAny;
use serde_json::json;

pub(super) async fn delete(client: &Client, pod: &PodRef, reporter: &str) -> EvictAnswer {
    match mark(client, pod, reporter).await {
        Ok(()) => {}
        // Not sent on: nothing has been deleted yet, whatever became of the mark.
        Err(failure) if failure.open() => return EvictAnswer::Error(failure.said()),
        Err(failure) => return refusal(&failure),
    }
    match send(client, pod).await {
        Ok(()) => EvictAnswer::Evicted,
        Err(failure) => refusal(&failure),
    }
}

async fn mark(client: &Client, pod: &PodRef, reporter: &str) -> Result<(), Failure> {
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        // Without a time the disruption controller takes the mark for one that was forgotten, and clears it.
        "lastTransitionTime": jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).ok(),
        "reason": "PreemptionByScheduler",
        "message": format!("{reporter}: preempting to accommodate a higher priority pod"),
    });
    let body = json!({"metadata": {"uid": &*pod.uid}, "status": {"conditions": [condition]}});
    let request = pods(&pod.namespace)
        .patch_subresource("status", &pod.name, &PatchParams::default(), &Patch::Strategic(body))
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

async fn send(client: &Client, pod: &PodRef) -> Result<(), Failure> {
    let preconditions = Preconditions { uid: Some(pod.uid.to_string()), resource_version: None };
    let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
    let request = pods(&pod.namespace)
        .delete(&pod.name, &params)
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::testing::{answered_each, pod, status};
    use super::*;

    #[tokio::test]
    async fn a_pod_is_marked_and_then_deleted_both_by_uid() {
        let (client, mut seen) = answered_each(vec![(200, json!({})), (200, json!({}))]);
        assert_eq!(delete(&client, &pod(), "elbowroom").await, EvictAnswer::Evicted);
        let marked = seen.recv().await.unwrap();
        assert!(marked.line.starts_with("PATCH /api/v1/namespaces/ns/pods/p/status"), "{}", marked.line);
        assert_eq!(marked.body["metadata"]["uid"], "u1");
        let condition = &marked.body["status"]["conditions"][0];
        assert_eq!(condition["reason"], "PreemptionByScheduler");
        assert!(condition["lastTransitionTime"].as_str().unwrap().ends_with('Z'), "{condition}");
        assert_eq!(condition["message"], "elbowroom: preempting to accommodate a higher priority pod");
        let deleted = seen.recv().await.unwrap();
        assert!(deleted.line.starts_with("DELETE /api/v1/namespaces/ns/pods/p"), "{}", deleted.line);
        assert_eq!(deleted.body["preconditions"]["uid"], "u1");
    }

    #[tokio::test]
    async fn a_pod_that_cannot_be_marked_is_not_deleted() {
        let (client, mut seen) = answered_each(vec![(404, status(404, "NotFound", "none"))]);
        assert_eq!(delete(&client, &pod(), "elbowroom").await, EvictAnswer::Gone);
        seen.recv().await.unwrap();
        assert!(seen.try_recv().is_err());
    }

    #[tokio::test]
    async fn another_pod_of_that_name_is_spared() {
        let conflict = status(409, "Conflict", "the UID in the precondition does not match");
        let (client, _seen) = answered_each(vec![(200, json!({})), (409, conflict)]);
        assert!(matches!(delete(&client, &pod(), "elbowroom").await, EvictAnswer::Conflict(_)));
    }
}

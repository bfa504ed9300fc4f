//! `PATCH pods/status`: one condition, merged by its type.
//!
//! Invariant: the UID goes along. It cannot be changed, so that a Pod made anew under the same name refuses
//! the patch.

use super::{Failure, pods, within};
use crate::engine::{ConditionPatch, PatchAnswer};
use crate::model::PodRef;
use k8s_openapi::jiff;
use kube::Client;
use kube::api::{Patch, PatchParams};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

pub(super) async fn patch(client: &Client, pod: &PodRef, condition: &ConditionPatch) -> PatchAnswer {
    match send(client, pod, condition).await {
        Ok(()) => PatchAnswer::Done,
        Err(failure) if failure.code() == Some(404) || other_uid(&failure) => PatchAnswer::Gone,
        Err(failure) => PatchAnswer::Failed(failure.said()),
    }
}

async fn send(client: &Client, pod: &PodRef, condition: &ConditionPatch) -> Result<(), Failure> {
    let body = json!({"metadata": {"uid": &*pod.uid}, "status": {"conditions": [entry(condition)]}});
    let request = pods(&pod.namespace)
        .patch_subresource("status", &pod.name, &PatchParams::default(), &Patch::Strategic(body))
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

/// The entry of `status.conditions`; keys that are left out stay as they are.
fn entry(condition: &ConditionPatch) -> Value {
    let Some(value) = &condition.value else {
        return json!({"type": condition.kind, "$patch": "delete"});
    };
    let mut entry = json!({
        "type": condition.kind,
        "status": if value.status { "True" } else { "False" },
        "reason": value.reason,
        "message": value.message,
        "observedGeneration": value.observed_generation,
    });
    let since = value.since.and_then(|at| jiff::Timestamp::from_second(at.0.div_euclid(1_000_000)).ok());
    if let (Some(since), Some(entry)) = (since, entry.as_object_mut()) {
        entry.insert("lastTransitionTime".to_owned(), json!(since.to_string()));
    }
    entry
}

/// Whether the patch was refused because another Pod has the name.
fn other_uid(failure: &Failure) -> bool {
    let Failure::Status(status) = failure else { return false };
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    match status.code {
        422 => causes.any(|cause| cause.field == "metadata.uid"),
        409 => status.message.contains("UID"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::testing::{answered, pod, status};
    use super::*;
    use crate::engine::ConditionValue;
    use crate::model::Timestamp;

    fn condition(since: Option<Timestamp>) -> ConditionPatch {
        let value = ConditionValue {
            status: true,
            reason: "Preempting",
            message: "evicting 1 Pod".into(),
            observed_generation: 4,
            since,
        };
        ConditionPatch { kind: "elbowroom.dev/PodResizePreemption", value: Some(value) }
    }

    #[tokio::test]
    async fn a_condition_is_merged_by_type_into_the_pod_of_that_uid() {
        let (client, seen) = answered(200, json!({}));
        let since = Some(Timestamp::from_seconds(100));
        assert_eq!(patch(&client, &pod(), &condition(since)).await, PatchAnswer::Done);
        let request = seen.await.unwrap();
        assert_eq!(request.line, "PATCH /api/v1/namespaces/ns/pods/p/status?");
        assert_eq!(request.kind, "application/strategic-merge-patch+json");
        assert_eq!(
            request.body,
            json!({
                "metadata": {"uid": "u1"},
                "status": {"conditions": [{
                    "type": "elbowroom.dev/PodResizePreemption", "status": "True", "reason": "Preempting",
                    "message": "evicting 1 Pod", "observedGeneration": 4,
                    "lastTransitionTime": "1970-01-01T00:01:40Z",
                }]},
            })
        );
    }

    #[tokio::test]
    async fn the_old_time_stays_when_none_is_given() {
        let (client, seen) = answered(200, json!({}));
        patch(&client, &pod(), &condition(None)).await;
        let body = seen.await.unwrap().body;
        assert_eq!(body["status"]["conditions"][0].get("lastTransitionTime"), None);
    }

    #[tokio::test]
    async fn a_condition_is_removed_by_type() {
        let (client, seen) = answered(200, json!({}));
        let remove = ConditionPatch { kind: "elbowroom.dev/PodResizePreemption", value: None };
        assert_eq!(patch(&client, &pod(), &remove).await, PatchAnswer::Done);
        let expected = json!([{"type": "elbowroom.dev/PodResizePreemption", "$patch": "delete"}]);
        assert_eq!(seen.await.unwrap().body["status"]["conditions"], expected);
    }

    async fn refused(body: Value) -> PatchAnswer {
        let (client, _seen) = answered(body["code"].as_u64().unwrap().try_into().unwrap(), body);
        patch(&client, &pod(), &condition(None)).await
    }

    #[tokio::test]
    async fn a_pod_that_is_gone_or_replaced_is_told_from_a_patch_that_failed() {
        assert_eq!(refused(status(404, "NotFound", "")).await, PatchAnswer::Gone);
        let mut other = status(422, "Invalid", "field is immutable");
        other["details"] = json!({"causes": [{"field": "metadata.uid"}]});
        assert_eq!(refused(other).await, PatchAnswer::Gone);
        assert_eq!(refused(status(422, "Invalid", "bad")).await, PatchAnswer::Failed("bad".into()));
        assert_eq!(
            refused(status(409, "Conflict", "modified")).await,
            PatchAnswer::Failed("modified".into())
        );
    }
}

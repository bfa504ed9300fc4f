//! `POST pods/binding`.
//!
//! Invariant: the UID goes along, so that a Pod made anew under the same name is not bound by an old
//! decision.

use super::{Failure, pods, within};
use crate::engine::BindAnswer;
use crate::model::PodRef;
use kube::Client;
use kube::api::PostParams;
use serde::Serialize;
use serde::de::IgnoredAny;
use std::time::Duration;

/// How long to wait before the one further try when nobody listens.
const RETRY_AFTER: Duration = Duration::from_millis(200);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Binding<'a> {
    api_version: &'a str,
    kind: &'a str,
    metadata: Metadata<'a>,
    target: Target<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
}

#[derive(Serialize)]
struct Target<'a> {
    kind: &'a str,
    name: &'a str,
}

pub(super) async fn bind(client: &Client, pod: &PodRef, node: &str) -> BindAnswer {
    let mut outcome = post(client, pod, node).await;
    if matches!(outcome, Err(Failure::Unsent(_))) {
        tokio::time::sleep(RETRY_AFTER).await;
        outcome = post(client, pod, node).await;
    }
    match outcome {
        Ok(()) => BindAnswer::Bound,
        Err(failure) => refusal(&failure),
    }
}

async fn post(client: &Client, pod: &PodRef, node: &str) -> Result<(), Failure> {
    let binding = Binding {
        api_version: "v1",
        kind: "Binding",
        metadata: Metadata { namespace: &pod.namespace, name: &pod.name, uid: &pod.uid },
        target: Target { kind: "Node", name: node },
    };
    let body = serde_json::to_vec(&binding).map_err(|error| Failure::Unsent(error.to_string()))?;
    let request = pods(&pod.namespace)
        .create_subresource("binding", &pod.name, &PostParams::default(), body)
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

fn refusal(failure: &Failure) -> BindAnswer {
    let said = failure.said();
    match failure.code() {
        _ if failure.open() => BindAnswer::Unknown(said),
        Some(404) => BindAnswer::Gone,
        Some(409) => BindAnswer::Conflict(said),
        // An internal error may come from before or after the write.
        Some(500..) => BindAnswer::Unknown(said),
        Some(_) | None => BindAnswer::Refused(said),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::testing::{answered, pod, status, unanswered};
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn a_binding_names_the_pod_with_its_uid_and_the_node() {
        let (client, seen) = answered(201, json!({"kind": "Status", "status": "Success"}));
        assert_eq!(bind(&client, &pod(), "n1").await, BindAnswer::Bound);
        let request = seen.await.unwrap();
        assert_eq!(request.line, "POST /api/v1/namespaces/ns/pods/p/binding?");
        assert_eq!(
            request.body,
            json!({
                "apiVersion": "v1", "kind": "Binding",
                "metadata": {"namespace": "ns", "name": "p", "uid": "u1"},
                "target": {"kind": "Node", "name": "n1"},
            })
        );
    }

    async fn refused(code: u16, reason: &str, message: &str) -> BindAnswer {
        let (client, _seen) = answered(code, status(code, reason, message));
        bind(&client, &pod(), "n1").await
    }

    #[tokio::test]
    async fn each_refusal_is_told_apart() {
        assert_eq!(refused(404, "NotFound", "no p").await, BindAnswer::Gone);
        assert_eq!(refused(409, "Conflict", "taken").await, BindAnswer::Conflict("taken".into()));
        assert_eq!(refused(403, "Forbidden", "a webhook").await, BindAnswer::Refused("a webhook".into()));
        assert_eq!(refused(429, "TooManyRequests", "slow").await, BindAnswer::Refused("slow".into()));
        assert_eq!(refused(500, "InternalError", "oops").await, BindAnswer::Unknown("oops".into()));
        assert_eq!(refused(504, "Timeout", "late").await, BindAnswer::Unknown("late".into()));
    }

    #[tokio::test]
    async fn no_answer_means_that_it_may_have_happened() {
        let (client, _server) = unanswered();
        assert_eq!(bind(&client, &pod(), "n1").await, BindAnswer::Unknown("no answer within 100ms".into()));
    }
}

//! `POST pods/eviction`.
//!
//! Invariant: the body is a `policy/v1` Eviction with the UID as precondition. kube's own `evict` writes its
//! delete options under a name that the server does not read, so the precondition would be lost.

use super::{Failure, pods, within};
use crate::engine::EvictAnswer;
use crate::model::PodRef;
use kube::Client;
use kube::api::PostParams;
use serde::de::IgnoredAny;
use serde_json::json;

/// The cause by which the API says that a budget forbids it (`policy/v1` `DisruptionBudgetCause`).
const BUDGET_CAUSE: &str = "DisruptionBudget";

pub(super) async fn evict(client: &Client, pod: &PodRef, dry_run: bool) -> EvictAnswer {
    match post(client, pod, dry_run).await {
        Ok(()) => EvictAnswer::Evicted,
        Err(failure) => refusal(&failure),
    }
}

async fn post(client: &Client, pod: &PodRef, dry_run: bool) -> Result<(), Failure> {
    let mut options = json!({"preconditions": {"uid": &*pod.uid}});
    if dry_run && let Some(options) = options.as_object_mut() {
        options.insert("dryRun".to_owned(), json!(["All"]));
    }
    let eviction = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": &*pod.namespace, "name": &*pod.name},
        "deleteOptions": options,
    });
    let params = PostParams { dry_run, ..PostParams::default() };
    let request = pods(&pod.namespace)
        .create_subresource("eviction", &pod.name, &params, eviction.to_string().into_bytes())
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

/// As `pkg/registry/core/pod/storage/eviction.go` answers.
pub(super) fn refusal(failure: &Failure) -> EvictAnswer {
    let said = failure.said();
    let Failure::Status(status) = failure else { return EvictAnswer::Unknown(said) };
    let details = status.details.as_ref();
    let budget = details.is_some_and(|one| one.causes.iter().any(|cause| cause.reason == BUDGET_CAUSE));
    let retry = details.map_or(0, |one| one.retry_after_seconds);
    match status.code {
        _ if failure.open() => EvictAnswer::Unknown(said),
        429 if budget && retry > 0 => EvictAnswer::StaleBudget(said),
        403 | 429 if budget => EvictAnswer::Budget(budget_said(&said, status)),
        429 => EvictAnswer::Throttled(said),
        404 => EvictAnswer::Gone,
        409 => EvictAnswer::Conflict(said),
        _ => EvictAnswer::Error(said),
    }
}

/// The refusal with the cause's own words, which name the budget.
fn budget_said(said: &str, status: &kube::core::Status) -> String {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let words: Vec<&str> = causes
        .filter(|cause| cause.reason == BUDGET_CAUSE && !cause.message.is_empty())
        .map(|cause| cause.message.as_str())
        .collect();
    if words.is_empty() { said.to_owned() } else { words.join("; ") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::testing::{answered, pod, status, unanswered};
    use super::*;
    use serde_json::Value;

    #[tokio::test]
    async fn an_eviction_carries_the_uid_where_the_server_reads_it() {
        let (client, seen) = answered(201, json!({"kind": "Status", "status": "Success"}));
        assert_eq!(evict(&client, &pod(), false).await, EvictAnswer::Evicted);
        let request = seen.await.unwrap();
        assert_eq!(request.line, "POST /api/v1/namespaces/ns/pods/p/eviction?");
        assert_eq!(
            request.body,
            json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"namespace": "ns", "name": "p"},
                "deleteOptions": {"preconditions": {"uid": "u1"}},
            })
        );
    }

    #[tokio::test]
    async fn a_dry_run_says_so_in_body_and_query() {
        let (client, seen) = answered(200, json!({}));
        assert_eq!(evict(&client, &pod(), true).await, EvictAnswer::Evicted);
        let request = seen.await.unwrap();
        assert!(request.line.ends_with("/eviction?&dryRun=All"), "{}", request.line);
        assert_eq!(request.body["deleteOptions"]["dryRun"], json!(["All"]));
    }

    async fn refused(body: Value) -> EvictAnswer {
        let code = body["code"].as_u64().unwrap().try_into().unwrap();
        let (client, _seen) = answered(code, body);
        evict(&client, &pod(), false).await
    }

    fn by_budget(code: u16, retry: u32) -> Value {
        let mut body = status(code, "TooManyRequests", "Cannot evict pod");
        body["details"] = json!({
            "causes": [{"reason": "DisruptionBudget", "message": "The budget web needs 2"}],
            "retryAfterSeconds": retry,
        });
        body
    }

    #[tokio::test]
    async fn a_budget_refuses_in_three_ways() {
        let spent = EvictAnswer::Budget("The budget web needs 2".into());
        assert_eq!(refused(by_budget(429, 0)).await, spent);
        assert_eq!(refused(by_budget(403, 0)).await, spent);
        assert_eq!(refused(by_budget(429, 10)).await, EvictAnswer::StaleBudget("Cannot evict pod".into()));
    }

    #[tokio::test]
    async fn other_refusals_are_told_apart() {
        let plain = |code, message| refused(status(code, "", message));
        assert_eq!(plain(429, "slow").await, EvictAnswer::Throttled("slow".into()));
        assert_eq!(plain(404, "none").await, EvictAnswer::Gone);
        assert_eq!(plain(409, "uid").await, EvictAnswer::Conflict("uid".into()));
        assert_eq!(plain(403, "rights").await, EvictAnswer::Error("rights".into()));
        assert_eq!(plain(500, "two budgets").await, EvictAnswer::Error("two budgets".into()));
        assert_eq!(plain(504, "late").await, EvictAnswer::Unknown("late".into()));
    }

    #[tokio::test]
    async fn no_answer_means_that_it_may_have_happened() {
        let (client, _server) = unanswered();
        assert!(matches!(evict(&client, &pod(), false).await, EvictAnswer::Unknown(_)));
    }
}

//! One look at a cluster, for `check`.
//!
//! Invariant: nothing is written but questions for rights, which the API server does not keep.

mod control_plane;

use super::reader::Reader;
use super::rights::{self, Answer};
use crate::check::{GateFacts, Rights};
use crate::config::Config;
use crate::inspect::Objects;
use anyhow::Result;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::{Api, Client};
use std::time::Duration;

/// How long the question who we are may take.
const TIMEOUT: Duration = Duration::from_secs(8);

/// What was read, and of which cluster.
#[derive(Debug)]
pub struct Survey {
    /// The address of the API server.
    pub url: String,
    /// Its version, as it says it.
    pub version: String,
    /// What the account may do; `None` where we may not ask.
    pub rights: Option<Rights>,
    /// What is seen of kube-scheduler's gate.
    pub gate: GateFacts,
    /// The objects.
    pub objects: Objects,
    /// Whether PriorityClasses are among them.
    pub classes_known: bool,
    /// What could not be read, and why, one line each.
    pub unread: Vec<String>,
}

/// Reads everything that the rules of `check` look at. The rights are those of `user`, or our own.
///
/// # Errors
/// The API server cannot be reached, does not know us, or does not let us list Pods, Nodes, budgets or Namespaces.
pub async fn survey(config: &Config, context: Option<&str>, user: Option<&str>) -> Result<Survey> {
    let reader = Reader::new(&config.client, context).await?;
    let clients = reader.clients();
    let version = clients.version().await?.git_version;
    let mut unread = Vec::new();
    let rights = read_rights(&clients.reads, config, user, &mut unread).await?;
    let gate = control_plane::gate(&clients.reads, &mut unread).await;
    let mut objects = Objects {
        pods: reader.pods().await?,
        nodes: reader.nodes().await?,
        budgets: reader.budgets().await?,
        namespaces: reader.namespaces().await?,
        ..Objects::default()
    };
    // elbowroom itself needs no PriorityClass, so the account that it runs as need not be able to list them.
    let classes_known = match reader.priority_classes().await {
        Ok(classes) => {
            objects.classes = classes;
            true
        }
        Err(problem) => {
            unread.push(format!("PriorityClasses: {problem:#}"));
            false
        }
    };
    let url = clients.url().to_owned();
    Ok(Survey { url, version, rights, gate, objects, classes_known, unread })
}

async fn read_rights(
    client: &Client,
    config: &Config,
    user: Option<&str>,
    unread: &mut Vec<String>,
) -> Result<Option<Rights>> {
    match rights::missing(client, config, user).await? {
        Answer::Missing(missing) => {
            let of = match user {
                Some(user) => user.to_owned(),
                None => own_name(client).await.unwrap_or_else(|| "the current user".to_owned()),
            };
            Ok(Some(Rights { of, missing }))
        }
        Answer::Untold(problem) => {
            unread.push(format!("rights of {}: {problem}", user.unwrap_or("the current user")));
            Ok(None)
        }
    }
}

/// Who we are to the API server.
async fn own_name(client: &Client) -> Option<String> {
    let api = Api::<SelfSubjectReview>::all(client.clone());
    let (params, question) = (PostParams::default(), SelfSubjectReview::default());
    let answer = tokio::time::timeout(TIMEOUT, api.create(&params, &question));
    answer.await.ok()?.ok()?.status?.user_info?.username
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::calls::testing::{by_path, status};
    use super::*;
    use serde_json::json;

    const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const OWN_RIGHTS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const THEIR_RIGHTS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

    #[tokio::test]
    async fn whose_rights_they_are_is_asked() {
        let who = json!({"status": {"userInfo": {"username": "jane"}}});
        let allowed = json!({"spec": {}, "status": {"allowed": true}});
        let client = by_path(vec![(OWN_RIGHTS, 201, allowed), (SELF, 201, who)]);
        let rights = read_rights(&client, &Config::default(), None, &mut Vec::new()).await.unwrap();
        assert_eq!(rights, Some(Rights { of: "jane".into(), missing: Vec::new() }));
    }

    #[tokio::test]
    async fn who_may_not_ask_for_others_is_told() {
        let client = by_path(vec![(THEIR_RIGHTS, 403, status(403, "Forbidden", "no"))]);
        let mut unread = Vec::new();
        let rights = read_rights(&client, &Config::default(), Some("joe"), &mut unread).await.unwrap();
        assert_eq!((rights, unread), (None, vec!["rights of joe: no".to_owned()]));
    }
}

//! What we need to be allowed, asked before anything is watched.
//!
//! Invariant: every right that is missing is named, and one that no profile uses is not asked for.

use super::calls::root;
use super::client::refuse_strangers;
use crate::config::{Config, Profile};
use crate::resize::policy::{Mode, PdbPolicy};
use anyhow::{Result, anyhow, bail};
use futures::future::join_all;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SubjectAccessReview,
    SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use kube::api::PostParams;
use kube::core::ClusterResourceScope;
use kube::{Api, Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;
use tracing::warn;

/// How long one question may take.
const TIMEOUT: Duration = Duration::from_secs(8);

/// One verb on one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Right {
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
}

impl Right {
    fn named(&self) -> String {
        let Self { verb, group, resource, subresource } = self;
        let slash = if subresource.is_empty() { "" } else { "/" };
        let dot = if group.is_empty() { "" } else { "." };
        format!("{verb} {resource}{dot}{group}{slash}{subresource}")
    }
}

/// The rights that this configuration needs.
fn needed(config: &Config) -> Vec<Right> {
    let mut rights = Vec::new();
    let mut need = |verbs: &[&'static str], group, resource, subresource| {
        rights.extend(verbs.iter().map(|verb| Right { verb, group, resource, subresource }));
    };
    need(&["get", "list", "watch"], "", "pods", "");
    need(&["list", "watch"], "", "nodes", "");
    need(&["list", "watch"], "", "namespaces", "");
    need(&["get", "list", "watch"], "policy", "poddisruptionbudgets", "");
    need(&["patch"], "", "pods", "status");
    need(&["create", "patch"], "events.k8s.io", "events", "");
    if config.binds() {
        need(&["create"], "", "pods", "binding");
    }
    if config.profiles.iter().any(|profile| profile.resize.mode == Mode::Enforce) {
        need(&["create"], "", "pods", "eviction");
    }
    let forces = |profile: &Profile| profile.resize.pdb_policy == PdbPolicy::BestEffort;
    if config.profiles.iter().any(|profile| profile.resize.mode == Mode::Enforce && forces(profile)) {
        need(&["delete"], "", "pods", "");
    }
    rights
}

/// Fails with one line that names every right that is missing.
pub(super) async fn check(client: &Client, config: &Config) -> Result<()> {
    let missing = match missing(client, config, None).await? {
        Answer::Missing(missing) if missing.is_empty() => return Ok(()),
        Answer::Missing(missing) => missing,
        // Nobody may ask; then the calls themselves will tell.
        Answer::Untold(problem) => {
            warn!(problem, "Cannot ask whether we have the rights we need");
            return Ok(());
        }
    };
    bail!("missing rights: {} (deploy/ has the role that grants them)", missing.join(", "))
}

/// Which of the rights that this configuration needs are missing.
pub(super) enum Answer {
    /// These; none when all are there.
    Missing(Vec<String>),
    /// We may not ask.
    Untold(String),
}

/// Asks for the rights of this user, or for our own.
pub(super) async fn missing(client: &Client, config: &Config, user: Option<&str>) -> Result<Answer> {
    let rights = needed(config);
    let answers = join_all(rights.iter().map(|right| allowed(client, right, user))).await;
    let mut missing = Vec::new();
    for (right, answer) in rights.iter().zip(answers) {
        match answer? {
            Allowed::Yes => {}
            Allowed::No => missing.push(right.named()),
            Allowed::Untold(problem) => return Ok(Answer::Untold(problem)),
        }
    }
    Ok(Answer::Missing(missing))
}

#[derive(Debug, PartialEq, Eq)]
enum Allowed {
    Yes,
    No,
    Untold(String),
}

/// The groups that a user of this name is in for certain: a service account's are made from its name.
fn groups(user: &str) -> Vec<String> {
    let mut groups = vec!["system:authenticated".to_owned()];
    let account = user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    if let Some((namespace, _)) = account {
        groups.extend(["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]);
    }
    groups
}

async fn allowed(client: &Client, right: &Right, user: Option<&str>) -> Result<Allowed> {
    let text = |part: &str| (!part.is_empty()).then(|| part.to_owned());
    let attributes = ResourceAttributes {
        verb: text(right.verb),
        group: text(right.group),
        resource: text(right.resource),
        subresource: text(right.subresource),
        ..ResourceAttributes::default()
    };
    match user {
        None => {
            let spec = SelfSubjectAccessReviewSpec {
                resource_attributes: Some(attributes),
                ..SelfSubjectAccessReviewSpec::default()
            };
            let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
            ask(client, &review, |review| review.status).await
        }
        Some(user) => {
            let spec = SubjectAccessReviewSpec {
                user: Some(user.to_owned()),
                groups: Some(groups(user)),
                resource_attributes: Some(attributes),
                ..SubjectAccessReviewSpec::default()
            };
            let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
            ask(client, &review, |review| review.status).await
        }
    }
}

async fn ask<K>(
    client: &Client,
    review: &K,
    status: fn(K) -> Option<SubjectAccessReviewStatus>,
) -> Result<Allowed>
where
    K: Resource<DynamicType = (), Scope = ClusterResourceScope>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    let params = PostParams::default();
    let api = Api::<K>::all(client.clone());
    let answer = tokio::time::timeout(TIMEOUT, api.create(&params, review));
    match answer.await.map_err(|_| anyhow!("cannot ask the API server for rights: no answer"))? {
        Ok(review) => {
            let allowed = status(review).is_some_and(|status| status.allowed);
            Ok(if allowed { Allowed::Yes } else { Allowed::No })
        }
        Err(error) => {
            refuse_strangers(&error)?;
            match &error {
                kube::Error::Api(status) if status.code == 403 => Ok(Allowed::Untold(root(&error))),
                _ => bail!("cannot ask the API server for rights: {}", root(&error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::calls::testing::{answered, answered_each, status};
    use super::*;
    use serde_json::json;

    fn names(config: &Config) -> Vec<String> {
        needed(config).iter().map(Right::named).collect()
    }

    #[test]
    fn binding_and_evicting_need_rights_only_where_they_are_done() {
        let mut config = Config::default();
        let all = names(&config);
        assert!(all.contains(&"create pods/binding".to_owned()));
        assert!(all.contains(&"create pods/eviction".to_owned()));
        assert!(all.contains(&"watch poddisruptionbudgets.policy".to_owned()));
        config.profiles[0].bind = false;
        config.profiles[0].resize.mode = Mode::Observe;
        let fewer = names(&config);
        assert!(!fewer.iter().any(|name| name.ends_with("binding") || name.ends_with("eviction")));
    }

    #[tokio::test]
    async fn a_question_names_group_resource_and_subresource() {
        let (client, seen) = answered(201, json!({"spec": {}, "status": {"allowed": true}}));
        let right = Right { verb: "create", group: "", resource: "pods", subresource: "eviction" };
        assert_eq!(allowed(&client, &right, None).await.unwrap(), Allowed::Yes);
        let request = seen.await.unwrap();
        assert_eq!(request.line, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?");
        let expected = json!({"verb": "create", "resource": "pods", "subresource": "eviction"});
        assert_eq!(request.body["spec"]["resourceAttributes"], expected);
    }

    #[tokio::test]
    async fn the_rights_of_a_service_account_are_asked_for_with_its_groups() {
        let (client, seen) = answered(201, json!({"spec": {}, "status": {"allowed": false}}));
        let right = Right { verb: "list", group: "", resource: "nodes", subresource: "" };
        let user = "system:serviceaccount:elbowroom:elbowroom";
        assert_eq!(allowed(&client, &right, Some(user)).await.unwrap(), Allowed::No);
        let request = seen.await.unwrap();
        assert_eq!(request.line, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews?");
        assert_eq!(request.body["spec"]["user"], user);
        let groups =
            json!(["system:authenticated", "system:serviceaccounts", "system:serviceaccounts:elbowroom"]);
        assert_eq!(request.body["spec"]["groups"], groups);
    }

    #[tokio::test]
    async fn who_may_not_ask_is_not_said_to_lack_anything() {
        let config = Config::default();
        let refused = status(403, "Forbidden", "no");
        let (client, _seen) = answered_each(vec![(403, refused.clone()); needed(&config).len()]);
        assert!(matches!(missing(&client, &config, None).await.unwrap(), Answer::Untold(why) if why == "no"));
        let (client, _seen) = answered_each(vec![(403, refused); needed(&config).len()]);
        assert!(check(&client, &config).await.is_ok(), "the calls themselves will tell");
    }

    #[tokio::test]
    async fn every_missing_right_is_named() {
        let config = Config::default();
        let refused = json!({"spec": {}, "status": {"allowed": false}});
        let (client, _seen) = answered_each(vec![(201, refused); needed(&config).len()]);
        let error = check(&client, &config).await.unwrap_err().to_string();
        let expected = format!("missing rights: {} (deploy/", names(&config).join(", "));
        assert!(error.starts_with(&expected), "{error}");
    }

    #[tokio::test]
    async fn unknown_credentials_are_one_clear_line() {
        let (client, _seen) = answered(401, status(401, "Unauthorized", "Unauthorized"));
        let right = Right { verb: "get", group: "", resource: "pods", subresource: "" };
        let error = allowed(&client, &right, None).await.unwrap_err().to_string();
        assert_eq!(error, "the API server does not accept our credentials: Unauthorized");
    }
}

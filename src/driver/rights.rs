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
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
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
    let rights = needed(config);
    let answers = join_all(rights.iter().map(|right| allowed(client, right))).await;
    let mut missing = Vec::new();
    for (right, answer) in rights.iter().zip(answers) {
        if !answer? {
            missing.push(right.named());
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("missing rights: {} (deploy/ has the role that grants them)", missing.join(", "))
}

async fn allowed(client: &Client, right: &Right) -> Result<bool> {
    let text = |part: &str| (!part.is_empty()).then(|| part.to_owned());
    let attributes = ResourceAttributes {
        verb: text(right.verb),
        group: text(right.group),
        resource: text(right.resource),
        subresource: text(right.subresource),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(attributes),
        ..SelfSubjectAccessReviewSpec::default()
    };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let params = PostParams::default();
    let api = Api::<SelfSubjectAccessReview>::all(client.clone());
    let answer = tokio::time::timeout(TIMEOUT, api.create(&params, &review));
    match answer.await.map_err(|_| anyhow!("cannot ask the API server for our rights: no answer"))? {
        Ok(review) => Ok(review.status.is_some_and(|status| status.allowed)),
        Err(error) => {
            refuse_strangers(&error)?;
            match &error {
                // Nobody may ask; then the calls themselves will tell.
                kube::Error::Api(status) if status.code == 403 => {
                    warn!(
                        right = right.named(),
                        problem = root(&error),
                        "Cannot ask whether we have a right"
                    );
                    Ok(true)
                }
                _ => bail!("cannot ask the API server for our rights: {}", root(&error)),
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
        assert!(allowed(&client, &right).await.unwrap());
        let request = seen.await.unwrap();
        assert_eq!(request.line, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?");
        let expected = json!({"verb": "create", "resource": "pods", "subresource": "eviction"});
        assert_eq!(request.body["spec"]["resourceAttributes"], expected);
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
        let error = allowed(&client, &right).await.unwrap_err().to_string();
        assert_eq!(error, "the API server does not accept our credentials: Unauthorized");
    }
}

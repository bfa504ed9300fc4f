//! One look at a cluster, for `check`.
//!
//! Invariant: nothing is written but questions for rights, which the API server does not keep.

mod control_plane;

use super::calls::root;
use super::client::{Clients, refuse_strangers};
use super::rights::{self, Answer};
use super::watch::Watched;
use crate::check::{BudgetFacts, Facts, NodeFacts, PriorityClass, Rights};
use crate::config::{Config, Warning};
use crate::model::Timestamp;
use crate::wire::{self, Converter, Unreadable};
use anyhow::{Result, bail};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Objects in one answer of a list.
const PAGE: u32 = 500;
/// How long one page may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What was read, and of which cluster.
#[derive(Debug)]
pub struct Survey {
    /// The address of the API server.
    pub url: String,
    /// What the rules read.
    pub facts: Facts,
}

/// Reads everything that the rules of `check` look at. The rights are those of `user`, or our own.
///
/// # Errors
/// The API server cannot be reached, does not know us, or does not let us list Pods, Nodes, budgets or Namespaces.
pub async fn survey(config: &Config, warnings: &[Warning], user: Option<&str>) -> Result<Survey> {
    let clients = Clients::new(&config.client).await?;
    let version = clients.version().await?;
    let client = &clients.reads;
    let mut facts = Facts {
        server: Some(version.git_version),
        settings: config.settings(),
        warnings: warnings.iter().map(ToString::to_string).collect(),
        ..Facts::default()
    };
    read_rights(client, config, user, &mut facts).await?;
    facts.gate = control_plane::gate(client, &mut facts.unread).await;
    read_classes(client, &mut facts).await?;
    read_objects(client, Converter::new(config.annotations()), &mut facts).await?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    facts.now = Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
    Ok(Survey { url: clients.url().to_owned(), facts })
}

async fn read_rights(client: &Client, config: &Config, user: Option<&str>, facts: &mut Facts) -> Result<()> {
    match rights::missing(client, config, user).await? {
        Answer::Missing(missing) => {
            let of = match user {
                Some(user) => user.to_owned(),
                None => own_name(client).await.unwrap_or_else(|| "the current user".to_owned()),
            };
            facts.rights = Some(Rights { of, missing });
        }
        Answer::Untold(problem) => {
            facts.unread.push(format!("rights of {}: {problem}", user.unwrap_or("the current user")));
        }
    }
    Ok(())
}

/// Who we are to the API server.
async fn own_name(client: &Client) -> Option<String> {
    let api = Api::<SelfSubjectReview>::all(client.clone());
    let (params, question) = (PostParams::default(), SelfSubjectReview::default());
    let answer = tokio::time::timeout(TIMEOUT, api.create(&params, &question));
    answer.await.ok()?.ok()?.status?.user_info?.username
}

/// elbowroom itself needs no PriorityClass, so the account that it runs as need not be able to list them.
async fn read_classes(client: &Client, facts: &mut Facts) -> Result<()> {
    let class = |one: wire::PriorityClass| PriorityClass {
        name: one.name().to_owned(),
        value: one.value,
        global_default: one.global_default.unwrap_or_default(),
        never_preempts: one.preemption_policy.as_deref() == Some("Never"),
    };
    match pages::<wire::PriorityClass>(client, None).await {
        Ok(classes) => facts.classes = Some(classes.into_iter().map(class).collect()),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            facts.unread.push(format!("PriorityClasses: {}", status.message));
        }
        Err(error) => return refused::<wire::PriorityClass>(&error),
    }
    Ok(())
}

async fn read_objects(client: &Client, mut converter: Converter, facts: &mut Facts) -> Result<()> {
    let mut unreadable = Vec::new();
    for namespace in list::<wire::Namespace>(client).await? {
        keep(converter.namespace(namespace), &mut unreadable, |one| facts.namespaces.push(one));
    }
    for budget in list::<wire::Budget>(client).await? {
        let (demand, expected) = (budget.demand(), budget.expected_pods());
        let sync_failed = budget.sync_failed().map(str::to_owned);
        keep(converter.budget(budget), &mut unreadable, |budget| {
            facts.budgets.push(BudgetFacts { budget, demand, expected, sync_failed });
        });
    }
    for node in list::<wire::Node>(client).await? {
        let kubelet = node.kubelet_version().to_owned();
        keep(converter.node(node), &mut unreadable, |node| facts.nodes.push(NodeFacts { node, kubelet }));
    }
    for pod in list::<wire::Pod>(client).await? {
        keep(converter.pod(pod), &mut unreadable, |one| facts.pods.push(one));
    }
    facts.unreadable = unreadable;
    Ok(())
}

fn keep<T>(read: Result<T, Unreadable>, unreadable: &mut Vec<String>, keep: impl FnOnce(T)) {
    match read {
        Ok(object) => keep(object),
        Err(problem) => unreadable.push(problem.to_string()),
    }
}

async fn list<K: Watched>(client: &Client) -> Result<Vec<K>> {
    match pages::<K>(client, K::FIELDS).await {
        Ok(objects) => Ok(objects),
        Err(error) => refused::<K>(&error).map(|()| Vec::new()),
    }
}

fn refused<K: kube::Resource<DynamicType = ()>>(error: &kube::Error) -> Result<()> {
    refuse_strangers(error)?;
    bail!("cannot list {}: {}", K::plural(&()), root(error))
}

/// Every object of a kind, page by page.
async fn pages<K>(client: &Client, fields: Option<&str>) -> kube::Result<Vec<K>>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let api = Api::<K>::all(client.clone());
    let mut params = ListParams { limit: Some(PAGE), ..ListParams::default() };
    if let Some(fields) = fields {
        params = params.fields(fields);
    }
    let mut all = Vec::new();
    loop {
        let page = tokio::time::timeout(TIMEOUT, api.list(&params)).await;
        let page = page.unwrap_or_else(|late| Err(kube::Error::Service(Box::new(late))))?;
        all.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(all),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::calls::testing::{answered_each, by_path, status};
    use super::*;
    use serde_json::json;

    fn page(names: &[&str], token: &str) -> serde_json::Value {
        let items: Vec<_> = names.iter().map(|name| json!({"metadata": {"name": name}})).collect();
        json!({"metadata": {"continue": token}, "items": items})
    }

    #[tokio::test]
    async fn a_list_is_read_to_its_last_page() {
        let (client, mut seen) =
            answered_each(vec![(200, page(&["a", "b"], "more")), (200, page(&["c"], ""))]);
        assert_eq!(pages::<wire::Node>(&client, None).await.unwrap().len(), 3);
        assert!(seen.recv().await.unwrap().line.ends_with("limit=500"));
        assert!(seen.recv().await.unwrap().line.contains("continue=more"));
    }

    #[tokio::test]
    async fn finished_pods_are_not_asked_for() {
        let (client, mut seen) = answered_each(vec![(200, page(&[], ""))]);
        list::<wire::Pod>(&client).await.unwrap();
        assert!(seen.recv().await.unwrap().line.contains("status.phase%21%3DSucceeded"));
    }

    #[tokio::test]
    async fn a_list_that_is_refused_is_one_clear_line() {
        let (client, _seen) = answered_each(vec![(403, status(403, "Forbidden", "pods is forbidden"))]);
        let error = list::<wire::Pod>(&client).await.unwrap_err().to_string();
        assert_eq!(error, "cannot list pods: pods is forbidden");
    }

    #[tokio::test]
    async fn classes_that_may_not_be_listed_are_not_known() {
        let path = "/apis/scheduling.k8s.io/v1/priorityclasses";
        let client = by_path(vec![(path, 403, status(403, "Forbidden", "no"))]);
        let mut facts = Facts::default();
        read_classes(&client, &mut facts).await.unwrap();
        assert_eq!((facts.classes, facts.unread), (None, vec!["PriorityClasses: no".to_owned()]));
    }

    #[tokio::test]
    async fn classes_are_read_with_what_they_say() {
        let class = json!({"metadata": {"name": "polite"}, "value": 5, "globalDefault": true,
                           "preemptionPolicy": "Never"});
        let list = json!({"metadata": {}, "items": [class]});
        let client = by_path(vec![("/apis/scheduling.k8s.io/v1/priorityclasses", 200, list)]);
        let mut facts = Facts::default();
        read_classes(&client, &mut facts).await.unwrap();
        let expected =
            PriorityClass { name: "polite".into(), value: 5, global_default: true, never_preempts: true };
        assert_eq!(facts.classes, Some(vec![expected]));
    }

    #[tokio::test]
    async fn what_cannot_be_understood_does_not_hide_the_rest() {
        let container = json!({"name": "c", "resources": {"requests": {"cpu": "two"}}});
        let bad =
            json!({"metadata": {"name": "bad", "namespace": "ns"}, "spec": {"containers": [container]}});
        let good = json!({"metadata": {"name": "good", "namespace": "ns", "uid": "u"}});
        let empty = || page(&[], "");
        let client = by_path(vec![
            ("/api/v1/namespaces", 200, empty()),
            ("/api/v1/nodes", 200, page(&["n1"], "")),
            ("/apis/policy/v1/poddisruptionbudgets", 200, empty()),
            ("/api/v1/pods", 200, json!({"metadata": {}, "items": [bad, good]})),
        ]);
        let mut facts = Facts::default();
        read_objects(&client, Converter::new([]), &mut facts).await.unwrap();
        assert_eq!((facts.nodes.len(), facts.pods.len(), facts.unreadable.len()), (1, 1, 1));
        assert!(facts.unreadable[0].contains("ns/bad"), "{}", facts.unreadable[0]);
    }
}

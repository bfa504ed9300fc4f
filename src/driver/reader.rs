//! The API read once, for those who explain.
//!
//! Invariant: GET and LIST, nothing else. A right that is missing is one line that names it.

use super::calls::root;
use super::client::{Clients, refuse_strangers};
use crate::config::ClientConnection;
use crate::wire;
use anyhow::{Context, Result, anyhow, bail};
use kube::api::ListParams;
use kube::core::NamespaceResourceScope;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;

/// Objects in one answer.
const PAGE: u32 = 500;
/// How long one answer may take, retries included.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What can be listed.
trait Listed: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned {}
impl<K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned> Listed for K {}

/// Reads of one cluster.
pub struct Reader {
    clients: Clients,
    namespace: String,
}

impl Reader {
    /// For the kubeconfig that is named, and its context of that name; else as [`super::run`] finds its cluster.
    ///
    /// # Errors
    /// No kubeconfig can be used, or the context is not in it.
    pub async fn new(connection: &ClientConnection, context: Option<&str>) -> Result<Self> {
        let (clients, namespace) = Clients::in_context(connection, context).await?;
        Ok(Self { clients, namespace })
    }

    /// The namespace that the context is about.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// One Pod; `None` when there is none.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn pod(&self, namespace: &str, name: &str) -> Result<Option<wire::Pod>> {
        let api = self.namespaced::<wire::Pod>(namespace);
        self.answer(api.get_opt(name), || format!("get pods in namespace {namespace}")).await
    }

    /// The Node of that name, or nothing. Listed, so that whoever may list needs no further right.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn node(&self, name: &str) -> Result<Vec<wire::Node>> {
        self.list(&format!("metadata.name={name}")).await
    }

    /// The Pods of a node that have not finished.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn pods_on(&self, node: &str) -> Result<Vec<wire::Pod>> {
        self.list(&format!("{UNFINISHED},spec.nodeName={node}")).await
    }

    /// All Pods that have not finished.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn pods(&self) -> Result<Vec<wire::Pod>> {
        self.list(UNFINISHED).await
    }

    /// All Nodes.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn nodes(&self) -> Result<Vec<wire::Node>> {
        self.list("").await
    }

    /// All PodDisruptionBudgets.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn budgets(&self) -> Result<Vec<wire::Budget>> {
        self.list("").await
    }

    /// All Namespaces.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn namespaces(&self) -> Result<Vec<wire::Namespace>> {
        self.list("").await
    }

    /// All PriorityClasses.
    ///
    /// # Errors
    /// The API server cannot be reached, or refuses.
    pub async fn priority_classes(&self) -> Result<Vec<wire::PriorityClass>> {
        self.list("").await
    }

    /// The clients behind it.
    pub(super) fn clients(&self) -> &Clients {
        &self.clients
    }

    fn namespaced<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>>(
        &self,
        name: &str,
    ) -> Api<K> {
        Api::namespaced(self.clients.reads.clone(), name)
    }

    async fn list<K: Listed>(&self, fields: &str) -> Result<Vec<K>> {
        let api = Api::<K>::all(self.clients.reads.clone());
        let mut params = ListParams::default().limit(PAGE);
        if !fields.is_empty() {
            params = params.fields(fields);
        }
        let mut all = Vec::new();
        loop {
            let right = || listing::<K>();
            let page = self.answer(api.list(&params), right).await?;
            all.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params.continue_token = Some(token),
                None => return Ok(all),
            }
        }
    }

    /// The answer, or one line that says what is wrong; `right` names the right that the call takes.
    async fn answer<T>(
        &self,
        call: impl Future<Output = kube::Result<T>>,
        right: impl Fn() -> String,
    ) -> Result<T> {
        let url = self.clients.url();
        let answered = tokio::time::timeout(TIMEOUT, call).await;
        match answered
            .map_err(|_| anyhow!("cannot reach the API server at {url}: no answer in {TIMEOUT:?}"))?
        {
            Ok(answer) => Ok(answer),
            Err(error) => {
                refuse_strangers(&error)?;
                match &error {
                    kube::Error::Api(status) if status.code == 403 => {
                        bail!("missing right: {}: {}", right(), root(&error))
                    }
                    kube::Error::Api(_) => Err(anyhow!(root(&error))).context(format!("cannot {}", right())),
                    _ => bail!("cannot reach the API server at {url}: {}", root(&error)),
                }
            }
        }
    }
}

/// The right to list a kind everywhere.
fn listing<K: Listed>() -> String {
    let (kind, group) = (K::plural(&()), K::group(&()));
    let dot = if group.is_empty() { "" } else { "." };
    let namespaced = ["Pod", "PodDisruptionBudget"].contains(&K::kind(&()).as_ref());
    let everywhere = if namespaced { " in all namespaces" } else { "" };
    format!("list {kind}{dot}{group}{everywhere}")
}

/// Finished Pods hold nothing.
const UNFINISHED: &str = "status.phase!=Succeeded,status.phase!=Failed";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::calls::testing::{answered_each, status};
    use super::*;
    use serde_json::json;

    fn reader(client: kube::Client) -> Reader {
        Reader { clients: Clients::of(client), namespace: "default".to_owned() }
    }

    fn page(names: &[&str], token: &str) -> serde_json::Value {
        let items: Vec<_> = names.iter().map(|name| json!({"metadata": {"name": name}})).collect();
        json!({"kind": "NodeList", "apiVersion": "v1", "metadata": {"continue": token}, "items": items})
    }

    #[tokio::test]
    async fn a_list_is_read_page_by_page() {
        let (client, mut seen) = answered_each(vec![(200, page(&["n1"], "more")), (200, page(&["n2"], ""))]);
        assert_eq!(reader(client).nodes().await.unwrap().len(), 2);
        assert_eq!(seen.recv().await.unwrap().line, "GET /api/v1/nodes?&limit=500");
        assert_eq!(seen.recv().await.unwrap().line, "GET /api/v1/nodes?&limit=500&continue=more");
    }

    #[tokio::test]
    async fn a_missing_right_is_named_in_one_line() {
        let forbidden = status(403, "Forbidden", "pods is forbidden: User \"eve\" cannot list resource");
        let (client, _seen) = answered_each(vec![(403, forbidden)]);
        let error = format!("{:#}", reader(client).pods_on("n1").await.unwrap_err());
        assert!(
            error.starts_with("missing right: list pods in all namespaces: pods is forbidden"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn only_what_is_in_namespaces_is_listed_in_all_of_them() {
        assert_eq!(listing::<wire::Budget>(), "list poddisruptionbudgets.policy in all namespaces");
        assert_eq!(listing::<wire::PriorityClass>(), "list priorityclasses.scheduling.k8s.io");
        assert_eq!(listing::<wire::Node>(), "list nodes");
    }

    #[tokio::test]
    async fn a_pod_that_is_not_there_is_no_failure() {
        let (client, mut seen) = answered_each(vec![(404, status(404, "NotFound", "not found"))]);
        assert!(reader(client).pod("shop", "cart").await.unwrap().is_none());
        assert_eq!(seen.recv().await.unwrap().line, "GET /api/v1/namespaces/shop/pods/cart");
    }
}

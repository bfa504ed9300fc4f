//! Who elbowroom is in a test: a service account with the rights in `deploy/`, or with some of them missing.

use std::path::Path;

use anyhow::{Context as _, Result};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::config::Kubeconfig;
use serde_json::json;

use super::world::World;

/// A rule of the ClusterRole, as `deploy/` writes it.
pub type Rule = PolicyRule;

/// The objects of `deploy/` that carry the rights.
pub struct Deployed {
    namespace: Namespace,
    account: ServiceAccount,
    role: ClusterRole,
    binding: ClusterRoleBinding,
    created: bool,
}

impl Deployed {
    /// Reads the files and applies them; a cluster where elbowroom is installed keeps it afterwards.
    ///
    /// # Errors
    /// When a file does not hold what it should, or the API server refuses it.
    pub async fn apply(client: &kube::Client) -> Result<Self> {
        let mut deployed = Self::read()?;
        let roles: Api<ClusterRole> = Api::all(client.clone());
        deployed.created = roles.get_opt("elbowroom").await?.is_none();
        apply(&Api::all(client.clone()), "elbowroom", &deployed.namespace).await?;
        apply(&Api::namespaced(client.clone(), "elbowroom"), "elbowroom", &deployed.account).await?;
        apply(&roles, "elbowroom", &deployed.role).await?;
        apply(&Api::all(client.clone()), "elbowroom", &deployed.binding).await?;
        Ok(deployed)
    }

    fn read() -> Result<Self> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
        let read =
            |file: &str| std::fs::read_to_string(directory.join(file)).with_context(|| file.to_owned());
        let (namespace, rights) = (read("1-namespace.yaml")?, read("2-rights.yaml")?);
        let mut documents = rights.split("\n---\n");
        let mut next = || documents.next().context("2-rights.yaml ends early");
        Ok(Self {
            namespace: serde_yaml::from_str(&namespace)?,
            account: serde_yaml::from_str(next()?)?,
            role: serde_yaml::from_str(next()?)?,
            binding: serde_yaml::from_str(next()?)?,
            created: false,
        })
    }

    /// The rules of the ClusterRole.
    pub fn rules(&self) -> Vec<Rule> {
        self.role.rules.clone().unwrap_or_default()
    }

    /// Removes what `apply` created.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn remove(&self, client: &kube::Client) -> Result<()> {
        if !self.created {
            return Ok(());
        }
        let at_once = DeleteParams::default();
        Api::<ClusterRoleBinding>::all(client.clone()).delete("elbowroom", &at_once).await?;
        Api::<ClusterRole>::all(client.clone()).delete("elbowroom", &at_once).await?;
        Api::<Namespace>::all(client.clone()).delete("elbowroom", &at_once).await?;
        Ok(())
    }
}

async fn apply<K>(api: &Api<K>, name: &str, object: &K) -> Result<()>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + serde::Serialize + std::fmt::Debug,
{
    let parameters = PatchParams::apply("elbowroom-e2e").force();
    api.patch(name, &parameters, &Patch::Apply(object))
        .await
        .with_context(|| format!("apply {name} of deploy/"))?;
    Ok(())
}

/// A token of the service account that outlives the run.
///
/// # Errors
/// When the API server issues none.
pub async fn token(client: &kube::Client, namespace: &str, account: &str) -> Result<String> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let request = TokenRequest {
        spec: Some(TokenRequestSpec { expiration_seconds: Some(7200), ..TokenRequestSpec::default() }),
        ..TokenRequest::default()
    };
    let issued = accounts.create_token_request(account, &PostParams::default(), &request).await?;
    issued.status.and_then(|status| status.token).context("no token in the answer")
}

/// A kubeconfig for that token. It points where the admin's points, or at `server` when one is named.
///
/// # Errors
/// When the admin's kubeconfig has no cluster for its current context.
pub fn kubeconfig(admin: &Kubeconfig, token: &str, server: Option<&str>) -> Result<String> {
    let current = admin.current_context.as_ref().context("the kubeconfig has no current context")?;
    let context = admin.contexts.iter().find(|c| &c.name == current).and_then(|c| c.context.as_ref());
    let wanted = &context.context("the current context does not exist")?.cluster;
    let cluster = admin.clusters.iter().find(|c| &c.name == wanted).and_then(|c| c.cluster.clone());
    let cluster = match server {
        Some(server) => json!({"server": server}),
        None => serde_json::to_value(cluster.context("the current context has no cluster")?)?,
    };
    let file = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
        "clusters": [{"name": "e2e", "cluster": cluster}],
        "users": [{"name": "e2e", "user": {"token": token}}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
    });
    Ok(serde_json::to_string_pretty(&file)?)
}

impl World {
    /// A service account of the test's namespace with these rules in the whole cluster; returns a kubeconfig for it.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn account(&self, account: &str, rules: Vec<Rule>) -> Result<String> {
        let name = format!("{}-{account}", self.namespace);
        let metadata = json!({"name": name, "labels": self.suite.labels()});
        let role = json!({"metadata": metadata, "rules": rules});
        let binding = json!({
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": self.namespace}],
        });
        let create = PostParams::default();
        let object: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": account}}))?;
        self.api().create(&create, &object).await?;
        self.remember(format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"));
        self.all().create(&create, &serde_json::from_value::<ClusterRole>(role)?).await?;
        self.remember(format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}"));
        self.all().create(&create, &serde_json::from_value::<ClusterRoleBinding>(binding)?).await?;
        let token = token(&self.suite.client, &self.namespace, account).await?;
        self.suite.kubeconfig(Some(&token), None)
    }
}

//! One test's part of the cluster: a namespace, nodes, a schedulerName. What it makes goes away with it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use serde_json::json;

use super::kubelet::SimulatedKubelet;
use super::observe::{Observer, lock};
use super::pods;
use super::scheduler::Scheduler;
use super::suite::Suite;
use super::workers::Worker;

/// Long enough for a kubelet, a controller and elbowroom on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a test works with.
pub struct World {
    /// The run that it is part of.
    pub suite: Arc<Suite>,
    /// Its namespace.
    pub namespace: String,
    /// The schedulerName of its Pods.
    pub profile: String,
    /// What happens to its Pods.
    pub observer: Observer,
    /// The kubelet of its nodes that have none.
    pub kubelet: SimulatedKubelet,
    directory: tempfile::TempDir,
    pub(super) held: Mutex<Held>,
}

/// What is to be given back or removed at the end.
#[derive(Default)]
pub struct Held {
    pub(super) workers: Vec<Worker>,
    pub(super) nodes: Vec<String>,
    /// Deletes by path of cluster-wide objects.
    pub(super) objects: Vec<String>,
    pub(super) labels: Vec<(String, String)>,
    /// Pods that the test itself deleted.
    pub(super) deleted: Vec<String>,
    schedulers: Vec<PathBuf>,
}

impl World {
    /// Creates the namespace and begins to watch it.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn create(suite: Arc<Suite>, scenario: &str) -> Result<Self> {
        let slug = scenario.replace("::", "-").replace('_', "-");
        let slug: String = slug.chars().take(36).collect();
        let slug = slug.trim_end_matches('-').to_owned();
        let namespace = format!("e2e-{}-{slug}", suite.run);
        let object = json!({"metadata": {"name": namespace, "labels": suite.labels()}});
        let namespaces: Api<Namespace> = Api::all(suite.client.clone());
        namespaces.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        let observer = Observer::start(Api::namespaced(suite.client.clone(), &namespace));
        let kubelet = SimulatedKubelet::start(suite.client.clone(), &namespace, &observer);
        let directory = tempfile::Builder::new().prefix("elbowroom-e2e-").tempdir()?;
        let profile = format!("elbowroom-{slug}");
        let world = Self { suite, namespace, profile, observer, kubelet, directory, held: Mutex::default() };
        world.service_account().await?;
        Ok(world)
    }

    /// Admission refuses Pods until the namespace has its default account.
    async fn service_account(&self) -> Result<()> {
        let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> = self.api();
        let end = Instant::now() + PATIENCE;
        while accounts.get_opt("default").await?.is_none() {
            ensure!(Instant::now() < end, "no default service account: is kube-controller-manager there?");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Objects of this kind in the test's namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    {
        Api::namespaced(self.suite.client.clone(), &self.namespace)
    }

    /// Objects of this kind in the cluster.
    pub fn all<K: kube::Resource<DynamicType = ()>>(&self) -> Api<K> {
        Api::all(self.suite.client.clone())
    }

    // The scheduler.

    /// Starts elbowroom with the rights of `deploy/` and waits until it is ready.
    ///
    /// # Errors
    /// When it does not become ready.
    pub async fn scheduler(&self) -> Result<Scheduler> {
        let mut scheduler = self.spawn_scheduler(None)?;
        scheduler.ready().await?;
        Ok(scheduler)
    }

    /// Starts it and returns at once; it talks to `server` instead of the API server when one is named.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn_scheduler(&self, server: Option<&str>) -> Result<Scheduler> {
        self.spawn(&self.config(), server)
    }

    /// Starts it with another configuration and returns at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn_scheduler_with(&self, config: &str) -> Result<Scheduler> {
        self.spawn(config, None)
    }

    /// Starts it with another configuration and another server, and returns at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(&self, config: &str, server: Option<&str>) -> Result<Scheduler> {
        self.spawn_as(config, &self.suite.kubeconfig(None, server)?)
    }

    /// Starts it with another configuration and this kubeconfig's content, and returns at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn_as(&self, config: &str, kubeconfig: &str) -> Result<Scheduler> {
        let kubeconfig = self.file("kubeconfig", kubeconfig)?;
        let config = self.file("config.yaml", config)?;
        Scheduler::start(&self.suite.binary, &config, &kubeconfig, self.log())
    }

    /// The file of the next scheduler's output.
    pub fn log(&self) -> PathBuf {
        let mut held = lock(&self.held);
        let log = self.directory.path().join(format!("scheduler-{}.log", held.schedulers.len()));
        held.schedulers.push(log.clone());
        log
    }

    /// The configuration: one profile with a name that no other test has.
    pub fn config(&self) -> String {
        format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             leaderElection:\n  leaderElect: false\nprofiles:\n- schedulerName: {}\n",
            self.profile
        )
    }

    /// The same with these args of `ResizePreemption`.
    pub fn config_with(&self, args: &serde_json::Value) -> String {
        let mut args = args.clone();
        args["apiVersion"] = json!("elbowroom.dev/v1alpha1");
        args["kind"] = json!("ResizePreemptionArgs");
        // JSON is YAML.
        format!("{}  pluginConfig: {}\n", self.config(), json!([{"name": "ResizePreemption", "args": args}]))
    }

    /// Writes a file of this test.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn file(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.directory.path().join(name);
        std::fs::write(&path, content)?;
        Ok(path)
    }

    // The end.

    /// The Pods and the last lines of each scheduler, for a failure report.
    pub fn describe(&self) -> String {
        let seen = self.observer.now();
        let mut text = String::from("Pods:\n");
        seen.pods.values().for_each(|pod| text += &format!("    {}\n", pods::summary(pod)));
        text += &format!("    left: {:?}\n", seen.left);
        let logs = lock(&self.held).schedulers.clone();
        for log in logs.iter().rev().take(3).rev() {
            let content = std::fs::read_to_string(log).unwrap_or_default();
            let lines: Vec<_> = content.lines().collect();
            let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
            text += &format!("{name}:\n    {}\n", lines[lines.len().saturating_sub(60)..].join("\n    "));
        }
        text
    }

    /// Removes everything, as far as it can. The namespace may still be going when this returns; the suite
    /// waits for it at the end.
    ///
    /// # Errors
    /// With the first thing that does not go away.
    pub async fn destroy(self) -> Result<()> {
        let held = std::mem::take(&mut *lock(&self.held));
        let pods = self.destroy_pods().await;
        let nodes = self.destroy_nodes(&held).await;
        let mut objects = Ok(());
        for path in held.objects {
            let request = axum::http::Request::delete(&path).body(Vec::new())?;
            let deleted = self.suite.client.request_text(request).await.with_context(|| path);
            objects = objects.and(deleted.map(drop));
        }
        self.all::<Namespace>().delete(&self.namespace, &DeleteParams::default()).await?;
        pods.and(nodes).and(objects)
    }

    async fn destroy_pods(&self) -> Result<()> {
        self.kubelet.exits_take(Duration::ZERO);
        self.observer.now().pods.keys().for_each(|name| self.kubelet.let_go(name));
        // Kubelets get a second to stop the containers, so that the next test finds their node empty.
        let pods: Api<Pod> = self.api();
        let grace = |seconds| DeleteParams { grace_period_seconds: Some(seconds), ..DeleteParams::default() };
        pods.delete_collection(&grace(1), &ListParams::default()).await?;
        let gone = |seen: &super::observe::Seen| seen.pods.is_empty();
        if self.observer.until(Duration::from_secs(15), "Pods gone", gone).await.is_err() {
            pods.delete_collection(&grace(0), &ListParams::default()).await?;
        }
        Ok(())
    }

    async fn destroy_nodes(&self, held: &Held) -> Result<()> {
        for (node, key) in &held.labels {
            self.change_node(node, json!({"metadata": {"labels": {key: null}}})).await?;
        }
        let leases: Api<Lease> = Api::namespaced(self.suite.client.clone(), "kube-node-lease");
        for node in &held.nodes {
            self.kubelet.forget(node);
            ignore_missing(self.all::<Node>().delete(node, &DeleteParams::default()).await)?;
            ignore_missing(leases.delete(node, &DeleteParams::default()).await)?;
        }
        Ok(())
    }
}

fn ignore_missing<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(drop),
    }
}

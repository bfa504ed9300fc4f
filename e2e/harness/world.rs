//! One test's part of the cluster: a namespace, nodes, a schedulerName. What it makes goes away with it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::kubelet::{SimulatedKubelet, SimulatedNode};
use super::observe::{Observer, lock};
use super::pods::{self, PodSpec, Priority, condition};
use super::scheduler::Scheduler;
use super::suite::Suite;
use super::workers::{self, Worker};
use super::{OURS, PENDING};

/// Long enough for a kubelet, a controller and elbowroom on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long nothing must happen before a test believes it.
const QUIET: Duration = Duration::from_millis(2500);

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
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    workers: Vec<Worker>,
    nodes: Vec<String>,
    /// Deletes by path of cluster-wide objects.
    objects: Vec<String>,
    labels: Vec<(String, String)>,
    /// Pods that the test itself deleted.
    deleted: Vec<String>,
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

    // Nodes.

    /// A node with a kubelet that has exactly this much room: milli-CPU and MiB. Nobody else uses it meanwhile.
    ///
    /// # Errors
    /// When no node is that large.
    pub async fn worker(&self, cpu: i64, memory: i64) -> Result<String> {
        let worker = self.suite.workers.take().await?;
        let name = worker.name.clone();
        lock(&self.held).workers.push(worker);
        let (free_cpu, free_memory) = workers::free(&self.suite.client, &name).await?;
        ensure!(
            free_cpu >= cpu && free_memory >> 20 >= memory,
            "node {name} has only {free_cpu}m and {free_memory} bytes"
        );
        let mut filler = PodSpec::new(format!("filler-{name}"), Priority::Filler).on(&name);
        if free_cpu > cpu {
            filler = filler.cpu(free_cpu - cpu);
        }
        // Up to one MiB short of it, should the node not be a whole number of MiB.
        if free_memory >> 20 > memory {
            filler = filler.memory((free_memory >> 20) - memory);
        }
        self.run(filler).await?;
        Ok(name)
    }

    /// A Node object of that many milli-CPU with a simulated kubelet.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn node(&self, short: &str, cpu: i64) -> Result<String> {
        self.node_with(short, SimulatedNode { cpu, judges: true }, json!({})).await
    }

    /// The same, about whose resizes the test itself decides.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn mute_node(&self, short: &str, cpu: i64) -> Result<String> {
        self.node_with(short, SimulatedNode { cpu, judges: false }, json!({})).await
    }

    /// The same, with parts of the object changed by a JSON merge patch.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn node_with(&self, short: &str, node: SimulatedNode, patch: Value) -> Result<String> {
        let name = format!("{}-{short}", self.namespace);
        let mut labels = self.suite.labels();
        labels.insert("kubernetes.io/hostname".into(), name.clone());
        labels.insert("kubernetes.io/os".into(), "linux".into());
        labels.insert("e2e.elbowroom.dev/namespace".into(), self.namespace.clone());
        let size = json!({"cpu": format!("{}m", node.cpu), "memory": "64Gi", "pods": "110"});
        let mut object = json!({
            "metadata": {"name": name, "labels": labels}, "spec": {},
            "status": {
                "capacity": size, "allocatable": size,
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            },
        });
        merge(&mut object, &patch);
        lock(&self.held).nodes.push(name.clone());
        let nodes: Api<Node> = self.all();
        nodes.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        self.kubelet.add(&name, node);
        // Admission puts not-ready on every new Node; what a test wants stays.
        let wanted = patch.pointer("/spec/taints").cloned().unwrap_or_else(|| json!([]));
        nodes
            .patch(&name, &PatchParams::default(), &Patch::Merge(json!({"spec": {"taints": wanted}})))
            .await?;
        Ok(name)
    }

    /// Changes a node by a JSON merge patch.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn change_node(&self, node: &str, patch: Value) -> Result<()> {
        self.all::<Node>().patch(node, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// Changes a node's status by a JSON merge patch.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn change_node_status(&self, node: &str, status: Value) -> Result<()> {
        let patch = Patch::Merge(json!({"status": status}));
        self.all::<Node>().patch_status(node, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Says on behalf of the kubelet whether a node is ready.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn set_ready(&self, node: &str, ready: bool) -> Result<()> {
        let status = if ready { "True" } else { "False" };
        let patch =
            json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": "Test"}]}});
        self.all::<Node>().patch_status(node, &PatchParams::default(), &Patch::Strategic(patch)).await?;
        Ok(())
    }

    /// A label on a worker, taken away at the end. The key must be of this run: see `label_key`.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn label(&self, node: &str, key: &str, value: &str) -> Result<()> {
        lock(&self.held).labels.push((node.to_owned(), key.to_owned()));
        let patch = json!({"metadata": {"labels": {key: value}}});
        self.all::<Node>().patch(node, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// A label key that no other run has.
    pub fn label_key(&self) -> String {
        format!("e2e.elbowroom.dev/{}", self.namespace)
    }

    /// A kubelet admits Pods by the labels that its own watch has brought it.
    pub async fn label_seen_by_kubelet(&self) {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }

    /// The path of a cluster-wide object to delete at the end.
    pub fn remember(&self, path: String) {
        lock(&self.held).objects.push(path);
    }

    /// A RuntimeClass that costs each of its Pods that much CPU.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn runtime_class(&self, cpu: &str) -> Result<String> {
        let name = self.namespace.clone();
        let object = json!({
            "metadata": {"name": name, "labels": self.suite.labels()},
            "handler": "runc", "overhead": {"podFixed": {"cpu": cpu}},
        });
        self.remember(format!("/apis/node.k8s.io/v1/runtimeclasses/{name}"));
        self.all().create(&PostParams::default(), &serde_json::from_value::<RuntimeClass>(object)?).await?;
        Ok(name)
    }

    // Pods.

    /// Creates a Pod.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn pod(&self, spec: PodSpec) -> Result<Pod> {
        let object = spec.object(&self.suite.run, &self.profile)?;
        let pod = self.api::<Pod>().create(&PostParams::default(), &object).await?;
        self.observer.now().put(pod.clone());
        Ok(pod)
    }

    /// Creates a Pod and waits until it runs.
    ///
    /// # Errors
    /// When it does not.
    pub async fn run(&self, spec: PodSpec) -> Result<Pod> {
        let name = spec.name.clone();
        self.pod(spec).await?;
        self.wait(&name, "runs", |pod| condition(pod, "Ready").is_some_and(|c| c.status == "True")).await
    }

    /// Waits until the check holds for a Pod.
    ///
    /// # Errors
    /// When it does not in time, or there is no such Pod.
    pub async fn wait(&self, name: &str, what: &str, check: impl Fn(&Pod) -> bool) -> Result<Pod> {
        self.observer
            .until(PATIENCE, &format!("{name} {what}"), |seen| seen.pods.get(name).is_some_and(&check))
            .await?;
        self.get(name)
    }

    /// A Pod as it was seen last.
    ///
    /// # Errors
    /// When it is gone.
    pub fn get(&self, name: &str) -> Result<Pod> {
        self.observer.now().pods.get(name).cloned().with_context(|| format!("Pod {name} is gone"))
    }

    /// Asks for more or less CPU, in milli-CPU, in place.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn resize(&self, name: &str, cpu: i64) -> Result<Pod> {
        self.resize_to(name, json!({"cpu": format!("{cpu}m")})).await
    }

    /// Asks for these requests, in place.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn resize_to(&self, name: &str, requests: Value) -> Result<Pod> {
        let patch = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}});
        Ok(self.api::<Pod>().patch_resize(name, &PatchParams::default(), &Patch::Strategic(patch)).await?)
    }

    /// Waits until the kubelet says that there is no room for the latest resize.
    ///
    /// # Errors
    /// When it does not say so.
    pub async fn deferred(&self, name: &str) -> Result<Pod> {
        self.wait(name, "is Deferred", |pod| {
            let of_now = |c: &&k8s_openapi::api::core::v1::PodCondition| {
                c.observed_generation == pod.metadata.generation
            };
            condition(pod, PENDING).filter(of_now).is_some_and(|c| c.reason.as_deref() == Some("Deferred"))
        })
        .await
    }

    /// Asks for more CPU where there is no room.
    ///
    /// # Errors
    /// When the kubelet grants it, or says nothing.
    pub async fn resize_deferred(&self, name: &str, cpu: i64) -> Result<Pod> {
        self.resize(name, cpu).await?;
        self.deferred(name).await
    }

    /// Waits until the kubelet has allocated that much CPU and has nothing more to say about it.
    ///
    /// # Errors
    /// When it does not.
    pub async fn allocated(&self, name: &str, cpu: i64) -> Result<Pod> {
        let what = format!("is allocated {cpu}m");
        self.wait(name, &what, |pod| pods::allocated_cpu(pod) == cpu && condition(pod, PENDING).is_none())
            .await
    }

    /// Waits until elbowroom's own condition on the Pod is this.
    ///
    /// # Errors
    /// When it does not become so.
    pub async fn says(&self, name: &str, status: &str, reason: &str) -> Result<Pod> {
        self.wait(name, &format!("has {OURS}={status} {reason}"), |pod| {
            condition(pod, OURS).is_some_and(|c| c.status == status && c.reason.as_deref() == Some(reason))
        })
        .await
    }

    /// Waits until elbowroom has taken its condition away.
    ///
    /// # Errors
    /// When it stays.
    pub async fn says_nothing_more(&self, name: &str) -> Result<()> {
        self.wait(name, &format!("has no {OURS}"), |pod| condition(pod, OURS).is_none()).await?;
        Ok(())
    }

    /// Deletes a Pod as its owner would.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete(&self, name: &str) -> Result<()> {
        lock(&self.held).deleted.push(name.to_owned());
        self.api::<Pod>().delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Changes a Pod by a JSON merge patch.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn change_pod(&self, name: &str, patch: Value) -> Result<()> {
        self.api::<Pod>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// Waits until somebody has asked a Pod to leave.
    ///
    /// # Errors
    /// When nobody does.
    pub async fn leaving(&self, name: &str) -> Result<()> {
        self.observer.until(PATIENCE, &format!("{name} leaves"), |seen| seen.left.contains(name)).await
    }

    /// Waits until a Pod is there no more.
    ///
    /// # Errors
    /// When it stays.
    pub async fn gone(&self, name: &str) -> Result<()> {
        self.observer.until(PATIENCE, &format!("{name} is gone"), |seen| !seen.pods.contains_key(name)).await
    }

    /// Waits until a Pod is bound to that node.
    ///
    /// # Errors
    /// When it is not.
    pub async fn bound(&self, name: &str, node: &str) -> Result<Pod> {
        self.wait(name, &format!("is bound to {node}"), |pod| pods::node_of(pod) == Some(node)).await
    }

    /// Waits until a Pod is said to fit nowhere, with this among the reasons; returns the whole message.
    ///
    /// # Errors
    /// When that is not said.
    pub async fn unschedulable(&self, name: &str, reason: &str) -> Result<String> {
        let said = |pod: &Pod| {
            let condition = condition(pod, "PodScheduled")?;
            let refused = condition.status == "False" && condition.reason.as_deref() == Some("Unschedulable");
            condition.message.clone().filter(|message| refused && message.contains(reason))
        };
        let pod = self.wait(name, &format!("is unschedulable: {reason}"), |pod| said(pod).is_some()).await?;
        said(&pod).context("the condition changed again")
    }

    /// Lets time pass in which nothing more should happen.
    pub async fn quiet(&self) {
        tokio::time::sleep(QUIET).await;
    }

    /// Waits until exactly these Pods, and none but them, have been asked to leave by somebody else than the test,
    /// and nothing more happens.
    ///
    /// # Errors
    /// Says who left.
    pub async fn victims(&self, expected: &[&str]) -> Result<()> {
        let mut expected: Vec<_> = expected.iter().map(|name| (*name).to_owned()).collect();
        expected.sort();
        let what = format!("victims {expected:?}");
        self.observer
            .until(PATIENCE, &what, |seen| expected.iter().all(|name| seen.left.contains(name)))
            .await?;
        self.quiet().await;
        let seen = self.victims_so_far();
        ensure!(seen == expected, "expected victims {expected:?}, but these left: {seen:?}");
        Ok(())
    }

    /// Who left so far, sorted.
    pub fn victims_so_far(&self) -> Vec<String> {
        let deleted = lock(&self.held).deleted.clone();
        self.observer.now().left.iter().filter(|name| !deleted.contains(name)).cloned().collect()
    }

    // Other objects.

    /// A budget over the Pods with these `app` labels.
    ///
    /// # Errors
    /// When the controller does not compute it.
    pub async fn budget(&self, name: &str, apps: &[&str], min_available: i32, allows: i32) -> Result<()> {
        let object = json!({
            "metadata": {"name": name},
            "spec": {
                "minAvailable": min_available,
                "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": apps}]},
            },
        });
        self.api()
            .create(&PostParams::default(), &serde_json::from_value::<PodDisruptionBudget>(object)?)
            .await?;
        self.budget_allows(name, allows).await
    }

    /// Changes what has to stay available.
    ///
    /// # Errors
    /// When the controller does not compute it.
    pub async fn change_budget(&self, name: &str, min_available: i32, allows: i32) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"minAvailable": min_available}}));
        self.api::<PodDisruptionBudget>().patch(name, &PatchParams::default(), &patch).await?;
        self.budget_allows(name, allows).await
    }

    async fn budget_allows(&self, name: &str, allows: i32) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            let budget = self.api::<PodDisruptionBudget>().get(name).await?;
            let generation = budget.metadata.generation;
            let status = budget.status.unwrap_or_default();
            if status.observed_generation == generation && status.disruptions_allowed == Some(allows) {
                return Ok(());
            }
            ensure!(
                Instant::now() < end,
                "budget {name} allows {:?}, not {allows}",
                status.disruptions_allowed
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The events with this reason about a Pod, once there is one.
    ///
    /// # Errors
    /// When there is none.
    pub async fn events(&self, pod: &str, reason: &str) -> Result<Vec<Event>> {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.events_so_far(pod, reason).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            ensure!(Instant::now() < end, "no event {reason} about {pod}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The events with this reason about a Pod.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn events_so_far(&self, pod: &str, reason: &str) -> Result<Vec<Event>> {
        let mut events = self.api::<Event>().list(&ListParams::default()).await?.items;
        events.retain(|event| {
            event.reason.as_deref() == Some(reason)
                && event.regarding.as_ref().and_then(|r| r.name.as_deref()) == Some(pod)
        });
        Ok(events)
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

    fn spawn(&self, config: &str, server: Option<&str>) -> Result<Scheduler> {
        let kubeconfig = self.file("kubeconfig", &self.suite.kubeconfig(None, server)?)?;
        let config = self.file("config.yaml", config)?;
        let log = {
            let mut held = lock(&self.held);
            let log = self.directory.path().join(format!("scheduler-{}.log", held.schedulers.len()));
            held.schedulers.push(log.clone());
            log
        };
        Scheduler::start(&self.suite.binary, &config, &kubeconfig, log)
    }

    /// The configuration: one profile with a name that no other test has.
    pub fn config(&self) -> String {
        format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             leaderElection:\n  leaderElect: false\nprofiles:\n- schedulerName: {}\n",
            self.profile
        )
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

    /// Removes everything. The namespace may still be going when this returns; the suite waits for it at the end.
    ///
    /// # Errors
    /// When something does not go away.
    pub async fn destroy(self) -> Result<()> {
        let held = std::mem::take(&mut *lock(&self.held));
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
        for (node, key) in &held.labels {
            let patch = json!({"metadata": {"labels": {key: null}}});
            self.all::<Node>().patch(node, &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        let leases: Api<Lease> = Api::namespaced(self.suite.client.clone(), "kube-node-lease");
        for node in &held.nodes {
            self.kubelet.forget(node);
            ignore_missing(self.all::<Node>().delete(node, &DeleteParams::default()).await)?;
            ignore_missing(leases.delete(node, &DeleteParams::default()).await)?;
        }
        for path in held.objects {
            let request = axum::http::Request::delete(&path).body(Vec::new())?;
            self.suite.client.request_text(request).await.with_context(|| path)?;
        }
        self.all::<Namespace>().delete(&self.namespace, &DeleteParams::default()).await?;
        Ok(())
    }
}

fn ignore_missing<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(drop),
    }
}

/// RFC 7386.
fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch.clone(),
    }
}

//! The nodes of a test: a filled-up worker with a kubelet, or Node objects with a simulated one.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::kubelet::SimulatedNode;
use super::observe::lock;
use super::pods::{PodSpec, Priority};
use super::workers::{self, Worker};
use super::world::World;

impl World {
    /// A node with a kubelet that has exactly this much room: milli-CPU and MiB. Nobody else uses it
    /// meanwhile.
    ///
    /// # Errors
    /// When no node is that large.
    pub async fn worker(&self, cpu: i64, memory: i64) -> Result<String> {
        self.fill(self.suite.workers.take().await?, cpu, memory).await
    }

    /// The same on the one node where containers are real.
    ///
    /// # Errors
    /// When it does not come up or is not that large.
    pub async fn real_worker(&self, cpu: i64, memory: i64) -> Result<String> {
        self.fill(self.suite.real_node().await?.take().await?, cpu, memory).await
    }

    async fn fill(&self, worker: Worker, cpu: i64, memory: i64) -> Result<String> {
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
        self.change_node(node, json!({"metadata": {"labels": {key: value}}})).await
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

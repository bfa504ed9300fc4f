//! Nodes that have a kubelet, hollow or real: one test at a time, filled up to the size that its numbers
//! need.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::{Api, ListParams};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The nodes that are not in use now.
pub struct Workers {
    idle: Arc<Mutex<Vec<String>>>,
    permits: Arc<Semaphore>,
}

/// A node that one test has for itself; it goes back when dropped.
pub struct Worker {
    /// The node's name.
    pub name: String,
    idle: Arc<Mutex<Vec<String>>>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.name));
    }
}

impl Workers {
    /// All nodes that are ready and take any Pod.
    ///
    /// # Errors
    /// When there is none.
    pub async fn find(client: &kube::Client) -> Result<Self> {
        let end = Instant::now() + Duration::from_secs(20);
        let nodes = loop {
            let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?.items;
            if !nodes.iter().any(is_new) || Instant::now() > end {
                break nodes;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let names: Vec<_> = nodes.into_iter().filter(takes_any_pod).filter_map(|n| n.metadata.name).collect();
        ensure!(
            !names.is_empty(),
            "the cluster has no ready node without taints, so there is no kubelet to test with"
        );
        Ok(Self::of(names))
    }

    /// These nodes.
    pub fn of(names: Vec<String>) -> Self {
        Self { permits: Arc::new(Semaphore::new(names.len())), idle: Arc::new(Mutex::new(names)) }
    }

    /// Waits for a node that no other test uses.
    ///
    /// # Errors
    /// Never in a run that goes on.
    pub async fn take(&self) -> Result<Worker> {
        let permit = self.permits.clone().acquire_owned().await?;
        let name =
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().context("no idle worker")?;
        Ok(Worker { name, idle: self.idle.clone(), _permit: permit })
    }

    /// Labels that a test of this run put on a worker and did not take away.
    ///
    /// # Errors
    /// When the nodes cannot be listed.
    pub async fn left_behind(&self, client: &kube::Client, run: &str) -> Result<Vec<String>> {
        let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
        let mut left = Vec::new();
        for node in nodes.items {
            let labels = node.metadata.labels.unwrap_or_default();
            let name = node.metadata.name.unwrap_or_default();
            left.extend(
                labels
                    .keys()
                    .filter(|key| key.contains(run))
                    .map(|key| format!("label {key} on node {name}")),
            );
        }
        Ok(left)
    }
}

/// A node that has just become ready keeps the taint for a moment, until the controllers take it away.
fn is_new(node: &Node) -> bool {
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    is_ready(node) && taints.iter().any(|taint| taint.key == "node.kubernetes.io/not-ready")
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|s| s.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|c| c.type_ == "Ready" && c.status == "True")
}

fn takes_any_pod(node: &Node) -> bool {
    let spec = node.spec.clone().unwrap_or_default();
    spec.taints.unwrap_or_default().is_empty() && !spec.unschedulable.unwrap_or_default() && is_ready(node)
}

/// What a node has left when every Pod on it counts with its requests: milli-CPU and bytes.
///
/// # Errors
/// When the node or its Pods cannot be read.
pub async fn free(client: &kube::Client, node: &str) -> Result<(i64, i64)> {
    let object = Api::<Node>::all(client.clone()).get(node).await?;
    let size = object.status.and_then(|s| s.allocatable).unwrap_or_default();
    let here = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let pods = Api::<Pod>::all(client.clone()).list(&here).await?;
    let (mut cpu, mut memory) = (amount(&size, "cpu", 1000)?, amount(&size, "memory", 1)?);
    for container in pods.items.iter().filter_map(|p| p.spec.as_ref()).flat_map(|s| &s.containers) {
        let requests = container.resources.as_ref().and_then(|r| r.requests.clone()).unwrap_or_default();
        cpu -= amount(&requests, "cpu", 1000)?;
        memory -= amount(&requests, "memory", 1)?;
    }
    Ok((cpu, memory))
}

/// The amount in units of 1/`scale`, rounded down; 0 when the resource is not there.
///
/// # Errors
/// When it is written in a way that nodes and these tests do not write.
pub fn amount(list: &BTreeMap<String, Quantity>, resource: &str, scale: i64) -> Result<i64> {
    let Some(Quantity(text)) = list.get(resource) else { return Ok(0) };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().with_context(|| format!("quantity {text}"))?;
    let factor = match &text[digits.len()..] {
        "" => 1.0,
        "m" => 0.001,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1048576.0,
        "Gi" => 1073741824.0,
        other => anyhow::bail!("quantity {text} ends in {other}"),
    };
    #[allow(clippy::cast_possible_truncation, reason = "sizes of nodes are far below 2^53")]
    Ok((number * factor * scale as f64).round() as i64)
}

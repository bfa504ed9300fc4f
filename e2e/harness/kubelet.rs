//! A stand-in for the kubelet on Node objects that have none: it starts Pods, judges resizes of CPU as a
//! kubelet does (the others at what they hold), and takes away Pods that are asked to go. It knows nothing of
//! elbowroom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Result;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::PENDING;
use super::observe::{Observer, Seen, lock};
use super::pods::{allocated_cpu, condition, desired_cpu, is_leaving, node_of};

/// A node that this kubelet stands for.
#[derive(Debug, Clone)]
pub struct SimulatedNode {
    /// Allocatable milli-CPU.
    pub cpu: i64,
    /// Whether it decides about resizes; else the test writes the conditions itself.
    pub judges: bool,
}

/// All simulated nodes of one test.
pub struct SimulatedKubelet {
    client: kube::Client,
    namespace: String,
    shared: Arc<Mutex<Shared>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    nodes: BTreeMap<String, SimulatedNode>,
    /// Pods that ignore their end until they are let go.
    held: BTreeSet<String>,
    /// How long every Pod takes to end.
    exit: Duration,
    /// Pods whose resize is not tried until it is let through.
    stalled: BTreeSet<String>,
}

impl Drop for SimulatedKubelet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SimulatedKubelet {
    /// Follows what the observer sees.
    pub fn start(client: kube::Client, namespace: &str, observer: &Observer) -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let (seen, changes) = observer.follow();
        let work = Work {
            client: client.clone(),
            pods: Api::namespaced(client.clone(), namespace),
            shared: shared.clone(),
            seen,
            ends: BTreeMap::new(),
            beat: None,
        };
        Self { client, namespace: namespace.to_owned(), shared, task: tokio::spawn(work.run(changes)) }
    }

    /// Takes charge of a node.
    pub fn add(&self, name: &str, node: SimulatedNode) {
        lock(&self.shared).nodes.insert(name.to_owned(), node);
    }

    /// Gives a node up: its Pods are on their own.
    pub fn forget(&self, name: &str) {
        lock(&self.shared).nodes.remove(name);
    }

    /// That Pod does not end until it is let go.
    pub fn hold(&self, pod: &str) {
        lock(&self.shared).held.insert(pod.to_owned());
    }

    /// It may end now, if it is asked to.
    pub fn let_go(&self, pod: &str) {
        lock(&self.shared).held.remove(pod);
    }

    /// Does not look at that Pod's resize again, once it is Deferred, until it is let through.
    pub fn stall(&self, pod: &str) {
        lock(&self.shared).stalled.insert(pod.to_owned());
    }

    /// Looks at it again.
    pub fn let_through(&self, pod: &str) {
        lock(&self.shared).stalled.remove(pod);
    }

    /// How long Pods take to end from now on.
    pub fn exits_take(&self, time: Duration) {
        lock(&self.shared).exit = time;
    }

    /// Says about a resize what a test wants to be said.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn report(&self, pod: &Pod, status: &str, message: &str) -> Result<()> {
        let pods = Api::namespaced(self.client.clone(), &self.namespace);
        patch(&pods, pod, json!({"conditions": [pending(pod, status, message)]})).await?;
        Ok(())
    }

    /// Writes a part of a Pod's status, a strategic merge patch, as a kubelet that the test plays itself.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn write(&self, pod: &Pod, status: Value) -> Result<()> {
        patch(&Api::namespaced(self.client.clone(), &self.namespace), pod, status).await?;
        Ok(())
    }
}

struct Work {
    client: kube::Client,
    pods: Api<Pod>,
    shared: Arc<Mutex<Shared>>,
    seen: Arc<Mutex<Seen>>,
    /// When Pods that are leaving are to be gone, by UID.
    ends: BTreeMap<String, Instant>,
    beat: Option<Instant>,
}

impl Work {
    async fn run(mut self, mut changes: watch::Receiver<u64>) {
        loop {
            let (nodes, exit, held) = {
                let shared = lock(&self.shared);
                (shared.nodes.clone(), shared.exit, shared.held.clone())
            };
            self.heartbeat(&nodes).await;
            for (name, node) in &nodes {
                // A failed write is done again in the next round, as a kubelet would.
                let _ = self.sync(name, node, exit, &held).await;
            }
            let _ = tokio::time::timeout(Duration::from_millis(50), changes.changed()).await;
        }
    }

    /// Without it the node lifecycle controller would take the nodes for dead after 50 s.
    async fn heartbeat(&mut self, nodes: &BTreeMap<String, SimulatedNode>) {
        if self.beat.is_some_and(|beat| beat.elapsed() < Duration::from_secs(10)) || nodes.is_empty() {
            return;
        }
        self.beat = Some(Instant::now());
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), "kube-node-lease");
        for name in nodes.keys() {
            let lease = Lease {
                metadata: ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() },
                spec: Some(LeaseSpec {
                    holder_identity: Some(name.clone()),
                    lease_duration_seconds: Some(40),
                    renew_time: Some(MicroTime(Timestamp::now())),
                    ..LeaseSpec::default()
                }),
            };
            let _ =
                leases.patch(name, &PatchParams::apply("elbowroom-e2e").force(), &Patch::Apply(&lease)).await;
        }
    }

    async fn sync(
        &mut self,
        name: &str,
        node: &SimulatedNode,
        exit: Duration,
        held: &BTreeSet<String>,
    ) -> Result<()> {
        for pod in self.here(name) {
            let (Some(uid), Some(pod_name)) = (pod.metadata.uid.clone(), pod.metadata.name.clone()) else {
                continue;
            };
            if is_leaving(&pod) {
                let end = *self.ends.entry(uid.clone()).or_insert_with(|| Instant::now() + exit);
                if Instant::now() >= end && !held.contains(&pod_name) {
                    let same = Preconditions { uid: Some(uid), ..Preconditions::default() };
                    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
                    self.pods.delete(&pod_name, &now.preconditions(same)).await?;
                }
            } else if pod.status.as_ref().is_none_or(|s| s.start_time.is_none()) {
                self.write(&pod, running(&pod)).await?;
            }
        }
        if node.judges { self.judge(name, node).await } else { Ok(()) }
    }

    /// Tries every resize: higher priority first, then the one that waits longest.
    async fn judge(&mut self, name: &str, node: &SimulatedNode) -> Result<()> {
        let mut growing = self.here(name);
        growing.retain(|pod| !is_leaving(pod) && allocated_cpu(pod) != 0);
        growing.sort_by_key(|pod| {
            let since =
                condition(pod, PENDING).and_then(|c| c.last_transition_time.as_ref()).map(|time| time.0);
            (std::cmp::Reverse(pod.spec.as_ref().and_then(|s| s.priority)), since.is_none(), since)
        });
        for pod in growing {
            let (desired, allocated) = (desired_cpu(&pod), allocated_cpu(&pod));
            let others = self.here(name).into_iter().filter(|other| other.metadata.uid != pod.metadata.uid);
            let used: i64 = others.map(|other| allocated_cpu(&other)).sum();
            let said = condition(&pod, PENDING);
            let name = pod.metadata.name.as_deref().unwrap_or_default();
            if said.is_some() && lock(&self.shared).stalled.contains(name) {
                continue;
            }
            if desired == allocated {
                if said.is_some() {
                    self.write(&pod, json!({"conditions": [{"$patch": "delete", "type": PENDING}]})).await?;
                }
            } else if used + desired <= node.cpu {
                self.write(&pod, granted(&pod)).await?;
            } else if said.is_none_or(|c| c.observed_generation != pod.metadata.generation) {
                let capacity = node.cpu;
                let message = format!(
                    "Node didn't have enough resource: cpu, requested: {desired}, used: {used}, \
                     capacity: {capacity}"
                );
                let status = json!({
                    "observedGeneration": pod.metadata.generation,
                    "conditions": [pending(&pod, "True", &message)],
                });
                self.write(&pod, status).await?;
            }
        }
        Ok(())
    }

    fn here(&self, node: &str) -> Vec<Pod> {
        let seen = lock(&self.seen);
        let finished = |pod: &Pod| {
            matches!(pod.status.as_ref().and_then(|s| s.phase.as_deref()), Some("Succeeded" | "Failed"))
        };
        seen.pods.values().filter(|pod| node_of(pod) == Some(node) && !finished(pod)).cloned().collect()
    }

    async fn write(&self, pod: &Pod, status: Value) -> Result<()> {
        let written = patch(&self.pods, pod, status).await?;
        lock(&self.seen).put(written);
        Ok(())
    }
}

async fn patch(pods: &Api<Pod>, pod: &Pod, status: Value) -> Result<Pod> {
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let body = json!({"metadata": {"uid": pod.metadata.uid}, "status": status});
    Ok(pods.patch_status(name, &PatchParams::default(), &Patch::Strategic(body)).await?)
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// What the requests of the spec look like once they are allocated.
fn allocation(pod: &Pod) -> Value {
    let container = pod.spec.as_ref().and_then(|s| s.containers.first());
    let requests = json!(
        container.and_then(|c| c.resources.as_ref()).and_then(|r| r.requests.clone()).unwrap_or_default()
    );
    json!({
        "observedGeneration": pod.metadata.generation,
        "allocatedResources": requests,
        "resources": {"requests": requests},
        "containerStatuses": [{
            "name": "c", "image": container.and_then(|c| c.image.as_deref()), "imageID": "",
            "restartCount": 0,
            "ready": true, "started": true, "state": {"running": {"startedAt": now()}},
            "allocatedResources": requests, "resources": {"requests": requests},
        }],
    })
}

fn running(pod: &Pod) -> Value {
    let mut status = allocation(pod);
    status["phase"] = json!("Running");
    status["startTime"] = json!(now());
    let types = ["PodScheduled", "Initialized", "ContainersReady", "Ready"];
    status["conditions"] =
        types.iter().map(|t| json!({"type": t, "status": "True", "lastTransitionTime": now()})).collect();
    status
}

fn granted(pod: &Pod) -> Value {
    let mut status = allocation(pod);
    status["conditions"] = json!([{"$patch": "delete", "type": PENDING}]);
    status
}

/// The kubelet's condition. Its time moves only when the reason does.
fn pending(pod: &Pod, status: &str, message: &str) -> Value {
    let since = condition(pod, PENDING).and_then(|c| c.last_transition_time.as_ref());
    json!({
        "type": PENDING, "status": status, "reason": "Deferred", "message": message,
        "observedGeneration": pod.metadata.generation,
        "lastTransitionTime": since.map_or_else(|| json!(now()), |time| json!(time)),
    })
}

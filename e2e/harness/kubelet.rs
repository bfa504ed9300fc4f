//! A stand-in for the kubelet on Node objects that have none: it starts Pods, judges resizes as a kubelet does
//! (the others at what they hold), and takes away Pods that are asked to go. It knows nothing of elbowroom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Result;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::PENDING;
use super::judgement::{self, Milli, allocation, settled};
use super::observe::{Observer, Seen, lock};
use super::pods::{condition, is_leaving, node_of};

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

#[derive(Default, Clone)]
struct Shared {
    nodes: BTreeMap<String, SimulatedNode>,
    /// The objects, of those nodes whose resources and labels count.
    objects: BTreeMap<String, Node>,
    /// Pods that ignore their end until they are let go.
    held: BTreeSet<String>,
    /// How long every Pod takes to end.
    exit: Duration,
    /// Pods whose resize is not tried until it is let through.
    stalled: BTreeSet<String>,
    /// How long single Pods take instead.
    exits: BTreeMap<String, Duration>,
    /// What a Pod's status says from its start on, other than that it runs.
    starts: BTreeMap<String, Value>,
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

    /// From now on the node is judged by this object: all that is allocatable there and its labels; nothing
    /// happens there while it is not Ready.
    pub fn learn(&self, node: Node) {
        let name = node.metadata.name.clone().unwrap_or_default();
        lock(&self.shared).objects.insert(name, node);
    }

    /// That Pod starts with these fields of its status in place of what a running Pod has, and conditions in
    /// place of those of the same type.
    pub fn starts_as(&self, pod: &str, status: Value) {
        lock(&self.shared).starts.insert(pod.to_owned(), status);
    }

    /// That Pod takes so long to end.
    pub fn exit_takes(&self, pod: &str, time: Duration) {
        lock(&self.shared).exits.insert(pod.to_owned(), time);
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
        let mut shared = lock(&self.shared);
        shared.exit = time;
        shared.exits.clear();
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
    /// Since when Pods are leaving, by UID.
    ends: BTreeMap<String, Instant>,
    beat: Option<Instant>,
}

impl Work {
    async fn run(mut self, mut changes: watch::Receiver<u64>) {
        loop {
            let known = lock(&self.shared).clone();
            self.heartbeat(&known.nodes).await;
            for (name, node) in &known.nodes {
                // A failed write is done again in the next round, as a kubelet would.
                let _ = self.sync(name, node, &known).await;
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

    async fn sync(&mut self, name: &str, node: &SimulatedNode, known: &Shared) -> Result<()> {
        if known.objects.get(name).is_some_and(|node| !is_ready(node)) {
            return Ok(());
        }
        for pod in self.here(name) {
            let (Some(uid), Some(pod_name)) = (pod.metadata.uid.clone(), pod.metadata.name.clone()) else {
                continue;
            };
            if is_leaving(&pod) {
                let exit = known.exits.get(&pod_name).copied().unwrap_or(known.exit);
                let begun = *self.ends.entry(uid.clone()).or_insert_with(Instant::now);
                if begun.elapsed() >= exit && !known.held.contains(&pod_name) {
                    let same = Preconditions { uid: Some(uid), ..Preconditions::default() };
                    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
                    self.pods.delete(&pod_name, &now.preconditions(same)).await?;
                }
            } else if !has_started(&pod) {
                self.write(&pod, running(&pod, known.starts.get(&pod_name))).await?;
            }
        }
        if node.judges { self.judge(name, node, known.objects.get(name)).await } else { Ok(()) }
    }

    /// Tries every resize: higher priority first, then the one that waits longest.
    async fn judge(&mut self, name: &str, node: &SimulatedNode, object: Option<&Node>) -> Result<()> {
        let capacity =
            object.map_or_else(|| Milli::from([("cpu".to_owned(), node.cpu)]), judgement::capacity);
        let mut growing = self.here(name);
        growing.retain(|pod| !is_leaving(pod) && has_started(pod));
        growing.sort_by_key(|pod| {
            let since =
                condition(pod, PENDING).and_then(|c| c.last_transition_time.as_ref()).map(|time| time.0);
            (std::cmp::Reverse(pod.spec.as_ref().and_then(|s| s.priority)), since.is_none(), since)
        });
        for pod in growing {
            let said = condition(&pod, PENDING);
            let pod_name = pod.metadata.name.as_deref().unwrap_or_default();
            if said.is_some() && lock(&self.shared).stalled.contains(pod_name) {
                continue;
            }
            if settled(&pod) {
                if said.is_some() {
                    self.write(&pod, json!({"conditions": [{"$patch": "delete", "type": PENDING}]})).await?;
                }
                continue;
            }
            let mut used = Milli::new();
            for other in self.here(name) {
                if other.metadata.uid != pod.metadata.uid {
                    judgement::held(&other)
                        .into_iter()
                        .for_each(|(name, n)| *used.entry(name).or_default() += n);
                }
            }
            match judgement::refusal(object, &capacity, &used, &pod) {
                None => self.write(&pod, granted(&pod)).await?,
                Some(message) if said.is_none_or(|c| c.observed_generation != pod.metadata.generation) => {
                    let status = json!({
                        "observedGeneration": pod.metadata.generation,
                        "conditions": [pending(&pod, "True", &message)],
                    });
                    self.write(&pod, status).await?;
                }
                Some(_) => {}
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

fn has_started(pod: &Pod) -> bool {
    pod.status.as_ref().is_some_and(|s| s.start_time.is_some())
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|s| s.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|c| c.type_ == "Ready" && c.status == "True")
}

fn running(pod: &Pod, other: Option<&Value>) -> Value {
    let mut status = allocation(pod, &now());
    status["phase"] = json!("Running");
    status["startTime"] = json!(now());
    let types = ["PodScheduled", "Initialized", "ContainersReady", "Ready"];
    let mut conditions: Vec<_> =
        types.iter().map(|t| json!({"type": t, "status": "True", "lastTransitionTime": now()})).collect();
    for (field, value) in other.and_then(Value::as_object).into_iter().flatten() {
        if field == "conditions" {
            let given = value.as_array().cloned().unwrap_or_default();
            conditions.retain(|one| given.iter().all(|other| other["type"] != one["type"]));
            conditions.extend(given);
        } else {
            status[field] = value.clone();
        }
    }
    status["conditions"] = json!(conditions);
    status
}

fn granted(pod: &Pod) -> Value {
    let mut status = allocation(pod, &now());
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

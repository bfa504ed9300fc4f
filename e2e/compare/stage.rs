//! Puts the objects of a case on the API server, under names that no other play has.
//!
//! Invariant: sizes, priorities, budgets and ages are those of the file; what differs is only what names something
//! cluster-wide.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::PostParams;
use kube::core::{Selector, SelectorExt as _};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::case::{Case, EXIT_AFTER, KUBELET, duration};
use crate::harness::{SimulatedNode, World, is_leaving};

/// Keeps Pods without a node on the nodes of their own world.
const HOME: &str = "e2e.elbowroom.dev/namespace";

/// Where a case is played.
pub struct Stage<'a> {
    /// The part of the cluster.
    pub world: &'a World,
    /// Value and policy of the file's PriorityClasses.
    classes: BTreeMap<String, (i64, String)>,
    /// The classes that were made for this play, by value and policy.
    made: Mutex<BTreeMap<(i64, String), String>>,
}

impl<'a> Stage<'a> {
    /// Puts everything in place that is there at the beginning, and waits until it is.
    ///
    /// # Errors
    /// When the API server refuses something, or a Pod does not start.
    pub async fn set(world: &'a World, case: &Case) -> Result<Self> {
        let of = |kind: &'static str| case.manifests.iter().filter(move |one| one["kind"] == kind);
        let mut classes = BTreeMap::new();
        for class in of("PriorityClass") {
            let value = class["value"].as_i64().context("a PriorityClass without value")?;
            let policy = class["preemptionPolicy"].as_str().unwrap_or("PreemptLowerPriority");
            classes.insert(name(class)?.to_owned(), (value, policy.to_owned()));
        }
        let stage = Self { world, classes, made: Mutex::default() };
        for node in of("Node") {
            stage.node(node).await?;
        }
        for pod in of("Pod") {
            stage.pod(pod).await?;
        }
        for pod in of("Pod").filter(|pod| pod.pointer("/spec/nodeName").is_some()) {
            let started = |pod: &Pod| pod.status.as_ref().is_some_and(|s| s.start_time.is_some());
            world.wait(name(pod)?, "has started", started).await?;
        }
        // Not before all Pods are there: what is full in the file is not full until then.
        of("Node").try_for_each(|node| stage.judge(node))?;
        // Its Pods were there before it became so.
        for node in of("Node").filter(|node| !is_ready(node)) {
            let node = stage.node_name(name(node)?);
            world.set_ready(&node, false).await?;
            stage.learn(&node).await?;
        }
        for budget in of("PodDisruptionBudget") {
            stage.budget(budget).await?;
        }
        Ok(stage)
    }

    /// One more object.
    ///
    /// # Errors
    /// When the API server refuses it.
    pub async fn create(&self, manifest: &Value) -> Result<()> {
        match manifest["kind"].as_str() {
            Some("Pod") => self.pod(manifest).await,
            Some("Node") => {
                self.node(manifest).await?;
                self.judge(manifest)
            }
            Some("PodDisruptionBudget") => self.budget(manifest).await,
            other => anyhow::bail!("cannot create a {other:?} in the middle"),
        }
    }

    /// What a node of the file is called here.
    pub fn node_name(&self, short: &str) -> String {
        format!("{}-{short}", self.world.namespace)
    }

    async fn node(&self, manifest: &Value) -> Result<()> {
        let mut patch = json!({"spec": manifest["spec"]});
        let allocatable = manifest.pointer("/status/allocatable").context("a Node without allocatable")?;
        patch["status"] = json!({"allocatable": allocatable, "capacity": allocatable});
        patch["metadata"] = json!({"labels": manifest.pointer("/metadata/labels")});
        prune(&mut patch);
        // Its size is read off the object below.
        let silent = SimulatedNode { cpu: 0, judges: false };
        let name = self.world.node_with(name(manifest)?, silent, patch).await?;
        self.learn(&name).await
    }

    /// Lets the kubelet of a node judge resizes, unless the file says that it does not.
    fn judge(&self, manifest: &Value) -> Result<()> {
        let judges = annotation(manifest, KUBELET) != Some("passive");
        self.world.kubelet.add(&self.node_name(name(manifest)?), SimulatedNode { cpu: 0, judges });
        Ok(())
    }

    /// Tells the kubelet what its node looks like now.
    ///
    /// # Errors
    /// When there is no such node.
    pub async fn learn(&self, node: &str) -> Result<()> {
        let object = self.world.all::<Node>().get(node).await?;
        self.world.kubelet.learn(object);
        Ok(())
    }

    async fn pod(&self, manifest: &Value) -> Result<()> {
        let mut pod = manifest.clone();
        let short = name(manifest)?.to_owned();
        let spec = pod["spec"].as_object_mut().context("a Pod without spec")?;
        let class = spec.remove("priorityClassName");
        let class = class.as_ref().and_then(Value::as_str).and_then(|class| self.classes.get(class)).cloned();
        let (mut value, mut policy) = class.unwrap_or((0, "PreemptLowerPriority".to_owned()));
        value = spec.remove("priority").and_then(|value| value.as_i64()).unwrap_or(value);
        if let Some(Value::String(own)) = spec.remove("preemptionPolicy") {
            policy = own;
        }
        if value != 0 || policy == "Never" {
            spec.insert("priorityClassName".into(), self.class(value, &policy).await?.into());
        }
        if let Some(overhead) = spec.remove("overhead") {
            let cpu = overhead["cpu"].as_str().context("an overhead without CPU")?;
            spec.insert("runtimeClassName".into(), self.world.runtime_class(cpu).await?.into());
        }
        match spec.get("nodeName").and_then(Value::as_str).map(|node| self.node_name(node)) {
            Some(node) => drop(spec.insert("nodeName".into(), node.into())),
            None => {
                let selector = spec.entry("nodeSelector").or_insert_with(|| json!({}));
                selector[HOME] = self.world.namespace.clone().into();
            }
        }
        if spec.get("schedulerName").is_none_or(|name| name == "elbowroom") {
            spec.insert("schedulerName".into(), self.world.profile.clone().into());
        }
        spec.insert("automountServiceAccountToken".into(), false.into());
        let grace = spec.get("terminationGracePeriodSeconds").and_then(Value::as_u64).unwrap_or(30);
        let exit = annotation(manifest, EXIT_AFTER).map(duration).transpose()?;
        self.world.kubelet.exit_takes(&short, exit.unwrap_or(Duration::from_secs(grace)));

        let mut status = pod["status"].take();
        let created = manifest.pointer("/metadata/creationTimestamp");
        if let (Some(created), None) = (created, status.get("startTime")) {
            status["startTime"] = created.clone();
        }
        if status.is_object() {
            self.world.kubelet.starts_as(&short, status);
        }
        pod["metadata"] = json!({
            "name": short, "labels": pod["metadata"]["labels"], "annotations": pod["metadata"]["annotations"],
        });
        prune(&mut pod);
        let pod: Pod = serde_json::from_value(pod)?;
        let pod = self.admitted(&pod).await?;
        self.world.observer.now().put(pod);
        Ok(())
    }

    /// Creates a Pod once admission has heard of the classes that were made for it a moment ago.
    async fn admitted(&self, pod: &Pod) -> Result<Pod> {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            match self.world.api::<Pod>().create(&PostParams::default(), pod).await {
                Err(kube::Error::Api(status)) if status.message.contains("Class") && Instant::now() < end => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                other => return Ok(other?),
            }
        }
    }

    /// A class of that value and policy; the file's own may exist in another play, with another value.
    async fn class(&self, value: i64, policy: &str) -> Result<String> {
        let mut made = self.made.lock().await;
        let key = (value, policy.to_owned());
        if let Some(name) = made.get(&key) {
            return Ok(name.clone());
        }
        let name = format!("{}-{}", self.world.namespace, made.len());
        let class: PriorityClass = serde_json::from_value(json!({
            "metadata": {"name": name, "labels": self.world.suite.labels()},
            "value": value, "preemptionPolicy": policy,
        }))?;
        self.world.remember(format!("/apis/scheduling.k8s.io/v1/priorityclasses/{name}"));
        self.world.all().create(&PostParams::default(), &class).await?;
        made.insert(key, name.clone());
        Ok(name)
    }

    async fn budget(&self, manifest: &Value) -> Result<()> {
        let mut budget = manifest.clone();
        let wanted = budget["status"].take().get("disruptionsAllowed").and_then(Value::as_i64);
        let name = name(manifest)?.to_owned();
        budget["metadata"] = json!({"name": name});
        if let Some(wanted) = wanted {
            let selector = serde_json::from_value(budget["spec"]["selector"].clone())?;
            let spec = budget["spec"].as_object_mut().context("a budget without spec")?;
            spec.remove("maxUnavailable");
            spec.insert("minAvailable".into(), (self.healthy(selector)? - wanted).max(0).into());
        }
        prune(&mut budget);
        let budget: PodDisruptionBudget = serde_json::from_value(budget)?;
        self.world.api::<PodDisruptionBudget>().create(&PostParams::default(), &budget).await?;
        self.budget_is_counted(&name, wanted).await
    }

    /// What `minAvailable` has to be, so that a budget allows so many of the Pods that are there now.
    ///
    /// # Errors
    /// When there is no such budget.
    pub async fn min_available(&self, budget: &str, wanted: i64) -> Result<i64> {
        let budget = self.world.api::<PodDisruptionBudget>().get(budget).await?;
        let selector = budget.spec.and_then(|spec| spec.selector).unwrap_or_default();
        Ok((self.healthy(selector)? - wanted).max(0))
    }

    /// How many ready Pods there are that stay, as the disruption controller counts them.
    fn healthy(&self, selector: LabelSelector) -> Result<i64> {
        let selector = Selector::try_from(selector)?;
        let seen = self.world.observer.now();
        let ready = |pod: &&Pod| {
            let ready = crate::harness::condition(pod, "Ready").is_some_and(|c| c.status == "True");
            ready
                && !is_leaving(pod)
                && selector.matches(pod.metadata.labels.as_ref().unwrap_or(&BTreeMap::new()))
        };
        Ok(i64::try_from(seen.pods.values().filter(ready).count())?)
    }

    /// Waits until the disruption controller has counted the budget as it is now, and to that number.
    ///
    /// # Errors
    /// When it does not.
    pub async fn budget_is_counted(&self, name: &str, wanted: Option<i64>) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let budget = self.world.api::<PodDisruptionBudget>().get(name).await?;
            let status = budget.status.unwrap_or_default();
            let allowed = status.disruptions_allowed.map(i64::from);
            let counted = status.observed_generation == budget.metadata.generation;
            if counted && wanted.is_none_or(|wanted| allowed == Some(wanted)) {
                return Ok(());
            }
            ensure!(Instant::now() < end, "budget {name} allows {allowed:?}, not {wanted:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// `metadata.name`.
fn name(manifest: &Value) -> Result<&str> {
    manifest.pointer("/metadata/name").and_then(Value::as_str).context("an object without a name")
}

/// Whether a Node of the file is ready; it is if nothing else is said.
fn is_ready(node: &Value) -> bool {
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().all(|one| one["type"] != "Ready" || one["status"] == "True")
}

fn annotation<'a>(manifest: &'a Value, key: &str) -> Option<&'a str> {
    manifest.pointer("/metadata/annotations")?.get(key)?.as_str()
}

/// Takes nulls out: in a merge patch they would remove what is there.
fn prune(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(prune);
    }
}

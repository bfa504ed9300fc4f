//! What a test does to its Pods, and what it waits to see.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::observe::lock;
use super::pods::{self, PodSpec, condition};
use super::world::{PATIENCE, World};
use super::{OURS, PENDING};

/// How long nothing must happen before a test believes it.
const QUIET: Duration = Duration::from_millis(2500);

impl World {
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
        self.resize_with(name, json!({"requests": requests})).await
    }

    /// Asks for these requests and limits, in place.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn resize_with(&self, name: &str, resources: Value) -> Result<Pod> {
        let patch = json!({"spec": {"containers": [{"name": "c", "resources": resources}]}});
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

    /// Evicts a Pod, as somebody else than elbowroom would.
    ///
    /// # Errors
    /// When the API server refuses, for a budget or otherwise.
    pub async fn evict(&self, name: &str) -> Result<()> {
        lock(&self.held).deleted.push(name.to_owned());
        self.api::<Pod>().evict(name, &EvictParams::default()).await?;
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

    /// Waits until a Pod with this `app` label, other than that one, runs on that node; returns its name.
    ///
    /// # Errors
    /// When there is none.
    pub async fn runs_for(&self, app: &str, node: &str, other_than: &str) -> Result<String> {
        let wanted = |pod: &Pod| {
            let labels = pod.metadata.labels.as_ref();
            labels.and_then(|all| all.get("app")).is_some_and(|of| of == app)
                && pods::node_of(pod) == Some(node)
                && condition(pod, "Ready").is_some_and(|c| c.status == "True")
        };
        let mut found = None;
        let look = |seen: &super::observe::Seen| {
            let mut pods = seen.pods.iter().filter(|(name, pod)| *name != other_than && wanted(pod));
            found = pods.next().map(|(name, _)| name.clone());
            found.is_some()
        };
        self.observer.until(PATIENCE, &format!("a Pod of {app} runs on {node}"), look).await?;
        found.context("no such Pod")
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

    /// Waits until exactly these Pods, and none but them, have been asked to leave by somebody else than the
    /// test, and nothing more happens.
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
}

// Budgets and events.

impl World {
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

    /// Changes what has to stay available, and waits until the budget allows this many disruptions.
    ///
    /// # Errors
    /// When the controller does not compute it.
    pub async fn change_budget(&self, name: &str, min_available: i32, allows: i32) -> Result<()> {
        self.patch_budget(name, min_available).await?;
        self.budget_allows(name, allows).await
    }

    /// Nothing has to stay available any more. Does not wait: what this allows may be used up at once.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn open_budget(&self, name: &str) -> Result<()> {
        self.patch_budget(name, 0).await
    }

    async fn patch_budget(&self, name: &str, min_available: i32) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"minAvailable": min_available}}));
        self.api::<PodDisruptionBudget>().patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
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

    /// The reasons of all events about a Pod, in the order in which they were written.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn told(&self, pod: &str) -> Result<Vec<String>> {
        let mut events = self.api::<Event>().list(&ListParams::default()).await?.items;
        events.retain(|event| event.regarding.as_ref().and_then(|r| r.name.as_deref()) == Some(pod));
        let written = |event: &Event| event.metadata.resource_version.as_deref()?.parse::<u64>().ok();
        events.sort_by_key(written);
        Ok(events.into_iter().filter_map(|event| event.reason).collect())
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
}

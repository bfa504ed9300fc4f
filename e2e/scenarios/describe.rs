//! What a person sees who asks `kubectl describe pod` why a Pod does not grow: one golden page per reason.
//!
//! All Pods are called `web`, who grows, and `batch`, who is in the way, on a node `n1`; in the cluster each name
//! ends in the scene's.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::api::{EvictParams, PostParams};
use serde_json::{Value, json};

use crate::harness::{PodSpec, Priority, Proxy, SimulatedNode, World, condition, golden};

use Priority::{High, HighNever, Low};

/// A reason, the status that goes with it, and what the profile says in ResizePreemptionArgs.
struct Scene {
    reason: &'static str,
    status: &'static str,
    args: Option<&'static str>,
}

const fn scene(reason: &'static str, status: &'static str) -> Scene {
    Scene { reason, status, args: None }
}

const fn with_args(reason: &'static str, args: &'static str) -> Scene {
    Scene { reason, status: "False", args: Some(args) }
}

const SCENES: [Scene; 18] = [
    // First: this one does not last.
    scene("Preempting", "True"),
    scene("KubeletDisagrees", "False"),
    scene("WaitingForVictims", "True"),
    scene("WaitingForKubelet", "True"),
    scene("PreemptionPolicyNever", "False"),
    scene("DisabledByNode", "False"),
    with_args("NotAllowed", r#"{"preemptors": {"minPriority": 1000}}"#),
    scene("NodeNotReady", "False"),
    scene("ExceedsNode", "False"),
    scene("NotAShortage", "False"),
    scene("InsufficientVictims", "False"),
    scene("ProtectedVictims", "False"),
    scene("BlockedByPDB", "False"),
    with_args("GraceTooLong", r#"{"deadline": "30s"}"#),
    with_args("LimitReached", r#"{"maxVictims": 1}"#),
    with_args("Waiting", r#"{"wait": "10m"}"#),
    scene("EvictionFailed", "False"),
    with_args("Observing", r#"{"mode": "Observe"}"#),
];

/// Events that come late come within this.
const LATE: Duration = Duration::from_secs(8);

impl Scene {
    fn suffix(&self) -> String {
        format!("-{}", self.reason.to_lowercase())
    }

    fn name(&self, name: &str) -> String {
        format!("{name}{}", self.suffix())
    }

    fn web(&self) -> String {
        self.name("web")
    }

    fn profile(&self, world: &World) -> String {
        if self.args.is_some() { self.name(&world.profile) } else { world.profile.clone() }
    }

    /// A Pod of the scene on its node.
    fn pod(&self, world: &World, name: &str, priority: Priority, cpu: i64) -> PodSpec {
        let node = format!("{}-{}", world.namespace, self.name("n1"));
        let profile = json!(self.profile(world));
        PodSpec::new(self.name(name), priority).cpu(cpu).on(&node).with("schedulerName", profile)
    }

    /// Everything up to the kubelet's words that there is no room.
    async fn set(&self, world: &World) -> Result<()> {
        let room = matches!(self.reason, "WaitingForKubelet" | "KubeletDisagrees");
        let labels = json!({"metadata": {"labels": {"zone": "east"}}});
        let node = SimulatedNode { cpu: 1000, judges: !room };
        let node = world.node_with(&self.name("n1"), node, labels).await?;
        match self.reason {
            // They have the room that web wants in two halves.
            "LimitReached" => {
                world.run(self.pod(world, "batch-1", Low, 300)).await?;
                world.run(self.pod(world, "batch-2", Low, 300)).await?;
            }
            "InsufficientVictims" => {
                world.run(self.pod(world, "db", High, 300)).await?;
                world.run(self.pod(world, "batch", Low, 300)).await?;
            }
            "GraceTooLong" => {
                let grace = json!(60);
                let batch = self.pod(world, "batch", Low, 600);
                world.run(batch.with("terminationGracePeriodSeconds", grace)).await?;
            }
            _ if room => {}
            _ => drop(world.run(self.pod(world, "batch", Low, 600)).await?),
        }
        let batch = self.name("batch");
        match self.reason {
            "WaitingForVictims" => world.kubelet.hold(&batch),
            "DisabledByNode" => {
                let owners = json!({"disableResizePreemption": ["autoscaler.example.com"]});
                world.change_node(&node, json!({"spec": {"podPreemptionPolicy": owners}})).await?;
            }
            "ProtectedVictims" => {
                let kept = json!({"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"});
                world.change_pod(&batch, json!({"metadata": {"annotations": kept}})).await?;
            }
            "BlockedByPDB" => world.budget(&self.name("keep-batch"), &[&batch], 1, 0).await?,
            "EvictionFailed" => refuse_eviction(world, &batch).await?,
            _ => {}
        }
        let priority = if self.reason == "PreemptionPolicyNever" { HighNever } else { High };
        let mut web = self.pod(world, "web", priority, 400);
        if self.reason == "NotAShortage" {
            web = web.with("nodeSelector", json!({"zone": "east"}));
        }
        world.run(web).await?;
        let wanted = if self.reason == "LimitReached" { 1000 } else { 800 };
        let web = world.resize(&self.web(), wanted).await?;
        if room {
            world.kubelet.report(&web, "True", "not tried yet").await?;
        }
        world.deferred(&self.web()).await?;
        match self.reason {
            "NodeNotReady" => {
                world.set_ready(&node, false).await?;
                // The node lifecycle controller tells its Pods.
                let unready =
                    |pod: &_| condition(pod, "Ready").is_some_and(|condition| condition.status == "False");
                world.wait(&self.web(), "is not Ready", unready).await?;
            }
            "ExceedsNode" => {
                world.change_node_status(&node, json!({"allocatable": {"cpu": "700m"}})).await?;
            }
            "NotAShortage" => {
                world.change_node(&node, json!({"metadata": {"labels": {"zone": "west"}}})).await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits until the page is as it should be, and compares it when it is not.
    async fn check(&self, world: &World) -> Result<()> {
        let (web, end) = (self.web(), Instant::now() + LATE);
        if self.reason == "KubeletDisagrees" {
            let pod = world.says(&web, "True", "WaitingForKubelet").await?;
            let words = "Node didn't have enough resource: cpu, requested: 800, used: 300, capacity: 1000";
            world.kubelet.report(&pod, "True", words).await?;
        }
        world.says(&web, self.status, self.reason).await?;
        let file = format!("describe/{}.txt", self.reason);
        let updates = std::env::var_os("E2E_UPDATE").is_some();
        loop {
            // Nothing tells when the last event has come, but that it has not yet.
            let pause =
                if updates && self.status == "True" && self.reason != "Preempting" { LATE } else { PAUSE };
            tokio::time::sleep(pause).await;
            let page = world.kubectl_describe(&web, &self.suffix()).await?;
            let compared = golden(&file, &page);
            if compared.is_ok() || Instant::now() > end {
                return compared;
            }
        }
    }
}

const PAUSE: Duration = Duration::from_millis(500);

/// Each reason can be read, with what blocks and what to do about it, in what kubectl prints.
pub async fn pod_says_why_for_each_reason(world: &World) -> Result<()> {
    let set = SCENES.iter().map(|scene| scene.set(world));
    futures::future::try_join_all(set).await?;
    let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
    proxy.hold("/batch-preempting/eviction");
    let mut scheduler = world.spawn(&config(world)?, Some(&proxy.address))?;
    scheduler.ready().await?;
    let pages = futures::future::join_all(SCENES.iter().map(|scene| scene.check(world))).await;
    let wrong: Vec<_> = pages.into_iter().filter_map(Result::err).map(|e| format!("{e:#}")).collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    scheduler.kill().await
}

/// A profile for each scene that needs one of its own.
fn config(world: &World) -> Result<String> {
    let mut config = world.config();
    for scene in &SCENES {
        let Some(args) = scene.args else { continue };
        let mut args: Value = serde_json::from_str(args)?;
        args["apiVersion"] = json!("elbowroom.dev/v1alpha1");
        args["kind"] = json!("ResizePreemptionArgs");
        let profile = json!({
            "schedulerName": scene.profile(world),
            "pluginConfig": [{"name": "ResizePreemption", "args": args}],
        });
        // JSON is YAML.
        config += &format!("- {profile}\n");
    }
    Ok(config)
}

/// An admission policy that nobody told the scheduler of; returns once it holds.
async fn refuse_eviction(world: &World, pod: &str) -> Result<()> {
    let name = &world.namespace;
    let metadata = json!({"name": name, "labels": world.suite.labels()});
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(json!({
        "metadata": metadata,
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["pods/eviction"],
            }]},
            "matchConditions": [{
                "name": "that-pod",
                "expression": format!("request.namespace == '{name}' && request.name == '{pod}'"),
            }],
            "validations": [{"expression": "false", "message": "no evictions during the sale"}],
        },
    }))?;
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(json!({
        "metadata": metadata, "spec": {"policyName": name, "validationActions": ["Deny"]},
    }))?;
    let group = "/apis/admissionregistration.k8s.io/v1";
    world.remember(format!("{group}/validatingadmissionpolicybindings/{name}"));
    world.remember(format!("{group}/validatingadmissionpolicies/{name}"));
    world.all().create(&PostParams::default(), &policy).await?;
    world.all().create(&PostParams::default(), &binding).await?;
    let pods = world.api::<k8s_openapi::api::core::v1::Pod>();
    let mut dry_run = EvictParams::default();
    dry_run.post_options.dry_run = true;
    let end = Instant::now() + Duration::from_secs(20);
    while pods.evict(pod, &dry_run).await.is_ok() {
        ensure!(Instant::now() < end, "the admission policy does not hold");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

//! Field cases about what a wish counts for and when it ends, on the real API server. `docs/field-cases.md`
//! says what each is about.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::harness::{OURS, PodSpec, Priority, Proxy, World, allocated_cpu, condition, is_leaving, node_of};

use Priority::{High, Low, Mid};

const SHORTAGE: &str = "Node didn't have enough resource: cpu, requested: 1, used: 1, capacity: 1";

/// The kubelet's condition about what the Pod asks for now.
fn pending(pod: &Pod, reason: &str) -> Value {
    json!({"conditions": [{
        "type": "PodResizePending", "status": "True", "reason": reason, "message": SHORTAGE,
        "observedGeneration": pod.metadata.generation,
    }]})
}

/// A container status with what is allocated and what is in force, in milli-CPU.
fn held(allocated: i64, actual: i64) -> Value {
    let cpu = |milli: i64| json!({"cpu": format!("{milli}m")});
    json!({
        "allocatedResources": cpu(allocated), "resources": {"requests": cpu(actual)},
        "containerStatuses": [{
            "name": "c", "image": "registry.k8s.io/pause:3.10", "imageID": "", "restartCount": 0,
            "ready": true, "started": true, "state": {"running": {}},
            "allocatedResources": cpu(allocated), "resources": {"requests": cpu(actual)},
        }],
    })
}

/// C34: 500m asked for, 1500m allocated, 1000m in force.
pub async fn c34_what_is_allocated_counts_while_a_shrink_is_under_way(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 2000).await?;
    world.run(PodSpec::new("s", Mid).cpu(1500).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    let s = world.resize("s", 500).await?;
    world.kubelet.write(&s, held(1500, 1000)).await?;
    world.pod(PodSpec::new("new", Low).cpu(800).only(&node)).await?;
    world.unschedulable("new", "Insufficient cpu").await?;
    world.quiet().await;
    ensure!(node_of(&world.get("new")?).is_none(), "bound to what is still allocated");
    world.kubelet.write(&s, held(500, 500)).await?;
    world.bound("new", &node).await?;
    scheduler.stop().await
}

/// C36 and C49: Infeasible counts for nothing; a Deferred resize that turns Infeasible is forgotten.
pub async fn c36_c49_an_infeasible_wish_counts_for_nothing(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 1000).await?;
    world.run(PodSpec::new("r", High).cpu(100).on(&node)).await?;
    world.run(PodSpec::new("v", Low).cpu(500).on(&node)).await?;
    world.budget("keep", &["v"], 1, 0).await?;
    let scheduler = world.scheduler().await?;
    let r = world.resize("r", 900).await?;
    world.kubelet.write(&r, pending(&r, "Deferred")).await?;
    world.says("r", "False", "BlockedByPDB").await?;
    world.pod(PodSpec::new("new", Low).cpu(400).only(&node)).await?;
    world.unschedulable("new", "Insufficient cpu").await?;
    world.kubelet.write(&r, pending(&r, "Infeasible")).await?;
    world.bound("new", &node).await?;
    world.says_nothing_more("r").await?;
    world.open_budget("keep").await?;
    world.victims(&[]).await?;
    scheduler.stop().await
}

/// C41 and C75: there is room, next to a finished Pod whose object stays; only the kubelet has not looked
/// again.
pub async fn c41_c75_a_resize_that_fits_is_left_to_its_kubelet(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 600).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("w", Low).cpu(100).on(&node)).await?;
    let job = world.run(PodSpec::new("job", Low).cpu(300).on(&node)).await?;
    world.change_pod("job", json!({"metadata": {"finalizers": ["example.com/audit"]}})).await?;
    world.kubelet.write(&job, json!({"phase": "Succeeded"})).await?;
    let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
    let mut scheduler = world.spawn_scheduler(Some(&proxy.address))?;
    scheduler.ready().await?;
    let r = world.resize("r", 400).await?;
    world.kubelet.write(&r, pending(&r, "Deferred")).await?;
    world.says("r", "True", "WaitingForKubelet").await?;
    world.pod(PodSpec::new("q", Low).cpu(200).only(&node)).await?;
    world.unschedulable("q", "Insufficient cpu").await?;
    world.victims(&[]).await?;
    let now = world.get("r")?;
    ensure!(
        now.status.as_ref().is_some_and(|s| s.nominated_node_name.is_none()),
        "nominated for its own node"
    );
    ensure!(condition(&now, "PodScheduled") == condition(&r, "PodScheduled"), "PodScheduled has changed");
    let writes = proxy.writes();
    let about_r = |line: &&String| line.contains("/pods/r/");
    ensure!(writes.iter().filter(about_r).count() == 1, "more than one condition: {writes:#?}");
    ensure!(!writes.iter().any(|line| line.contains("/binding")), "{writes:#?}");
    scheduler.stop().await?;
    world.change_pod("job", json!({"metadata": {"finalizers": null}})).await
}

/// C45: the wish is taken back before the budget opens.
pub async fn c45_a_wish_that_is_taken_back_is_forgotten(world: &World) -> Result<()> {
    let node = world.node("n1", 600).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("v", Low).cpu(400).on(&node)).await?;
    world.budget("keep", &["v"], 1, 0).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("r", 400).await?;
    world.says("r", "False", "BlockedByPDB").await?;
    world.resize("r", 200).await?;
    world.says_nothing_more("r").await?;
    world.open_budget("keep").await?;
    world.victims(&[]).await?;
    world.resize("v", 200).await?;
    world.pod(PodSpec::new("q", Low).cpu(200).only(&node)).await?;
    world.bound("q", &node).await?;
    scheduler.stop().await
}

/// C48: cordoned and tainted since. (The label that goes is golden scenario K2.)
pub async fn c48_cordon_and_new_taints_do_not_matter(world: &World) -> Result<()> {
    let node = world.node("n1", 600).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("v", Low).cpu(400).on(&node)).await?;
    let taints = json!([{"key": "example.com/old", "effect": "NoSchedule"}]);
    world.change_node(&node, json!({"spec": {"unschedulable": true, "taints": taints}})).await?;
    let scheduler = world.scheduler().await?;
    world.resize("r", 400).await?;
    world.victims(&["v"]).await?;
    world.allocated("r", 400).await?;
    scheduler.stop().await
}

/// C50: the growing Pod is evicted itself while its victim drains.
pub async fn c50_a_growing_pod_that_leaves_claims_nothing(world: &World) -> Result<()> {
    let node = world.node("n1", 800).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("v", Low).cpu(600).on(&node)).await?;
    world.kubelet.hold("v");
    let scheduler = world.scheduler().await?;
    world.resize("r", 400).await?;
    world.leaving("v").await?;
    world.delete("r").await?;
    world.gone("r").await?;
    world.pod(PodSpec::new("q", Low).cpu(800).only(&node)).await?;
    world.unschedulable("q", "Insufficient cpu").await?;
    world.victims(&["v"]).await?;
    world.kubelet.let_go("v");
    world.bound("q", &node).await?;
    scheduler.stop().await
}

/// C51: another Pod of the same name, with no wish of its own.
pub async fn c51_another_pod_of_the_same_name_inherits_no_wish(world: &World) -> Result<()> {
    let node = world.node("n1", 800).await?;
    let web = || PodSpec::new("web-0", High).cpu(300).on(&node);
    let first = world.run(web()).await?;
    world.run(PodSpec::new("v", Low).cpu(500).on(&node)).await?;
    world.budget("keep", &["v"], 1, 0).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("web-0", 500).await?;
    world.says("web-0", "False", "BlockedByPDB").await?;
    world.delete("web-0").await?;
    world.gone("web-0").await?;
    let second = world.run(web()).await?;
    ensure!(first.metadata.uid != second.metadata.uid);
    world.open_budget("keep").await?;
    world.quiet().await;
    ensure!(!is_leaving(&world.get("v")?), "v goes for a Pod that is gone");
    ensure!(condition(&world.get("web-0")?, OURS).is_none(), "there is nothing to say about the new one");
    // Exactly 300m: 500 are taken by v.
    world.resize("v", 400).await?;
    world.pod(PodSpec::new("q1", Low).cpu(100).only(&node)).await?;
    world.bound("q1", &node).await?;
    world.pod(PodSpec::new("q2", Low).cpu(100).only(&node)).await?;
    world.unschedulable("q2", "Insufficient cpu").await?;
    scheduler.stop().await
}

/// C52 and C35: allocated, not in force, with an error; and a shrink that does not happen. Neither is
/// pending.
pub async fn c35_c52_in_progress_is_not_pending(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 1000).await?;
    world.run(PodSpec::new("r", High).cpu(100).on(&node)).await?;
    world.run(PodSpec::new("d", High).cpu(500).on(&node)).await?;
    world.run(PodSpec::new("v", Low).cpu(100).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    let failed =
        json!([{"type": "PodResizeInProgress", "status": "True", "reason": "Error", "message": "no"}]);
    for (name, asked, allocated, actual) in [("r", 300, 300, 100), ("d", 200, 200, 500)] {
        let pod = world.resize(name, asked).await?;
        let mut status = held(allocated, actual);
        status["conditions"] = failed.clone();
        world.kubelet.write(&pod, status).await?;
    }
    // 300 and 500 and 100.
    world.pod(PodSpec::new("q", Low).cpu(200).only(&node)).await?;
    world.unschedulable("q", "Insufficient cpu").await?;
    world.victims(&[]).await?;
    for name in ["r", "d"] {
        ensure!(condition(&world.get(name)?, OURS).is_none(), "nothing is pending about {name}");
    }
    world.kubelet.write(&world.get("d")?, held(200, 200)).await?;
    world.bound("q", &node).await?;
    scheduler.stop().await
}

/// C53: a quota refuses the resize with 403. It is over the high Pods alone, so that the new one is outside
/// it.
pub async fn c53_a_resize_that_a_quota_refuses_claims_nothing(world: &World) -> Result<()> {
    let node = world.node("n1", 700).await?;
    let class = High.class(&world.suite.run);
    let quota = json!({
        "metadata": {"name": "high"},
        "spec": {
            "hard": {"requests.cpu": "600m"},
            "scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": [class]},
            ]},
        },
    });
    let quotas: Api<ResourceQuota> = world.api();
    quotas.create(&PostParams::default(), &serde_json::from_value(quota)?).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("others", High).cpu(400).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    // The quota counts Pods that came before it was known only once its controller has looked.
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let status = quotas.get("high").await?.status.unwrap_or_default();
        let used = status.used.and_then(|used| used.get("requests.cpu").map(|amount| amount.0.clone()));
        if used.as_deref() == Some("600m") {
            break;
        }
        ensure!(Instant::now() < end, "the quota counts {used:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let refused = world.resize("r", 300).await;
    let code = refused.err().and_then(|error| match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) => Some(status.code),
        _ => None,
    });
    ensure!(code == Some(403), "the quota was to refuse it, but: {code:?}");
    world.pod(PodSpec::new("new", Low).cpu(100).only(&node)).await?;
    world.bound("new", &node).await?;
    ensure!(allocated_cpu(&world.get("r")?) == 200);
    scheduler.stop().await?;
    quotas.delete("high", &DeleteParams::default()).await?;
    Ok(())
}

/// C55: the request of the Pod itself grows, its containers' do not.
pub async fn c55_the_request_of_the_pod_as_a_whole_counts(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 2000).await?;
    // Admission asks what the node's kubelet can do.
    let can = json!({"declaredFeatures": ["InPlacePodLevelResourcesVerticalScaling"]});
    world.change_node_status(&node, can).await?;
    let whole = json!({"requests": {"cpu": "200m"}});
    world.run(PodSpec::new("r", Mid).cpu(100).on(&node).with("resources", whole)).await?;
    world.run(PodSpec::new("v", Low).cpu(1200).on(&node)).await?;
    world.run(PodSpec::new("w", High).cpu(500).on(&node)).await?;
    let mut status = held(100, 100);
    let total = json!({"cpu": "200m"});
    status["allocatedResources"] = total.clone();
    status["resources"] = json!({"requests": total});
    world.kubelet.write(&world.get("r")?, status).await?;
    let scheduler = world.scheduler().await?;
    let patch = Patch::Strategic(json!({"spec": {"resources": {"requests": {"cpu": "900m"}}}}));
    let r = world.api::<Pod>().patch_resize("r", &PatchParams::default(), &patch).await?;
    world.kubelet.write(&r, pending(&r, "Infeasible")).await?;
    // 200, 1200 and 500 leave room for it.
    world.pod(PodSpec::new("new", Low).cpu(100).only(&node)).await?;
    world.bound("new", &node).await?;
    world.kubelet.write(&r, pending(&r, "Deferred")).await?;
    world.victims(&["v"]).await?;
    scheduler.stop().await
}

/// C58: the node is smaller than the wish, until it is larger again.
pub async fn c58_a_node_smaller_than_the_wish_is_not_emptied(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.run(PodSpec::new("r", High).cpu(400).on(&node)).await?;
    for victim in ["v1", "v2"] {
        world.run(PodSpec::new(victim, Low).cpu(200).on(&node)).await?;
    }
    world.resize_deferred("r", 900).await?;
    let size = |cpu: &str| json!({"allocatable": {"cpu": cpu}, "capacity": {"cpu": cpu}});
    world.change_node_status(&node, size("800m")).await?;
    let scheduler = world.scheduler().await?;
    world.says("r", "False", "ExceedsNode").await?;
    world.victims(&[]).await?;
    ensure!(world.events("r", "ResizePreemptionBlocked").await?.len() == 1, "more than one event");
    world.change_node_status(&node, size("1000m")).await?;
    world.victims(&["v1", "v2"]).await?;
    world.allocated("r", 900).await?;
    scheduler.stop().await
}

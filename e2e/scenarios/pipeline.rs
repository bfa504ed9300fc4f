//! New Pods: bound where kube-scheduler would bind them, and told why when they fit nowhere, in its words.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::harness::{PodSpec, Priority, SimulatedNode, World, condition, node_of};

use Priority::{High, Low};

/// A Pod is bound, with the condition and the event that people look for.
pub async fn pod_is_bound_and_says_so(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    let scheduler = world.scheduler().await?;
    world.run(PodSpec::new("new", Low).cpu(500).only(&node)).await?;
    let scheduled = condition(&world.get("new")?, "PodScheduled").is_some_and(|c| c.status == "True");
    ensure!(scheduled, "PodScheduled is not True");
    let events = world.events("new", "Scheduled").await?;
    let note = events[0].note.clone().unwrap_or_default();
    ensure!(
        note == format!("Successfully assigned {}/new to {node}", world.namespace),
        "the event says: {note}"
    );
    ensure!(events.len() == 1, "{} events for one binding", events.len());
    ensure!(events[0].type_.as_deref() == Some("Normal"), "the event is no normal one");
    scheduler.stop().await
}

/// Requests are spread over nodes as LeastAllocated does: the emptier node is better.
pub async fn emptier_node_is_preferred(world: &World) -> Result<()> {
    let (full, empty) = (world.node("full", 1000).await?, world.node("empty", 1000).await?);
    world.run(PodSpec::new("there", Low).cpu(500).memory(8192).on(&full)).await?;
    let scheduler = world.scheduler().await?;
    world.pod(PodSpec::new("new", Low).cpu(100).memory(100).with("nodeSelector", here(world))).await?;
    world.bound("new", &empty).await?;
    scheduler.stop().await
}

/// A Pod that fits nowhere waits with a reason, and is bound when room comes.
pub async fn pod_that_fits_nowhere_says_why(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    let scheduler = world.scheduler().await?;
    world.pod(PodSpec::new("large", Low).cpu(1500).only(&node)).await?;
    let message = world.unschedulable("large", "Insufficient cpu").await?;
    ensure!(
        message.starts_with("0/") && message.contains(" nodes are available: "),
        "the message is: {message}"
    );
    let events = world.events("large", "FailedScheduling").await?;
    ensure!(events[0].type_.as_deref() == Some("Warning"), "the event is no warning");
    let note = events[0].note.clone().unwrap_or_default();
    ensure!(note.contains("Insufficient cpu"), "the event says: {note}");

    let size = json!({"cpu": "2", "memory": "64Gi", "pods": "110"});
    world.change_node_status(&node, json!({"capacity": size, "allocatable": size})).await?;
    world.bound("large", &node).await?;
    scheduler.stop().await
}

/// The more important of two Pods gets the last room, whoever came first.
pub async fn higher_priority_goes_first(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.pod(PodSpec::new("low", Low).cpu(700).only(&node)).await?;
    world.pod(PodSpec::new("high", High).cpu(700).only(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.bound("high", &node).await?;
    world.unschedulable("low", "Insufficient cpu").await?;
    scheduler.stop().await
}

/// Taints and cordons keep Pods away, tolerations let them in.
pub async fn taint_and_cordon_keep_away(world: &World) -> Result<()> {
    let taints = json!({"spec": {"taints": [{"key": "only", "value": "some", "effect": "NoSchedule"}]}});
    let tainted = world.node_with("tainted", SimulatedNode { cpu: 1000, judges: true }, taints).await?;
    let cordoned = world.node("cordoned", 1000).await?;
    world.change_node(&cordoned, json!({"spec": {"unschedulable": true}})).await?;
    let scheduler = world.scheduler().await?;
    world.pod(PodSpec::new("plain", Low).cpu(100).with("nodeSelector", here(world))).await?;
    let message = world.unschedulable("plain", "node(s) were unschedulable").await?;
    ensure!(message.contains("node(s) had untolerated taint"), "the message is: {message}");
    let tolerations = json!([{"key": "only", "operator": "Exists"}]);
    let guest = PodSpec::new("guest", Low)
        .cpu(100)
        .with("nodeSelector", here(world))
        .with("tolerations", tolerations);
    world.pod(guest).await?;
    world.bound("guest", &tainted).await?;
    ensure!(node_of(&world.get("plain")?).is_none(), "bound to a node that it does not tolerate");
    scheduler.stop().await
}

/// A gated Pod is not touched until its last gate is gone.
pub async fn gated_pod_is_left_alone(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    let scheduler = world.scheduler().await?;
    let gates = json!([{"name": "example.com/quota"}]);
    world.pod(PodSpec::new("gated", High).cpu(100).only(&node).with("schedulingGates", gates)).await?;
    world.quiet().await;
    let gated = world.get("gated")?;
    ensure!(node_of(&gated).is_none(), "bound in spite of its gate");
    let reason = condition(&gated, "PodScheduled").and_then(|c| c.reason.as_deref());
    ensure!(reason == Some("SchedulingGated"), "the API server's reason was overwritten with {reason:?}");
    ensure!(world.events_so_far("gated", "FailedScheduling").await?.is_empty(), "an event for a gated Pod");
    world.change_pod("gated", json!({"spec": {"schedulingGates": []}})).await?;
    world.bound("gated", &node).await?;
    scheduler.stop().await
}

/// What is not supported yet is refused by name, never bound by chance.
pub async fn unsupported_wish_is_refused_by_name(world: &World) -> Result<()> {
    let node = world.node("n1", 4000).await?;
    let scheduler = world.scheduler().await?;
    let volume = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    let inline = json!([{"name": "inline", "csi": {"driver": "example.com"}}]);
    let spread = json!([{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "spread"}}}]);
    let affinity = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "friend"}}},
    ]}});
    let claims = json!([{"name": "gpu", "resourceClaimName": "gpu"}]);
    let wishes = [
        ("claim", "volumes", volume, "data"),
        ("inline", "volumes", inline, "inline"),
        ("spread", "topologySpreadConstraints", spread, "DoNotSchedule"),
        ("friend", "affinity", affinity, "pod affinity"),
        ("device", "resourceClaims", claims, "gpu"),
    ];
    for (name, field, value, named) in wishes {
        world.pod(PodSpec::new(name, Low).cpu(100).only(&node).with(field, value)).await?;
        world.unschedulable(name, named).await?;
        ensure!(node_of(&world.get(name)?).is_none(), "{name} was bound");
    }
    // A wish that is only preferred does not stand in the way.
    let soft = json!([{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "soft"}}}]);
    world.pod(PodSpec::new("soft", Low).cpu(100).only(&node).with("topologySpreadConstraints", soft)).await?;
    world.bound("soft", &node).await?;
    scheduler.stop().await
}

/// A required anti-affinity of a Pod that is already there keeps others from its node.
pub async fn anti_affinity_of_neighbours_is_respected(world: &World) -> Result<()> {
    let (guarded, other) = (world.node("guarded", 1000).await?, world.node("other", 1000).await?);
    let keeps_away = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "batch"}}},
    ]}});
    world.run(PodSpec::new("guard", Low).cpu(100).on(&guarded).with("affinity", keeps_away)).await?;
    world.run(PodSpec::new("there", Low).cpu(800).on(&other)).await?;
    let scheduler = world.scheduler().await?;
    // Only the guarded node has enough room, and it is not to be had.
    world.pod(PodSpec::new("batch", Low).cpu(300).with("nodeSelector", here(world))).await?;
    world.unschedulable("batch", "anti-affinity").await?;
    world.delete("there").await?;
    world.bound("batch", &other).await?;
    scheduler.stop().await
}

/// Pods of another scheduler are neither bound nor spoken about, but their room counts.
pub async fn pods_of_other_schedulers_are_left_alone(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    let scheduler = world.scheduler().await?;
    let other = json!("somebody-else");
    world.pod(PodSpec::new("theirs", Low).cpu(100).only(&node).with("schedulerName", other.clone())).await?;
    world.run(PodSpec::new("running", Low).cpu(700).on(&node).with("schedulerName", other)).await?;
    world.pod(PodSpec::new("ours", Low).cpu(400).only(&node)).await?;
    world.unschedulable("ours", "Insufficient cpu").await?;
    let theirs = world.get("theirs")?;
    ensure!(node_of(&theirs).is_none() && condition(&theirs, "PodScheduled").is_none(), "it is not ours");
    world.pod(PodSpec::new("small", Low).cpu(300).only(&node)).await?;
    world.bound("small", &node).await?;
    scheduler.stop().await
}

/// The nodes of this test.
fn here(world: &World) -> serde_json::Value {
    json!({"e2e.elbowroom.dev/namespace": world.namespace})
}

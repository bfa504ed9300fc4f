//! Golden scenarios on Node objects without a kubelet: sizes and states that a hollow kubelet cannot have.
//!
//! The letters are those of the reference. Upstream is kube-scheduler 1.37.2 with its gate on, as it was
//! measured with the same numbers.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::harness::{OURS, PodSpec, Priority, SimulatedNode, World, allocated_cpu, condition};

use Priority::{High, Low, Mid};

/// C: 1000m and two Pod slots, both taken; low 100, P high 100 → 300.
/// Upstream: low is deleted; it counts a slot for the Pod that has one already.
pub async fn c_full_pod_slots_are_not_a_shortage(world: &World) -> Result<()> {
    let slots = json!({"status": {"allocatable": {"pods": "2"}, "capacity": {"pods": "2"}}});
    let node = world.node_with("n1", SimulatedNode { cpu: 1000, judges: false }, slots).await?;
    world.run(PodSpec::new("low", Low).cpu(100).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    let p = world.resize("p", 300).await?;
    world.kubelet.report(&p, "True", "").await?;
    world.says("p", "True", "WaitingForKubelet").await?;
    world.victims(&[]).await?;
    scheduler.stop().await
}

/// E: 2000m; P high 500 → 1000; three low 500 → 2000.
/// Upstream: all three are deleted, for what they wish counts as if they had it.
pub async fn e_neighbours_count_with_what_they_hold(world: &World) -> Result<()> {
    let node = world.node("n1", 2000).await?;
    for low in ["low-1", "low-2", "low-3"] {
        world.run(PodSpec::new(low, Low).cpu(500).on(&node)).await?;
    }
    world.run(PodSpec::new("p", High).cpu(500).on(&node)).await?;
    for low in ["low-1", "low-2", "low-3"] {
        world.resize_deferred(low, 2000).await?;
    }
    let scheduler = world.scheduler().await?;
    world.resize("p", 1000).await?;
    world.allocated("p", 1000).await?;
    world.quiet().await;
    let victims = world.victims_so_far();
    ensure!(victims.len() == 1, "one is enough, but these left: {victims:?}");
    scheduler.stop().await
}

/// M: as A, on a node that is not ready and cordoned.
/// Upstream: the victim is deleted, although no kubelet is there to use the room.
pub async fn m_nobody_leaves_for_a_node_that_is_not_ready(world: &World) -> Result<()> {
    let node = world.node("n1", 300).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    world.set_ready(&node, false).await?;
    world.change_node(&node, json!({"spec": {"unschedulable": true}})).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 300).await?;
    world.says("p", "False", "NodeNotReady").await?;
    world.victims(&[]).await?;

    // It comes back, still cordoned: that does not concern who is there already.
    world.set_ready(&node, true).await?;
    world.victims(&["v"]).await?;
    world.allocated("p", 300).await?;
    scheduler.stop().await
}

/// Q: 1000m; x high 400; P mid 300 → 700, Deferred; pending high 300.
/// Upstream: P itself is deleted for the pending Pod, where forgoing its wish is enough.
pub async fn q_newcomer_takes_the_claim_not_the_pod(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.run(PodSpec::new("x", High).cpu(400).on(&node)).await?;
    world.run(PodSpec::new("p", Mid).cpu(300).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 700).await?;
    world.says("p", "False", "InsufficientVictims").await?;
    world.pod(PodSpec::new("new", High).cpu(300).only(&node)).await?;
    world.bound("new", &node).await?;
    world.victims(&[]).await?;
    ensure!(allocated_cpu(&world.get("p")?) == 300, "P keeps what it has");
    scheduler.stop().await
}

/// S: 1000m; x high 200; P high 300 → 900, Deferred; pending low 200 and high 200.
/// Upstream: both stay pending as well.
pub async fn s_claim_holds_against_lower_and_equal_priority(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.run(PodSpec::new("x", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(300).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 900).await?;
    world.pod(PodSpec::new("low", Low).cpu(200).only(&node)).await?;
    world.pod(PodSpec::new("high", High).cpu(200).only(&node)).await?;
    world.unschedulable("low", "Insufficient cpu").await?;
    world.unschedulable("high", "Insufficient cpu").await?;
    world.victims(&[]).await?;

    // The wish is taken back, and with it the claim.
    world.resize("p", 300).await?;
    world.bound("low", &node).await?;
    world.bound("high", &node).await?;
    scheduler.stop().await
}

/// X: as A, with a condition whose status is False.
/// Upstream: v is deleted; it looks at the reason alone.
pub async fn x_condition_that_is_false_asks_for_nothing(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 300).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    let p = world.resize("p", 300).await?;
    let shortage = "Node didn't have enough resource: cpu, requested: 300, used: 200, capacity: 300";
    world.kubelet.report(&p, "False", shortage).await?;
    world.victims(&[]).await?;
    ensure!(condition(&world.get("p")?, OURS).is_none(), "there is nothing to say about it");

    // The same with status True is a request.
    world.kubelet.report(&p, "True", shortage).await?;
    world.victims(&["v"]).await?;
    scheduler.stop().await
}

/// A node may forbid it, for as long as its policy has an owner. Upstream obeys too, and says nothing.
pub async fn policy_of_the_node_is_obeyed(world: &World) -> Result<()> {
    let node = world.node("n1", 300).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    let owners =
        |owners: &[&str]| json!({"spec": {"podPreemptionPolicy": {"disableResizePreemption": owners}}});
    world.change_node(&node, owners(&["example.com/one", "example.com/two"])).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 300).await?;
    world.says("p", "False", "DisabledByNode").await?;
    world.change_node(&node, owners(&["example.com/two"])).await?;
    world.victims(&[]).await?;
    world.change_node(&node, owners(&[])).await?;
    world.victims(&["v"]).await?;
    world.allocated("p", 300).await?;
    scheduler.stop().await
}

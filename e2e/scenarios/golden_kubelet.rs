//! Golden scenarios on a node with a kubelet, which says Deferred, stops Pods and allocates for real.
//!
//! The letters are those of the reference. Upstream is kube-scheduler 1.37.2 with its gate on, as it was
//! measured with the same numbers; a node's size is what the filler Pod leaves of it.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::harness::{OURS, PodSpec, Priority, World, condition, node_of};

use Priority::{High, HighNever, Low, Mid};

/// A: 300m; v low 200, P high 100 → 300.
/// Upstream: v goes too, with an event; the growing Pod gets neither event nor condition.
pub async fn a_low_pod_makes_room(world: &World) -> Result<()> {
    let node = world.worker(300, 100).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    let p = world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize("p", 300).await?;
    world.victims(&["v"]).await?;
    world.allocated("p", 300).await?;
    world.says_nothing_more("p").await?;

    let preempted = world.events("v", "Preempted").await?;
    ensure!(preempted.len() == 1, "{} events on the victim", preempted.len());
    let note = preempted[0].note.clone().unwrap_or_default();
    let uid = p.metadata.uid.unwrap_or_default();
    ensure!(note.contains(&uid) && note.contains(&node), "the note names neither Pod nor node: {note}");
    ensure!(world.events("p", "ResizePreempting").await?.len() == 1, "not one event on the growing Pod");
    ensure!(world.events("p", "ResizePreempted").await?.len() == 1, "not one event once it is allocated");

    let preemptions = scheduler.metric("scheduler_preemptions_total{operation=\"in_place_resize\"}").await?;
    ensure!(preemptions == 1.0, "scheduler_preemptions_total is {preemptions}");
    let evicted = "scheduler_evictions_total{operation=\"in_place_resize\",result=\"evicted\"}";
    let evictions = scheduler.metric(evicted).await?;
    ensure!(evictions == 1.0, "scheduler_evictions_total is {evictions}");
    let log = scheduler.output();
    let line = log.lines().find(|line| line.contains("Preempting pods for in-place resize"));
    ensure!(
        line.is_some_and(|line| line.contains("preemptedPods")),
        "no line in the log says what was decided"
    );
    scheduler.stop().await
}

/// F: 1000m; A and B high 300 → 600, both asked first; low 400.
/// Upstream: nothing; each of the two counts the other's wish, so that neither is ever helped.
pub async fn f_of_two_equals_the_first_is_helped(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    world.run(PodSpec::new("a", High).cpu(300).on(&node)).await?;
    world.run(PodSpec::new("b", High).cpu(300).on(&node)).await?;
    world.run(PodSpec::new("low", Low).cpu(400).on(&node)).await?;
    world.resize_deferred("a", 600).await?;
    next_second().await;
    world.resize_deferred("b", 600).await?;
    let scheduler = world.scheduler().await?;
    world.victims(&["low"]).await?;
    world.allocated("a", 600).await?;
    world.deferred("b").await?;
    world.says("b", "False", "InsufficientVictims").await?;
    scheduler.stop().await
}

/// G: as A, with a budget of 0 over v.
/// Upstream: v is deleted; a budget is only its last resort.
pub async fn g_budget_holds(world: &World) -> Result<()> {
    let node = world.worker(300, 100).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    world.budget("keep-v", &["v"], 1, 0).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 300).await?;
    world.says("p", "False", "BlockedByPDB").await?;
    world.victims(&[]).await?;
    let blocked = world.events("p", "ResizePreemptionBlocked").await?;
    let note = blocked[0].note.clone().unwrap_or_default();
    ensure!(note.contains("keep-v"), "the event does not name the budget: {note}");
    ensure!(blocked[0].type_.as_deref() == Some("Warning"), "the event is no warning");

    // And it is not for ever: once the budget allows it, nothing else has to happen.
    world.open_budget("keep-v").await?;
    world.victims(&["v"]).await?;
    world.allocated("p", 300).await?;
    scheduler.stop().await
}

/// G2: 1000m; big low 300, older; three low 100; P high 300 → 700.
/// Upstream: the three small ones are deleted, because they are younger.
pub async fn g2_one_big_pod_rather_than_three_small_ones(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    world.run(PodSpec::new("big", Low).cpu(300).on(&node)).await?;
    next_second().await;
    for small in ["small-1", "small-2", "small-3"] {
        world.run(PodSpec::new(small, Low).cpu(100).on(&node)).await?;
    }
    world.run(PodSpec::new("p", High).cpu(300).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize("p", 700).await?;
    world.victims(&["big"]).await?;
    world.allocated("p", 700).await?;
    scheduler.stop().await
}

/// H: 1000m and 1000Mi; memhog high 200m, 400Mi → 900Mi, which never preempts; lowcpu 500m/10Mi; lowmem
/// 100m/300Mi; P mid 200m → 400m with 100Mi.
/// Upstream: both low Pods are deleted, the second for memory that P does not ask for.
pub async fn h_only_what_is_short_matters(world: &World) -> Result<()> {
    let node = world.worker(1000, 1000).await?;
    world.run(PodSpec::new("memhog", HighNever).cpu(200).memory(400).on(&node)).await?;
    world.run(PodSpec::new("lowcpu", Low).cpu(500).memory(10).on(&node)).await?;
    world.run(PodSpec::new("lowmem", Low).cpu(100).memory(300).on(&node)).await?;
    world.run(PodSpec::new("p", Mid).cpu(200).memory(100).on(&node)).await?;
    world.resize_to("memhog", json!({"cpu": "200m", "memory": "900Mi"})).await?;
    world.deferred("memhog").await?;
    let scheduler = world.scheduler().await?;
    world.resize_to("p", json!({"cpu": "400m", "memory": "100Mi"})).await?;
    world.victims(&["lowcpu"]).await?;
    world.allocated("p", 400).await?;
    scheduler.stop().await
}

/// L: 1000m; w mid 200, old; v1 and v2 low 250 under a budget of 2; P high 300 → 700. Both are leaving when
/// the budget falls to 0; then v1 is gone.
/// Upstream: w is deleted as well, for v2 now counts as a violation although it is leaving anyway.
pub async fn l_who_is_leaving_counts_whatever_the_budget_says(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    world.run(PodSpec::new("w", Mid).cpu(200).on(&node)).await?;
    next_second().await;
    world.run(PodSpec::new("v1", Low).cpu(250).on(&node).leaves_after(4)).await?;
    world.run(PodSpec::new("v2", Low).cpu(250).on(&node).leaves_after(9)).await?;
    world.run(PodSpec::new("p", High).cpu(300).on(&node)).await?;
    world.budget("both", &["v1", "v2"], 0, 2).await?;
    let scheduler = world.scheduler().await?;
    world.resize("p", 700).await?;
    world.leaving("v1").await?;
    world.leaving("v2").await?;
    world.change_budget("both", 2, 0).await?;
    world.gone("v1").await?;
    ensure!(world.get("v2").is_ok(), "v2 was to be the slow one");
    world.says("p", "True", "WaitingForVictims").await?;
    world.victims(&["v1", "v2"]).await?;
    world.allocated("p", 700).await?;
    scheduler.stop().await
}

/// R: 1000m; v0, v1, v2 low 200; P high 300 → 600. The scheduler is restarted while v2 leaves; then v2 gets a
/// budget of 0, and it is restarted again.
/// Upstream: the restart alone is harmless; with the budget, v1 is deleted as well.
pub async fn r_restart_adds_no_victim(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    world.run(PodSpec::new("v0", Low).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("v1", Low).cpu(200).on(&node)).await?;
    next_second().await;
    world.run(PodSpec::new("v2", Low).cpu(200).on(&node).leaves_after(14)).await?;
    world.run(PodSpec::new("p", High).cpu(300).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize("p", 600).await?;
    world.leaving("v2").await?;
    scheduler.stop().await?;

    let scheduler = world.scheduler().await?;
    world.says("p", "True", "WaitingForVictims").await?;
    world.victims(&["v2"]).await?;
    scheduler.stop().await?;

    world.budget("late", &["v2"], 1, 0).await?;
    let scheduler = world.scheduler().await?;
    world.victims(&["v2"]).await?;
    ensure!(world.get("v2").is_ok(), "v2 was to outlast both restarts");
    world.says("p", "True", "WaitingForVictims").await?;
    world.allocated("p", 600).await?;
    world.victims(&["v2"]).await?;
    scheduler.stop().await
}

/// N: as A, with a P that never preempts.
/// Upstream: nothing as well, but nobody is told.
pub async fn n_never_means_never_and_is_said(world: &World) -> Result<()> {
    let node = world.worker(300, 100).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("p", HighNever).cpu(100).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 300).await?;
    world.says("p", "False", "PreemptionPolicyNever").await?;
    world.events("p", "ResizePreemptionBlocked").await?;
    world.victims(&[]).await?;

    // Room that comes by itself is welcome.
    world.delete("v").await?;
    world.allocated("p", 300).await?;
    world.says_nothing_more("p").await?;
    scheduler.stop().await
}

/// K2: 1000m; P requires a node label that has changed since; low 300, other 300; P 100 → 500.
/// Upstream: low is deleted for nothing; the kubelet goes on refusing for the label.
pub async fn k2_no_victim_for_what_room_cannot_cure(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    let key = world.label_key();
    world.label(&node, &key, "yes").await?;
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": ["yes"]}]}],
    }}});
    world.label_seen_by_kubelet().await;
    world.run(PodSpec::new("low", Low).cpu(300).on(&node)).await?;
    world.run(PodSpec::new("other", Low).cpu(300).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node).with("affinity", affinity)).await?;
    world.label(&node, &key, "no").await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("p", 500).await?;
    world.says("p", "False", "NotAShortage").await?;
    world.victims(&[]).await?;
    scheduler.stop().await
}

/// OH: 1000m; a Pod of 400m with an overhead of 100m; pending 450m.
/// Upstream: stays pending too. The kubelet counts the overhead twice, 600m, and would refuse a Pod bound
/// here.
pub async fn oh_overhead_counts_as_the_kubelet_counts_it(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    let class = world.runtime_class("100m").await?;
    world.run(PodSpec::new("heavy", Low).cpu(400).on(&node).with("runtimeClassName", json!(class))).await?;
    let scheduler = world.scheduler().await?;
    world.pod(PodSpec::new("pending", Low).cpu(450).only(&node)).await?;
    world.unschedulable("pending", "Insufficient cpu").await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    ensure!(node_of(&world.get("pending")?).is_none(), "bound to where the kubelet has no room for it");
    ensure!(condition(&world.get("heavy")?, OURS).is_none(), "nobody grows here");
    world.delete("heavy").await?;
    world.bound("pending", &node).await?;
    scheduler.stop().await
}

/// Start times and condition times are whole seconds: what comes after this is younger.
async fn next_second() {
    tokio::time::sleep(Duration::from_millis(1100)).await;
}

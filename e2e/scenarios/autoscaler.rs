//! The Vertical Pod Autoscaler's in-place updates, imitated step by step: it resizes, looks whether the resize
//! is Deferred for too long, and gives it up by evicting the Pod or by taking the resize back. For a resize that
//! is given up nobody else may have gone.
//!
//! Its five minutes are [`GIVES_UP`] here, and elbowroom's `deadline` of five minutes is [`DEADLINE`].

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::ReplicaSet;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::harness::{OURS, PodSpec, Priority, Scheduler, World, condition};

use Priority::{High, Low};

/// No victim may be there longer. Condition times are whole seconds: up to one less is left of it.
const DEADLINE: Duration = Duration::from_secs(10);
/// When the autoscaler gives up.
const GIVES_UP: Duration = Duration::from_secs(12);
/// Too late for a victim with a grace period of 5 s, too early for the autoscaler to give up.
const TOO_LATE: Duration = Duration::from_secs(7);

/// Of two victims the one that would be best has a grace period beyond the deadline: the other one goes. Where
/// only such a one is there, nobody goes, and it is said why.
pub async fn victim_that_outlasts_the_deadline_stays(world: &World) -> Result<()> {
    let (both, alone) = (world.node("both", 1000).await?, world.node("alone", 1000).await?);
    let slow = |name: &str, node: &str| {
        PodSpec::new(name, Low).cpu(400).on(node).with("terminationGracePeriodSeconds", json!(60))
    };
    world.run(slow("slow", &both)).await?;
    world.run(PodSpec::new("quick", Low).cpu(500).on(&both)).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&both)).await?;
    world.run(slow("slow-alone", &alone)).await?;
    world.run(PodSpec::new("p-alone", High).cpu(600).on(&alone)).await?;
    let scheduler = start(world, json!({})).await?;
    world.resize("p", 500).await?;
    world.resize("p-alone", 1000).await?;
    world.allocated("p", 500).await?;
    world.says("p-alone", "False", "GraceTooLong").await?;
    let blocked = world.events("p-alone", "ResizePreemptionBlocked").await?;
    let note = blocked[0].note.clone().unwrap_or_default();
    ensure!(note.contains("slow-alone"), "the event does not name who would take too long: {note}");
    world.victims(&["quick"]).await?;
    scheduler.stop().await
}

/// A budget keeps the only victim until it would be too late; then the autoscaler takes the resize back.
pub async fn resize_given_up_by_reverting_costs_nobody(world: &World) -> Result<()> {
    let (scheduler, node, deferred) = blocked_until_too_late(world).await?;
    sleep_until(deferred + GIVES_UP).await;
    world.resize("p", 500).await?;
    world.says_nothing_more("p").await?;
    world.bound("newcomer", &node).await?;
    world.victims(&[]).await?;
    scheduler.stop().await
}

/// The same, and the autoscaler evicts the Pod, so that its controller makes it anew with what it needs.
pub async fn resize_given_up_by_evicting_costs_nobody(world: &World) -> Result<()> {
    let (scheduler, node, deferred) = blocked_until_too_late(world).await?;
    sleep_until(deferred + GIVES_UP).await;
    world.evict("p").await?;
    world.gone("p").await?;
    world.bound("newcomer", &node).await?;
    world.victims(&[]).await?;
    scheduler.stop().await
}

/// 1000m: quick low 300 under a budget of 0, p high 500 → 1000, and a newcomer of 200 that the claim keeps out.
/// Then the budget opens when quick, asked at once, could still be there after the deadline.
async fn blocked_until_too_late(world: &World) -> Result<(Scheduler, String, Instant)> {
    let node = world.node("n1", 1000).await?;
    world.run(PodSpec::new("quick", Low).cpu(300).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(500).on(&node)).await?;
    world.budget("keep", &["quick"], 1, 0).await?;
    let scheduler = start(world, json!({})).await?;
    world.resize_deferred("p", 1000).await?;
    let deferred = Instant::now();
    world.says("p", "False", "BlockedByPDB").await?;
    world.pod(PodSpec::new("newcomer", Low).cpu(200).only(&node)).await?;
    world.unschedulable("newcomer", "Insufficient cpu").await?;
    sleep_until(deferred + TOO_LATE).await;
    world.change_budget("keep", 0, 1).await?;
    world.says("p", "False", "GraceTooLong").await?;
    world.unschedulable("newcomer", "Insufficient cpu").await?;
    Ok((scheduler, node, deferred))
}

/// Past the deadline elbowroom itself may give up, by evicting the growing Pod; its budget is asked as anybody's
/// is. Where there is room, its controller's next Pod runs.
pub async fn fallback_obeys_the_budget_of_the_growing_pod(world: &World) -> Result<()> {
    let full = world.node("full", 1000).await?;
    let slow = PodSpec::new("slow", Low).cpu(500).on(&full);
    world.run(slow.with("terminationGracePeriodSeconds", json!(60))).await?;
    let scheduler = start(world, json!({"fallback": "EvictSelf"})).await?;
    let template = PodSpec::new("p", High).cpu(500);
    let template = template.with("nodeSelector", json!({"e2e.elbowroom.dev/namespace": world.namespace}));
    let template = template.object(&world.suite.run, &world.profile)?;
    let sets = world.api::<ReplicaSet>();
    let set = json!({
        "metadata": {"name": "p"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "p"}},
            "template": {"metadata": {"labels": {"app": "p"}}, "spec": template.spec},
        },
    });
    sets.create(&PostParams::default(), &serde_json::from_value(set)?).await?;
    let growing = world.runs_for("p", &full, "").await?;
    let empty = world.node("empty", 1000).await?;
    world.budget("keep-p", &["p"], 1, 0).await?;
    world.resize_deferred(&growing, 900).await?;
    let deferred = Instant::now();
    world.says(&growing, "False", "GraceTooLong").await?;

    sleep_until(deferred + DEADLINE + Duration::from_secs(2)).await;
    world.victims(&[]).await?;
    let pod = world.get(&growing)?;
    let said = condition(&pod, OURS).and_then(|c| c.message.clone()).unwrap_or_default();
    let refused = format!("refused: PodDisruptionBudget {}/keep-p allows no disruption now", world.namespace);
    ensure!(said.contains(&refused), "its budget is not said to hold: {said}");

    world.open_budget("keep-p").await?;
    world.leaving(&growing).await?;
    let next = world.runs_for("p", &empty, &growing).await?;
    world.victims(&[&growing]).await?;
    ensure!(world.get(&next).is_ok(), "{next} is gone as well");
    sets.delete("p", &DeleteParams::background()).await?;
    scheduler.stop().await
}

async fn start(world: &World, more: serde_json::Value) -> Result<Scheduler> {
    let mut args = more;
    args["deadline"] = json!(format!("{}s", DEADLINE.as_secs()));
    let mut scheduler = world.spawn_scheduler_with(&world.config_with(&args))?;
    scheduler.ready().await?;
    Ok(scheduler)
}

//! The configuration file, changed while elbowroom runs.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::harness::{PodSpec, Priority, Rule, Scheduler, World};

use Priority::{High, Low};

/// `Off` takes back what was said, a file that is wrong changes nothing, and `Enforce` evicts, all without a
/// restart. A policy that asks for a right that is missing is not taken over.
pub async fn rules_are_felt_without_a_restart(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.run(PodSpec::new("v", Low).cpu(500).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(500).on(&node)).await?;
    let mut scheduler = world.spawn_scheduler_with(&world.config_with(&json!({"mode": "Observe"})))?;
    scheduler.ready().await?;
    world.resize_deferred("p", 900).await?;
    world.says("p", "False", "Observing").await?;

    change(world, &world.config_with(&json!({"mode": "Off"})))?;
    world.says_nothing_more("p").await?;

    change(world, "kind: Nonsense\n")?;
    logs(&scheduler, "Configuration is not taken over; what was in force stays").await?;
    change(world, &world.config_with(&json!({"pdbPolicy": "BestEffort"})))?;
    logs(&scheduler, "missing rights: delete pods").await?;
    world.victims(&[]).await?;
    let refused = scheduler.metric("scheduler_configuration_reloads_total{result=\"error\"}").await?;
    ensure!(refused == 2.0, "{refused} files were refused");

    change(world, &world.config_with(&json!({})))?;
    world.victims(&["v"]).await?;
    world.allocated("p", 900).await?;
    scheduler.stop().await
}

/// An annotation that protects from now on protects Pods that carried it all along.
pub async fn new_annotation_protects_pods_that_have_it_already(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    let kept = PodSpec::new("kept", Low).cpu(500).on(&node);
    world.run(kept).await?;
    world.change_pod("kept", json!({"metadata": {"annotations": {"example.com/keep": "yes"}}})).await?;
    world.run(PodSpec::new("p", High).cpu(500).on(&node)).await?;
    let mut scheduler = world.spawn_scheduler_with(&world.config_with(&json!({"mode": "Off"})))?;
    scheduler.ready().await?;
    world.resize_deferred("p", 900).await?;
    change(world, &world.config_with(&json!({"protect": {"annotations": ["example.com/keep=yes"]}})))?;
    world.says("p", "False", "ProtectedVictims").await?;
    world.victims(&[]).await?;
    change(world, &world.config_with(&json!({})))?;
    world.victims(&["kept"]).await?;
    scheduler.stop().await
}

/// With the right to delete, and only then, a Pod that its budget keeps is deleted: marked as disrupted, by UID.
pub async fn best_effort_deletes_what_no_budget_allows(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.kubelet.hold("v");
    world.run(PodSpec::new("v", Low).cpu(500).on(&node)).await?;
    world.run(PodSpec::new("p", High).cpu(500).on(&node)).await?;
    world.budget("keep", &["v"], 1, 0).await?;
    let mut rules = world.suite.deployed.rules();
    rules.push(Rule {
        api_groups: Some(vec![String::new()]),
        resources: Some(vec!["pods".to_owned()]),
        verbs: vec!["delete".to_owned()],
        ..Rule::default()
    });
    let kubeconfig = world.account("deleter", rules).await?;
    let mut scheduler =
        world.spawn_as(&world.config_with(&json!({"pdbPolicy": "BestEffort"})), &kubeconfig)?;
    scheduler.ready().await?;
    world.resize_deferred("p", 900).await?;
    world.leaving("v").await?;
    let marked = |c: &k8s_openapi::api::core::v1::PodCondition| {
        c.type_ == "DisruptionTarget" && c.reason.as_deref() == Some("PreemptionByScheduler")
    };
    let v = world.get("v")?;
    let conditions = v.status.and_then(|status| status.conditions).unwrap_or_default();
    ensure!(conditions.iter().any(marked), "it is not marked: {conditions:?}");
    world.events("v", "Preempted").await?;
    world.kubelet.let_go("v");
    world.allocated("p", 900).await?;
    scheduler.stop().await
}

fn change(world: &World, config: &str) -> Result<()> {
    world.file("config.yaml", config).map(drop)
}

/// Waits for a line in its log.
async fn logs(scheduler: &Scheduler, text: &str) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(20);
    while !scheduler.output().contains(text) {
        ensure!(Instant::now() < end, "it never says `{text}`:\n{}", scheduler.output());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

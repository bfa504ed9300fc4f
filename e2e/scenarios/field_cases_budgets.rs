//! Field cases about disruption budgets, on the real Eviction API. `docs/field-cases.md` says what each is
//! about.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::harness::{PodSpec, Priority, Proxy, World, condition};

use Priority::{High, Low, Mid};

/// A budget over one `app` with this in its spec.
async fn budget(world: &World, name: &str, app: &str, spec: Value) -> Result<()> {
    let mut object = json!({"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": app}}}});
    for (field, value) in spec.as_object().into_iter().flatten() {
        object["spec"][field] = value.clone();
    }
    let object = serde_json::from_value::<PodDisruptionBudget>(object)?;
    world.api().create(&PostParams::default(), &object).await?;
    Ok(())
}

/// C03: both victims under one budget that allows one disruption.
pub async fn c03_two_resizes_on_two_nodes_share_one_budget(world: &World) -> Result<()> {
    for (node, r, v) in [("n1", "r1", "v1"), ("n2", "r2", "v2")] {
        let node = world.node(node, 600).await?;
        world.run(PodSpec::new(v, Low).cpu(400).on(&node)).await?;
        world.run(PodSpec::new(r, High).cpu(200).on(&node)).await?;
    }
    world.budget("both", &["v1", "v2"], 1, 1).await?;
    for r in ["r1", "r2"] {
        world.resize_deferred(r, 400).await?;
    }
    let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
    let mut scheduler = world.spawn_scheduler(Some(&proxy.address))?;
    scheduler.ready().await?;
    let one = |seen: &crate::harness::Seen| seen.left.contains("v1") || seen.left.contains("v2");
    world.observer.until(Duration::from_secs(30), "one victim", one).await?;
    world.quiet().await;
    ensure!(world.victims_so_far().len() == 1, "{:?}", world.victims_so_far());
    let (first, second) = if world.get("v1").is_ok() { ("r2", "r1") } else { ("r1", "r2") };
    world.allocated(first, 400).await?;
    world.says(second, "False", "BlockedByPDB").await?;
    world.open_budget("both").await?;
    world.victims(&["v1", "v2"]).await?;
    world.allocated(second, 400).await?;
    scheduler.stop().await?;
    let writes = proxy.writes();
    let granted = writes.iter().filter(|line| line.ends_with("/eviction 201")).count();
    ensure!(granted == 2 && !writes.iter().any(|line| line.starts_with("DELETE")), "{writes:#?}");
    Ok(())
}

/// C24: the API server answers 500 for a Pod under two budgets, whatever they allow.
pub async fn c24_a_pod_under_two_budgets_stays(world: &World) -> Result<()> {
    let (n1, n2) = (world.node("n1", 800).await?, world.node("n2", 500).await?);
    world.run(PodSpec::new("v1", Low).cpu(300).on(&n1)).await?;
    world.run(PodSpec::new("v2", Mid).cpu(300).on(&n1)).await?;
    world.run(PodSpec::new("r1", High).cpu(200).on(&n1)).await?;
    world.run(PodSpec::new("v3", Low).cpu(300).on(&n2)).await?;
    world.run(PodSpec::new("r2", High).cpu(200).on(&n2)).await?;
    for name in ["one", "two"] {
        world.budget(name, &["v1", "v3"], 0, 2).await?;
    }
    let scheduler = world.scheduler().await?;
    world.resize("r1", 500).await?;
    world.resize_deferred("r2", 500).await?;
    world.says("r2", "False", "BlockedByPDB").await?;
    world.allocated("r1", 500).await?;
    world.victims(&["v2"]).await?;
    let told = world.events("r2", "ResizePreemptionBlocked").await?;
    let note = told[0].note.clone().unwrap_or_default();
    ensure!(told.len() == 1 && note.contains("/one") && note.contains("/two"), "{note}");
    scheduler.stop().await
}

/// C26: an unready Pod under AlwaysAllow goes, a ready one does not.
pub async fn c26_an_unready_pod_goes_where_it_always_may(world: &World) -> Result<()> {
    let (n1, n2) = (world.node("n1", 600).await?, world.node("n2", 600).await?);
    let broken = world.run(PodSpec::new("v1", Low).cpu(300).on(&n1)).await?;
    world.run(PodSpec::new("v2", Low).cpu(300).on(&n2)).await?;
    world.run(PodSpec::new("r1", High).cpu(300).on(&n1)).await?;
    world.run(PodSpec::new("r2", High).cpu(300).on(&n2)).await?;
    let unready = |kind: &str| json!({"type": kind, "status": "False", "reason": "Broken"});
    world
        .kubelet
        .write(&broken, json!({"conditions": [unready("Ready"), unready("ContainersReady")]}))
        .await?;
    world
        .wait("v1", "is not ready", |pod| condition(pod, "Ready").is_some_and(|c| c.status == "False"))
        .await?;
    for app in ["v1", "v2"] {
        budget(world, app, app, json!({"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}))
            .await?;
        world.change_budget(app, 1, 0).await?;
    }
    let scheduler = world.scheduler().await?;
    world.resize_deferred("r2", 500).await?;
    world.resize("r1", 500).await?;
    world.says("r2", "False", "BlockedByPDB").await?;
    world.victims(&["v1"]).await?;
    world.allocated("r1", 500).await?;
    scheduler.stop().await
}

/// C28: bound and never started; a budget of zero does not protect it.
pub async fn c28_a_budget_does_not_keep_a_pod_that_never_started(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 400).await?;
    world.run(PodSpec::new("r", High).cpu(100).on(&node)).await?;
    // From here on nobody starts Pods there.
    world.kubelet.forget(&node);
    world.pod(PodSpec::new("i", Low).cpu(300).on(&node)).await?;
    budget(world, "keep", "i", json!({"minAvailable": 1})).await?;
    world.change_budget("keep", 1, 0).await?;
    let scheduler = world.scheduler().await?;
    let r = world.resize("r", 200).await?;
    let shortage = "Node didn't have enough resource: cpu, requested: 200, used: 300, capacity: 400";
    world.kubelet.report(&r, "True", shortage).await?;
    world.victims(&["i"]).await?;
    scheduler.stop().await?;
    world.kubelet.add(&node, crate::harness::SimulatedNode { cpu: 400, judges: false });
    world.gone("i").await
}

/// C29: a budget of zero while the node changes five times a second.
pub async fn c29_a_budget_that_is_used_up_is_not_hammered(world: &World) -> Result<()> {
    let node = world.node("n1", 600).await?;
    world.run(PodSpec::new("v", Low).cpu(400).on(&node)).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.budget("keep", &["v"], 1, 0).await?;
    let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
    let mut scheduler = world.spawn_scheduler(Some(&proxy.address))?;
    scheduler.ready().await?;
    world.resize_deferred("r", 400).await?;
    world.says("r", "False", "BlockedByPDB").await?;
    for round in 0..40 {
        world.change_node(&node, json!({"metadata": {"labels": {"round": round.to_string()}}})).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let evictions = |proxy: &Proxy| proxy.writes().iter().filter(|line| line.contains("/eviction ")).count();
    ensure!(evictions(&proxy) == 0, "asked, though nothing may go: {:#?}", proxy.writes());
    ensure!(world.events("r", "ResizePreemptionBlocked").await?.len() == 1, "more than one event");
    world.open_budget("keep").await?;
    world.victims(&["v"]).await?;
    world.allocated("r", 400).await?;
    scheduler.stop().await?;
    ensure!(!proxy.writes().iter().any(|line| line.starts_with("DELETE")), "{:#?}", proxy.writes());
    Ok(())
}

/// C128: maxUnavailable 0 over the least important Pods. (The controller cannot count Pods without an owner,
/// and then allows nothing, which is what the budget says as well.)
pub async fn c128_a_budget_that_allows_nothing_keeps_the_least_important(world: &World) -> Result<()> {
    let node = world.node("n1", 800).await?;
    let ci = |name: &str| PodSpec::new(name, Low).cpu(200).on(&node);
    world.run(ci("ci-1")).await?;
    world.run(ci("ci-2")).await?;
    for name in ["ci-1", "ci-2"] {
        world.change_pod(name, json!({"metadata": {"labels": {"app": "ci"}}})).await?;
    }
    world.run(PodSpec::new("other", Mid).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    budget(world, "ci", "ci", json!({"maxUnavailable": 0})).await?;
    let scheduler = world.scheduler().await?;
    world.resize("r", 400).await?;
    world.victims(&["other"]).await?;
    world.allocated("r", 400).await?;
    world.resize_deferred("r", 600).await?;
    world.says("r", "False", "BlockedByPDB").await?;
    world.victims(&["other"]).await?;
    scheduler.stop().await
}

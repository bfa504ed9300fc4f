//! Resizes only, beside a kube-scheduler that places all Pods and has its own gate off: the room that elbowroom
//! has made is for the Pod that grows, and kube-scheduler gives it to nobody else.
//!
//! A control plane of its own: elbowroom is there for every Pod of the cluster.

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use serde_json::json;

use crate::harness::{Attempts, PodSpec, Priority, World, node_of, say};

use Priority::{High, Low};

const ROUNDS: usize = 200;
/// Rounds go on at the same time on each of them.
const NODES: usize = 20;

/// On a full node of 1000m a high Pod grows from 500m to 900m, for which a low one of 400m has to go, while
/// another low one of 400m waits for just such room. kube-scheduler looks at the room before the kubelet does.
pub async fn freed_room_is_never_lost(world: &World) -> Result<()> {
    let config = world.config_with(&json!({"scope": "AllPods", "bind": false}));
    let attempts = Attempts::follow(&world.suite.control_plane.log("scheduler")?)?;
    let mut scheduler = world.spawn_scheduler_with(&config)?;
    scheduler.ready().await?;
    let lanes = (0..NODES).map(|lane| rounds(world, &attempts, lane));
    let lost: usize = try_join_all(lanes).await?.into_iter().sum();
    say(&format!("beside: {ROUNDS} rounds, {lost} lost"));
    ensure!(lost == 0, "the room was lost in {lost} rounds of {ROUNDS}");
    ensure!(world.victims_so_far().len() == ROUNDS, "{} victims", world.victims_so_far().len());
    scheduler.stop().await
}

/// The rounds on one node; returns in how many of them the room went to somebody else.
async fn rounds(world: &World, attempts: &Attempts, lane: usize) -> Result<usize> {
    let node = world.node(&format!("n{lane}"), 1000).await?;
    let low = |round: usize| format!("low-{lane}-{round}");
    let growing = format!("high-{lane}");
    world.run(placed_by_stock(PodSpec::new(&growing, High).cpu(500), &node)).await?;
    world.run(placed_by_stock(PodSpec::new(low(0), Low).cpu(400), &node)).await?;
    let mut lost = 0;
    for round in 1..=ROUNDS / NODES {
        let (victim, waiting) = (low(round - 1), low(round));
        world.pod(placed_by_stock(PodSpec::new(&waiting, Low).cpu(400), &node)).await?;
        world.unschedulable(&waiting, "Insufficient cpu").await?;

        world.kubelet.stall(&growing);
        world.resize_deferred(&growing, 900).await?;
        world.leaving(&victim).await?;
        let full_name = format!("{}/{waiting}", world.namespace);
        let before = attempts.of(&full_name);
        world.gone(&victim).await?;
        attempts.more_than(before, &full_name).await?;
        world.kubelet.let_through(&growing);
        let taken = node_of(&world.get(&waiting)?).is_some();
        lost += usize::from(taken);
        if !taken {
            world.allocated(&growing, 900).await?;
        }

        // It did wait for that room: it is bound as soon as nobody claims it, and is the next one's victim.
        world.resize(&growing, 500).await?;
        world.allocated(&growing, 500).await?;
        world.bound(&waiting, &node).await?;
    }
    Ok(lost)
}

fn placed_by_stock(pod: PodSpec, node: &str) -> PodSpec {
    pod.only(node).with("schedulerName", json!("default-scheduler"))
}

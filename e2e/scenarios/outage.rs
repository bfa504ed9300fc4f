//! Parts of the cluster go away under a running elbowroom: it stays, and is right afterwards.

use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::DeleteParams;

use crate::harness::{PodSpec, Priority, World};

use Priority::{High, Low};

/// How long the API server is away.
const AWAY: Duration = Duration::from_secs(20);

/// The node is deleted when its victim is on its way out; then another node has the same story.
pub async fn node_is_deleted_in_the_middle_of_a_resize(world: &World) -> Result<()> {
    let lost = world.node("lost", 1000).await?;
    world.run(PodSpec::new("low", Low).cpu(375).on(&lost)).await?;
    world.run(PodSpec::new("high", High).cpu(500).on(&lost)).await?;
    world.kubelet.hold("low");
    let mut scheduler = world.scheduler().await?;
    world.resize("high", 750).await?;
    world.leaving("low").await?;
    world.says("high", "True", "WaitingForVictims").await?;
    world.all::<Node>().delete(&lost, &DeleteParams::default()).await?;
    world.quiet().await;
    scheduler.still_runs()?;

    // What the garbage collector of orphaned Pods would do in time.
    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    for pod in ["low", "high"] {
        world.api::<Pod>().delete(pod, &now).await?;
        world.gone(pod).await?;
    }
    let next = world.node("next", 1000).await?;
    world.run(PodSpec::new("low-2", Low).cpu(375).only(&next)).await?;
    world.run(PodSpec::new("high-2", High).cpu(500).only(&next)).await?;
    world.resize("high-2", 750).await?;
    world.leaving("low-2").await?;
    world.allocated("high-2", 750).await?;
    scheduler.stop().await
}

/// The API server is killed while a victim leaves, and comes back 20 s later on the same data.
pub async fn api_server_is_away_for_20_s(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.kubelet.hold("low");
    let mut scheduler = world.scheduler().await?;
    world.run(PodSpec::new("low", Low).cpu(375).only(&node)).await?;
    world.run(PodSpec::new("high", High).cpu(500).only(&node)).await?;
    world.run(PodSpec::new("bystander", Low).cpu(100).only(&node)).await?;
    world.resize("high", 750).await?;
    world.leaving("low").await?;
    let suite = world.suite.clone();
    let outage = move || -> Result<()> {
        suite.control_plane.stop_api_server()?;
        std::thread::sleep(AWAY);
        suite.control_plane.start_api_server()
    };
    tokio::task::spawn_blocking(outage).await??;
    scheduler.still_runs()?;

    // The old story ends as it would have, without another victim.
    world.kubelet.let_go("low");
    world.allocated("high", 750).await?;
    world.says_nothing_more("high").await?;
    world.victims(&["low"]).await?;

    // And a new one begins: nothing that is cached is from before.
    world.run(PodSpec::new("new", Low).cpu(150).only(&node)).await?;
    world.resize("high", 850).await?;
    world.allocated("high", 850).await?;
    world.victims(&["bystander", "low"]).await?;
    // It may have complained: there was reason to.
    scheduler.terminate().await
}

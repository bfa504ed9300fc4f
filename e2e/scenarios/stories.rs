//! The two stories that `elbowroom demo` plays, scaled to a node of 1 CPU: elbowroom places every Pod itself,
//! one of them grows, and it gets its room.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::harness::{PodSpec, Priority, World, allocated_memory, condition};

use Priority::{High, Low};

/// (a) at an eighth: a node of 1000m, a low Pod with 375m, a high Pod that grows from 500m to 750m.
pub async fn a_important_pod_grows_on_a_full_node(world: &World) -> Result<()> {
    let node = world.worker(1000, 100).await?;
    let scheduler = world.scheduler().await?;
    world.run(PodSpec::new("low", Low).cpu(375).only(&node)).await?;
    world.run(PodSpec::new("high", High).cpu(500).only(&node)).await?;
    world.resize("high", 750).await?;
    world.victims(&["low"]).await?;
    let high = world.allocated("high", 750).await?;
    world.says_nothing_more("high").await?;
    let restarts = high.status.and_then(|s| s.container_statuses).unwrap_or_default();
    ensure!(restarts.iter().all(|c| c.restart_count == 0), "it was restarted to grow");
    scheduler.stop().await
}

/// (b) at half: n1 of 2Gi holds a high nginx that grows from 512Mi to 1536Mi and low busyboxes of 512Mi,
/// 512Mi and 256Mi; n2 and n3 hold one busybox each. The 256Mi one and the younger 512Mi one are exactly
/// enough.
pub async fn b_exactly_enough_leaves_and_only_there(world: &World) -> Result<()> {
    let n1 = world.worker(1000, 2048).await?;
    let (n2, n3) = (world.node("n2", 1000).await?, world.node("n3", 1000).await?);
    let scheduler = world.scheduler().await?;
    world.run(PodSpec::new("nginx", High).memory(512).only(&n1)).await?;
    world.run(PodSpec::new("busybox-old", Low).memory(512).only(&n1)).await?;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    world.run(PodSpec::new("busybox-young", Low).memory(512).only(&n1)).await?;
    world.run(PodSpec::new("busybox-small", Low).memory(256).only(&n1)).await?;
    world.run(PodSpec::new("busybox-n2", Low).memory(512).only(&n2)).await?;
    world.run(PodSpec::new("busybox-n3", Low).memory(512).only(&n3)).await?;
    world.resize_to("nginx", json!({"memory": "1536Mi"})).await?;
    world.victims(&["busybox-small", "busybox-young"]).await?;
    world
        .wait("nginx", "is allocated 1536Mi", |pod| {
            allocated_memory(pod) == 1536 && condition(pod, crate::harness::PENDING).is_none()
        })
        .await?;
    world.says_nothing_more("nginx").await?;
    scheduler.stop().await
}

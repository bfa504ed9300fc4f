//! Golden scenarios on a node with a kubelet, which says Deferred, stops Pods and allocates for real.
//! The letters are those of the reference; upstream is kube-scheduler 1.37.2 with its gate on, as it was measured.

use anyhow::{Result, ensure};

use crate::harness::{PodSpec, Priority, World};

use Priority::{High, Low};

/// A: 300m; v low 200, P high 100 → 300. Upstream evicts v too, and tells P nothing.
pub async fn a_low_pod_makes_room(world: &World) -> Result<()> {
    let node = world.worker(300, 1000).await?;
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
    let evicted = scheduler.metric("scheduler_preemptions_total{operation=\"in_place_resize\"}").await?;
    ensure!(evicted == 1.0, "scheduler_preemptions_total is {evicted}");
    scheduler.stop().await
}

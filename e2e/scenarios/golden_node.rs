//! Golden scenarios on Node objects without a kubelet: sizes and states that a hollow kubelet cannot have.
//! The letters are those of the reference; upstream is kube-scheduler 1.37.2 with its gate on, as it was measured.

use anyhow::Result;
use serde_json::json;

use crate::harness::{PodSpec, Priority, SimulatedNode, World};

use Priority::{High, Low};

/// C: 1000m and two Pod slots, both taken; low 100, P high 100 → 300. Upstream counts a slot for the Pod that has
/// one already, and deletes low.
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

//! On a node where containers are real: the room that elbowroom makes ends in a cgroup, and what takes time
//! there, or does not happen there, costs nobody else anything.
//!
//! Skipped where there is no such node to be had; `control-plane/real-node missing` says why.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use crate::harness::{
    IN_PROGRESS, OURS, PENDING, PodSpec, Priority, Scheduler, World, allocated_memory, condition,
    container_id, cpu_quota, memory_in_use,
};

use Priority::{High, Low};

/// Process 1 has no default reaction to SIGTERM: only the end of the grace period ends this one.
const DEAF: &str = "sleep 100000";
/// Keeps 60 MiB: nobody reads what it has read.
const KEEPS_60_MIB: &str = "dd if=/dev/zero bs=60M count=1 | sleep 100000";

/// The quota of the very container that ran before grows, and each who had a part in it says so.
pub async fn quota_grows_in_place_and_everybody_says_so(world: &World) -> Result<()> {
    let node = world.real_worker(1000, 200).await?;
    world.run(PodSpec::new("v", Low).cpu(600).on(&node)).await?;
    let before = world.run(PodSpec::new("p", High).cpu(400).limited().on(&node)).await?;
    ensure!(cpu_quota(&before)? == 40_000, "the quota is {} µs before", cpu_quota(&before)?);
    let scheduler = world.scheduler().await?;
    world.resize_with("p", json!({"requests": {"cpu": "900m"}, "limits": {"cpu": "900m"}})).await?;
    world.victims(&["v"]).await?;
    world.allocated("p", 900).await?;
    let after = world.wait("p", "has it", |pod| condition(pod, IN_PROGRESS).is_none()).await?;
    ensure!(cpu_quota(&after)? == 90_000, "the quota is {} µs after", cpu_quota(&after)?);
    ensure!(container_id(&before) == container_id(&after), "it is another container");
    let containers = after.status.and_then(|status| status.container_statuses).unwrap_or_default();
    ensure!(containers.iter().all(|c| c.restart_count == 0), "the container was restarted");

    world.says_nothing_more("p").await?;
    world.events("p", "ResizeCompleted").await?;
    world.events("p", "ResizePreempted").await?;
    let told = world.told("p").await?;
    let of = |who: [&str; 3]| told.iter().filter(|r| who.contains(&r.as_str())).cloned().collect::<Vec<_>>();
    let kubelet = ["ResizeDeferred", "ResizeStarted", "ResizeCompleted"];
    ensure!(of(kubelet) == kubelet, "the kubelet's events are {:?}", of(kubelet));
    let ours = ["ResizePreempting", "ResizePreemptionBlocked", "ResizePreempted"];
    ensure!(of(ours) == ["ResizePreempting", "ResizePreempted"], "elbowroom's events are {:?}", of(ours));
    in_force_was_timed(&scheduler).await?;
    scheduler.stop().await
}

/// From Deferred until the cgroup has it.
async fn in_force_was_timed(scheduler: &Scheduler) -> Result<()> {
    let count = scheduler.metric("scheduler_resize_actuation_duration_seconds_count").await?;
    let seconds = scheduler.metric("scheduler_resize_actuation_duration_seconds_sum").await?;
    ensure!(count == 1.0, "{count} resizes came into force");
    ensure!(seconds > 0.0 && seconds < 60.0, "it took {seconds} s to come into force");
    Ok(())
}

/// Two Pods, each of them enough, neither of which listens to SIGTERM: the younger one is asked, and takes its
/// whole grace period. The other one is never asked.
pub async fn slow_victim_delays_and_is_the_only_one(world: &World) -> Result<()> {
    let node = world.real_worker(1000, 200).await?;
    let deaf = |name: &str| {
        let spec = PodSpec::new(name, Low).cpu(400).running(DEAF).on(&node);
        spec.with("terminationGracePeriodSeconds", json!(8))
    };
    world.run(deaf("bystander")).await?;
    // Start times are whole seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    world.run(deaf("slow")).await?;
    world.run(PodSpec::new("p", High).cpu(200).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize("p", 600).await?;
    world.leaving("slow").await?;
    let asked = Instant::now();
    world.says("p", "True", "WaitingForVictims").await?;
    world.allocated("p", 600).await?;
    let waited = asked.elapsed();
    ensure!(waited > Duration::from_secs(6), "a victim of 8 s made room after {waited:?}");
    world.victims(&["slow"]).await?;
    ensure!(world.events("p", "ResizePreempting").await?.len() == 1, "it was announced more than once");
    scheduler.stop().await
}

/// 300Mi: keeper high 100 → 20, which it cannot give back, for it uses 60; v low 100; p high 100 → 180.
///
/// The container's status goes on to say 100; the Pod's, which counts for kubelets and schedulers from 1.36 on,
/// says 20, for a request of memory is in no cgroup to be read from. So the kubelet grants p its 180, and
/// elbowroom must read the node as it does: nobody has to go, and there is no room for a newcomer.
pub async fn memory_that_is_not_given_back_costs_nobody_else(world: &World) -> Result<()> {
    let node = world.real_worker(1000, 300).await?;
    let keeper = PodSpec::new("keeper", High).memory(100).limited().running(KEEPS_60_MIB).on(&node);
    uses(&world.run(keeper).await?, 60 << 20).await?;
    world.run(PodSpec::new("v", Low).memory(100).on(&node)).await?;
    world.run(PodSpec::new("p", High).memory(100).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world
        .resize_with("keeper", json!({"requests": {"memory": "20Mi"}, "limits": {"memory": "20Mi"}}))
        .await?;
    let stuck = |pod: &Pod| {
        condition(pod, IN_PROGRESS).is_some_and(|c| c.reason.as_deref() == Some("Error"))
            && allocated_memory(pod) == 20
    };
    world.wait("keeper", "cannot give its memory back", stuck).await?;
    world.victims(&[]).await?;
    ensure!(condition(&world.get("keeper")?, OURS).is_none(), "there is no room to be made for who shrinks");

    world.resize_to("p", json!({"memory": "180Mi"})).await?;
    let has = |pod: &Pod| allocated_memory(pod) == 180 && condition(pod, PENDING).is_none();
    world.wait("p", "is allocated 180Mi", has).await?;
    let newcomer = PodSpec::new("newcomer", Low).memory(20).only(&node).with("tolerations", tolerant());
    world.pod(newcomer).await?;
    world.unschedulable("newcomer", "Insufficient memory").await?;
    world.victims(&[]).await?;
    ensure!(stuck(&world.get("keeper")?), "it did give its memory back");
    scheduler.stop().await
}

async fn uses(pod: &Pod, bytes: u64) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(15);
    while memory_in_use(pod)? < bytes {
        ensure!(Instant::now() < end, "the container uses only {} bytes", memory_in_use(pod)?);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// A Job that may not fail once, and takes a disruption for no failure, loses its Pod to a resize: it makes
/// another, which runs when there is room again.
pub async fn job_counts_no_failure_for_a_victim(world: &World) -> Result<()> {
    let node = world.real_worker(1000, 200).await?;
    let scheduler = world.scheduler().await?;
    world.run(PodSpec::new("p", High).cpu(400).on(&node)).await?;
    let template = PodSpec::new("job", Low).cpu(600).running(DEAF).only(&node);
    let template = template.with("tolerations", tolerant()).with("restartPolicy", json!("Never"));
    let template = template.with("terminationGracePeriodSeconds", json!(1));
    let template = template.object(&world.suite.run, &world.profile)?;
    let job = json!({
        "metadata": {"name": "job"},
        "spec": {
            "backoffLimit": 0,
            "podFailurePolicy": {"rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]},
            "template": {"metadata": {"labels": {"app": "job"}}, "spec": template.spec},
        },
    });
    let jobs = world.api::<Job>();
    jobs.create(&PostParams::default(), &serde_json::from_value(job)?).await?;
    let first = world.runs_for("job", &node, "").await?;
    world.resize("p", 1000).await?;
    world.allocated("p", 1000).await?;
    world.victims(&[&first]).await?;
    let status = jobs.get("job").await?.status.context("the Job has no status")?;
    ensure!(status.failed.unwrap_or(0) == 0, "the Job counts {:?} failures", status.failed);
    ensure!(status.conditions.is_none_or(|all| all.is_empty()), "the Job has come to an end");

    // Its next Pod waits for the room that p has now, and gets it when p needs it no more.
    world.resize("p", 400).await?;
    let second = world.runs_for("job", &node, &first).await?;
    ensure!(world.victims_so_far() == [first], "{second} is not the only other Pod");
    jobs.delete("job", &DeleteParams::background()).await?;
    scheduler.stop().await
}

fn tolerant() -> serde_json::Value {
    json!([{"key": "e2e.elbowroom.dev/real-node", "operator": "Exists"}])
}

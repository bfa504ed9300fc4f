//! Field cases about who goes and who does not, on the real API server. `docs/field-cases.md` says what each
//! is about.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::apps::v1::{DaemonSet, ReplicaSet};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use serde_json::{Value, json};

use crate::harness::{OURS, PodSpec, Priority, Proxy, World, condition, is_leaving, node_of};

use Priority::{High, Low, Mid, Negative};

/// C08: 900m; R and E equal; E is deleted by its owner and drains.
pub async fn c08_an_equal_pod_that_leaves_by_itself_is_waited_for(world: &World) -> Result<()> {
    let node = world.node("n1", 900).await?;
    world.run(PodSpec::new("r", Mid).cpu(300).on(&node)).await?;
    world.run(PodSpec::new("e", Mid).cpu(600).on(&node)).await?;
    world.kubelet.hold("e");
    let scheduler = world.scheduler().await?;
    world.resize_deferred("r", 600).await?;
    world.says("r", "False", "InsufficientVictims").await?;
    world.delete("e").await?;
    world.says("r", "True", "WaitingForVictims").await?;
    world.pod(PodSpec::new("q1", Mid).cpu(400).only(&node)).await?;
    world.pod(PodSpec::new("q2", Mid).cpu(300).only(&node)).await?;
    world.unschedulable("q1", "Insufficient cpu").await?;
    world.kubelet.let_go("e");
    world.allocated("r", 600).await?;
    world.bound("q2", &node).await?;
    world.victims(&[]).await?;
    ensure!(node_of(&world.get("q1")?).is_none(), "q1 has taken what R was waiting for");
    scheduler.stop().await
}

/// C14 and C59: an equal Pod stays, and a lower one whose room would not be enough.
pub async fn c14_c59_nobody_goes_who_is_equal_or_not_enough(world: &World) -> Result<()> {
    let equal = world.node("n1", 400).await?;
    world.run(PodSpec::new("e", Mid).cpu(200).on(&equal)).await?;
    world.run(PodSpec::new("r1", Mid).cpu(200).on(&equal)).await?;
    let hopeless = world.node("n2", 1000).await?;
    world.run(PodSpec::new("h", High).cpu(400).on(&hopeless)).await?;
    world.run(PodSpec::new("v", Low).cpu(300).on(&hopeless)).await?;
    world.run(PodSpec::new("r2", Mid).cpu(300).on(&hopeless)).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("r1", 300).await?;
    world.resize_deferred("r2", 800).await?;
    world.says("r1", "False", "InsufficientVictims").await?;
    world.says("r2", "False", "InsufficientVictims").await?;
    world.victims(&[]).await?;
    for pod in ["r1", "r2"] {
        let told = world.events(pod, "ResizePreemptionBlocked").await?;
        ensure!(told.len() == 1, "{} events about {pod}", told.len());
    }
    world.delete("e").await?;
    world.allocated("r1", 300).await?;
    scheduler.stop().await
}

/// C15: R and A have no priority, B has -1.
pub async fn c15_a_missing_priority_is_zero(world: &World) -> Result<()> {
    let node = world.node("n1", 500).await?;
    let plain = |name: &str| PodSpec::new(name, Low).with("priorityClassName", Value::Null);
    world.run(plain("r").cpu(200).on(&node)).await?;
    world.run(plain("a").cpu(100).on(&node)).await?;
    world.run(PodSpec::new("b", Negative).cpu(200).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize("r", 400).await?;
    world.victims(&["b"]).await?;
    world.allocated("r", 400).await?;
    scheduler.stop().await
}

/// C16 and C18: the one big low Pod; and only the part of the delta that is not idle.
pub async fn c16_c18_what_need_not_go_stays(world: &World) -> Result<()> {
    let (n1, n2) = (world.node("n1", 900).await?, world.node("n2", 1000).await?);
    for small in ["a", "b", "c"] {
        world.run(PodSpec::new(small, Mid).cpu(100).on(&n1)).await?;
    }
    world.run(PodSpec::new("d", Low).cpu(400).on(&n1)).await?;
    world.run(PodSpec::new("r1", High).cpu(200).on(&n1)).await?;
    for equal in ["v1", "v2", "v3", "v4"] {
        world.run(PodSpec::new(equal, Low).cpu(100).on(&n2)).await?;
    }
    world.run(PodSpec::new("r2", High).cpu(400).on(&n2)).await?;
    let scheduler = world.scheduler().await?;
    world.resize("r1", 500).await?;
    world.resize("r2", 700).await?;
    world.allocated("r1", 500).await?;
    world.allocated("r2", 700).await?;
    world.quiet().await;
    let victims = world.victims_so_far();
    let equals = victims.iter().filter(|name| name.starts_with('v')).count();
    ensure!(victims.len() == 2 && victims.contains(&"d".to_owned()) && equals == 1, "{victims:?}");
    scheduler.stop().await
}

/// C19 and C22: fifty changes around a victim that drains; one POST, and no write to the victim's status.
pub async fn c19_c22_a_victim_gets_one_call_and_keeps_its_status(world: &World) -> Result<()> {
    let node = world.node("n1", 800).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    let v = world.run(PodSpec::new("v", Low).cpu(600).on(&node)).await?;
    let warm = json!({"conditions": [{"type": "example.com/Warm", "status": "True", "reason": "Filled"}]});
    world.kubelet.write(&v, warm).await?;
    world.kubelet.hold("v");
    let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
    let mut scheduler = world.spawn_scheduler(Some(&proxy.address))?;
    scheduler.ready().await?;
    world.resize("r", 500).await?;
    world.leaving("v").await?;
    for round in 0..25 {
        let labels = json!({"metadata": {"labels": {"round": round.to_string()}}});
        world.change_node(&node, labels.clone()).await?;
        world.change_pod("r", labels).await?;
    }
    world.says("r", "True", "WaitingForVictims").await?;
    let before = world.get("v")?;
    ensure!(condition(&before, "example.com/Warm").is_some_and(|c| c.reason.as_deref() == Some("Filled")));
    ensure!(
        condition(&before, "DisruptionTarget")
            .is_some_and(|c| c.reason.as_deref() == Some("EvictionByEvictionAPI")),
        "what the API server says of it"
    );
    ensure!(condition(&before, OURS).is_none(), "our condition is for who grows");
    world.kubelet.let_go("v");
    world.allocated("r", 500).await?;
    world.victims(&["v"]).await?;
    scheduler.stop().await?;
    let writes = proxy.writes();
    let of = |what: &str| writes.iter().filter(|line| line.contains(what)).count();
    ensure!(of("/pods/v/eviction 201") == 1 && of("/eviction") == 1, "{writes:#?}");
    ensure!(of("/pods/v/status") == 0 && of("DELETE") == 0, "{writes:#?}");
    Ok(())
}

/// C62: an important neighbour gives room back by itself.
pub async fn c62_a_neighbour_that_shrinks_makes_the_room(world: &World) -> Result<()> {
    let node = world.node("n1", 800).await?;
    world.run(PodSpec::new("r", Mid).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("h", High).cpu(600).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.resize_deferred("r", 500).await?;
    world.says("r", "False", "InsufficientVictims").await?;
    world.resize("h", 300).await?;
    world.allocated("r", 500).await?;
    world.says_nothing_more("r").await?;
    world.victims(&[]).await?;
    scheduler.stop().await
}

/// C109: a growing Pod and a pending one of other schedulers; the victim is of another one too.
pub async fn c109_only_our_own_pods_are_served(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 800).await?;
    let foreign = |name: &str, priority| PodSpec::new(name, priority).with("schedulerName", json!("nobody"));
    world.run(foreign("r1", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("r2", Mid).cpu(200).on(&node)).await?;
    world.run(foreign("v", Low).cpu(400).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    world.pod(foreign("z", Low).cpu(100)).await?;
    let shortage = "Node didn't have enough resource: cpu, requested: 300, used: 600, capacity: 800";
    let r1 = world.resize("r1", 300).await?;
    world.kubelet.report(&r1, "True", shortage).await?;
    let r2 = world.resize("r2", 400).await?;
    world.kubelet.report(&r2, "True", shortage).await?;
    world.victims(&["v"]).await?;
    world.gone("v").await?;
    // 300 for r1 and 400 for r2, though nobody has allocated either.
    world.pod(PodSpec::new("q", Low).cpu(200).only(&node)).await?;
    world.unschedulable("q", "Insufficient cpu").await?;
    ensure!(condition(&world.get("r1")?, OURS).is_none(), "r1 is not ours");
    ensure!(node_of(&world.get("z")?).is_none(), "z is not ours");
    for pod in ["r1", "z"] {
        for reason in ["ResizePreempting", "ResizePreemptionBlocked", "FailedScheduling", "Scheduled"] {
            ensure!(world.events_so_far(pod, reason).await?.is_empty(), "an event {reason} about {pod}");
        }
    }
    scheduler.stop().await
}

/// C09: whenever the victim is gone, another one is bound in its place, past every claim.
pub async fn c09_room_that_is_refilled_is_freed_in_growing_intervals(world: &World) -> Result<()> {
    let node = world.mute_node("n1", 600).await?;
    let r = world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    world.run(PodSpec::new("v-0", Low).cpu(300).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    let r = world.resize(r.metadata.name.as_deref().unwrap_or_default(), 500).await?;
    let shortage = "Node didn't have enough resource: cpu, requested: 500, used: 300, capacity: 600";
    world.kubelet.report(&r, "True", shortage).await?;
    let mut gaps = Vec::new();
    for round in 0..4 {
        let began = std::time::Instant::now();
        world.gone(&format!("v-{round}")).await?;
        gaps.push(began.elapsed());
        world.run(PodSpec::new(format!("v-{}", round + 1), Low).cpu(300).on(&node)).await?;
    }
    // At once, then after 1, 2 and 4 s.
    let total: Duration = gaps.iter().sum();
    ensure!(total >= Duration::from_millis(4500), "the rounds do not get rarer: {gaps:?}");
    let told = world.events("r", "ResizePreempting").await?.len();
    ensure!(told <= 5, "{told} events in four rounds");
    // Other work goes on.
    let other = world.node("n2", 100).await?;
    world.run(PodSpec::new("other", Low).cpu(100).only(&other)).await?;
    scheduler.stop().await
}

/// What the controllers of the control plane make: one container that the simulated kubelet knows.
fn template(world: &World, name: &str, cpu: &str, priority: Priority, spec: Value) -> Value {
    let mut template = json!({
        "metadata": {"labels": {"app": name}},
        "spec": {
            "schedulerName": world.profile, "priorityClassName": priority.class(&world.suite.run),
            "terminationGracePeriodSeconds": 5, "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10",
                            "resources": {"requests": {"cpu": cpu}}}],
        },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        template["spec"][field] = value.clone();
    }
    template
}

/// The Pods of one controller that are not leaving, once there are so many of them; sorted by name.
async fn made(world: &World, app: &str, count: usize) -> Result<Vec<Pod>> {
    let here = |seen: &crate::harness::Seen| -> Vec<Pod> {
        let of =
            |pod: &&Pod| pod.metadata.labels.as_ref().and_then(|l| l.get("app")).is_some_and(|l| l == app);
        seen.pods.values().filter(of).filter(|pod| !is_leaving(pod)).cloned().collect()
    };
    let what = format!("{count} Pods of {app}");
    world.observer.until(Duration::from_secs(30), &what, |seen| here(seen).len() == count).await?;
    Ok(here(&world.observer.now()))
}

fn name_of(pod: &Pod) -> String {
    pod.metadata.name.clone().unwrap_or_default()
}

/// C20: protected by default; else it goes once, and its successor waits.
pub async fn c20_a_daemonset_pod_goes_once_or_not_at_all(world: &World) -> Result<()> {
    let node = world.node("n1", 600).await?;
    world.run(PodSpec::new("r", High).cpu(200).on(&node)).await?;
    let only = json!({"nodeSelector": {"kubernetes.io/hostname": node}});
    let object = json!({
        "metadata": {"name": "ds"},
        "spec": {"selector": {"matchLabels": {"app": "ds"}},
                 "template": template(world, "ds", "300m", Low, only)},
    });
    let daemons: Api<DaemonSet> = world.api();
    let scheduler = world.scheduler().await?;
    daemons.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
    let first = made(world, "ds", 1).await?.pop().context("one Pod")?;
    world.bound(&name_of(&first), &node).await?;
    world
        .wait(&name_of(&first), "runs", |p| condition(p, "Ready").is_some_and(|c| c.status == "True"))
        .await?;
    world.resize_deferred("r", 500).await?;
    world.says("r", "False", "ProtectedVictims").await?;
    world.victims(&[]).await?;
    scheduler.stop().await?;

    let args = "  pluginConfig:\n  - name: ResizePreemption\n    args: {apiVersion: elbowroom.dev/v1alpha1, \
                kind: ResizePreemptionArgs, protect: {daemonSets: false}}\n";
    let mut scheduler = world.spawn_scheduler_with(&format!("{}{args}", world.config()))?;
    scheduler.ready().await?;
    world.allocated("r", 500).await?;
    let second = made(world, "ds", 1).await?.pop().context("a successor")?;
    ensure!(name_of(&second) != name_of(&first));
    world.unschedulable(&name_of(&second), "Insufficient cpu").await?;
    world.victims(&[&name_of(&first)]).await?;
    daemons.delete("ds", &DeleteParams::default()).await?;
    world.gone(&name_of(&second)).await?;
    scheduler.stop().await
}

/// C131: a filler of priority -1 that a ReplicaSet makes; the app has no priority at all.
pub async fn c131_a_filler_makes_room_and_then_waits(world: &World) -> Result<()> {
    let node = world.node("n1", 800).await?;
    let scheduler = world.scheduler().await?;
    let only = json!({"nodeSelector": {"kubernetes.io/hostname": node}});
    let object = json!({
        "metadata": {"name": "filler"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "filler"}},
                 "template": template(world, "filler", "600m", Negative, only)},
    });
    let sets: Api<ReplicaSet> = world.api();
    sets.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
    let first = made(world, "filler", 1).await?.pop().context("one Pod")?;
    world
        .wait(&name_of(&first), "runs", |p| condition(p, "Ready").is_some_and(|c| c.status == "True"))
        .await?;
    world.run(PodSpec::new("app", Low).with("priorityClassName", Value::Null).cpu(200).on(&node)).await?;
    world.resize("app", 500).await?;
    world.allocated("app", 500).await?;
    let second = made(world, "filler", 1).await?.pop().context("a successor")?;
    world.unschedulable(&name_of(&second), "Insufficient cpu").await?;
    world.victims(&[&name_of(&first)]).await?;
    sets.delete("filler", &DeleteParams::default()).await?;
    world.gone(&name_of(&second)).await?;
    scheduler.stop().await
}

/// C61: a few of the hundred rounds, on a kubelet that refuses what does not fit; the rest is simulated.
pub async fn c61_a_resize_and_a_bind_that_cross_end_well(world: &World) -> Result<()> {
    let node = world.worker(800, 100).await?;
    world.run(PodSpec::new("others", Priority::Filler).cpu(200).on(&node)).await?;
    let scheduler = world.scheduler().await?;
    for (round, delay) in [0_i64, 15, -15, 40].into_iter().enumerate() {
        let (r, p) = (format!("r-{round}"), format!("p-{round}"));
        world.run(PodSpec::new(&r, High).cpu(300).on(&node)).await?;
        let pause = |millis: i64| tokio::time::sleep(Duration::from_millis(millis.max(0).unsigned_abs()));
        let grow = async {
            pause(-delay).await;
            world.resize(&r, 500).await.map(drop)
        };
        let place = async {
            pause(delay).await;
            world.pod(PodSpec::new(&p, Low).cpu(300).only(&node)).await.map(drop)
        };
        let (grown, placed) = tokio::join!(grow, place);
        grown.and(placed)?;
        world.allocated(&r, 500).await?;
        // Not bound, evicted, or refused by the kubelet; in no case next to a grown R.
        let settled = |seen: &crate::harness::Seen| match seen.pods.get(&p) {
            None => true,
            Some(pod) => {
                let failed = pod.status.as_ref().and_then(|s| s.phase.as_deref()) == Some("Failed");
                failed || node_of(pod).is_none() && condition(pod, "PodScheduled").is_some()
            }
        };
        world.observer.until(Duration::from_secs(30), &format!("an end for {p}"), settled).await?;
        let victims: BTreeSet<String> = world.victims_so_far().into_iter().collect();
        ensure!(victims.iter().all(|name| name.starts_with("p-")), "{victims:?}");
        for name in [&r, &p] {
            if world.get(name).is_ok() {
                world.delete(name).await?;
                world.gone(name).await?;
            }
        }
    }
    let bound = world.api::<Pod>().list(&ListParams::default()).await?.items.len();
    ensure!(bound == 2, "the filler and the others are left, but there are {bound} Pods");
    scheduler.stop().await
}

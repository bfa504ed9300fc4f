//! One play: a case, a scheduler, and what came of it.
//!
//! Invariant: what is told was seen on the API server, by watches and its audit log; no scheduler is asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt as _;
use kube::api::ListParams;

use super::audit;
use super::case::{Case, Verb};
use super::contender::Contender;
use super::record::{Record, Recorder};
use super::stage::Stage;
use super::steps;
use super::table::Row;
use crate::harness::{OURS, PENDING, Suite, World, condition, node_of, say, settled};

/// So long nothing may have happened before a play is over. kube-scheduler tries again within 10 s at most, and
/// sooner when something about the node changes.
const QUIET: Duration = Duration::from_secs(6);
/// Longer than the longest grace period of a case.
const PATIENCE: Duration = Duration::from_secs(45);

/// What came of a play.
pub struct Outcome {
    /// Who was made to leave, in order.
    pub victims: Vec<String>,
    /// How many of them past a budget that allowed none.
    pub budgets_broken: usize,
    /// Evictions and deletions asked for again; `None` without an audit log.
    pub twice: Option<usize>,
    /// Events of the scheduler about growing Pods: reason and count.
    pub events: BTreeMap<String, i32>,
    /// What became of each wish, in a few words.
    pub wishes: Vec<String>,
    /// What the scheduler says on the growing Pods in the end.
    pub says: Vec<String>,
}

/// Plays a case with a scheduler in a world of its own.
pub async fn play<'a>(suite: &Arc<Suite>, case: &'a Case, contender: Contender) -> Row<'a> {
    let name = format!("{}-{}", case.id, contender.name());
    let outcome = async {
        let world = World::create(suite.clone(), &name).await?;
        let outcome = play_in(&world, case, contender).await;
        if outcome.is_err() {
            say(&format!("{name}:\n{}", world.describe()));
        }
        let gone = world.destroy().await.context("clean up");
        let outcome = outcome?;
        gone?;
        anyhow::Ok(outcome)
    };
    Row { case, contender, outcome: outcome.await.map_err(|error| in_short(&error)) }
}

/// The API server's answers come with all that is known about them.
fn in_short(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.split(" (Status {").next().unwrap_or_default().to_owned()
}

async fn play_in(world: &World, case: &Case, contender: Contender) -> Result<Outcome> {
    let recorder = Recorder::start(world);
    contender.admit(world).await?;
    let stage = Stage::set(world, case).await.context("set the stage")?;
    let scheduler = contender.start(world).await?;
    let scheduler = steps::play(&case.steps, &stage, &recorder, contender, scheduler).await?;
    recorder.now().changed = std::time::Instant::now();
    recorder.quiet(QUIET, PATIENCE).await;
    scheduler.kill().await?;

    let mut growing: Vec<_> = recorder.now().growth.keys().cloned().collect();
    for step in &case.steps {
        if let Verb::Resize(wish) = &step.what
            && !growing.contains(&wish.pod)
        {
            growing.push(wish.pod.clone());
        }
    }
    let events = events(world, &growing).await?;
    let log = world.suite.control_plane.audit_log();
    let twice = log.map(|log| audit::repeated(&log, &world.namespace)).transpose()?;
    let record = recorder.now();
    Ok(Outcome {
        victims: record.victims.iter().map(|victim| victim.name.clone()).collect(),
        budgets_broken: record.budgets_broken()?,
        twice,
        events,
        wishes: wishes(&record, &growing),
        says: growing.iter().filter_map(|name| said(world, record.pods.get(name)?)).collect(),
    })
}

/// The stand-in for the kubelet sends none, so what is there comes from the scheduler.
async fn events(world: &World, growing: &[String]) -> Result<BTreeMap<String, i32>> {
    let mut counts = BTreeMap::new();
    for event in world.api::<Event>().list(&ListParams::default()).await?.items {
        // About a victim, should it be one that wanted to grow.
        if event.reason.as_deref() == Some("Preempted") {
            continue;
        }
        let about = event.regarding.as_ref().and_then(|object| object.name.as_ref());
        if about.is_some_and(|name| growing.contains(name)) {
            let count = event.series.as_ref().map_or(1, |series| series.count);
            *counts.entry(event.reason.unwrap_or_default()).or_default() += count;
        }
    }
    Ok(counts)
}

fn wishes(record: &Record, growing: &[String]) -> Vec<String> {
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    let mut wishes = Vec::new();
    for name in growing {
        let pod = record.pods.get(name);
        let taken = record.victims.iter().any(|victim| victim.name == *name);
        let infeasible = pod.and_then(|pod| condition(pod, PENDING)?.reason.as_deref()) == Some("Infeasible");
        let became = match record.growth.get(name) {
            _ if taken => "was made to leave itself".to_owned(),
            _ if pod.is_none() => "is gone".to_owned(),
            _ if infeasible => "Infeasible".to_owned(),
            None if pod.is_some_and(settled) => "at once".to_owned(),
            None => "not judged by its kubelet".to_owned(),
            Some(growth) => match growth.over {
                None => "stays Deferred".to_owned(),
                Some(_) if growth.reverted => "taken back".to_owned(),
                Some(over) => seconds(over - growth.since),
            },
        };
        wishes.push(format!("{name}: {became}"));
    }
    for (name, (since, bound)) in &record.placed {
        let became = match bound {
            Some(bound) => format!("bound after {}", seconds(*bound - *since)),
            None => "stays pending".to_owned(),
        };
        wishes.push(format!("{name}: {became}"));
    }
    wishes
}

/// The scheduler's own condition, without what differs from run to run.
fn said(world: &World, pod: &Pod) -> Option<String> {
    let condition = condition(pod, OURS)?;
    let reason = condition.reason.clone().unwrap_or_default();
    let mut message = condition.message.clone().unwrap_or_default();
    // Names of nodes begin with the namespace.
    if let Some(node) = node_of(pod) {
        let short = node.strip_prefix(&format!("{}-", world.namespace)).unwrap_or(node);
        message = message.replace(node, short);
    }
    message = message.replace(&format!("{}/", world.namespace), "");
    Some(format!("{}: `{reason}`: {message}", pod.name_any()))
}

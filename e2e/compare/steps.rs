//! Does the steps of a case, each when it is due.
//!
//! Invariant: a step that the API server refuses is part of the case (a quota, a size), not the end of the play.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt as _;
use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::case::{BudgetChange, NodeChange, Resize, Step, Verb, Whom};
use super::contender::Contender;
use super::record::Recorder;
use super::stage::Stage;
use crate::harness::Scheduler;

/// Longer pauses are cut to this: the files are written for virtual time.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Plays all steps with that scheduler, and returns the one that runs in the end.
///
/// # Errors
/// When something goes wrong that the case does not intend.
pub async fn play(
    steps: &[Step],
    stage: &Stage<'_>,
    recorder: &Recorder,
    contender: Contender,
    mut scheduler: Scheduler,
) -> Result<Scheduler> {
    let (mut due, mut last) = (Instant::now(), Duration::ZERO);
    for step in steps {
        let at = step.at()?;
        due += (at - last).min(LONGEST_PAUSE);
        last = at;
        tokio::time::sleep(due.saturating_duration_since(Instant::now())).await;
        if let Verb::Restart(Whom::Elbowroom) = step.what {
            scheduler.kill().await?;
            scheduler = contender.start(stage.world).await?;
            continue;
        }
        match perform(&step.what, stage, recorder).await {
            Err(error) if is_refusal(&error) => {}
            other => other.with_context(|| format!("{:?}", step.what))?,
        }
    }
    Ok(scheduler)
}

fn is_refusal(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.code == 403 || status.code == 422)
}

async fn perform(what: &Verb, stage: &Stage<'_>, recorder: &Recorder) -> Result<()> {
    let world = stage.world;
    match what {
        Verb::Resize(wish) => resize(wish, stage).await,
        Verb::Create(manifest) => stage.create(manifest).await,
        Verb::Delete(named) => {
            recorder.now().owner_deletes(&named.pod);
            world.delete(&named.pod).await
        }
        Verb::Node(change) => change_node(change, stage).await,
        Verb::Budget(change) => change_budget(change, stage).await,
        Verb::Restart(Whom::Elbowroom) => Ok(()),
    }
}

/// A resize has to repeat what does not change, and a limit that equals its request goes along.
async fn resize(wish: &Resize, stage: &Stage<'_>) -> Result<()> {
    let pods = stage.world.api::<Pod>();
    let pod = pods.get(&wish.pod).await?;
    let containers = pod.spec.map(|spec| spec.containers).unwrap_or_default();
    let container = match &wish.container {
        Some(name) => containers.into_iter().find(|container| container.name == *name),
        None => containers.into_iter().next(),
    };
    let container = container.with_context(|| format!("Pod {} has no such container", wish.pod))?;
    let resources = container.resources.unwrap_or_default();
    let mut requests: Map<String, Value> = Map::new();
    let mut limits = Map::new();
    for (name, amount) in resources.requests.clone().unwrap_or_default() {
        requests.insert(name, amount.0.into());
    }
    for (name, wanted) in [("cpu", &wish.cpu), ("memory", &wish.memory)] {
        let Some(wanted) = wanted else { continue };
        let of =
            |list: Option<&std::collections::BTreeMap<String, _>>| list.and_then(|l| l.get(name).cloned());
        let before = of(resources.requests.as_ref());
        if before.is_some() && before == of(resources.limits.as_ref()) {
            limits.insert(name.to_owned(), wanted.clone());
        }
        requests.insert(name.to_owned(), wanted.clone());
    }
    let resources = json!({"requests": requests, "limits": limits});
    let patch = json!({"spec": {"containers": [{"name": container.name, "resources": resources}]}});
    pods.patch_resize(&wish.pod, &PatchParams::default(), &Patch::Strategic(patch)).await?;
    Ok(())
}

async fn change_node(change: &NodeChange, stage: &Stage<'_>) -> Result<()> {
    let (world, name) = (stage.world, stage.node_name(&change.name));
    let mut patch = json!({});
    if let Some(cordon) = change.cordon {
        patch["spec"]["unschedulable"] = cordon.into();
    }
    if let Some(labels) = &change.labels {
        patch["metadata"]["labels"] = labels.clone().into();
    }
    if let Some(taints) = &change.taints {
        patch["spec"]["taints"] = taints.clone();
    }
    if let Some(owners) = &change.disable_resize_preemption {
        patch["spec"]["podPreemptionPolicy"] = json!({"disableResizePreemption": owners});
    }
    if patch != json!({}) {
        world.change_node(&name, patch).await?;
    }
    if let Some(allocatable) = &change.allocatable {
        let sizes = json!({"allocatable": allocatable, "capacity": allocatable});
        world.change_node_status(&name, sizes).await?;
    }
    if let Some(ready) = change.ready {
        world.set_ready(&name, ready).await?;
    }
    stage.learn(&name).await
}

async fn change_budget(change: &BudgetChange, stage: &Stage<'_>) -> Result<()> {
    let spec = match (change.disruptions_allowed, &change.min_available, &change.max_unavailable) {
        (Some(wanted), _, _) => {
            json!({"minAvailable": stage.min_available(&change.name, wanted).await?, "maxUnavailable": null})
        }
        (None, Some(share), _) => json!({"minAvailable": share, "maxUnavailable": null}),
        (None, None, share) => json!({"maxUnavailable": share, "minAvailable": null}),
    };
    let budgets = stage.world.api::<PodDisruptionBudget>();
    let patch = Patch::Merge(json!({"spec": spec}));
    let changed = budgets.patch(&change.name, &PatchParams::default(), &patch).await?;
    // Does not wait for a number: what is allowed may be used up at once.
    stage.budget_is_counted(&changed.name_any(), None).await
}

//! The status that a kubelet writes: phases, conditions, container statuses, allocated and actual resources.
//!
//! Invariant: `status.allocatedResources` and `status.resources` are pod totals with overhead, as kubelet 1.37
//! writes them for every Pod.

use super::Turn;
use crate::cluster::footprint::footprint;
use crate::model::Timestamp;
use crate::simulation::facts::Facts;
use crate::simulation::objects::{Amounts, PodExt, condition, exact, requests, time};
use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStatus, Pod, PodStatus,
    ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use std::collections::BTreeMap;

/// Resources by container; those of the Pod as a whole under [`WHOLE`], where its spec has some.
pub(super) type Allocation = BTreeMap<String, ResourceRequirements>;

/// No container has this name.
pub(super) const WHOLE: &str = "";

/// What the spec asks for.
pub(super) fn desired(pod: &Pod) -> Allocation {
    let whole = pod.spec.as_ref().and_then(|spec| spec.resources.clone());
    let containers =
        pod.containers().map(|one| (one.name.clone(), one.resources.clone().unwrap_or_default()));
    containers.chain(whole.map(|resources| (WHOLE.to_owned(), resources))).collect()
}

/// What the status says is allocated, or the spec where it says nothing. Limits are not in the status: they follow
/// the spec.
pub(super) fn allocation(pod: &Pod) -> Allocation {
    let mut all = desired(pod);
    let status = pod.status.as_ref();
    let known = status.iter().flat_map(|status| {
        status.container_statuses.iter().flatten().chain(status.init_container_statuses.iter().flatten())
    });
    for one in known {
        if let (Some(entry), Some(amounts)) = (all.get_mut(&one.name), &one.allocated_resources) {
            entry.requests = Some(amounts.clone());
        }
    }
    let total = status.and_then(|status| status.allocated_resources.as_ref());
    if let (Some(whole), Some(total)) = (all.get_mut(WHOLE), total) {
        let overhead = pod.spec.as_ref().and_then(|spec| spec.overhead.as_ref());
        for (name, asked) in whole.requests.iter_mut().flatten() {
            // The total holds the overhead, the spec does not.
            let over = overhead.and_then(|all| all.get(name)).and_then(exact).unwrap_or_default();
            if let Some(held) = total.get(name).and_then(exact) {
                *asked = ApiQuantity((held - over).to_string());
            }
        }
    }
    all
}

/// Makes a Pod look as if it had been running on its node since before `now`. What its manifest's status says is
/// kept; what it leaves out is what a kubelet would have written.
pub fn running(pod: &mut Pod, now: Timestamp, facts: &mut Facts) {
    let allocated = allocation(pod);
    let created = pod.metadata.creation_timestamp.clone();
    let generation = pod.generation();
    let status = pod.status_mut();
    if status.phase.as_deref().is_some_and(|phase| phase != "Running" && phase != "Pending") {
        return;
    }
    status.phase = Some("Running".to_owned());
    let since = status.start_time.get_or_insert_with(|| created.unwrap_or_else(|| time(now))).clone();
    let observed = *status.observed_generation.get_or_insert(generation);
    if pod.condition("PodScheduled").is_none() {
        let mut scheduled = condition("PodScheduled", true, "", "");
        scheduled.last_transition_time = Some(since.clone());
        scheduled.observed_generation = Some(observed);
        pod.set_condition(now, scheduled);
    }
    if pod.condition("Ready").is_none() {
        let mut up = condition("Ready", true, "", "");
        up.last_transition_time = Some(since);
        up.observed_generation = Some(observed);
        pod.set_condition(now, up);
    }
    let preset: BTreeMap<String, ContainerStatus> = statuses(pod);
    containers(pod, &allocated, |one| {
        if let Some(known) = preset.get(&one.name) {
            one.restart_count = known.restart_count;
            one.resources = known.resources.clone();
        }
        one.ready = true;
        one.started = Some(true);
        let in_force =
            ResourceRequirements { requests: one.allocated_resources.clone(), ..Default::default() };
        one.resources.get_or_insert(in_force);
    });
    let total = total(pod, &allocated, facts);
    let status = pod.status_mut();
    status.allocated_resources.get_or_insert_with(|| total.clone());
    status
        .resources
        .get_or_insert_with(|| ResourceRequirements { requests: Some(total), ..Default::default() });
}

/// A Pod was admitted: its allocation is known, nothing runs yet.
pub(super) fn start(pod: &mut Pod, allocated: &Allocation, at: &mut Turn<'_>) {
    pod.status_mut().start_time = Some(time(at.now));
    pod.status_mut().observed_generation = Some(pod.metadata.generation.unwrap_or_default());
    pod.set_condition(at.now, condition("Ready", false, "ContainersNotReady", ""));
    containers(pod, allocated, |_| {});
    write_actual(pod, allocated, at.facts);
}

/// All containers run and are ready, or no longer.
pub(super) fn ready(pod: &mut Pod, now: Timestamp, ready: bool) {
    pod.status_mut().phase = Some("Running".to_owned());
    pod.set_condition(now, condition("Ready", ready, "", ""));
    for one in pod.status_mut().container_statuses.iter_mut().flatten() {
        one.ready = ready;
        one.started = Some(ready);
        let running = ContainerStateRunning { started_at: Some(time(now)) };
        one.state = Some(ContainerState { running: Some(running), ..Default::default() });
    }
}

/// All containers have ended. Those killed at the end of the grace period end badly, the others well.
pub(super) fn ended(pod: &mut Pod, now: Timestamp) {
    let killed = pod.annotation(super::EXIT_AFTER).is_none();
    let (phase, code) = if killed { ("Failed", 137) } else { ("Succeeded", 0) };
    pod.status_mut().phase = Some(phase.to_owned());
    pod.set_condition(now, condition("Ready", false, "PodCompleted", ""));
    pod.remove_condition("PodResizePending");
    pod.remove_condition("PodResizeInProgress");
    for one in pod.status_mut().container_statuses.iter_mut().flatten() {
        one.ready = false;
        one.started = Some(false);
        let end =
            ContainerStateTerminated { exit_code: code, finished_at: Some(time(now)), ..Default::default() };
        one.state = Some(ContainerState { terminated: Some(end), ..Default::default() });
    }
}

fn all_containers(status: &mut PodStatus) -> impl Iterator<Item = &mut ContainerStatus> {
    let init = status.init_container_statuses.iter_mut().flatten();
    status.container_statuses.iter_mut().flatten().chain(init)
}

/// Writes what is admitted.
pub(super) fn write_allocation(pod: &mut Pod, allocated: &Allocation, facts: &mut Facts) {
    let total = total(pod, allocated, facts);
    let status = pod.status_mut();
    status.allocated_resources = Some(total);
    for one in all_containers(status) {
        one.allocated_resources = Some(requests(allocated.get(&one.name)));
    }
}

/// Writes what is in force.
pub(super) fn write_actual(pod: &mut Pod, allocated: &Allocation, facts: &mut Facts) {
    write_allocation(pod, allocated, facts);
    let status = pod.status_mut();
    status.resources =
        Some(ResourceRequirements { requests: status.allocated_resources.clone(), ..Default::default() });
    for one in all_containers(status) {
        one.resources = allocated.get(&one.name).cloned();
    }
}

fn statuses(pod: &Pod) -> BTreeMap<String, ContainerStatus> {
    let status = pod.status.as_ref();
    let all = status.iter().flat_map(|status| {
        status.container_statuses.iter().flatten().chain(status.init_container_statuses.iter().flatten())
    });
    all.map(|one| (one.name.clone(), one.clone())).collect()
}

/// Makes the container statuses anew, one for each container.
fn containers(pod: &mut Pod, allocated: &Allocation, each: impl Fn(&mut ContainerStatus)) {
    let make = |container: &k8s_openapi::api::core::v1::Container| {
        let mut one = ContainerStatus {
            name: container.name.clone(),
            image: container.image.clone().unwrap_or_default(),
            allocated_resources: Some(requests(allocated.get(&container.name))),
            ..ContainerStatus::default()
        };
        each(&mut one);
        one
    };
    let spec = pod.spec.clone().unwrap_or_default();
    let status = pod.status_mut();
    status.container_statuses = Some(spec.containers.iter().map(make).collect());
    status.init_container_statuses =
        spec.init_containers.as_ref().map(|list| list.iter().map(make).collect());
}

/// The Pod's total with overhead: what its spec would ask for if the spec said what is allocated.
fn total(pod: &Pod, allocated: &Allocation, facts: &mut Facts) -> Amounts {
    let mut copy = Pod { status: None, ..pod.clone() };
    let spec = copy.spec_mut();
    for one in spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten()) {
        one.resources = allocated.get(&one.name).cloned();
    }
    spec.resources = allocated.get(WHOLE).cloned();
    let Some(fact) = facts.imagined(&copy) else { return Amounts::new() };
    let list = footprint(&fact.resources).desired.into_iter();
    list.map(|(name, amount)| {
        let unit = if name == "cpu" { "m" } else { "" };
        (name.to_string(), ApiQuantity(format!("{amount}{unit}")))
    })
    .collect()
}

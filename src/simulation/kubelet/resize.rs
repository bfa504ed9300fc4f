//! In-place resizes: judged when asked for and on every trigger, in the kubelet's order.
//!
//! Invariant: all pending resizes are tried in one pass, each against what is allocated by then; a resize that does
//! not fit blocks none behind it (kubelet `allocation/allocation_manager.go`).

use super::{ACTUATION, CPU_MANAGER, Kubelet, RETRY, Stage, Task, Turn, differs, is_passive, status};
use crate::model::Quantity;
use crate::simulation::objects::{Amounts, PodExt, condition, exact, requests, timestamp};
use k8s_openapi::api::core::v1::{Pod, PodCondition, ResourceRequirements};
use std::cmp::Reverse;

/// Pending: Deferred or Infeasible.
const PENDING: &str = "PodResizePending";
/// Allocated and not yet in force.
const IN_PROGRESS: &str = "PodResizeInProgress";

impl Kubelet {
    /// Notes what a Pod asks for. True if there is a new request to judge.
    pub(super) fn watch_resize(&mut self, pod: &Pod, at: &mut Turn<'_>) -> bool {
        let passive = is_passive(at.node);
        let Some(local) = self.pods.get_mut(pod.uid()) else { return false };
        if local.stage == Stage::Starting || passive {
            return false;
        }
        let wanted = local.stage == Stage::Running && !pod.leaving() && differs(pod, &local.allocated);
        if !wanted {
            local.pending = false;
            local.judged = pod.generation();
            let mut changed = pod.clone();
            if changed.remove_condition(PENDING) {
                changed.status_mut().observed_generation = Some(pod.generation());
                at.api.store_pod(changed);
            }
            return false;
        }
        let new = local.judged != pod.generation();
        local.judged = pod.generation();
        local.pending |= new;
        new
    }

    /// Tries every pending resize, in order, and puts the periodic retry off.
    pub(super) fn retry(&mut self, at: &mut Turn<'_>) {
        self.retry_at = at.now + RETRY.1;
        at.later.push((RETRY.1, Task::Retry(self.retry_at)));
        for uid in self.pending(at) {
            self.judge(&uid, at);
        }
    }

    /// Who is tried first: those that ask for no more cpu or memory; then by priority; Guaranteed; longest waiting.
    fn pending(&self, at: &Turn<'_>) -> Vec<String> {
        let waiting = self.pods.iter().filter(|(_, local)| local.pending);
        let mut list: Vec<_> = waiting
            .filter_map(|(uid, local)| {
                let pod = at.api.pod(&local.key, uid)?;
                let since = pod.condition(PENDING).and_then(|one| one.last_transition_time.as_ref());
                let guaranteed = pod.status.as_ref()?.qos_class.as_deref() == Some("Guaranteed");
                let rank = (
                    grows(pod, &local.allocated),
                    Reverse(pod.priority()),
                    !guaranteed,
                    since.map_or(at.now, timestamp),
                );
                Some((rank, uid.clone()))
            })
            .collect();
        list.sort();
        list.into_iter().map(|(_, uid)| uid).collect()
    }

    /// Allocates one resize or says why not.
    fn judge(&mut self, uid: &str, at: &mut Turn<'_>) {
        let Some(local) = self.pods.get(uid).filter(|local| local.pending) else { return };
        let Some(mut pod) = at.api.pod(&local.key, uid).cloned() else { return };
        let key = pod.key();
        let generation = pod.generation();
        let refused = match self.infeasible(&pod, &local.allocated, at) {
            Some(message) => Some(("Infeasible", message)),
            None => self.check(&pod, at).err().map(|refused| ("Deferred", refused.message)),
        };
        let Some(local) = self.pods.get_mut(uid) else { return };
        if let Some((reason, message)) = refused {
            local.pending = reason == "Deferred";
            let old = pod.condition(PENDING);
            let told = old.is_some_and(|one| {
                one.reason.as_deref() == Some(reason) && one.observed_generation == Some(generation)
            });
            // The time moves when the reason does, not with the status.
            let since = old.filter(|one| one.reason.as_deref() == Some(reason) && one.status == "True");
            let since = since.and_then(|one| one.last_transition_time.clone());
            let value = PodCondition {
                observed_generation: Some(generation),
                last_transition_time: Some(since.unwrap_or_else(|| crate::simulation::objects::time(at.now))),
                ..condition(PENDING, true, reason, &message)
            };
            pod.set_condition(at.now, value);
            pod.status_mut().observed_generation = Some(generation);
            at.api.store_pod(pod);
            if !told {
                at.record(&key, true, &format!("Resize{reason}"), &message);
            }
            return;
        }
        local.pending = false;
        local.allocated = status::desired(&pod);
        pod.remove_condition(PENDING);
        let progress =
            PodCondition { observed_generation: Some(generation), ..condition(IN_PROGRESS, true, "", "") };
        pod.set_condition(at.now, progress);
        pod.status_mut().observed_generation = Some(generation);
        status::write_allocation(&mut pod, &local.allocated, at.facts);
        at.api.store_pod(pod);
        at.record(&key, false, "ResizeStarted", &format!("Pod resize started: generation {generation}"));
        at.later.push((ACTUATION, Task::Actuated(uid.to_owned())));
    }

    pub(super) fn actuated(&mut self, uid: &str, at: &mut Turn<'_>) {
        let Some(local) = self.pods.get(uid).filter(|local| local.stage == Stage::Running) else { return };
        let Some(mut pod) = at.api.pod(&local.key, uid).cloned() else { return };
        let Some(progress) = pod.condition(IN_PROGRESS) else { return };
        let generation = progress.observed_generation.unwrap_or_default();
        status::write_actual(&mut pod, &local.allocated, at.facts);
        pod.remove_condition(IN_PROGRESS);
        let key = pod.key();
        at.api.store_pod(pod);
        at.record(&key, false, "ResizeCompleted", &format!("Pod resize completed: generation {generation}"));
        // Where less is in force than before, others may fit now.
        self.trigger(at);
    }

    /// The one Infeasible case that is simulated: exclusive CPUs cannot be resized.
    fn infeasible(&self, pod: &Pod, allocated: &status::Allocation, at: &Turn<'_>) -> Option<String> {
        let guaranteed = pod.status.as_ref().and_then(|s| s.qos_class.as_deref()) == Some("Guaranteed");
        if !guaranteed || !at.annotated(CPU_MANAGER, "static") {
            return None;
        }
        let cpu = |amounts: Amounts| amounts.get("cpu").and_then(exact);
        let moved = pod
            .containers()
            .any(|one| cpu(requests(one.resources.as_ref())) != cpu(requests(allocated.get(&one.name))));
        moved.then(|| {
            "Resize is infeasible for Guaranteed Pods alongside CPU Manager policy \"static\"".to_owned()
        })
    }
}

/// Whether the Pod asks for more cpu or memory in sum than is allocated.
fn grows(pod: &Pod, allocated: &status::Allocation) -> bool {
    ["cpu", "memory"].iter().any(|name| {
        let of = |one: &ResourceRequirements| requests(Some(one)).get(*name).and_then(exact);
        let total = |all: &status::Allocation| -> Quantity {
            let whole = all.get(status::WHOLE).and_then(of);
            whole.unwrap_or_else(|| all.values().filter_map(of).sum())
        };
        total(&status::desired(pod)) > total(allocated)
    })
}

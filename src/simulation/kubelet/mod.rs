//! A simulated kubelet: admits, starts, resizes and stops the Pods of one node as kubelet 1.37 does.
//!
//! Invariant: a Pod's allocation changes only after it was admitted against what all others hold, and nobody's
//! containers restart for a resize.

mod admit;
mod resize;
mod status;
#[cfg(test)]
mod tests;

pub use admit::Refused;
pub use status::running;

use super::api::{Api, Recorded};
use super::facts::Facts;
use super::objects::{Amounts, Key, PodExt, allocatable, node_ready, requests, same_amounts};
use crate::model::{Span, Timestamp};
use k8s_openapi::api::core::v1::{Node, Pod, ResourceRequirements};
use std::collections::BTreeMap;

/// How long a kubelet takes to see a change and act.
pub const REACTION: Span = Span::from_millis(10);
/// From a trigger to the pass over all pending resizes.
pub const PASS: Span = Span::from_millis(5);
/// From admission to Ready.
pub const START: Span = Span::from_millis(800);
/// From allocation to the new cgroup values.
pub const ACTUATION: Span = Span::from_millis(400);
/// From the end of the last container to the end of the API object.
pub const CLEANUP: Span = Span::from_millis(200);
/// The first periodic retry of Deferred resizes, and every one after it.
pub const RETRY: (Span, Span) = (Span::from_seconds(30), Span::from_seconds(180));

/// On a Pod: how long its containers take to end after SIGTERM. Without it they ignore it and are killed when the
/// grace period ends.
pub const EXIT_AFTER: &str = "simulation.elbowroom.dev/exit-after";
/// On a Pod: how long it takes from its admission to Ready, such as an image that is pulled. Else [`START`].
pub const START_AFTER: &str = "simulation.elbowroom.dev/start-after";
/// On a Node, value `passive`: its kubelet starts and stops Pods but never judges a resize.
pub const KUBELET: &str = "simulation.elbowroom.dev/kubelet";
/// On a Node, value `static`: a CPU resize of a Guaranteed Pod is Infeasible.
pub const CPU_MANAGER: &str = "simulation.elbowroom.dev/cpu-manager";

/// What a kubelet does later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Compare what runs with what the API says.
    Sync,
    /// The containers of this Pod (UID) are up.
    Started(String),
    /// The new resources of this Pod are in force.
    Actuated(String),
    /// The containers of this Pod have ended.
    Exited(String),
    /// This Pod's remains are cleaned up.
    Cleaned(String),
    /// Try all pending resizes: something was freed or asked for.
    Pass,
    /// Periodic retry, if it is still the one that is due then.
    Retry(Timestamp),
}

/// Tasks with their delays.
pub type Later = Vec<(Span, Task)>;

/// How far a Pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Starting,
    Running,
    Stopping,
    Dead,
}

/// What the kubelet keeps of a Pod: its checkpoint.
#[derive(Clone, Debug)]
struct Local {
    key: Key,
    stage: Stage,
    /// Admitted resources by container.
    allocated: BTreeMap<String, ResourceRequirements>,
    /// Generation whose resize was last judged.
    judged: i64,
    /// In the list of pending resizes.
    pending: bool,
    /// When its containers will have ended, once it is stopping.
    ends: Option<Timestamp>,
}

/// One kubelet.
#[derive(Clone, Debug)]
pub struct Kubelet {
    node: String,
    pods: BTreeMap<String, Local>,
    retry_at: Timestamp,
    /// A pass is on its way.
    passing: bool,
    allocatable: Amounts,
}

impl Kubelet {
    /// The kubelet of a node, just started.
    pub fn new(node: &str, now: Timestamp) -> (Self, Later) {
        let retry_at = now + RETRY.0;
        let (pods, allocatable) = (BTreeMap::new(), Amounts::new());
        let kubelet = Self { node: node.to_owned(), pods, retry_at, passing: false, allocatable };
        (kubelet, vec![(Span::default(), Task::Sync), (RETRY.0, Task::Retry(retry_at))])
    }

    /// Does one task. A node that is not Ready has no kubelet that would act: tasks of Pods are put off.
    pub fn run(&mut self, task: Task, api: &mut Api, facts: &mut Facts, now: Timestamp) -> Later {
        let mut later = Later::new();
        let Some(node) = api.nodes.get(&self.node).cloned() else { return later };
        if !node_ready(&node) {
            if task != Task::Sync {
                later.push((Span::from_seconds(1), task));
            }
            return later;
        }
        let mut at = Turn { node: &node, api, facts, now, later: &mut later };
        match task {
            Task::Sync => self.sync(&mut at),
            Task::Started(uid) => self.started(&uid, &mut at),
            Task::Actuated(uid) => self.actuated(&uid, &mut at),
            Task::Exited(uid) => self.exited(&uid, &mut at),
            Task::Cleaned(uid) => self.cleaned(&uid, &mut at),
            Task::Pass => {
                self.passing = false;
                self.retry(&mut at);
            }
            Task::Retry(due) if due == self.retry_at => self.retry(&mut at),
            Task::Retry(_) => {}
        }
        later
    }

    fn sync(&mut self, at: &mut Turn<'_>) {
        let mut trigger = false;
        let present: Vec<Pod> = at.api.pods_on(&self.node).cloned().collect();
        for pod in &present {
            match self.pods.get(pod.uid()).map(|local| local.stage) {
                None if pod.finished() || (pod.leaving() && pod.phase() == "Pending") => {
                    if pod.leaving() {
                        at.api.remove_pod(&pod.key());
                    }
                }
                None => self.admit(pod, at),
                Some(_) => {}
            }
            trigger |= self.watch_resize(pod, at);
            if pod.leaving() {
                self.stop(pod, at);
            }
        }
        let before = self.pods.len();
        self.pods.retain(|uid, _| present.iter().any(|pod| pod.uid() == uid));
        trigger |= self.pods.len() != before;
        // Allocatable changes with a restart of the kubelet, which judges its backlog anew.
        let allocatable = allocatable(at.node);
        trigger |= !same_amounts(&allocatable, &self.allocatable);
        self.allocatable = allocatable;
        if trigger {
            self.trigger(at);
        }
    }

    /// Takes in a Pod that is new here: one that runs already as it is, another after the admission check.
    fn admit(&mut self, pod: &Pod, at: &mut Turn<'_>) {
        let adopted = pod.phase() == "Running";
        let allocated = if adopted { status::allocation(pod) } else { status::desired(pod) };
        let stage = if adopted { Stage::Running } else { Stage::Starting };
        let judged = if adopted { 0 } else { pod.generation() };
        let local = Local { key: pod.key(), stage, allocated, judged, pending: false, ends: None };
        if adopted {
            self.pods.insert(pod.uid().to_owned(), local);
            return;
        }
        let mut changed = pod.clone();
        match self.check(pod, at) {
            Ok(()) => {
                status::start(&mut changed, &local.allocated, at);
                self.pods.insert(pod.uid().to_owned(), local);
                let start = pod.annotation(START_AFTER).and_then(crate::config::duration::parse);
                at.later.push((start.unwrap_or(START), Task::Started(pod.uid().to_owned())));
            }
            Err(refused) => {
                let status = changed.status_mut();
                status.phase = Some("Failed".to_owned());
                status.reason = Some(refused.reason.clone());
                status.message = Some(format!("Pod was rejected: {}", refused.message));
                status.start_time = Some(super::objects::time(at.now));
                at.record(&pod.key(), true, &refused.reason, &refused.message);
            }
        }
        at.api.store_pod(changed);
    }

    fn started(&mut self, uid: &str, at: &mut Turn<'_>) {
        let Some(local) = self.pods.get_mut(uid).filter(|local| local.stage == Stage::Starting) else {
            return;
        };
        let Some(mut pod) = at.api.pod(&local.key, uid).cloned() else { return };
        local.stage = Stage::Running;
        status::ready(&mut pod, at.now, true);
        at.api.store_pod(pod);
    }

    /// Sends SIGTERM, once, and again when the grace period was shortened.
    fn stop(&mut self, pod: &Pod, at: &mut Turn<'_>) {
        let Some(local) = self.pods.get_mut(pod.uid()).filter(|local| local.stage != Stage::Dead) else {
            return;
        };
        let Some(deadline) = pod.metadata.deletion_timestamp.as_ref().map(super::objects::timestamp) else {
            return;
        };
        let exit = pod.annotation(EXIT_AFTER).and_then(crate::config::duration::parse);
        let ends = exit.map_or(deadline, |exit| deadline.min(at.now + exit)).max(at.now);
        if local.ends.is_some_and(|known| known <= ends) {
            return;
        }
        local.stage = Stage::Stopping;
        local.ends = Some(ends);
        local.pending = false;
        at.later.push((ends - at.now, Task::Exited(pod.uid().to_owned())));
    }

    fn exited(&mut self, uid: &str, at: &mut Turn<'_>) {
        let Some(local) = self.pods.get_mut(uid).filter(|local| local.stage == Stage::Stopping) else {
            return;
        };
        if local.ends.is_some_and(|ends| ends > at.now) {
            return;
        }
        local.stage = Stage::Dead;
        let key = local.key.clone();
        if let Some(mut pod) = at.api.pod(&key, uid).cloned() {
            status::ended(&mut pod, at.now);
            at.api.store_pod(pod);
        }
        at.later.push((CLEANUP, Task::Cleaned(uid.to_owned())));
        self.trigger(at);
    }

    fn cleaned(&mut self, uid: &str, at: &mut Turn<'_>) {
        let Some(local) = self.pods.remove(uid) else { return };
        if at.api.pod(&local.key, uid).is_some() {
            at.api.remove_pod(&local.key);
        }
        self.trigger(at);
    }

    /// Something changed that may let a pending resize through.
    fn trigger(&mut self, at: &mut Turn<'_>) {
        if !self.passing {
            self.passing = true;
            at.later.push((PASS, Task::Pass));
        }
    }
}

/// What a kubelet sees and does in one turn.
struct Turn<'a> {
    node: &'a Node,
    api: &'a mut Api,
    facts: &'a mut Facts,
    now: Timestamp,
    later: &'a mut Later,
}

impl Turn<'_> {
    fn record(&mut self, pod: &Key, warning: bool, reason: &str, note: &str) {
        self.api.record(Recorded {
            at: self.now,
            pod: pod.clone(),
            warning,
            reason: reason.to_owned(),
            note: note.to_owned(),
            from: "kubelet".to_owned(),
        });
    }

    fn annotated(&self, name: &str, value: &str) -> bool {
        self.node.metadata.annotations.as_ref().and_then(|all| all.get(name)).is_some_and(|one| one == value)
    }
}

/// Whether the node's kubelet judges no resize.
pub fn is_passive(node: &Node) -> bool {
    node.metadata.annotations.as_ref().and_then(|all| all.get(KUBELET)).is_some_and(|one| one == "passive")
}

/// Whether the spec asks for something else than what is allocated.
fn differs(pod: &Pod, allocated: &status::Allocation) -> bool {
    status::desired(pod).iter().any(|(name, asked)| {
        let known = allocated.get(name);
        !same_amounts(&requests(Some(asked)), &requests(known))
            || !same_amounts(&limits(Some(asked)), &limits(known))
    })
}

fn limits(resources: Option<&ResourceRequirements>) -> Amounts {
    resources.and_then(|one| one.limits.clone()).unwrap_or_default()
}

//! A willing API server around the engine, and the Pods that wait for it.

use crate::world::*;
use elbowroom::engine::{Answer, BindAnswer, CallId, Effect, Input, PatchAnswer, Profile};
use elbowroom::model::pod::{Condition, HostPort, Phase, SCHEDULED_CONDITION};
use elbowroom::model::requests::{ContainerResources, Requests};
use elbowroom::model::{Node, Placement, Pod, Str};
use elbowroom::resize::ResizePolicy;
use std::sync::Arc;

/// A Pod of ours without a node.
pub fn waiting(name: &str, priority: i32, cpu: &str) -> Pod {
    let mut pod =
        Pod { node: None, phase: Phase::Pending, ready: false, started: None, ..pod(name, priority, cpu) };
    pod.resources.containers = vec![asking(requests(cpu))];
    pod
}

/// A container of which the kubelet has said nothing.
pub fn asking(requests: Requests) -> ContainerResources {
    ContainerResources { requests, ..ContainerResources::default() }
}

/// The same Pod with demands on its node.
pub fn with(pod: Pod, demand: impl FnOnce(&mut Placement)) -> Pod {
    let mut placement = Placement::default();
    demand(&mut placement);
    Pod { placement: Arc::new(placement), ..pod }
}

/// The same Pod with one host port.
pub fn with_port(pod: Pod, ip: &str, protocol: &str, port: i32) -> Pod {
    Pod { ports: [HostPort { ip: ip.into(), protocol: protocol.into(), port }].into(), ..pod }
}

/// A node of 64 CPU with one label.
pub fn labelled(name: &str, key: &str, value: &str) -> Node {
    Node { labels: labels(key, value), ..node(name, "64") }
}

/// A profile of that name.
pub fn profile(name: &str, bind: bool) -> Profile {
    Profile { name: name.into(), bind, resize: ResizePolicy::default() }
}

/// Nodes, Pods, no budgets.
pub fn world(nodes: Vec<Node>, pods: Vec<Pod>) -> World {
    World::new(nodes, pods, vec![])
}

/// Where one new Pod goes among these; `None` for nowhere.
pub fn place(nodes: Vec<Node>, pods: Vec<Pod>, new: Pod) -> Option<String> {
    let mut world = world(nodes, pods);
    world.settle();
    let name = new.id.name.clone();
    world.see(new);
    let placed = world.settle();
    assert!(placed.len() <= 1, "one Pod was new, yet there were bindings: {placed:?}");
    world.node_of(&name).inspect(|node| assert_eq!(placed, [format!("{name} on {node}")]))
}

/// Everything that was asked of the API server for Pods: bindings, in the order they were sent.
pub fn binds(effects: &[Effect]) -> Vec<(CallId, String)> {
    let bind = |effect: &Effect| match effect {
        Effect::Bind { call, pod, node } => Some((*call, format!("{} on {node}", pod.name))),
        _ => None,
    };
    effects.iter().filter_map(bind).collect()
}

/// The reads that were asked for.
pub fn reads(effects: &[Effect]) -> Vec<CallId> {
    let read = |effect: &Effect| if let Effect::Read { call, .. } = effect { Some(*call) } else { None };
    effects.iter().filter_map(read).collect()
}

/// Notes of the events on one Pod, each after its reason.
pub fn said(effects: &[Effect], pod: &str) -> Vec<String> {
    let about = events(effects).into_iter().filter(|event| event.regarding.name == *pod);
    about.map(|event| format!("{}: {}", event.reason, event.note)).collect()
}

/// Conditions written on one Pod: status, reason and message.
pub fn written(effects: &[Effect], name: &str) -> Vec<(CallId, String)> {
    let patch = |effect: &Effect| match effect {
        Effect::Patch { call, pod, condition }
            if pod.name == *name && condition.kind == SCHEDULED_CONDITION =>
        {
            let value = condition.value.as_ref().expect("PodScheduled is never removed");
            Some((*call, format!("{} {}: {}", value.status, value.reason, value.message)))
        }
        _ => None,
    };
    effects.iter().filter_map(patch).collect()
}

impl World {
    /// Takes the one binding that was asked for.
    pub fn one_bind(&mut self) -> (CallId, String) {
        let mut binds = binds(&self.take());
        assert_eq!(binds.len(), 1, "one binding was expected: {binds:?}");
        binds.remove(0)
    }

    pub fn answer_bind(&mut self, call: CallId, answer: BindAnswer) {
        self.step(Input::Answer(call, Answer::Bind(answer)));
    }

    pub fn answer_read(&mut self, call: CallId, pod: Option<Pod>) {
        self.step(Input::Answer(call, Answer::Read(pod.map(Box::new), Vec::new())));
    }

    /// Shows a Pod as bound.
    pub fn see_bound(&mut self, uid: &str, node: &str) {
        let mut pod = self.told.get(uid).expect("a Pod that was told of").clone();
        pod.node = Some(node.into());
        self.see(pod);
    }

    /// Says yes to everything until nothing more is asked, and shows what came of it. Returns the bindings in
    /// their order; everything that was asked is left to look at.
    pub fn settle(&mut self) -> Vec<String> {
        let mut placed = Vec::new();
        for _ in 0..1000 {
            let now = self.now;
            let fresh = self.effects[self.handled..].to_vec();
            self.handled = self.effects.len();
            let more = |effect: &Effect| match effect {
                Effect::Bind { .. } | Effect::Patch { .. } | Effect::Read { .. } => true,
                Effect::WakeAt(at) => *at <= now,
                _ => false,
            };
            if !fresh.iter().any(more) {
                return placed;
            }
            fresh.iter().for_each(|effect| self.say_yes(effect, &mut placed));
            self.step(Input::Tick);
        }
        panic!("the engine does not come to rest: {placed:?}");
    }

    fn say_yes(&mut self, effect: &Effect, placed: &mut Vec<String>) {
        match effect {
            Effect::Bind { call, pod, node } => {
                placed.push(format!("{} on {node}", pod.name));
                self.answer_bind(*call, BindAnswer::Bound);
                if self.told.contains_key(&pod.uid) {
                    self.see_bound(&pod.uid, node);
                }
            }
            Effect::Patch { call, pod, condition } => {
                self.step(Input::Answer(*call, Answer::Patch(PatchAnswer::Done)));
                let known =
                    self.told.get(&pod.uid).filter(|_| condition.kind == SCHEDULED_CONDITION).cloned();
                if let (Some(mut pod), Some(value)) = (known, &condition.value) {
                    pod.scheduled = Some(Box::new(Condition {
                        status: value.status,
                        reason: value.reason.into(),
                        message: value.message.as_str().into(),
                        observed_generation: Some(value.observed_generation),
                        since: value.since,
                    }));
                    self.see(pod);
                }
            }
            Effect::Read { call, pod, .. } => {
                let pod = self.told.get(&pod.uid).cloned();
                self.answer_read(*call, pod);
            }
            _ => {}
        }
    }

    /// The node a Pod is charged to.
    pub fn node_of(&self, uid: &str) -> Option<String> {
        let (_, row) = self.engine.cluster().pods.by_uid(uid)?;
        Some(self.engine.cluster().nodes.row(row.node?).node.name.to_string())
    }

    /// Milli-CPU that new Pods find taken on a node; `None` when nobody names it.
    pub fn taken(&self, node: &str) -> Option<i64> {
        let nodes = &self.engine.cluster().nodes;
        let cpu = elbowroom::cluster::ResourceId::CPU;
        nodes.id(node).map(|id| nodes.requested().get(cpu, id.index()))
    }

    /// What the last failed attempt said.
    pub fn why(&self, pod: &str) -> String {
        said(&self.effects, pod).pop().unwrap_or_default()
    }
}

/// A name as the model keeps it.
pub fn name(text: &str) -> Str {
    text.into()
}

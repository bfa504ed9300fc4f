//! An engine fed by hand: facts in, effects out, no API server.

use elbowroom::engine::{
    Answer, CallId, Decision, Effect, Engine, Event, EvictAnswer, Fact, Input, Namespace, PatchAnswer,
    Profile, Settings,
};
use elbowroom::model::pod::{Condition, Phase, PodRef};
use elbowroom::model::requests::{ContainerResources, Requests};
use elbowroom::model::{Budget, Labels, Node, Pod, Quantity, Selector, Span, Str, Timestamp};
use elbowroom::resize::{Reason, ResizePolicy};
use std::collections::BTreeMap;

/// The cluster of one test, and everything its engine asked for.
pub struct World {
    pub engine: Engine,
    /// Every Pod as last told, by UID, for those who play the API server.
    pub told: BTreeMap<Str, Pod>,
    pub now: Timestamp,
    pub effects: Vec<Effect>,
    /// How many of those were dealt with already.
    pub handled: usize,
}

pub fn quantity(text: &str) -> Quantity {
    text.parse().expect("a quantity")
}

pub fn requests(cpu: &str) -> Requests {
    vec![("cpu".into(), quantity(cpu))]
}

/// A Ready node of this much CPU.
pub fn node(name: &str, cpu: &str) -> Node {
    let allocatable = vec![("cpu".into(), quantity(cpu)), ("pods".into(), quantity("110"))];
    Node { name: name.into(), uid: name.into(), ready: true, allocatable, ..Node::default() }
}

/// A running, ready Pod of ours on `n1`.
pub fn pod(name: &str, priority: i32, cpu: &str) -> Pod {
    let mut pod = Pod {
        id: PodRef { namespace: "ns".into(), name: name.into(), uid: name.into() },
        generation: 1,
        scheduler: "elbowroom".into(),
        node: Some("n1".into()),
        priority,
        phase: Phase::Running,
        ready: true,
        grace: Span::from_seconds(30),
        started: Some(Timestamp::from_seconds(1000)),
        labels: labels("app", name),
        ..Pod::default()
    };
    let held = Some(requests(cpu));
    pod.resources.containers = vec![ContainerResources {
        requests: requests(cpu),
        allocated: held.clone(),
        actual: held,
        sidecar: false,
    }];
    pod
}

/// The same, asking for more than its kubelet has allocated.
pub fn deferred(name: &str, priority: i32, from: &str, to: &str) -> Pod {
    let mut pod = pod(name, priority, from);
    pod.generation = 2;
    pod.observed_generation = Some(2);
    pod.resources.containers[0].requests = requests(to);
    pod.resize = Some(Box::new(Condition {
        status: true,
        reason: "Deferred".into(),
        message: "Node didn't have enough resource: cpu, requested: 0, used: 0, capacity: 0".into(),
        observed_generation: Some(2),
        since: Some(Timestamp::from_seconds(2000)),
    }));
    pod
}

/// A running Pod on a node other than `n1`.
pub fn on(node: &str, pod: Pod) -> Pod {
    Pod { node: Some(node.into()), ..pod }
}

pub fn labels(key: &str, value: &str) -> Labels {
    [(key.into(), value.into())].into_iter().collect()
}

/// A budget over every Pod of the namespace that allows so many disruptions.
pub fn budget(name: &str, allowed: i32) -> Budget {
    Budget {
        namespace: "ns".into(),
        name: name.into(),
        selector: Some(Selector::everything()),
        disruptions_allowed: allowed,
        current_healthy: 3,
        desired_healthy: 3,
        ..Budget::default()
    }
}

impl World {
    /// Lists these objects to a new engine.
    pub fn new(nodes: Vec<Node>, pods: Vec<Pod>, budgets: Vec<Budget>) -> Self {
        Self::with(ResizePolicy::default(), nodes, pods, budgets)
    }

    /// The same under a policy of the test's own.
    pub fn with(resize: ResizePolicy, nodes: Vec<Node>, pods: Vec<Pod>, budgets: Vec<Budget>) -> Self {
        let profile = Profile { name: "elbowroom".into(), bind: true, resize };
        let mut world = Self::of(vec![profile]);
        world.list(nodes, pods, budgets);
        world
    }

    /// Lists everything, as at a start and after a gap.
    pub fn list(&mut self, nodes: Vec<Node>, pods: Vec<Pod>, budgets: Vec<Budget>) {
        self.told.clear();
        self.step(Input::Namespace(Fact::Begin));
        self.step(Input::Namespace(Fact::End));
        self.step(Input::Budget(Fact::Begin));
        budgets.into_iter().for_each(|one| self.step(Input::Budget(Fact::Apply(Box::new(one)))));
        self.step(Input::Budget(Fact::End));
        self.step(Input::Node(Fact::Begin));
        nodes.into_iter().for_each(|one| self.step(Input::Node(Fact::Apply(Box::new(one)))));
        self.step(Input::Node(Fact::End));
        self.step(Input::Pod(Fact::Begin));
        pods.into_iter().for_each(|one| self.see(one));
        self.step(Input::Pod(Fact::End));
    }

    /// An engine with these profiles that has been told nothing yet.
    pub fn of(profiles: Vec<Profile>) -> Self {
        let engine = Engine::new(Settings { profiles, ..Settings::default() });
        let (told, now) = (BTreeMap::new(), Timestamp::from_seconds(3000));
        Self { engine, told, now, effects: Vec::new(), handled: 0 }
    }

    pub fn step(&mut self, input: Input) {
        self.engine.step(input, self.now, &mut self.effects);
    }

    pub fn see(&mut self, pod: Pod) {
        self.told.insert(pod.id.uid.clone(), pod.clone());
        self.step(Input::Pod(Fact::Apply(Box::new(pod))));
    }

    pub fn see_node(&mut self, node: Node) {
        self.step(Input::Node(Fact::Apply(Box::new(node))));
    }

    pub fn see_budget(&mut self, budget: Budget) {
        self.step(Input::Budget(Fact::Apply(Box::new(budget))));
    }

    pub fn gone(&mut self, pod: Pod) {
        self.told.remove(&pod.id.uid);
        self.step(Input::Pod(Fact::Delete(Box::new(pod))));
    }

    /// The Pod begins to leave; its grace period is 30 s.
    pub fn leaving(&mut self, mut pod: Pod) {
        pod.deletion = Some(self.now + Span::from_seconds(30));
        self.see(pod);
    }

    pub fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now = self.now + Span::from_seconds(1);
            self.step(Input::Tick);
        }
    }

    pub fn answer(&mut self, call: CallId, answer: EvictAnswer) {
        self.step(Input::Answer(call, Answer::Evict(answer)));
    }

    /// Takes what was asked for since the last look.
    pub fn take(&mut self) -> Vec<Effect> {
        self.handled = 0;
        std::mem::take(&mut self.effects)
    }

    pub fn see_namespace(&mut self, name: &str, labels: Labels) {
        let namespace = Namespace { name: name.into(), labels };
        self.step(Input::Namespace(Fact::Apply(Box::new(namespace))));
    }

    /// Answers every question with yes, as often as new ones come; returns who was evicted. What nobody answers,
    /// events among it, stays in `effects`.
    pub fn agree(&mut self) -> Vec<String> {
        self.agree_with(&[])
    }

    /// The same, with these budgets as the API holds them.
    pub fn agree_with(&mut self, budgets: &[Budget]) -> Vec<String> {
        let mut evicted = Vec::new();
        let mut kept = Vec::new();
        loop {
            let effects = self.take();
            if !effects.iter().any(|effect| {
                matches!(effect, Effect::Evict { .. } | Effect::Read { .. } | Effect::Patch { .. })
            }) {
                self.effects = [kept, effects].concat();
                return evicted;
            }
            for effect in effects {
                match effect {
                    Effect::Evict { call, pod, dry_run } => {
                        if !dry_run {
                            evicted.push(pod.name.to_string());
                        }
                        self.answer(call, EvictAnswer::Evicted);
                    }
                    Effect::Read { call, pod, .. } => {
                        let row = self.engine.cluster().pods.by_uid(&pod.uid).map(|(_, row)| row.pod.clone());
                        self.step(Input::Answer(call, Answer::Read(row.map(Box::new), budgets.to_vec())));
                    }
                    Effect::Patch { call, .. } => {
                        self.step(Input::Answer(call, Answer::Patch(PatchAnswer::Done)));
                    }
                    other => kept.push(other),
                }
            }
        }
    }

    /// Evictions asked for and not yet looked at, dry runs left out.
    pub fn evictions(&mut self) -> Vec<(CallId, String)> {
        self.take()
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Evict { call, pod, dry_run: false } => Some((call, pod.name.to_string())),
                _ => None,
            })
            .collect()
    }

    /// Why the growing Pod is where it is.
    pub fn reason(&self, pod: &str) -> Option<Reason> {
        let entry = self.engine.resizes().entries().find(|entry| entry.pod.name == *pod)?;
        entry.state.as_ref().map(|(reason, _)| *reason)
    }

    /// The sentence with which this state of a Pod was reported.
    pub fn said(&self, pod: &str, as_reason: Reason) -> String {
        let told = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Report(Decision::Resize { pod: about, reason, message, .. })
                if about.name == *pod && *reason == as_reason =>
            {
                Some(message.clone())
            }
            _ => None,
        });
        told.unwrap_or_default()
    }

    /// The sentence that goes with it.
    pub fn message(&self, pod: &str) -> String {
        let entry = self.engine.resizes().entries().find(|entry| entry.pod.name == *pod);
        entry.and_then(|entry| entry.state.clone()).map(|(_, message)| message).unwrap_or_default()
    }
}

/// The events among these effects.
pub fn events(effects: &[Effect]) -> Vec<&Event> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::Emit(event) = effect { Some(event) } else { None })
        .collect()
}

/// The reports among these effects.
pub fn decisions(effects: &[Effect]) -> Vec<&Decision> {
    effects
        .iter()
        .filter_map(|e| if let Effect::Report(decision) = e { Some(decision) } else { None })
        .collect()
}

//! The engine itself, filled with what was given and asked once.
//!
//! Invariant: the verdict is what `Engine::step` decides on these facts; what it asks of the API is answered by the
//! facts themselves, and nothing is done.

use super::objects::Objects;
use super::rules::PROFILE;
use crate::config::Config;
use crate::engine::{Answer, CallId, Decision, Effect, Engine, EvictAnswer, Fact, Input, PatchAnswer};
use crate::engine::{Profile, Settings};
use crate::model::{Budget, Namespace, Node, Pod, PodRef, Str, Timestamp};
use crate::resize::{Reason, ResizePolicy};
use crate::wire::{Converter, Unreadable};
use std::collections::VecDeque;

/// Objects as facts.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Pods.
    pub pods: Vec<Pod>,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<Budget>,
    /// Namespaces.
    pub namespaces: Vec<Namespace>,
}

impl Facts {
    /// Converts what can be read; the rest is named among the notes.
    pub fn of(objects: Objects, converter: &mut Converter, notes: &mut Vec<String>) -> Self {
        Self {
            pods: readable(objects.pods.into_iter().map(|one| converter.pod(&one)), notes),
            nodes: readable(objects.nodes.into_iter().map(|one| converter.node(&one)), notes),
            budgets: readable(objects.budgets.into_iter().map(|one| converter.budget(&one)), notes),
            namespaces: readable(objects.namespaces.into_iter().map(|one| converter.namespace(&one)), notes),
        }
    }
}

fn readable<T>(all: impl Iterator<Item = Result<T, Unreadable>>, notes: &mut Vec<String>) -> Vec<T> {
    let told = |one: Result<T, Unreadable>| {
        one.map_err(|problem| notes.push(format!("left out, for it cannot be read: {problem}"))).ok()
    };
    all.filter_map(told).collect()
}

/// What the engine decides about one Deferred resize.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Its state, in the words of its condition; `None` if the engine does not look at it.
    pub state: Option<(Reason, String)>,
    /// Who goes.
    pub victims: Vec<PodRef>,
    /// UIDs of those of them that are deleted, whatever their budgets say.
    pub forced: Vec<Str>,
    /// Whether the search saw every set.
    pub exact: bool,
    /// Resizes for which others on the node go first, and who goes for them.
    pub others: Vec<(PodRef, Vec<PodRef>)>,
}

/// An engine that knows the facts and has not decided yet.
pub struct Tables {
    engine: Engine,
    facts: Facts,
    now: Timestamp,
}

/// Answers given before the engine is left alone: far more than any node takes.
const MOST_ANSWERS: usize = 100_000;

impl Tables {
    /// Fills an engine with profiles that bind nothing, and the explained Pod's policy under a name of its own.
    pub fn fill(facts: Facts, config: &Config, policy: &ResizePolicy, now: Timestamp) -> Self {
        let mut settings: Settings = config.settings();
        settings.profiles.iter_mut().for_each(|profile| profile.bind = false);
        settings.profiles.push(Profile { name: PROFILE.into(), bind: false, resize: policy.clone() });
        let mut tables = Self { engine: Engine::new(settings), facts: facts.clone(), now };
        tables.step(Input::Leader(false));
        tables.list(facts.namespaces, Input::Namespace);
        tables.list(facts.budgets, Input::Budget);
        tables.list(facts.nodes, Input::Node);
        tables.list(facts.pods, Input::Pod);
        tables
    }

    fn list<T>(&mut self, all: Vec<T>, input: impl Fn(Fact<T>) -> Input) {
        self.step(input(Fact::Begin));
        all.into_iter().for_each(|one| {
            self.step(input(Fact::Apply(Box::new(one))));
        });
        self.step(input(Fact::End));
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.engine.step(input, self.now, &mut effects);
        effects
    }

    /// The engine, before it decides.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Lets the engine decide, and answers what it asks until it asks no more.
    pub fn decide(mut self, uid: &Str) -> Verdict {
        let mut verdict = Verdict { exact: true, ..Verdict::default() };
        let mut effects: VecDeque<Effect> = self.step(Input::Leader(true)).into();
        for _ in 0..MOST_ANSWERS {
            let Some(effect) = effects.pop_front() else { break };
            match effect {
                Effect::Report(Decision::Preempting { pod, victims, exact, .. }) if pod.uid == *uid => {
                    (verdict.victims, verdict.exact) = (victims, exact);
                }
                // The first counts: what comes after is what its own evictions would bring about.
                Effect::Report(Decision::Resize { pod, reason, message, .. })
                    if pod.uid == *uid && verdict.state.is_none() =>
                {
                    verdict.state = Some((reason, message));
                }
                Effect::Report(Decision::Preempting { pod, victims, .. }) => {
                    verdict.others.push((pod, victims));
                }
                Effect::Delete { call, pod, .. } => {
                    verdict.forced.push(pod.uid);
                    effects.extend(self.answer(call, Answer::Evict(EvictAnswer::Evicted)));
                }
                Effect::Evict { call, .. } => {
                    effects.extend(self.answer(call, Answer::Evict(EvictAnswer::Evicted)));
                }
                Effect::Patch { call, .. } => {
                    effects.extend(self.answer(call, Answer::Patch(PatchAnswer::Done)));
                }
                Effect::Read { call, pod, budgets } => {
                    let read = self.read(&pod, &budgets);
                    effects.extend(self.answer(call, read));
                }
                Effect::Bind { .. } | Effect::Emit(_) | Effect::Report(_) | Effect::WakeAt(_) => {}
            }
        }
        verdict
    }

    fn answer(&mut self, call: CallId, answer: Answer) -> Vec<Effect> {
        self.step(Input::Answer(call, answer))
    }

    /// What the API would say that is as the facts are.
    fn read(&self, pod: &PodRef, budgets: &[Str]) -> Answer {
        let found = self.facts.pods.iter().find(|one| one.id.uid == pod.uid).cloned().map(Box::new);
        let asked = |one: &&Budget| one.namespace == pod.namespace && budgets.contains(&one.name);
        Answer::Read(found, self.facts.budgets.iter().filter(asked).cloned().collect())
    }
}

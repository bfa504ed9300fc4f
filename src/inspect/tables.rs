//! The engine itself, filled with what was given and asked once.
//!
//! Invariant: the verdict is what `Engine::step` decides on these facts; nothing that it asks for is done.

use super::objects::Objects;
use super::rules::PROFILE;
use crate::config::Config;
use crate::engine::{Decision, Effect, Engine, Fact, Input, Profile, Settings};
use crate::model::{Budget, Namespace, Node, Pod, PodRef, Str, Timestamp};
use crate::resize::{Reason, ResizePolicy};
use crate::wire::{Converter, Unreadable};

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
            pods: readable(objects.pods.into_iter().map(|one| converter.pod(one)), notes),
            nodes: readable(objects.nodes.into_iter().map(|one| converter.node(one)), notes),
            budgets: readable(objects.budgets.into_iter().map(|one| converter.budget(one)), notes),
            namespaces: readable(objects.namespaces.into_iter().map(|one| converter.namespace(one)), notes),
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
    /// Whether the search saw every set.
    pub exact: bool,
    /// Resizes for which others on the node go first, and who goes for them.
    pub others: Vec<(PodRef, Vec<PodRef>)>,
}

/// An engine that knows the facts and has not decided yet.
pub struct Tables {
    engine: Engine,
    now: Timestamp,
}

impl Tables {
    /// Fills an engine with profiles that bind nothing, and the explained Pod's policy under a name of its own.
    pub fn fill(facts: Facts, config: &Config, policy: &ResizePolicy, now: Timestamp) -> Self {
        let mut settings: Settings = config.settings();
        settings.profiles.iter_mut().for_each(|profile| profile.bind = false);
        settings.profiles.push(Profile { name: PROFILE.into(), bind: false, resize: policy.clone() });
        let mut tables = Self { engine: Engine::new(settings), now };
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

    /// Lets the engine decide, once.
    pub fn decide(mut self, uid: &Str) -> Verdict {
        let effects = self.step(Input::Leader(true));
        let mut verdict = Verdict { exact: true, ..Verdict::default() };
        let entry = self.engine.resizes().entries().find(|entry| entry.pod.uid == *uid);
        verdict.state = entry.and_then(|entry| entry.state.clone());
        for effect in effects {
            if let Effect::Report(Decision::Preempting { pod, victims, exact, .. }) = effect {
                if pod.uid == *uid {
                    (verdict.victims, verdict.exact) = (victims, exact);
                } else {
                    verdict.others.push((pod, victims));
                }
            }
        }
        verdict
    }
}

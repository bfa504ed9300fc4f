//! The loop that ties it together: one queue of things to happen, ordered by time and then by who came first.
//!
//! Invariant: the engine learns of the cluster only through watch events and answers, each a little late, and
//! touches it only through calls, each a little later still.

mod action;
mod calls;
mod controllers;
mod faults;
mod history;
mod watch;

pub use action::{Action, BudgetChange, NodeChange, Object};
pub use controllers::{COMES_BACK, WAYS_BACK};
pub use faults::{Fault, Faults};
pub use history::{Moment, Room, What};

use super::api::{Api, Change, ORPHAN_AGE, SETTLING};
use super::facts::Facts;
use super::kubelet::{self, Kubelet};
use super::objects::PodExt;
use super::random::Random;
use crate::engine::{CallId, Effect, Engine, Input, Settings};
use crate::model::{Span, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use std::collections::{BTreeMap, BTreeSet};

/// From a change to the watch event.
pub const WATCH: Span = Span::from_millis(1);
/// From a decision to its call reaching the API server.
pub const CALL: Span = Span::from_millis(2);
/// From there back to the engine.
pub const ANSWER: Span = Span::from_millis(1);
/// When every simulation begins: 2026-01-01T00:00:00Z.
pub const EPOCH: Timestamp = Timestamp::from_seconds(1_767_225_600);

/// More happenings than any sane scenario has; an engine that never comes to rest ends here.
const MAX_TURNS: u32 = 5_000_000;

/// Whatever makes decisions: the engine, or a script in its place.
pub trait Brain {
    /// One step, as `Engine::step`.
    fn step(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>);
}

impl Brain for Engine {
    fn step(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>) {
        Engine::step(self, input, now, effects);
    }
}

/// The engine of production with these settings.
pub fn engine(settings: Settings) -> Start {
    Box::new(move || Box::new(Engine::new(settings.clone())))
}

/// Starts a brain that knows nothing yet.
pub type Start = Box<dyn Fn() -> Box<dyn Brain>>;

/// What is to happen.
#[derive(Debug)]
enum Task {
    Act(usize),
    Kubelet(String, kubelet::Task),
    Count,
    Orphans(String),
    ComeBack(Box<Pod>),
    Begin,
    Crash,
    Expire,
    List(u32, usize),
    Lead(bool),
    Told(u32, Input),
    Call(u32, Effect),
    Answer(u32, CallId, crate::engine::Answer),
    Wake(u32),
}

/// A cluster with its scheduler.
pub struct World {
    now: Timestamp,
    api: Api,
    facts: Facts,
    kubelets: BTreeMap<String, Kubelet>,
    queue: BTreeMap<(Timestamp, u64), Task>,
    sequence: u64,
    start: Start,
    brain: Option<Box<dyn Brain>>,
    /// Counts the starts of the brain; what was meant for an earlier one is lost.
    life: u32,
    actions: Vec<Action>,
    faults: Faults,
    random: Random,
    /// When the last event of each kind is due, for one watch never overtakes itself.
    due: [Timestamp; watch::KINDS],
    /// Kinds whose watch has expired and whose list is on its way.
    listing: [bool; watch::KINDS],
    waking: Option<Timestamp>,
    counting: bool,
    syncing: BTreeSet<String>,
    writes: u32,
    rooms: BTreeMap<String, history::Held>,
    history: Vec<Moment>,
    first: Api,
}

impl World {
    /// A cluster that holds these objects at [`EPOCH`]. Pods that name a node run there already.
    pub fn new(objects: Vec<Object>, start: Start, faults: Faults) -> Self {
        let random = Random::new(faults.seed);
        let mut world = Self {
            now: EPOCH,
            api: Api::default(),
            facts: Facts::default(),
            kubelets: BTreeMap::new(),
            queue: BTreeMap::new(),
            sequence: 0,
            start,
            brain: None,
            life: 0,
            actions: Vec::new(),
            faults,
            random,
            due: [EPOCH; watch::KINDS],
            listing: [false; watch::KINDS],
            waking: None,
            counting: false,
            syncing: BTreeSet::new(),
            writes: 0,
            rooms: BTreeMap::new(),
            history: Vec::new(),
            first: Api::default(),
        };
        world.load(objects);
        world.first = world.api.clone();
        world.push(EPOCH, Task::Begin);
        for at in world.faults.crashes.clone() {
            world.push(EPOCH + at, Task::Crash);
        }
        for at in world.faults.relists.clone() {
            world.push(EPOCH + at, Task::Expire);
        }
        for (at, time) in world.faults.deposed.clone() {
            world.push(EPOCH + at, Task::Lead(false));
            world.push(EPOCH + at + time, Task::Lead(true));
        }
        world
    }

    /// Has something done at a time after [`EPOCH`].
    pub fn plan(&mut self, at: Span, action: Action) {
        self.actions.push(action);
        self.push(EPOCH + at, Task::Act(self.actions.len() - 1));
    }

    /// Lets time pass until that long after [`EPOCH`].
    ///
    /// # Errors
    /// The scheduler never comes to rest.
    pub fn run(&mut self, until: Span) -> Result<(), String> {
        let end = EPOCH + until;
        for _ in 0..MAX_TURNS {
            let Some(next) = self.queue.first_entry().filter(|entry| entry.key().0 <= end) else {
                self.now = end;
                return Ok(());
            };
            self.now = next.key().0;
            let task = next.remove();
            self.turn(task);
            self.tell();
        }
        Err(format!("no rest after {MAX_TURNS} turns: the scheduler repeats itself"))
    }

    /// The API server as it stands.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// All that happened so far.
    pub fn history(&self) -> &[Moment] {
        &self.history
    }

    /// The API server as it stood at the beginning.
    pub fn first(&self) -> &Api {
        &self.first
    }

    fn push(&mut self, at: Timestamp, task: Task) {
        self.sequence += 1;
        self.queue.insert((at.max(self.now), self.sequence), task);
    }

    fn turn(&mut self, task: Task) {
        match task {
            Task::Act(index) => self.act(index),
            Task::Kubelet(node, task) => self.kubelet(&node, task),
            Task::Count => {
                self.counting = false;
                if let Some(again) = self.api.count_budgets(self.now) {
                    self.count_at(again);
                }
            }
            Task::Orphans(node) => self.collect_orphans(&node),
            Task::ComeBack(pod) => self.come_back(*pod),
            Task::Begin => self.begin(),
            Task::Crash => self.crash(),
            Task::Expire => self.expire(),
            Task::List(life, kind) => self.list_anew(life, kind),
            Task::Lead(leads) => self.step(self.life, Input::Leader(leads)),
            Task::Told(life, input) => self.step(life, input),
            Task::Call(life, effect) => self.call(life, effect),
            Task::Answer(life, call, answer) => self.step(life, Input::Answer(call, answer)),
            Task::Wake(life) => {
                if self.waking.is_some_and(|at| at <= self.now) {
                    self.waking = None;
                    self.step(life, Input::Tick);
                }
            }
        }
    }

    fn kubelet(&mut self, node: &str, task: kubelet::Task) {
        if task == kubelet::Task::Sync {
            self.syncing.remove(node);
        }
        let Some(kubelet) = self.kubelets.get_mut(node) else { return };
        let later = kubelet.run(task, &mut self.api, &mut self.facts, self.now);
        for (delay, task) in later {
            self.push(self.now + delay, Task::Kubelet(node.to_owned(), task));
        }
    }

    /// Gives an input to the brain, if it is still the one that it was meant for, and sets off what it asks.
    fn step(&mut self, life: u32, input: Input) {
        if life != self.life {
            return;
        }
        let Some(brain) = self.brain.as_mut() else { return };
        let mut effects = Vec::new();
        brain.step(input, self.now, &mut effects);
        for effect in effects {
            match effect {
                Effect::Report(decision) => self.note(What::Decision(decision)),
                Effect::Emit(event) => self.emit(event),
                Effect::WakeAt(at) => {
                    if self.waking.is_none_or(|known| at < known || known <= self.now) {
                        self.waking = Some(at);
                        self.push(at, Task::Wake(self.life));
                    }
                }
                call => self.push(self.now + CALL, Task::Call(self.life, call)),
            }
        }
    }

    /// Lets kubelets, controllers and the scheduler know what changed.
    fn tell(&mut self) {
        let mut changes = self.api.changes();
        while !changes.is_empty() {
            changes.into_iter().for_each(|change| self.tell_of(change));
            // What controllers did at once.
            changes = self.api.changes();
        }
    }

    fn tell_of(&mut self, change: Change) {
        self.watch(&change);
        match &change {
            Change::Pod(pod, before) => {
                if pod.leaving() && before.as_ref().is_some_and(|old| !old.leaving()) {
                    self.controllers_see(pod, false);
                }
                self.pod_changed(pod);
            }
            Change::PodGone(pod) => {
                self.controllers_see(pod, true);
                self.pod_changed(pod);
            }
            Change::Budget(_) | Change::BudgetGone(_) => self.count_at(self.now + SETTLING),
            Change::Node(node, _) => {
                let name = node.metadata.name.clone().unwrap_or_default();
                self.start_kubelet(&name);
                self.sync(&name);
            }
            Change::NodeGone(node) => {
                let name = node.metadata.name.clone().unwrap_or_default();
                self.kubelets.remove(&name);
                self.push(self.now + ORPHAN_AGE, Task::Orphans(name));
            }
            Change::Namespace(_) | Change::Event(_) => {}
        }
        self.note(What::Change(Box::new(change)));
    }

    fn pod_changed(&mut self, pod: &Pod) {
        if let Some(node) = pod.node() {
            self.sync(node);
        }
        self.count_at(self.now + SETTLING);
    }

    fn start_kubelet(&mut self, node: &str) {
        if self.kubelets.contains_key(node) {
            return;
        }
        let (kubelet, later) = Kubelet::new(node, self.now);
        self.kubelets.insert(node.to_owned(), kubelet);
        for (delay, task) in later {
            self.push(self.now + delay, Task::Kubelet(node.to_owned(), task));
        }
    }

    fn sync(&mut self, node: &str) {
        if self.kubelets.contains_key(node) && self.syncing.insert(node.to_owned()) {
            self.push(self.now + kubelet::REACTION, Task::Kubelet(node.to_owned(), kubelet::Task::Sync));
        }
    }

    fn count_at(&mut self, at: Timestamp) {
        if !self.counting {
            self.counting = true;
            self.push(at, Task::Count);
        }
    }

    fn collect_orphans(&mut self, node: &str) {
        if self.api.nodes.contains_key(node) {
            return;
        }
        let orphans: Vec<_> = self.api.pods_on(node).map(PodExt::key).collect();
        for key in orphans {
            self.api.remove_pod(&key);
        }
    }
}

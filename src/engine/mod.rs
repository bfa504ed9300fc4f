//! The one place that decides: folds inputs into the tables, runs both queues and says what to do.
//!
//! Invariant: the same inputs at the same times give the same effects; nothing here waits, reads a clock or fails.

pub mod answer;
mod conditions;
pub mod decision;
pub mod effect;
mod facts;
mod gauges;
pub mod input;
mod placing;
mod resizing;
mod settings;
mod unattainable;

pub use answer::{Answer, BindAnswer, CallId, EvictAnswer, PatchAnswer};
pub use decision::{Decision, QueueName};
pub use effect::{ConditionPatch, ConditionValue, Effect, Event};
pub use gauges::Gauges;
pub use input::{Fact, Input, Namespace};
pub use settings::{Profile, Settings};
pub use unattainable::Unattainable;

use crate::cluster::Cluster;
use crate::model::{PodRef, Str, Timestamp};
use crate::resize::{self, Ask};
use crate::scheduling::{self, Cycle, QueueSettings};
use conditions::Conditions;
use facts::Lists;
use placing::Attempt;
use rustc_hash::{FxHashMap, FxHashSet};

/// All state, and the only code that changes it.
#[derive(Debug)]
pub struct Engine {
    cluster: Cluster,
    lists: Lists,
    leader: bool,
    resizes: resize::Queue,
    /// Resizes that are allocated and not yet in force, by UID, with the time they were Deferred.
    actuating: FxHashMap<Str, Timestamp>,
    waiting: scheduling::Queue,
    cycle: Cycle,
    /// Profiles that bind.
    binds: FxHashSet<Str>,
    /// Owners whose Pods' preferences were reported as ignored.
    told_ignored: FxHashSet<Str>,
    conditions: Conditions,
    /// Bindings without answer, and when to ask what became of them.
    unanswered: Vec<(Timestamp, Attempt)>,
    calls: FxHashMap<CallId, Call>,
    last_call: u64,
}

/// What a call was for.
#[derive(Clone, Debug)]
enum Call {
    /// A question about a victim, or its eviction.
    Victim { preemptor: Str, victim: PodRef, ask: Ask, plan: u64 },
    /// A condition that we write.
    Condition(conditions::Key),
    /// A binding.
    Bind(Attempt),
    /// A binding got no answer: did it happen?
    BindLook(Attempt),
}

impl Engine {
    /// An engine that knows nothing yet. It acts once every list is complete.
    pub fn new(settings: Settings) -> Self {
        let policies = settings.policies();
        let queue = QueueSettings {
            initial_backoff: settings.initial_backoff,
            max_backoff: settings.max_backoff,
            ..QueueSettings::default()
        };
        Self {
            cluster: Cluster::default(),
            lists: Lists::default(),
            leader: true,
            resizes: resize::Queue::new(policies),
            actuating: FxHashMap::default(),
            waiting: scheduling::Queue::new(queue),
            cycle: Cycle::default(),
            binds: settings.profiles.iter().filter(|one| one.bind).map(|one| one.name.clone()).collect(),
            told_ignored: FxHashSet::default(),
            conditions: Conditions::default(),
            unanswered: Vec::new(),
            calls: FxHashMap::default(),
            last_call: 0,
        }
    }

    /// Takes in one stimulus and appends what is to be done about it.
    pub fn step(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>) {
        match input {
            Input::Pod(fact) => self.pod(fact, now, effects),
            Input::Node(fact) => self.node(fact, now),
            Input::Budget(fact) => self.budget(fact, now),
            Input::Namespace(fact) => self.namespace(fact, now),
            Input::Answer(call, answer) => self.answer(call, answer, now, effects),
            Input::Policies(policies) => self.obey(policies, now, effects),
            Input::Leader(leader) => self.leader = leader,
            Input::Tick => {}
        }
        let acts = self.leader && self.synced();
        if acts {
            self.run_resizes(now, effects);
            self.place(now, effects);
            self.flush_conditions(now, effects);
        }
        self.report_moves(effects);
        // Who may not act has nothing to wake for: times that pass stay passed until it may.
        if let Some(at) = self.next_wake(now).filter(|_| acts) {
            effects.push(Effect::WakeAt(at));
        }
    }

    fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        let more = (self.waiting.counts().active > 0).then_some(now);
        let queues = [self.resizes.next_wake(), self.waiting.next_wake()];
        let calls = [self.conditions.next_wake(), self.next_look()];
        [more].into_iter().chain(queues).chain(calls).flatten().min()
    }

    /// Whether every list is complete, so that decisions rest on all there is.
    pub fn synced(&self) -> bool {
        self.unsynced().is_empty()
    }

    /// The kinds whose lists are not complete.
    pub fn unsynced(&self) -> Vec<&'static str> {
        self.lists.incomplete()
    }

    /// The tables, for those who explain.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The resize queue, for those who explain.
    pub fn resizes(&self) -> &resize::Queue {
        &self.resizes
    }

    fn answer(&mut self, id: CallId, answer: Answer, now: Timestamp, effects: &mut Vec<Effect>) {
        match self.calls.remove(&id) {
            Some(Call::Victim { preemptor, victim, ask, plan }) => {
                self.victim_answered((&preemptor, &victim), (ask, plan), answer, now, effects);
            }
            Some(Call::Condition(key)) => self.conditions.answered(&key, answer, now),
            Some(Call::Bind(attempt)) => self.bind_answered(attempt, answer, now, effects),
            Some(Call::BindLook(attempt)) => self.looked(attempt, answer, now, effects),
            None => {}
        }
    }

    fn call(&mut self, what: Call) -> CallId {
        self.last_call += 1;
        let id = CallId(self.last_call);
        self.calls.insert(id, what);
        id
    }
}

//! The one place that decides: folds inputs into the tables, runs both queues and says what to do.
//!
//! Invariant: the same inputs at the same times give the same effects; nothing here waits, reads a clock or fails.

pub mod decision;
pub mod effect;
mod facts;
mod gauges;
pub mod input;
mod reports;
mod resizing;
mod settings;

pub use decision::{Decision, QueueName};
pub use effect::{CallId, ConditionPatch, ConditionValue, Effect, Event};
pub use gauges::Gauges;
pub use input::{Answer, BindAnswer, EvictAnswer, Fact, Input, Namespace, PatchAnswer};
pub use settings::{Profile, Settings};

use crate::cluster::Cluster;
use crate::model::{PodRef, Str, Timestamp};
use crate::resize::{self, Ask};
use facts::Lists;
use reports::Reports;
use rustc_hash::FxHashMap;

/// All state, and the only code that changes it.
#[derive(Debug)]
pub struct Engine {
    cluster: Cluster,
    lists: Lists,
    leader: bool,
    resizes: resize::Queue,
    /// Resizes that are allocated and not yet in force, by UID, with the time they were Deferred.
    actuating: FxHashMap<Str, Timestamp>,
    reports: Reports,
    calls: FxHashMap<CallId, Call>,
    last_call: u64,
}

/// What a call was for.
#[derive(Clone, Debug)]
enum Call {
    /// A question about a victim, or its eviction.
    Victim { preemptor: Str, victim: PodRef, ask: Ask },
    /// Our condition on a growing Pod.
    Report { uid: Str },
}

impl Engine {
    /// An engine that knows nothing yet. It acts once every list is complete.
    pub fn new(settings: Settings) -> Self {
        let policies = settings.profiles.iter().map(|one| (one.name.clone(), one.resize.clone())).collect();
        Self {
            cluster: Cluster::default(),
            lists: Lists::default(),
            leader: true,
            resizes: resize::Queue::new(policies),
            actuating: FxHashMap::default(),
            reports: Reports::default(),
            calls: FxHashMap::default(),
            last_call: 0,
        }
    }

    /// Takes in one stimulus and appends what is to be done about it.
    pub fn step(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>) {
        match input {
            Input::Pod(fact) => self.pod(fact, now, effects),
            Input::Node(fact) => self.node(fact, now, effects),
            Input::Budget(fact) => self.budget(fact, now),
            Input::Namespace(fact) => self.namespace(fact),
            Input::Answer(call, answer) => self.answer(call, answer, now, effects),
            Input::Leader(leader) => self.leader = leader,
            Input::Tick => {}
        }
        if self.leader && self.synced() {
            self.run_resizes(now, effects);
            self.flush_reports(now, effects);
        }
        let wakes = [self.resizes.next_wake(), self.reports.next_wake()];
        if let Some(at) = wakes.into_iter().flatten().min() {
            effects.push(Effect::WakeAt(at));
        }
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
            Some(Call::Victim { preemptor, victim, ask }) => {
                self.victim_answered(&preemptor, &victim, ask, answer, now, effects);
            }
            Some(Call::Report { uid }) => self.reports.answered(&uid, answer, now),
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

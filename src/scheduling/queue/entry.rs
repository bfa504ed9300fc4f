//! One Pod in the queue.
//!
//! Invariant: the place says where the Pod is; it is in that one list and in no other.

use crate::cluster::PodId;
use crate::model::Timestamp;
use crate::scheduling::plugins::PluginSet;
use std::cmp::Reverse;

/// The order of trying: higher priority, then longer waiting, then first come. Waiting counts from the last attempt
/// (kube-scheduler `plugins/queuesort`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    priority: Reverse<i32>,
    since: Timestamp,
    sequence: u64,
    /// The Pod.
    pub pod: PodId,
}

impl Turn {
    /// The turn of a Pod that waits since then and came as the `sequence`-th.
    pub fn new(pod: PodId, priority: i32, since: Timestamp, sequence: u64) -> Self {
        Self { priority: Reverse(priority), since, sequence, pod }
    }

    /// The same Pod at another priority.
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority: Reverse(priority), ..self }
    }

    /// Its priority.
    pub fn priority(self) -> i32 {
        self.priority.0
    }

    /// Since when it waits.
    pub fn since(self) -> Timestamp {
        self.since
    }
}

/// Where a Pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To be tried now.
    Active,
    /// Waiting out a backoff after plugins rejected it.
    Backoff(Timestamp),
    /// Waiting out a backoff after something went wrong.
    ErrorBackoff(Timestamp),
    /// Waiting for an event.
    Unschedulable,
    /// Held by scheduling gates.
    Gated,
    /// Being tried, or its binding is on its way, since that many events had happened.
    InFlight {
        /// The count of events when it was taken.
        events: u64,
        /// Its own object changed since.
        updated: bool,
    },
}

/// What the queue knows of a Pod.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its turn.
    pub turn: Turn,
    /// Where it is.
    pub place: Place,
    /// Attempts so far.
    pub attempts: u32,
    /// Attempts that plugins rejected.
    pub rejections: u32,
    /// Errors since the last attempt that ended otherwise.
    pub errors: u32,
    /// Who rejected it last.
    pub rejectors: PluginSet,
    /// When it could first be tried; time behind gates does not count.
    pub first: Option<Timestamp>,
}

impl Entry {
    /// A Pod that was never tried.
    pub fn new(turn: Turn, place: Place) -> Self {
        let rejectors = PluginSet::default();
        Self { turn, place, attempts: 0, rejections: 0, errors: 0, rejectors, first: None }
    }

    /// The failures that its backoff counts: errors in a row if there are any, else rejections.
    pub fn failures(&self) -> u32 {
        if self.errors > 0 { self.errors } else { self.rejections }
    }
}

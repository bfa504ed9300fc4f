//! When each waiting Pod is tried.
//!
//! Invariant: a Pod that waits here is in exactly one list, and every way out of a list is an event, a time or its own
//! change; nothing polls (kube-scheduler `backend/queue`).

mod backoff;
mod entry;
mod event;

#[cfg(test)]
mod tests;

pub use backoff::QueueSettings;
pub use event::{ClusterEvent, label};

use super::plugins::{Plugin, PluginSet};
use crate::cluster::PodId;
use crate::model::{Span, Timestamp};
use entry::{Entry, Place, Turn};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The scheduling queues, by upstream's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueueName {
    /// To be tried now.
    Active,
    /// Waiting out a backoff.
    Backoff,
    /// Waiting for an event.
    Unschedulable,
    /// Held by scheduling gates.
    Gated,
}

/// A Pod entered one of the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The Pod.
    pub pod: PodId,
    /// Which queue.
    pub queue: QueueName,
    /// Upstream's name for what moved it.
    pub event: &'static str,
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// These plugins rejected the Pod. It waits for an event that concerns one of them.
    Unschedulable(PluginSet),
    /// Something went wrong, a refused binding for example. It is tried again after a backoff.
    Error,
}

/// How many Pods are in each queue. Pods whose attempt or binding runs are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To be tried now.
    pub active: usize,
    /// Waiting out a backoff.
    pub backoff: usize,
    /// Waiting for an event.
    pub unschedulable: usize,
    /// Held by scheduling gates.
    pub gated: usize,
}

/// The queue of Pods without a node.
#[derive(Debug, Default)]
pub struct Queue {
    settings: QueueSettings,
    entries: FxHashMap<PodId, Entry>,
    active: BTreeSet<Turn>,
    backoff: BTreeSet<(Timestamp, Turn)>,
    /// Apart from the other, for these are not taken early: what went wrong needs the time.
    error_backoff: BTreeSet<(Timestamp, Turn)>,
    /// Longest waiting first, with who rejected each.
    unschedulable: BTreeMap<(Timestamp, Turn), PluginSet>,
    /// How many of those each plugin rejected, so that an event that nobody waits for costs nothing.
    rejected: [usize; Plugin::COUNT],
    gated: usize,
    sequence: u64,
    events: u64,
    /// When each kind of event last happened, as a count of all events.
    latest: [u64; ClusterEvent::COUNT],
    moves: Vec<Move>,
}

impl Queue {
    /// An empty queue.
    pub fn new(settings: QueueSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Takes in a Pod that waits for a node. One that is known already is updated.
    pub fn add(&mut self, pod: PodId, priority: i32, gated: bool, now: Timestamp) {
        if self.entries.contains_key(&pod) {
            return self.update(pod, priority, gated, true, now);
        }
        let turn = self.turn(pod, priority, now);
        let mut entry = Entry::new(turn, Place::Gated);
        if !gated {
            entry.place = Place::Active;
        }
        self.put(entry, label::ADD, now);
    }

    /// Notes that a waiting Pod's own object changed; `changed` if placement may read what did.
    pub fn update(&mut self, pod: PodId, priority: i32, gated: bool, changed: bool, now: Timestamp) {
        let Some(mut entry) = self.take(pod) else { return };
        entry.turn = entry.turn.with_priority(priority);
        match entry.place {
            Place::Gated if !gated => {
                entry.place = Place::Active;
                self.put(entry, label::GATES_GONE, now);
            }
            Place::Unschedulable if changed => self.requeue(entry, label::OWN_UPDATE, now),
            Place::InFlight { events, updated } => {
                entry.place = Place::InFlight { events, updated: updated || changed };
                self.keep(entry);
            }
            _ => self.keep(entry),
        }
    }

    /// Drops a Pod: it is bound, gone or leaving. True if it was here.
    pub fn remove(&mut self, pod: PodId) -> bool {
        self.take(pod).is_some()
    }

    /// Takes the Pod whose turn it is. With nothing to be tried now, one that waits out a backoff goes early (KEP-5142).
    pub fn pop(&mut self, now: Timestamp) -> Option<PodId> {
        let early = self.active.is_empty();
        let turn = match self.active.first() {
            Some(turn) => *turn,
            None => self.backoff.first()?.1,
        };
        let mut entry = self.take(turn.pod)?;
        if early {
            self.moves.push(Move { pod: turn.pod, queue: QueueName::Active, event: label::POP_FROM_BACKOFF });
        }
        entry.attempts = entry.attempts.saturating_add(1);
        entry.first = entry.first.or(Some(now));
        entry.place = Place::InFlight { events: self.events, updated: false };
        self.keep(entry);
        Some(turn.pod)
    }

    /// Puts back a Pod whose attempt or binding failed. What happened meanwhile counts.
    pub fn fail(&mut self, pod: PodId, failure: Failure, now: Timestamp) {
        let Some(mut entry) = self.take(pod) else { return };
        let (events, updated) = match entry.place {
            Place::InFlight { events, updated } => (events, updated),
            _ => return self.keep(entry),
        };
        entry.turn = self.turn(pod, entry.turn.priority(), now);
        match failure {
            Failure::Unschedulable(rejectors) if !rejectors.is_empty() => {
                entry.rejections = entry.rejections.saturating_add(1);
                entry.errors = 0;
                entry.rejectors = rejectors;
                if updated || self.happened_since(events, rejectors) {
                    self.requeue(entry, label::FAILURE, now);
                } else {
                    entry.place = Place::Unschedulable;
                    self.put(entry, label::FAILURE, now);
                }
            }
            Failure::Unschedulable(_) | Failure::Error => {
                entry.errors = entry.errors.saturating_add(1);
                entry.rejectors = PluginSet::default();
                self.requeue(entry, label::FAILURE, now);
            }
        }
    }

    /// Tells of an event: Pods that a plugin rejected whose answer it may change are tried again.
    pub fn wake(&mut self, event: ClusterEvent, now: Timestamp) {
        self.events += 1;
        if let Some(latest) = self.latest.get_mut(event as usize) {
            *latest = self.events;
        }
        let concerned = event.concerns();
        let waiting = Plugin::ALL.into_iter().zip(self.rejected);
        if !waiting.into_iter().any(|(plugin, count)| count > 0 && concerned.has(plugin)) {
            return;
        }
        let awake = self.unschedulable.iter().filter(|(_, rejectors)| rejectors.meets(concerned));
        let awake: Vec<PodId> = awake.map(|((_, turn), _)| turn.pod).collect();
        for pod in awake {
            if let Some(entry) = self.take(pod) {
                self.requeue(entry, event.label(), now);
            }
        }
    }

    /// Moves Pods whose backoff is over, and those that waited for an event too long.
    pub fn flush(&mut self, now: Timestamp) {
        while let Some(pod) = self.completed(now) {
            let Some(mut entry) = self.take(pod) else { break };
            entry.place = Place::Active;
            self.put(entry, label::BACKOFF_COMPLETE, now);
        }
        let old: Vec<PodId> = self
            .unschedulable
            .keys()
            .take_while(|(since, _)| now - *since > self.settings.max_unschedulable)
            .map(|(_, turn)| turn.pod)
            .collect();
        for pod in old {
            if let Some(entry) = self.take(pod) {
                self.requeue(entry, label::TIMEOUT, now);
            }
        }
    }

    /// When `flush` has something to do next, if nothing happens before.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let backoff = self.backoff.first().map(|(until, _)| backoff::over_at(*until));
        let errors = self.error_backoff.first().map(|(until, _)| backoff::over_at(*until));
        let oldest = self.unschedulable.first_key_value();
        let sweep = oldest.map(|((since, _), _)| *since + self.settings.max_unschedulable + Span(1));
        [backoff, errors, sweep].into_iter().flatten().min()
    }

    /// How many Pods are in each queue.
    pub fn counts(&self) -> Counts {
        Counts {
            active: self.active.len(),
            backoff: self.backoff.len() + self.error_backoff.len(),
            unschedulable: self.unschedulable.len(),
            gated: self.gated,
        }
    }

    /// How many of the unschedulable Pods a plugin rejected.
    pub fn rejected_by(&self, plugin: Plugin) -> usize {
        self.rejected.get(plugin as usize).copied().unwrap_or(0)
    }

    /// Whether the Pod is here, waiting or being tried.
    pub fn contains(&self, pod: PodId) -> bool {
        self.entries.contains_key(&pod)
    }

    /// How often it was tried.
    pub fn attempts(&self, pod: PodId) -> u32 {
        self.entries.get(&pod).map_or(0, |entry| entry.attempts)
    }

    /// When it could first be tried; time behind gates does not count.
    pub fn first_queued(&self, pod: PodId) -> Option<Timestamp> {
        self.entries.get(&pod)?.first
    }

    /// Hands over what entered which queue since this was last asked.
    pub fn take_moves(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.moves)
    }

    fn turn(&mut self, pod: PodId, priority: i32, since: Timestamp) -> Turn {
        self.sequence += 1;
        Turn::new(pod, priority, since, self.sequence)
    }

    fn happened_since(&self, events: u64, rejectors: PluginSet) -> bool {
        let later = ClusterEvent::ALL.into_iter().zip(self.latest).filter(|(_, latest)| *latest > events);
        later.into_iter().any(|(event, _)| event.concerns().meets(rejectors))
    }

    /// The next Pod whose backoff is over.
    fn completed(&self, now: Timestamp) -> Option<PodId> {
        let heads = [self.backoff.first(), self.error_backoff.first()];
        let done = heads.into_iter().flatten().find(|(until, _)| !backoff::runs(*until, now));
        done.map(|(_, turn)| turn.pod)
    }

    /// To be tried again: after its backoff if that still runs, else at once.
    fn requeue(&mut self, mut entry: Entry, event: &'static str, now: Timestamp) {
        let until = self.settings.backoff_until(entry.turn.since(), entry.failures());
        entry.place = match until.filter(|until| backoff::runs(*until, now)) {
            None => Place::Active,
            Some(until) if entry.rejectors.is_empty() => Place::ErrorBackoff(until),
            Some(until) => Place::Backoff(until),
        };
        self.put(entry, event, now);
    }

    /// Puts an entry where its place says, and notes the move.
    fn put(&mut self, mut entry: Entry, event: &'static str, now: Timestamp) {
        let queue = match entry.place {
            Place::Active => QueueName::Active,
            Place::Backoff(_) | Place::ErrorBackoff(_) => QueueName::Backoff,
            Place::Unschedulable => QueueName::Unschedulable,
            Place::Gated => QueueName::Gated,
            Place::InFlight { .. } => return self.keep(entry),
        };
        if queue == QueueName::Active {
            entry.first = entry.first.or(Some(now));
        }
        self.moves.push(Move { pod: entry.turn.pod, queue, event });
        self.keep(entry);
    }

    /// Puts an entry where its place says.
    fn keep(&mut self, entry: Entry) {
        let turn = entry.turn;
        match entry.place {
            Place::Active => drop(self.active.insert(turn)),
            Place::Backoff(until) => drop(self.backoff.insert((until, turn))),
            Place::ErrorBackoff(until) => drop(self.error_backoff.insert((until, turn))),
            Place::Unschedulable => {
                self.unschedulable.insert((turn.since(), turn), entry.rejectors);
                entry.rejectors.iter().for_each(|plugin| self.rejected[plugin as usize] += 1);
            }
            Place::Gated => self.gated += 1,
            Place::InFlight { .. } => {}
        }
        self.entries.insert(turn.pod, entry);
    }

    /// Takes an entry out of its list.
    fn take(&mut self, pod: PodId) -> Option<Entry> {
        let entry = self.entries.remove(&pod)?;
        let turn = entry.turn;
        match entry.place {
            Place::Active => drop(self.active.remove(&turn)),
            Place::Backoff(until) => drop(self.backoff.remove(&(until, turn))),
            Place::ErrorBackoff(until) => drop(self.error_backoff.remove(&(until, turn))),
            Place::Unschedulable => {
                self.unschedulable.remove(&(turn.since(), turn));
                entry.rejectors.iter().for_each(|plugin| self.rejected[plugin as usize] -= 1);
            }
            Place::Gated => self.gated -= 1,
            Place::InFlight { .. } => {}
        }
        Some(entry)
    }
}

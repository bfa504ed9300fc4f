//! Between the scheduling queue and the outside: Pods are tried, assumed, bound, and put back.
//!
//! Invariant: a Pod is charged to its node from the decision on, until the API confirms or refuses it.

use super::answer::{Answer, BindAnswer};
use super::decision::Decision;
use super::effect::{ConditionValue, Effect, Event};
use super::{Call, Engine};
use crate::cluster::{NodeId, PodChange, PodId, PodRow};
use crate::model::pod::SCHEDULED_CONDITION;
use crate::model::{PodRef, Span, Str, Timestamp};
use crate::scheduling::{ClusterEvent, Failure, FitError, Outcome};

/// Pods tried in one step; more wait for the next, so that a resize never waits for a backlog.
const AT_ONCE: usize = 32;

/// Owners remembered for not repeating that preferences are ignored.
const OWNERS_REMEMBERED: usize = 10_000;

/// A binding on its way.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    id: PodId,
    pod: PodRef,
    profile: Str,
    node: Str,
    attempts: u32,
    first: Timestamp,
    began: Timestamp,
    /// How often it was asked in vain whether the binding happened.
    looks: u32,
}

impl Attempt {
    /// The wait after a look that told nothing: 1, 2, 4 … 32 s.
    fn patience(&self) -> Span {
        Span::from_seconds(1 << self.looks.min(5))
    }
}

impl Engine {
    /// Keeps the queue in step with a Pod whose row changed.
    pub(super) fn follow_placement(&mut self, id: PodId, change: &PodChange, now: Timestamp) {
        if let Some(event) = ClusterEvent::of_pod(change) {
            self.waiting.wake(event, now);
        }
        let Some(row) = self.cluster.pods.get(id) else { return };
        let open = row.node.is_none() || row.assumed;
        if !open || row.pod.deletion.is_some() || !self.binds.contains(&row.pod.scheduler) {
            self.conditions.forget(&row.pod.id.uid, SCHEDULED_CONDITION);
            self.waiting.remove(id);
            return;
        }
        let (priority, gated) = (row.pod.priority, row.pod.gated);
        if self.waiting.contains(id) {
            self.waiting.update(id, priority, gated, change.spec, now);
        } else if !row.assumed {
            self.waiting.add(id, priority, gated, now);
        }
    }

    /// Tries Pods, most important first.
    pub(super) fn place(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        self.look_again(now, effects);
        self.waiting.flush(now);
        for _ in 0..AT_ONCE {
            let Some(id) = self.waiting.pop(now) else { break };
            let Some(row) = self.cluster.pods.get(id) else {
                self.waiting.remove(id);
                continue;
            };
            let outcome = self.cycle.decide(&self.cluster, row);
            self.report_ignored(id, effects);
            match outcome {
                Outcome::Fits(node) => self.bind(id, node, now, effects),
                Outcome::Unfit(error) => self.unfit(id, &error, now, effects),
            }
        }
    }

    fn bind(&mut self, id: PodId, node: NodeId, now: Timestamp, effects: &mut Vec<Effect>) {
        let name = self.cluster.nodes.row(node).node.name.clone();
        self.cluster.assume(id, node);
        self.resizes.touch(node);
        let Some(row) = self.cluster.pods.get(id) else { return };
        let attempt = Attempt {
            id,
            pod: row.pod.id.clone(),
            profile: row.pod.scheduler.clone(),
            node: name.clone(),
            attempts: self.waiting.attempts(id),
            first: self.waiting.first_queued(id).unwrap_or(now),
            began: now,
            looks: 0,
        };
        let pod = attempt.pod.clone();
        let call = self.call(Call::Bind(attempt));
        effects.push(Effect::Report(Decision::Assumed { pod: pod.clone(), node: name.clone() }));
        effects.push(Effect::Bind { call, pod, node: name });
    }

    fn unfit(&mut self, id: PodId, error: &FitError, now: Timestamp, effects: &mut Vec<Effect>) {
        self.waiting.fail(id, Failure::Unschedulable(error.rejectors), now);
        let Some(row) = self.cluster.pods.get(id) else { return };
        let (pod, profile, message) = (row.pod.id.clone(), row.pod.scheduler.clone(), error.to_string());
        self.not_scheduled(id, "Unschedulable", &message, effects);
        effects.push(Effect::Report(Decision::Unschedulable { pod, profile, message }));
    }

    pub(super) fn bind_answered(
        &mut self,
        attempt: Attempt,
        answer: Answer,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        match answer {
            Answer::Bind(BindAnswer::Bound) => self.bound(attempt, now, effects),
            Answer::Bind(BindAnswer::Gone) => self.bind_moot(&attempt, now),
            Answer::Bind(BindAnswer::Conflict(text) | BindAnswer::Refused(text)) => {
                self.bind_failed(attempt, text, now, effects);
            }
            _ => self.unanswered.push((now, attempt)),
        }
    }

    /// After a binding without answer: what the API has now decides.
    pub(super) fn looked(
        &mut self,
        attempt: Attempt,
        answer: Answer,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        match answer {
            Answer::Read(Some(pod), _) if pod.id.uid == attempt.pod.uid => match &pod.node {
                Some(node) if *node == attempt.node => self.bound(attempt, now, effects),
                Some(_) => self.bind_moot(&attempt, now),
                None => self.bind_failed(attempt, "the binding got no answer".to_owned(), now, effects),
            },
            Answer::Read(..) => self.bind_moot(&attempt, now),
            // Still unknown: the room stays taken until somebody knows.
            _ => {
                let at = now + attempt.patience();
                self.unanswered.push((at, Attempt { looks: attempt.looks + 1, ..attempt }));
            }
        }
    }

    /// Asks for bindings without answer what became of them, unless the watch has told meanwhile.
    fn look_again(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        for (at, attempt) in std::mem::take(&mut self.unanswered) {
            let Some((_, row)) = self.cluster.pods.by_uid(&attempt.pod.uid) else { continue };
            if !row.assumed {
                if row.pod.node.as_ref() == Some(&attempt.node) {
                    self.bound(attempt, now, effects);
                }
            } else if at <= now {
                let pod = attempt.pod.clone();
                let call = self.call(Call::BindLook(attempt));
                effects.push(Effect::Read { call, pod, budgets: Vec::new() });
            } else {
                self.unanswered.push((at, attempt));
            }
        }
    }

    /// When to look next.
    pub(super) fn next_look(&self) -> Option<Timestamp> {
        self.unanswered.iter().map(|(at, _)| *at).min()
    }

    /// The Pod is gone, or has a node from somebody else: nothing is left to try.
    fn bind_moot(&mut self, attempt: &Attempt, now: Timestamp) {
        self.take_back(attempt, now);
        if self.is(attempt.id, &attempt.pod) {
            self.waiting.remove(attempt.id);
        }
    }

    fn bound(&mut self, attempt: Attempt, now: Timestamp, effects: &mut Vec<Effect>) {
        let Attempt { id, pod, profile, node, attempts, first, began, .. } = attempt;
        if self.is(id, &pod) {
            self.waiting.remove(id);
        }
        self.conditions.forget(&pod.uid, SCHEDULED_CONDITION);
        effects.push(Effect::Emit(Event {
            regarding: pod.clone(),
            related: None,
            warning: false,
            reason: "Scheduled",
            action: "Binding",
            note: format!("Successfully assigned {}/{} to {node}", pod.namespace, pod.name),
            reporter: profile.clone(),
        }));
        let (waited, took) = (now - first, now - began);
        effects.push(Effect::Report(Decision::Scheduled { pod, node, profile, attempts, waited, took }));
    }

    fn bind_failed(&mut self, attempt: Attempt, text: String, now: Timestamp, effects: &mut Vec<Effect>) {
        self.take_back(&attempt, now);
        let Attempt { id, pod, profile, node, began, .. } = attempt;
        // The watch may have told meanwhile that somebody else placed it, or that it is gone or leaves.
        let waits = |row: &PodRow| row.node.is_none() && row.pod.deletion.is_none();
        let still_waiting = self.is(id, &pod) && self.cluster.pods.get(id).is_some_and(waits);
        if still_waiting {
            self.waiting.fail(id, Failure::Error, now);
            self.not_scheduled(id, "SchedulerError", &format!("binding rejected: {text}"), effects);
        }
        let took = now - began;
        effects.push(Effect::Report(Decision::BindFailed { pod, node, profile, message: text, took }));
    }

    /// Takes an assumption back and lets others have the room.
    fn take_back(&mut self, attempt: &Attempt, now: Timestamp) {
        if !self.is(attempt.id, &attempt.pod) {
            return;
        }
        let node = self.cluster.pods.get(attempt.id).and_then(|row| row.node);
        if self.cluster.forget(attempt.id) {
            node.into_iter().for_each(|node| self.resizes.touch(node));
            self.waiting.wake(ClusterEvent::AssignedPodDelete, now);
        }
    }

    /// Whether the row is still that Pod's: places in the table are used again.
    fn is(&self, id: PodId, pod: &PodRef) -> bool {
        self.cluster.pods.id(&pod.uid) == Some(id)
    }

    /// Tells why a Pod has no node: the condition for autoscalers, the event for people.
    fn not_scheduled(&mut self, id: PodId, reason: &'static str, message: &str, effects: &mut Vec<Effect>) {
        let Some(PodRow { pod, .. }) = self.cluster.pods.get(id) else { return };
        effects.push(Effect::Emit(Event {
            regarding: pod.id.clone(),
            related: None,
            warning: true,
            reason: "FailedScheduling",
            action: "Scheduling",
            note: message.to_owned(),
            reporter: pod.scheduler.clone(),
        }));
        let value = ConditionValue {
            status: false,
            reason,
            message: message.to_owned(),
            observed_generation: pod.generation,
            since: None,
        };
        let pod = pod.id.clone();
        self.conditions.want(&pod, SCHEDULED_CONDITION, Some(value));
    }

    /// Says once for each owner that preferences are ignored.
    fn report_ignored(&mut self, id: PodId, effects: &mut Vec<Effect>) {
        let Some(PodRow { pod, .. }) = self.cluster.pods.get(id) else { return };
        if pod.placement.ignored.is_empty() {
            return;
        }
        let owner = pod.controller.as_ref().map_or(&pod.id.uid, |owner| &owner.uid);
        if self.told_ignored.len() >= OWNERS_REMEMBERED {
            self.told_ignored.clear();
        }
        if self.told_ignored.insert(owner.clone()) {
            let (pod, what) = (pod.id.clone(), pod.placement.ignored.clone());
            effects.push(Effect::Report(Decision::PreferencesIgnored { pod, what }));
        }
    }

    pub(super) fn report_moves(&mut self, effects: &mut Vec<Effect>) {
        let queued = |one: crate::scheduling::Move| Decision::Queued { queue: one.queue, event: one.event };
        effects.extend(self.waiting.take_moves().into_iter().map(queued).map(Effect::Report));
    }
}

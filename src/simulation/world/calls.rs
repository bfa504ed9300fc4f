//! The scheduler's calls: executed against the API server, answered as the driver would classify the answers.
//!
//! Invariant: a call takes effect at most once, and what its answer says of it is never more than a driver knows.

use super::faults::LOST_AFTER;
use super::{ANSWER, Fault, Task, What, World};
use crate::engine::effect::{ConditionPatch, Event};
use crate::engine::{Answer, BindAnswer, CallId, Effect, EvictAnswer, PatchAnswer};
use crate::model::{PodRef, Str};
use crate::simulation::api::{Recorded, Refusal};
use crate::simulation::objects::{Key, condition, time};
use k8s_openapi::api::core::v1::PodCondition;

impl World {
    pub(super) fn call(&mut self, life: u32, effect: Effect) {
        // The process died with this call on the wire.
        if (life != self.life || self.brain.is_none()) && !self.draw_last_call() {
            return;
        }
        let fault = self.draw_call();
        let happens = matches!(fault, None | Some(Fault::Lost | Fault::Timeout(true)));
        let (call, answer, write) = match effect {
            Effect::Bind { call, pod, node } => {
                let answer = happens.then(|| self.bind(&pod, &node));
                (call, Answer::Bind(bind_answer(fault, answer)), happens)
            }
            Effect::Evict { call, pod, dry_run } => {
                let answer = happens.then(|| self.evict(&pod, dry_run));
                (call, Answer::Evict(evict_answer(fault, answer)), happens && !dry_run)
            }
            Effect::Delete { call, pod, reporter } => {
                let answer = happens.then(|| self.mark_and_delete(&pod, &reporter));
                (call, Answer::Evict(evict_answer(fault, answer)), happens)
            }
            Effect::Read { call, pod, budgets } => {
                let answer = match fault {
                    None => self.read(&pod, &budgets),
                    Some(fault) => Answer::ReadFailed(text(fault)),
                };
                (call, answer, false)
            }
            Effect::Patch { call, pod, condition } => {
                let answer = happens.then(|| self.patch(&pod, &condition));
                (call, Answer::Patch(patch_answer(fault, answer)), happens)
            }
            Effect::Emit(_) | Effect::Report(_) | Effect::WakeAt(_) => return,
        };
        if write && self.count_write() {
            self.crash();
            return;
        }
        self.answer(life, call, answer, fault);
    }

    fn answer(&mut self, life: u32, call: CallId, answer: Answer, fault: Option<Fault>) {
        let delay = if fault == Some(Fault::Lost) { LOST_AFTER } else { ANSWER };
        self.push(self.now + delay, Task::Answer(life, call, answer));
    }

    fn bind(&mut self, pod: &PodRef, node: &Str) -> Result<(), Refusal> {
        let (now, key) = (self.now, key(pod));
        self.api.bind_pod(now, &key, &pod.uid, node)
    }

    fn evict(&mut self, pod: &PodRef, dry_run: bool) -> Result<(), Refusal> {
        let key = key(pod);
        let answer = self.api.evict_pod(self.now, &key, &pod.uid, dry_run);
        if !dry_run {
            self.note(What::Eviction(key, answer.clone()));
        }
        answer
    }

    fn mark_and_delete(&mut self, pod: &PodRef, reporter: &str) -> Result<(), Refusal> {
        let message = format!("{reporter}: preempting to accommodate a higher priority pod");
        let mark = condition("DisruptionTarget", true, "PreemptionByScheduler", &message);
        let (now, key) = (self.now, key(pod));
        let answer = self
            .api
            .patch_condition(now, &key, &pod.uid, "DisruptionTarget", Some(mark))
            .and_then(|()| self.api.delete_pod(now, &key, Some(&pod.uid), None));
        self.note(What::Eviction(key, answer.clone()));
        answer
    }

    fn read(&mut self, pod: &PodRef, budgets: &[Str]) -> Answer {
        let found = self.api.pod(&key(pod), &pod.uid).and_then(|pod| self.facts.pod(pod));
        let budgets = budgets
            .iter()
            .filter_map(|name| {
                let key = Key::new(pod.namespace.as_str(), name.as_str());
                self.facts.budget(self.api.budgets.get(&key)?)
            })
            .collect();
        Answer::Read(found.map(Box::new), budgets)
    }

    fn patch(&mut self, pod: &PodRef, patch: &ConditionPatch) -> Result<(), Refusal> {
        let value = patch.value.as_ref().map(|value| PodCondition {
            observed_generation: Some(value.observed_generation),
            last_transition_time: value.since.map(time),
            ..condition(patch.kind, value.status, value.reason, &value.message)
        });
        self.api.patch_condition(self.now, &key(pod), &pod.uid, patch.kind, value)
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.api.record(Recorded {
            at: self.now,
            pod: key(&event.regarding),
            warning: event.warning,
            reason: event.reason.to_owned(),
            note: event.note,
            from: event.reporter.to_string(),
        });
    }
}

fn key(pod: &PodRef) -> Key {
    Key::new(pod.namespace.as_str(), pod.name.as_str())
}

fn text(fault: Fault) -> String {
    match fault {
        Fault::Throttled => "429: too many requests".to_owned(),
        Fault::Error => "500: internal error".to_owned(),
        Fault::Timeout(_) => "504: the request timed out".to_owned(),
        Fault::Lost => "no answer within 10 s".to_owned(),
    }
}

fn bind_answer(fault: Option<Fault>, answer: Option<Result<(), Refusal>>) -> BindAnswer {
    match (fault, answer) {
        (Some(Fault::Throttled), _) => BindAnswer::Refused(text(Fault::Throttled)),
        (Some(fault), _) => BindAnswer::Unknown(text(fault)),
        (None, Some(Err(refusal))) => match refusal.code {
            404 => BindAnswer::Gone,
            409 => BindAnswer::Conflict(refusal.message),
            _ => BindAnswer::Refused(refusal.message),
        },
        (None, _) => BindAnswer::Bound,
    }
}

fn evict_answer(fault: Option<Fault>, answer: Option<Result<(), Refusal>>) -> EvictAnswer {
    match (fault, answer) {
        (Some(Fault::Throttled), _) => EvictAnswer::Throttled(text(Fault::Throttled)),
        (Some(Fault::Error), _) => EvictAnswer::Error(text(Fault::Error)),
        (Some(fault), _) => EvictAnswer::Unknown(text(fault)),
        (None, Some(Err(refusal))) => match (refusal.code, refusal.budget, refusal.retry_after) {
            (404, ..) => EvictAnswer::Gone,
            (409, ..) => EvictAnswer::Conflict(refusal.message),
            (429, true, Some(_)) => EvictAnswer::StaleBudget(refusal.message),
            (429 | 403, true, _) => EvictAnswer::Budget(refusal.message),
            (429, ..) => EvictAnswer::Throttled(refusal.message),
            _ => EvictAnswer::Error(refusal.message),
        },
        (None, _) => EvictAnswer::Evicted,
    }
}

fn patch_answer(fault: Option<Fault>, answer: Option<Result<(), Refusal>>) -> PatchAnswer {
    match (fault, answer) {
        (Some(fault), _) => PatchAnswer::Failed(text(fault)),
        (None, Some(Err(refusal))) => match refusal.code {
            404 | 409 | 422 => PatchAnswer::Gone,
            _ => PatchAnswer::Failed(refusal.message),
        },
        (None, _) => PatchAnswer::Done,
    }
}

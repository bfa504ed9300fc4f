//! The conditions that we write: how a growing Pod's room is coming, and why a new Pod has no node.
//!
//! Invariant: a condition is written on change only, one write at a time, and the last one wanted wins.

use super::answer::{Answer, PatchAnswer};
use super::effect::{ConditionPatch, ConditionValue, Effect};
use super::{Call, Engine};
use crate::cluster::PodId;
use crate::model::pod::Condition;
use crate::model::pod::{REPORT_CONDITION, SCHEDULED_CONDITION};
use crate::model::{Pod, PodRef, Span, Str, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A condition of a Pod: UID and type.
pub(super) type Key = (Str, &'static str);

/// What is wanted, and how far it got.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    wanted: BTreeMap<Key, Wanted>,
    dirty: BTreeSet<Key>,
    /// When writes that failed are due again; may name some that are no longer wanted.
    retries: BTreeSet<(Timestamp, Key)>,
}

#[derive(Debug)]
struct Wanted {
    pod: PodRef,
    value: Option<ConditionValue>,
    /// Sent last: the watch may not show it yet.
    sent: Option<Option<ConditionValue>>,
    /// The watch has shown it since: where it no longer does, somebody else changed it.
    shown: bool,
    in_flight: bool,
    failures: u32,
    retry_at: Option<Timestamp>,
}

impl Conditions {
    /// Asks for a condition to be this, or not to be.
    pub(super) fn want(&mut self, pod: &PodRef, kind: &'static str, value: Option<ConditionValue>) {
        let key = (pod.uid.clone(), kind);
        self.dirty.insert(key.clone());
        match self.wanted.get_mut(&key) {
            Some(wanted) => wanted.value = value,
            None => {
                let (pod, sent, retry_at) = (pod.clone(), None, None);
                let wanted =
                    Wanted { pod, value, sent, shown: false, in_flight: false, failures: 0, retry_at };
                self.wanted.insert(key, wanted);
            }
        }
    }

    /// The Pod has changed: what was asked for may have been undone.
    fn look_again(&mut self, uid: &Str, kind: &'static str) {
        self.dirty.insert((uid.clone(), kind));
    }

    /// Whether a value was asked for and not yet taken back.
    fn wants(&self, uid: &Str, kind: &'static str) -> bool {
        self.wanted.contains_key(&(uid.clone(), kind))
    }

    /// Nobody wants this condition to be anything any more.
    pub(super) fn forget(&mut self, uid: &Str, kind: &'static str) {
        let key = (uid.clone(), kind);
        self.wanted.remove(&key);
        self.dirty.remove(&key);
    }

    /// The Pod is gone.
    pub(super) fn forget_pod(&mut self, uid: &Str) {
        self.forget(uid, REPORT_CONDITION);
        self.forget(uid, SCHEDULED_CONDITION);
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.retries.first().map(|(at, _)| *at)
    }

    pub(super) fn answered(&mut self, key: &Key, answer: Answer, now: Timestamp) {
        let Some(wanted) = self.wanted.get_mut(key) else { return };
        wanted.in_flight = false;
        match answer {
            Answer::Patch(PatchAnswer::Done) => {
                wanted.failures = 0;
                self.dirty.insert(key.clone());
            }
            Answer::Patch(PatchAnswer::Gone) => self.forget(&key.0, key.1),
            _ => {
                wanted.sent = None;
                wanted.failures = (wanted.failures + 1).min(6);
                let at = now + Span::from_seconds((1_i64 << wanted.failures) / 2);
                wanted.retry_at = Some(at);
                self.retries.insert((at, key.clone()));
            }
        }
    }
}

impl Engine {
    /// Takes the condition off a Pod of ours that has one and no Deferred resize that is looked after, and puts it
    /// back where somebody else took it off.
    pub(super) fn follow_report(&mut self, id: PodId) {
        let Some(row) = self.cluster.pods.get(id) else { return };
        let pod = &row.pod;
        let deferred = pod.deferred() && pod.resize.as_ref().is_some_and(|condition| condition.status);
        let policies = self.resizes.policies();
        let stale = !deferred || policies.in_charge(pod).is_none();
        let asked = self.conditions.wants(&pod.id.uid, REPORT_CONDITION);
        let pod = pod.id.clone();
        if stale && (asked || row.pod.report.is_some() && policies.of(&row.pod).is_some()) {
            self.conditions.want(&pod, REPORT_CONDITION, None);
        } else if asked {
            self.conditions.look_again(&pod.uid, REPORT_CONDITION);
        }
    }

    pub(super) fn flush_conditions(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        while self.conditions.retries.first().is_some_and(|(at, _)| *at <= now) {
            self.conditions.dirty.extend(self.conditions.retries.pop_first().map(|(_, key)| key));
        }
        while let Some(key) = self.conditions.dirty.pop_first() {
            let (uid, kind) = &key;
            let kind = *kind;
            let known = self.cluster.pods.by_uid(uid).and_then(|(_, row)| shown(&row.pod, kind));
            let Some(wanted) = self.conditions.wanted.get_mut(&key) else { continue };
            if wanted.in_flight || wanted.retry_at.is_some_and(|at| at > now) {
                continue;
            }
            wanted.retry_at = None;
            // What was sent last may not be shown yet; then it is what the API holds.
            let stored = wanted.sent.as_ref().is_none_or(|sent| *sent == wanted.value);
            let as_wanted = stored && same(known, wanted.value.as_ref());
            wanted.shown |= as_wanted;
            if as_wanted || !wanted.shown && wanted.sent.as_ref() == Some(&wanted.value) {
                if as_wanted && wanted.value.is_none() {
                    self.conditions.wanted.remove(&key);
                }
                continue;
            }
            let mut value = wanted.value.clone();
            if let Some(value) = &mut value {
                value.since = known.is_none_or(|known| known.status != value.status).then_some(now);
            }
            wanted.sent = Some(wanted.value.clone());
            wanted.shown = false;
            wanted.in_flight = true;
            let pod = wanted.pod.clone();
            let condition = ConditionPatch { kind, value };
            let call = self.call(Call::Condition(key));
            effects.push(Effect::Patch { call, pod, condition });
        }
    }
}

/// The condition as the Pod shows it.
fn shown<'a>(pod: &'a Pod, kind: &str) -> Option<&'a Condition> {
    if kind == REPORT_CONDITION { pod.report.as_deref() } else { pod.scheduled.as_deref() }
}

/// Whether the Pod shows what is wanted.
fn same(known: Option<&Condition>, wanted: Option<&ConditionValue>) -> bool {
    match (known, wanted) {
        (None, None) => true,
        (Some(known), Some(wanted)) => {
            known.status == wanted.status
                && known.reason == wanted.reason
                && known.message == *wanted.message
                && known.observed_generation == Some(wanted.observed_generation)
        }
        _ => false,
    }
}

//! Our condition on growing Pods: written on change only, removed when the resize is over.
//!
//! Invariant: one write is out for a Pod at a time, and the last one wanted wins.

use super::effect::{ConditionPatch, ConditionValue, Effect, REPORT_CONDITION};
use super::input::{Answer, PatchAnswer};
use super::{Call, Engine};
use crate::cluster::PodId;
use crate::model::pod::Condition;
use crate::model::{PodRef, Span, Str, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// What is wanted on each Pod, and how far it got.
#[derive(Debug, Default)]
pub(super) struct Reports {
    wanted: BTreeMap<Str, Wanted>,
    dirty: BTreeSet<Str>,
}

#[derive(Debug)]
struct Wanted {
    pod: PodRef,
    value: Option<ConditionValue>,
    /// Sent last: the watch may not show it yet.
    sent: Option<Option<ConditionValue>>,
    in_flight: bool,
    failures: u32,
    retry_at: Option<Timestamp>,
}

impl Reports {
    /// Asks for the condition to be this, or not to be.
    pub(super) fn want(&mut self, pod: &PodRef, value: Option<ConditionValue>) {
        self.dirty.insert(pod.uid.clone());
        match self.wanted.get_mut(&pod.uid) {
            Some(wanted) => wanted.value = value,
            None => {
                let (sent, retry_at) = (None, None);
                let wanted =
                    Wanted { pod: pod.clone(), value, sent, in_flight: false, failures: 0, retry_at };
                self.wanted.insert(pod.uid.clone(), wanted);
            }
        }
    }

    pub(super) fn forget(&mut self, uid: &Str) {
        self.wanted.remove(uid);
        self.dirty.remove(uid);
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.wanted.values().filter_map(|one| one.retry_at).min()
    }

    pub(super) fn answered(&mut self, uid: &Str, answer: Answer, now: Timestamp) {
        let Some(wanted) = self.wanted.get_mut(uid) else { return };
        wanted.in_flight = false;
        match answer {
            Answer::Patch(PatchAnswer::Done) => {
                wanted.failures = 0;
                self.dirty.insert(uid.clone());
            }
            Answer::Patch(PatchAnswer::Gone) => self.forget(uid),
            _ => {
                wanted.sent = None;
                wanted.failures = (wanted.failures + 1).min(6);
                wanted.retry_at = Some(now + Span::from_seconds((1_i64 << wanted.failures) / 2));
            }
        }
    }
}

impl Engine {
    /// Takes the condition off a Pod of ours that has one and no Deferred resize.
    pub(super) fn follow_report(&mut self, id: PodId) {
        let Some(row) = self.cluster.pods.get(id) else { return };
        let pod = &row.pod;
        let deferred = pod.deferred() && pod.resize.as_ref().is_some_and(|condition| condition.status);
        let asked = self.reports.wanted.contains_key(&pod.id.uid);
        if !deferred && (asked || pod.report.is_some() && self.resizes.responsible(pod)) {
            let id = pod.id.clone();
            self.reports.want(&id, None);
        }
    }

    pub(super) fn flush_reports(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        let due = |one: &Wanted| one.retry_at.is_some_and(|at| at <= now);
        let again: Vec<Str> =
            self.reports.wanted.iter().filter(|(_, one)| due(one)).map(|(uid, _)| uid.clone()).collect();
        self.reports.dirty.extend(again);
        while let Some(uid) = self.reports.dirty.pop_first() {
            let known = self.cluster.pods.by_uid(&uid).and_then(|(_, row)| row.pod.report.as_deref());
            let Some(wanted) = self.reports.wanted.get_mut(&uid) else { continue };
            if wanted.in_flight || wanted.retry_at.is_some_and(|at| at > now) {
                continue;
            }
            wanted.retry_at = None;
            let shown = same(known, wanted.value.as_ref());
            if shown || wanted.sent.as_ref() == Some(&wanted.value) {
                if shown && wanted.value.is_none() {
                    self.reports.wanted.remove(&uid);
                }
                continue;
            }
            let mut value = wanted.value.clone();
            if let Some(value) = &mut value {
                value.since = known.is_none_or(|known| known.status != value.status).then_some(now);
            }
            wanted.sent = Some(wanted.value.clone());
            wanted.in_flight = true;
            let pod = wanted.pod.clone();
            let call = self.call(Call::Report { uid });
            let condition = ConditionPatch { kind: REPORT_CONDITION, value };
            effects.push(Effect::Patch { call, pod, condition });
        }
    }
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

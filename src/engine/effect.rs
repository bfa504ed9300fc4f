//! Everything that the engine can ask for, as one closed enum.
//!
//! Invariant: an effect is complete; the shell adds no decision of its own.

use super::answer::CallId;
use super::decision::Decision;
use crate::model::{PodRef, Str, Timestamp};

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Effect {
    /// `POST pods/binding` with the UID. Answered by `Answer::Bind`.
    Bind {
        /// Ties the answer to this call.
        call: CallId,
        /// The Pod.
        pod: PodRef,
        /// Its node.
        node: Str,
    },
    /// `POST pods/eviction` with the UID as precondition. Answered by `Answer::Evict`.
    Evict {
        /// Ties the answer to this call.
        call: CallId,
        /// The victim.
        pod: PodRef,
        /// Only ask whether it would be allowed.
        dry_run: bool,
    },
    /// Sets `DisruptionTarget` on a Pod, as kube-scheduler does, and deletes it, both with the UID as precondition;
    /// budgets are not asked. Answered by `Answer::Evict`.
    Delete {
        /// Ties the answer to this call.
        call: CallId,
        /// The victim.
        pod: PodRef,
        /// The profile's name, for the condition's message.
        reporter: Str,
    },
    /// Reads a Pod and budgets from the API itself, past the watch. Answered by `Answer::Read`.
    Read {
        /// Ties the answer to this call.
        call: CallId,
        /// The Pod.
        pod: PodRef,
        /// Budgets by name, in the Pod's namespace.
        budgets: Vec<Str>,
    },
    /// Sets or removes one condition of a Pod's status. Answered by `Answer::Patch`.
    Patch {
        /// Ties the answer to this call.
        call: CallId,
        /// The Pod.
        pod: PodRef,
        /// What to write.
        condition: ConditionPatch,
    },
    /// Emits an event. Not answered; may be dropped under load.
    Emit(Event),
    /// Tells people and dashboards what was decided. Not answered.
    Report(Decision),
    /// Step again no later than this.
    WakeAt(Timestamp),
}

/// A change of one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionPatch {
    /// Condition type.
    pub kind: &'static str,
    /// The new value; `None` removes the condition.
    pub value: Option<ConditionValue>,
}

/// The content of a condition that we write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionValue {
    /// True or False.
    pub status: bool,
    /// Reason.
    pub reason: &'static str,
    /// Message.
    pub message: String,
    /// Generation that was judged.
    pub observed_generation: i64,
    /// When the status changed, if this write changes it; else the old time stays.
    pub since: Option<Timestamp>,
}

/// An `events.k8s.io/v1` Event on a Pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The Pod it is about.
    pub regarding: PodRef,
    /// Another Pod it concerns; only ever one of the same namespace.
    pub related: Option<PodRef>,
    /// Type Warning instead of Normal.
    pub warning: bool,
    /// Reason.
    pub reason: &'static str,
    /// Action.
    pub action: &'static str,
    /// Note.
    pub note: String,
    /// Reporting controller: the profile's name.
    pub reporter: Str,
}

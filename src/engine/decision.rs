//! What was decided, for log lines, metrics and the readers of `demo`, `simulate` and `explain`.
//!
//! Invariant: a report carries facts, not prose; texts are rendered where they are shown.

use super::answer::EvictAnswer;
use crate::model::{PodRef, Span, Str};
use crate::resize::{Outcome, Reason};
pub use crate::scheduling::QueueName;

/// One decision or outcome.
#[derive(Clone, Debug)]
pub enum Decision {
    /// A node was found and the binding is on its way.
    Assumed {
        /// The Pod.
        pod: PodRef,
        /// Its node.
        node: Str,
    },
    /// The API accepted a binding.
    Scheduled {
        /// The Pod.
        pod: PodRef,
        /// Its node.
        node: Str,
        /// The profile.
        profile: Str,
        /// Attempts, this one included.
        attempts: u32,
        /// Since it was first queued.
        waited: Span,
        /// Since this attempt began.
        took: Span,
    },
    /// No node fits.
    Unschedulable {
        /// The Pod.
        pod: PodRef,
        /// The profile.
        profile: Str,
        /// The fit error.
        message: String,
    },
    /// A binding failed; the Pod is tried again.
    BindFailed {
        /// The Pod.
        pod: PodRef,
        /// The node it was meant for.
        node: Str,
        /// The profile.
        profile: Str,
        /// What the API said.
        message: String,
        /// Since this attempt began.
        took: Span,
    },
    /// Preferences that no plugin scores yet were ignored.
    PreferencesIgnored {
        /// The Pod.
        pod: PodRef,
        /// What it would have liked.
        what: Vec<crate::model::placement::Ignored>,
    },
    /// Victims were chosen for a resize and are being evicted.
    Preempting {
        /// The growing Pod.
        pod: PodRef,
        /// Its node.
        node: Str,
        /// Who goes.
        victims: Vec<PodRef>,
        /// Whether the search saw every set.
        exact: bool,
    },
    /// A victim's eviction was answered.
    Evicted {
        /// The growing Pod.
        preemptor: PodRef,
        /// The victim.
        victim: PodRef,
        /// The node.
        node: Str,
        /// What the API said.
        answer: EvictAnswer,
    },
    /// The state of a Deferred resize changed.
    Resize {
        /// The growing Pod.
        pod: PodRef,
        /// Its node.
        node: Str,
        /// Why it is where it is.
        reason: Reason,
        /// The sentence shown to people.
        message: String,
    },
    /// A resize is no longer Deferred.
    ResizeEnded {
        /// The growing Pod.
        pod: PodRef,
        /// How it ended.
        outcome: Outcome,
        /// Whether anybody was evicted for it.
        preempted: bool,
        /// Since the kubelet deferred it.
        waited: Span,
    },
    /// A resize that was Deferred is in force.
    ResizeActuated {
        /// The growing Pod.
        pod: PodRef,
        /// Since the kubelet deferred it.
        waited: Span,
    },
    /// A victim outlived its grace period by a minute.
    VictimOverdue {
        /// The growing Pod that waits.
        pod: PodRef,
        /// The victim.
        victim: PodRef,
        /// The node.
        node: Str,
    },
    /// A Pod entered one of the scheduling queues.
    Queued {
        /// Which queue.
        queue: QueueName,
        /// Upstream's name for what moved it.
        event: &'static str,
    },
}

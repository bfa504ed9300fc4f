//! What the resize queue wants done, in its own words.
//!
//! Invariant: an order names Pods by UID and name, never by a place in a table.

use super::Reason;
use crate::cluster::{Amounts, NodeId};
use crate::model::{Pod, PodRef, Span, Str, Timestamp};

/// What is true of a Deferred resize.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The kubelet has not judged what the spec asks for now.
    Unread,
    /// It is in this state, and nothing is to be done.
    State {
        /// Which.
        reason: Reason,
        /// The sentence for people.
        message: String,
        /// Look again at this time.
        wake: Option<Timestamp>,
        /// Victims that should have left long ago.
        overdue: Vec<PodRef>,
    },
    /// These are to be evicted.
    Evict {
        /// Who.
        victims: Vec<PodRef>,
        /// Those of them that are deleted, because no budget allows their eviction.
        forced: Vec<PodRef>,
        /// Whether the search saw every set.
        exact: bool,
        /// The sentence for people.
        message: String,
    },
}

/// A question to the API about a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Read the Pod and its budgets, past the watch.
    Read,
    /// Would an eviction be allowed?
    DryRun,
    /// Evict.
    Evict,
    /// Delete, budgets or not: only where the policy says BestEffort.
    Delete,
    /// An eviction got no answer: did it happen?
    Look,
}

/// An answer, reduced to what the queue goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Yes: as read before, allowed, evicted, or leaving.
    Done,
    /// The victim is gone.
    Gone,
    /// No, and nothing happened.
    Refused(String),
    /// It may have happened.
    Unknown(String),
}

/// An answer, and what was asked.
#[derive(Clone, Debug)]
pub struct Answered<'a> {
    /// UID of the growing Pod.
    pub preemptor: &'a Str,
    /// The victim.
    pub victim: &'a PodRef,
    /// What was asked.
    pub ask: Ask,
    /// For which plan.
    pub plan: u64,
    /// The answer.
    pub reply: Reply,
    /// Whether anybody may be evicted now: this process leads, and every list is complete.
    pub may_act: bool,
}

/// How a Deferred resize ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The kubelet allocated it.
    Allocated,
    /// The request was taken back.
    Reverted,
    /// The kubelet calls it Infeasible now.
    Infeasible,
    /// The Pod is gone or going.
    Deleted,
}

impl Outcome {
    /// How the resize of `pod` ended, which asked for `desired` when it was last Deferred.
    pub fn read(pod: &Pod, held: &Amounts, desired: &Amounts) -> Self {
        if pod.deletion.is_some() {
            Self::Deleted
        } else if pod.resize.as_ref().is_some_and(|condition| condition.reason == "Infeasible") {
            Self::Infeasible
        } else if desired.above(held).is_empty() {
            Self::Allocated
        } else {
            Self::Reverted
        }
    }
}

/// One thing to do or to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Ask the API about a victim, or evict it.
    Ask {
        /// UID of the growing Pod.
        preemptor: Str,
        /// The victim.
        victim: PodRef,
        /// What.
        ask: Ask,
        /// For which plan: an answer counts for no other.
        plan: u64,
    },
    /// An entry is in this state now.
    State {
        /// The growing Pod.
        pod: PodRef,
        /// Its profile.
        profile: Str,
        /// Its node.
        node: Str,
        /// Generation that was judged.
        generation: i64,
        /// The state.
        reason: Reason,
        /// The sentence.
        message: String,
        /// Emit the event that goes with the state.
        announce: bool,
        /// It was another state before.
        new: bool,
    },
    /// Evictions are on their way.
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
    /// A victim is leaving by our eviction.
    Evicted {
        /// UID of the growing Pod.
        preemptor: Str,
        /// The profile that looks after it.
        profile: Str,
        /// The victim.
        victim: PodRef,
    },
    /// A victim outlived its grace period by a minute.
    Overdue {
        /// The growing Pod.
        pod: PodRef,
        /// The victim.
        victim: PodRef,
        /// The node.
        node: Str,
    },
    /// A resize is no longer Deferred.
    Ended {
        /// The growing Pod.
        pod: PodRef,
        /// Its profile.
        profile: Str,
        /// How.
        outcome: Outcome,
        /// Whether anybody was evicted for it.
        preempted: bool,
        /// Since when it was Deferred.
        since: Timestamp,
        /// For how long.
        waited: Span,
    },
    /// A Deferred resize is not looked after any more: what was told of it is taken back.
    Dropped {
        /// The growing Pod.
        pod: PodRef,
    },
    /// Room on a node is open to more important Pods again.
    ClaimReleased(NodeId),
}

//! One Deferred resize in the queue.
//!
//! Invariant: an entry is about one UID and one generation; a new generation starts it afresh.

use super::{Reason, text};
use crate::cluster::{Amounts, NodeId, PodId, PodRow};
use crate::model::{PodRef, Span, Str, Timestamp};

/// What the queue remembers of a Deferred resize.
#[derive(Debug)]
pub struct Entry {
    /// The growing Pod.
    pub pod: PodRef,
    /// Its row.
    pub id: PodId,
    /// Its node.
    pub node: NodeId,
    /// The node's name, for reports after the node is gone.
    pub node_name: Str,
    /// Its profile.
    pub profile: Str,
    /// The generation this is about.
    pub generation: i64,
    /// Since when the kubelet defers it; since we know of it, if it does not say.
    pub since: Timestamp,
    /// From when `wait` and `deadline` count: since this generation is Deferred and known.
    pub counted_from: Timestamp,
    /// What was asked for when last seen.
    pub desired: Amounts,
    /// Somebody was evicted for it.
    pub preempted: bool,
    /// Where it stands, as last told to people.
    pub state: Option<(Reason, String)>,
    pub(super) stage: Stage,
    pub(super) rounds: u32,
    pub(super) not_before: Option<Timestamp>,
    pub(super) refusal: Option<String>,
    pub(super) fits: Option<Fits>,
    /// Victims reported as overdue.
    pub(super) overdue: Vec<PodRef>,
    pub(super) announced: Option<(Reason, Timestamp)>,
    /// Since when it is in this state, whatever the sentence.
    pub(super) state_since: Timestamp,
}

/// Since when the model says that it fits, and what the kubelet's words were then.
#[derive(Debug)]
pub(super) struct Fits {
    pub(super) since: Timestamp,
    pub(super) words: Str,
    pub(super) disagreed: bool,
}

/// Where the evictions for an entry stand.
#[derive(Debug)]
pub(super) enum Stage {
    /// No call is out.
    Parked,
    /// Victims are chosen and being asked about; nobody is evicted yet.
    Checking(Calls),
    /// Evictions are out.
    Evicting(Calls),
}

/// Calls that are out for one plan.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) plan: u64,
    pub(super) victims: Vec<PodRef>,
    /// Those of them that are deleted, budgets or not.
    pub(super) forced: Vec<PodRef>,
    pub(super) open: usize,
    pub(super) failed: bool,
}

impl Calls {
    pub(super) fn new(plan: u64, victims: &[PodRef], forced: &[PodRef], open: usize) -> Self {
        Self { plan, victims: victims.to_vec(), forced: forced.to_vec(), open, failed: false }
    }
}

impl Entry {
    pub(super) fn new(
        (id, row): (PodId, &PodRow),
        (node, node_name): (NodeId, Str),
        profile: Str,
        now: Timestamp,
    ) -> Self {
        let since = row.pod.resize.as_ref().and_then(|condition| condition.since).unwrap_or(now);
        // What was told before a restart still holds, and shows that this generation was known before.
        let told = row.pod.report.as_ref();
        let known = told.is_some_and(|told| told.observed_generation == Some(row.pod.generation));
        Self {
            pod: row.pod.id.clone(),
            id,
            node,
            node_name,
            profile,
            generation: row.pod.generation,
            since,
            counted_from: if known { since } else { now.max(since) },
            desired: row.charge.desired.clone(),
            preempted: told.is_some_and(|told| text::tells_of_victims(&told.reason, &told.message)),
            state: None,
            stage: Stage::Parked,
            rounds: 0,
            not_before: None,
            refusal: None,
            fits: None,
            overdue: Vec::new(),
            announced: None,
            state_since: now,
        }
    }

    /// Follows the Pod to a new generation: a new wish owes nothing to the rounds of the old one.
    pub(super) fn follow(&mut self, row: &PodRow, now: Timestamp) {
        self.desired = row.charge.desired.clone();
        if self.generation != row.pod.generation {
            self.generation = row.pod.generation;
            self.counted_from = now;
            self.rounds = 0;
            self.not_before = None;
            self.refusal = None;
            self.announced = None;
        }
    }

    /// Puts the next round off: 1 s, doubling, up to a minute.
    pub(super) fn back_off(&mut self, now: Timestamp) {
        let seconds = 1_i64.checked_shl(self.rounds).unwrap_or(i64::MAX).clamp(1, 60);
        self.rounds = (self.rounds + 1).min(6);
        self.not_before = Some(now + Span::from_seconds(seconds));
    }
}

//! What comes back from the API.
//!
//! Invariant: an answer says what is known to have happened; what is not known is `Unknown`, never a guess.

use crate::model::{Budget, Pod};

/// Ties an answer to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// What came back from a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// From `Effect::Bind`.
    Bind(BindAnswer),
    /// From `Effect::Evict`.
    Evict(EvictAnswer),
    /// From `Effect::Read`: the Pod of that UID (`None`: gone) and those budgets that still exist.
    Read(Option<Box<Pod>>, Vec<Budget>),
    /// From `Effect::Read`: nothing could be learned.
    ReadFailed(String),
    /// From a patch of a Pod's status.
    Patch(PatchAnswer),
}

/// The outcome of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindAnswer {
    /// 201.
    Bound,
    /// 404: the Pod is gone.
    Gone,
    /// 409: bound already, being deleted, gated, or another UID.
    Conflict(String),
    /// Refused for another reason, by a webhook for example; nothing happened.
    Refused(String),
    /// No answer, 5xx or a time-out: it may have happened.
    Unknown(String),
}

/// The outcome of an eviction (design of the Eviction API, `pkg/registry/core/pod/storage/eviction.go`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvictAnswer {
    /// 201, or 200 for a dry run.
    Evicted,
    /// 429 with cause DisruptionBudget, or 403 with it: the budget is used up.
    Budget(String),
    /// 429 with that cause and a hint to retry: the budget's status is behind.
    StaleBudget(String),
    /// 429 without that cause: the API server sheds load.
    Throttled(String),
    /// 404: gone already.
    Gone,
    /// 409: another UID, or a write crossed ours.
    Conflict(String),
    /// 500 and the like: refused for a reason that waiting will not cure by itself.
    Error(String),
    /// 504, or no answer: it may have happened.
    Unknown(String),
}

/// The outcome of a status patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchAnswer {
    /// Stored.
    Done,
    /// The Pod is gone, or another one has its name.
    Gone,
    /// Not stored, or unknown.
    Failed(String),
}

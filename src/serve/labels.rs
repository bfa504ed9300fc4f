//! The values that metric labels can have.
//!
//! Invariant: each set is closed and each value is written once; no label value is made up where it is used.

use crate::engine::{EvictAnswer, QueueName};
use crate::resize::Outcome;

/// `operation`: what a victim had to go for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A running Pod that grows.
    InPlaceResize,
    /// A pending Pod.
    Scheduling,
}

impl Operation {
    /// All values.
    pub const ALL: [Self; 2] = [Self::InPlaceResize, Self::Scheduling];

    /// The label value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InPlaceResize => "in_place_resize",
            Self::Scheduling => "scheduling",
        }
    }
}

/// `result` of an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionResult {
    /// Done.
    Evicted,
    /// A budget is used up.
    Pdb,
    /// A budget's status is behind.
    StalePdb,
    /// The API server sheds load.
    Throttled,
    /// The Pod is gone already.
    Gone,
    /// Another Pod of that name, or a write that crossed ours.
    Conflict,
    /// Refused otherwise, or no answer.
    Error,
}

impl EvictionResult {
    /// All values.
    pub const ALL: [Self; 7] =
        [Self::Evicted, Self::Pdb, Self::StalePdb, Self::Throttled, Self::Gone, Self::Conflict, Self::Error];

    /// The label value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Evicted => "evicted",
            Self::Pdb => "pdb",
            Self::StalePdb => "stale_pdb",
            Self::Throttled => "throttled",
            Self::Gone => "gone",
            Self::Conflict => "conflict",
            Self::Error => "error",
        }
    }
}

impl From<&EvictAnswer> for EvictionResult {
    fn from(answer: &EvictAnswer) -> Self {
        match answer {
            EvictAnswer::Evicted => Self::Evicted,
            EvictAnswer::Budget(_) => Self::Pdb,
            EvictAnswer::StaleBudget(_) => Self::StalePdb,
            EvictAnswer::Throttled(_) => Self::Throttled,
            EvictAnswer::Gone => Self::Gone,
            EvictAnswer::Conflict(_) => Self::Conflict,
            EvictAnswer::Error(_) | EvictAnswer::Unknown(_) => Self::Error,
        }
    }
}

/// `result` of an attempt to place a Pod, upstream's three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptResult {
    /// Bound.
    Scheduled,
    /// No node fits.
    Unschedulable,
    /// Something went wrong, the binding for one.
    Error,
}

impl AttemptResult {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Scheduled, Self::Unschedulable, Self::Error];

    /// The label value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Unschedulable => "unschedulable",
            Self::Error => "error",
        }
    }
}

/// `queue` of the scheduling queues.
pub const fn queue(name: QueueName) -> &'static str {
    match name {
        QueueName::Active => "active",
        QueueName::Backoff => "backoff",
        QueueName::Unschedulable => "unschedulable",
        QueueName::Gated => "gated",
    }
}

/// `outcome` of a Deferred resize.
pub const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allocated => "allocated",
        Outcome::Reverted => "reverted",
        Outcome::Infeasible => "infeasible",
        Outcome::Deleted => "deleted",
    }
}

/// `attempts` of `pod_scheduling_sli_duration_seconds`: counted up to 15, then `15+`, as upstream does.
pub fn attempts(attempts: u32) -> String {
    if attempts >= 15 { "15+".to_owned() } else { attempts.to_string() }
}

/// `unit` of a resource: cores for cpu, bytes for what is measured in bytes, else a plain count
/// (kube-scheduler `pkg/scheduler/metrics/resources`).
pub fn unit(resource: &str) -> &'static str {
    match resource {
        "cpu" => "cores",
        "memory" | "ephemeral-storage" | "storage" => "bytes",
        other if other.starts_with("hugepages-") => "bytes",
        _ => "integer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_answer_counts_as_an_error() {
        assert_eq!(EvictionResult::from(&EvictAnswer::Unknown("timeout".into())), EvictionResult::Error);
        assert_eq!(EvictionResult::from(&EvictAnswer::StaleBudget(String::new())), EvictionResult::StalePdb);
    }

    #[test]
    fn many_attempts_share_one_label() {
        assert_eq!(attempts(1), "1");
        assert_eq!(attempts(14), "14");
        assert_eq!(attempts(15), "15+");
        assert_eq!(attempts(400), "15+");
    }

    #[test]
    fn each_resource_has_its_unit() {
        assert_eq!(unit("cpu"), "cores");
        assert_eq!(unit("hugepages-2Mi"), "bytes");
        assert_eq!(unit("example.com/gpu"), "integer");
    }
}

//! How long a Pod waits after a failed attempt.
//!
//! Invariant: backoffs end on whole seconds, so that Pods of one second are ordered by priority
//! (kube-scheduler `backend/queue/backoff_queue.go`, KEP-5142).

use crate::model::{Span, Timestamp};

/// The times of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// The first backoff; `podInitialBackoffSeconds`.
    pub initial_backoff: Span,
    /// The longest; `podMaxBackoffSeconds`. Zero: no backoff at all.
    pub max_backoff: Span,
    /// After this an unschedulable Pod is tried again even if nothing happened.
    pub max_unschedulable: Span,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            initial_backoff: Span::from_seconds(1),
            max_backoff: Span::from_seconds(10),
            max_unschedulable: Span::from_seconds(300),
        }
    }
}

impl QueueSettings {
    /// The second in which the backoff after the `failures`-th failure at `failed` ends; `None` without backoff.
    pub(super) fn backoff_until(&self, failed: Timestamp, failures: u32) -> Option<Timestamp> {
        if self.max_backoff.0 == 0 || failures == 0 {
            return None;
        }
        let shift = failures - 1;
        let cap = self.max_backoff.0.checked_shr(shift).unwrap_or(0);
        let long = if self.initial_backoff.0 > cap {
            self.max_backoff
        } else {
            Span(self.initial_backoff.0.checked_shl(shift).unwrap_or(self.max_backoff.0))
        };
        Some(second_of(failed + long))
    }
}

/// Whether a backoff that ends in the second `until` still runs: the whole second belongs to it.
pub(super) fn runs(until: Timestamp, now: Timestamp) -> bool {
    until >= second_of(now)
}

/// When a backoff that ends in the second `until` is over.
pub(super) fn over_at(until: Timestamp) -> Timestamp {
    until + Span::from_seconds(1)
}

fn second_of(time: Timestamp) -> Timestamp {
    Timestamp(time.0 - time.0.rem_euclid(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(failures: u32) -> Option<i64> {
        let start = Timestamp::from_seconds(1000);
        let until = QueueSettings::default().backoff_until(start, failures)?;
        Some((until - start).0 / 1_000_000)
    }

    #[test]
    fn the_backoff_doubles_up_to_the_cap() {
        let all: Vec<_> = (1..7).map(seconds).collect();
        assert_eq!(all, [Some(1), Some(2), Some(4), Some(8), Some(10), Some(10)]);
        assert_eq!(seconds(u32::MAX), Some(10));
    }

    #[test]
    fn a_pod_that_never_failed_has_no_backoff() {
        assert_eq!(seconds(0), None);
    }

    #[test]
    fn a_maximum_of_zero_disables_backoff() {
        let off = QueueSettings { max_backoff: Span(0), ..QueueSettings::default() };
        assert_eq!(off.backoff_until(Timestamp(0), 3), None);
    }

    #[test]
    fn the_whole_last_second_belongs_to_the_backoff() {
        let settings = QueueSettings::default();
        let failed = Timestamp(5_300_000);
        let until = settings.backoff_until(failed, 1).unwrap_or_default();
        assert_eq!(until, Timestamp::from_seconds(6));
        assert!(runs(until, Timestamp(6_999_999)));
        assert!(!runs(until, Timestamp(7_000_000)));
        assert_eq!(over_at(until), Timestamp::from_seconds(7));
    }
}

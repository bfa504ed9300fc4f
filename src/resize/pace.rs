//! How fast a profile evicts: `maxEvictionsPerMinute`.
//!
//! Invariant: an eviction counts for a minute from when it is asked for, whatever the answer.

use super::policies::Pace;
use crate::model::{Span, Str, Timestamp};
use std::collections::{BTreeMap, VecDeque};

const MINUTE: Span = Span::from_seconds(60);

/// The evictions of the last minute, by profile.
#[derive(Debug, Default)]
pub(super) struct Recent(BTreeMap<Str, VecDeque<Timestamp>>);

impl Recent {
    /// Notes that so many evictions begin.
    pub(super) fn note(&mut self, profile: &Str, evictions: usize, now: Timestamp) {
        let times = self.0.entry(profile.clone()).or_default();
        while times.front().is_some_and(|at| *at + MINUTE <= now) {
            times.pop_front();
        }
        times.extend(std::iter::repeat_n(now, evictions));
    }

    /// What is left of a limit.
    pub(super) fn left(&self, profile: &str, most: u32, now: Timestamp) -> Pace {
        let within = self.0.get(profile).into_iter().flatten().filter(|at| **at + MINUTE > now);
        let used = u32::try_from(within.clone().count()).unwrap_or(u32::MAX);
        let again = within.min().map_or(now, |oldest| *oldest + MINUTE);
        Pace { left: most.saturating_sub(used), again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn an_eviction_counts_for_a_minute() {
        let mut recent = Recent::default();
        recent.note(&"p".into(), 2, at(100));
        assert_eq!(recent.left("p", 3, at(159)), Pace { left: 1, again: at(160) });
        assert_eq!(recent.left("p", 3, at(160)), Pace { left: 3, again: at(160) });
    }

    #[test]
    fn one_profile_does_not_use_up_the_limit_of_another() {
        let mut recent = Recent::default();
        recent.note(&"p".into(), 2, at(100));
        assert_eq!(recent.left("q", 2, at(101)).left, 2);
    }
}

//! What goes wrong between the scheduler and the cluster, drawn from a seed.
//!
//! Invariant: faults are of kinds that a real cluster has: events come late and twice but in order within a kind,
//! calls fail before or after they took effect, answers are lost, the scheduler dies.

use super::World;
use super::watch::KINDS;
use crate::model::Span;

/// How much goes wrong. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Where all draws come from.
    pub seed: u64,
    /// Watch events that come late, in percent.
    pub late: u8,
    /// How late at most.
    pub lateness: Span,
    /// Watch events that come twice, in percent.
    pub twice: u8,
    /// Calls that fail in some way, in percent.
    pub failing: u8,
    /// When the scheduler is killed, after the beginning.
    pub crashes: Vec<Span>,
    /// When a watch expires (410) and its objects are listed anew, after the beginning. Which one is drawn.
    pub relists: Vec<Span>,
    /// When leadership is lost, after the beginning, and for how long.
    pub deposed: Vec<(Span, Span)>,
    /// Kill it right after its n-th write took effect (from 1), before it hears the answer.
    pub crash_after_write: Option<u32>,
}

/// How one call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 429 without a cause: load is shed, nothing happened.
    Throttled,
    /// 500: nothing happened.
    Error,
    /// 504: nothing happened, or it did.
    Timeout(bool),
    /// It took effect and the answer never came.
    Lost,
}

/// How long a lost answer is waited for.
pub(super) const LOST_AFTER: Span = Span::from_seconds(10);

impl World {
    /// Draws how late an event is, and whether it comes twice.
    pub(super) fn draw_event(&mut self) -> (Span, bool) {
        let late = self.random.chance(self.faults.late);
        let bound = u64::try_from(self.faults.lateness.0).unwrap_or(0);
        let delay = if late { Span(i64::try_from(self.random.below(bound)).unwrap_or(0)) } else { Span(0) };
        (delay, self.random.chance(self.faults.twice))
    }

    /// Draws whether a call fails, and how.
    pub(super) fn draw_call(&mut self) -> Option<Fault> {
        if !self.random.chance(self.faults.failing) {
            return None;
        }
        Some(match self.random.below(4) {
            0 => Fault::Throttled,
            1 => Fault::Error,
            2 => Fault::Timeout(self.random.chance(50)),
            _ => Fault::Lost,
        })
    }

    /// Counts a write that took effect. True if the scheduler dies of it.
    pub(super) fn count_write(&mut self) -> bool {
        self.writes += 1;
        self.faults.crash_after_write == Some(self.writes)
    }

    /// Draws whether a call of a dead scheduler still reached the server.
    pub(super) fn draw_last_call(&mut self) -> bool {
        self.random.chance(50)
    }

    /// Draws which watch expires, and how long it takes to list its objects anew.
    pub(super) fn draw_relist(&mut self) -> (usize, Span) {
        let kind = usize::try_from(self.random.below(KINDS as u64)).unwrap_or(0);
        (kind, Span::from_millis(i64::try_from(self.random.below(3000)).unwrap_or(0)))
    }

    /// Draws how long the scheduler stays dead.
    pub(super) fn draw_downtime(&mut self) -> Span {
        Span::from_millis(500 + i64::try_from(self.random.below(2500)).unwrap_or(0))
    }
}

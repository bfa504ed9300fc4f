//! Points in time as the engine sees them: numbers that come in with each input.
//!
//! Invariant: nothing here reads a clock.

use std::ops::{Add, Sub};

/// Microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A span in microseconds; never negative by construction, arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub i64);

impl Timestamp {
    /// The timestamp of whole seconds since the epoch, the precision of most API fields.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }
}

impl Span {
    /// A span of whole seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// A span of milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// The span in seconds, for metrics and texts.
    pub fn as_seconds_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add<Span> for Timestamp {
    type Output = Timestamp;
    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0))
    }
}

impl Sub for Timestamp {
    type Output = Span;
    /// How long after `earlier`; zero when it is not after.
    fn sub(self, earlier: Timestamp) -> Span {
        Span(self.0.saturating_sub(earlier.0).max(0))
    }
}

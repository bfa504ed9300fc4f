//! What the engine is told once, at its start.
//!
//! Invariant: every profile has a name of its own.

use crate::model::{Span, Str};
use crate::resize::{Policies, ResizePolicy};

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// One for each `schedulerName` that is ours.
    pub profiles: Vec<Profile>,
    /// First wait after a failed attempt (`podInitialBackoffSeconds`).
    pub initial_backoff: Span,
    /// Longest wait (`podMaxBackoffSeconds`).
    pub max_backoff: Span,
}

/// One `schedulerName`.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name.
    pub name: Str,
    /// Whether new Pods are bound; if not, the profile only resizes.
    pub bind: bool,
    /// The rules for Deferred resizes.
    pub resize: ResizePolicy,
}

impl Settings {
    /// The rules for Deferred resizes of all profiles.
    pub fn policies(&self) -> Policies {
        Policies::new(self.profiles.iter().map(|one| (one.name.clone(), one.resize.clone())))
    }
}

impl Default for Settings {
    fn default() -> Self {
        let profile = Profile { name: "elbowroom".into(), bind: true, resize: ResizePolicy::default() };
        let (initial_backoff, max_backoff) = (Span::from_seconds(1), Span::from_seconds(10));
        Self { profiles: vec![profile], initial_backoff, max_backoff }
    }
}

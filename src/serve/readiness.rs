//! Whether this process may be counted on, and what it still waits for.
//!
//! Invariant: it starts not ready; only an empty list of what is missing makes it ready.

use std::sync::{Arc, PoisonError, RwLock};

/// Shared between who learns of it and who is asked. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Readiness {
    waiting: Arc<RwLock<Vec<&'static str>>>,
}

impl Readiness {
    /// What is said before anybody has said what is missing.
    const STARTING: &'static str = "start";

    /// Not ready: starting.
    pub fn new() -> Self {
        Self { waiting: Arc::new(RwLock::new(vec![Self::STARTING])) }
    }

    /// Tells what is missing: caches that are not full yet, or `shutdown`. Nothing: ready.
    pub fn wait_for(&self, missing: Vec<&'static str>) {
        *self.waiting.write().unwrap_or_else(PoisonError::into_inner) = missing;
    }

    /// What is missing; empty when ready.
    pub fn waiting(&self) -> Vec<&'static str> {
        self.waiting.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_ready_until_nothing_is_missing() {
        let readiness = Readiness::new();
        assert_eq!(readiness.waiting(), ["start"]);
        readiness.wait_for(vec!["nodes", "pods"]);
        assert_eq!(readiness.clone().waiting(), ["nodes", "pods"]);
        readiness.wait_for(vec![]);
        assert!(readiness.waiting().is_empty());
    }
}

//! What the API says of a PodDisruptionBudget.
//!
//! Invariant: an allowance is what the status says and no more; a status that is behind its spec allows nothing.

use super::labels::{Labels, Selector};
use super::pod::{Phase, Pod};
use super::{Str, Timestamp};

/// A PodDisruptionBudget as last seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Namespace.
    pub namespace: Str,
    /// Name.
    pub name: Str,
    /// UID.
    pub uid: Str,
    /// `metadata.generation`.
    pub generation: i64,
    /// `spec.selector`; `None` matches nothing, an empty one everything in the namespace.
    pub selector: Option<Selector>,
    /// `spec.unhealthyPodEvictionPolicy: AlwaysAllow`.
    pub always_allow_unhealthy: bool,
    /// `status.observedGeneration`.
    pub observed_generation: i64,
    /// `status.disruptionsAllowed`.
    pub disruptions_allowed: i32,
    /// `status.currentHealthy`.
    pub current_healthy: i32,
    /// `status.desiredHealthy`.
    pub desired_healthy: i32,
    /// `status.disruptedPods`: Pod names whose eviction is already counted.
    pub disrupted: Vec<(Str, Timestamp)>,
}

impl Budget {
    /// Whether the budget covers a Pod of this namespace and these labels.
    pub fn covers(&self, namespace: &str, labels: &Labels) -> bool {
        self.namespace == *namespace && self.selector.as_ref().is_some_and(|s| s.matches(labels))
    }

    /// How many evictions the status allows; 0 while it is behind its spec, as the Eviction API has it.
    pub fn allowance(&self) -> i32 {
        if self.observed_generation < self.generation { 0 } else { self.disruptions_allowed.max(0) }
    }

    /// Whether evicting `pod` spends a unit (`pkg/registry/core/pod/storage/eviction.go`): not when it is
    /// Pending, finished or leaving, nor when it is unready and the policy, or enough healthy others, let it go.
    pub fn charges(&self, pod: &Pod) -> bool {
        if pod.phase == Phase::Pending || pod.finished() || pod.deletion.is_some() {
            return false;
        }
        let enough_without = self.desired_healthy > 0 && self.current_healthy >= self.desired_healthy;
        pod.ready || !(self.always_allow_unhealthy || enough_without)
    }

    /// Whether the status already counts an eviction of the Pod of this name.
    pub fn counts(&self, name: &str) -> bool {
        self.disrupted.iter().any(|(known, _)| known == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(ready: bool) -> Pod {
        Pod { phase: Phase::Running, ready, ..Pod::default() }
    }

    #[test]
    fn a_status_behind_its_spec_allows_nothing() {
        let budget =
            Budget { generation: 2, observed_generation: 1, disruptions_allowed: 3, ..Budget::default() };
        assert_eq!(budget.allowance(), 0);
    }

    #[test]
    fn a_negative_allowance_is_none() {
        assert_eq!(Budget { disruptions_allowed: -1, ..Budget::default() }.allowance(), 0);
    }

    #[test]
    fn a_pending_pod_costs_nothing() {
        assert!(!Budget::default().charges(&Pod::default()));
    }

    #[test]
    fn an_unready_pod_costs_nothing_only_when_its_budget_is_met_or_says_so() {
        let unmet = Budget { desired_healthy: 2, current_healthy: 1, ..Budget::default() };
        assert!(unmet.charges(&running(false)));
        assert!(!Budget { current_healthy: 2, ..unmet.clone() }.charges(&running(false)));
        assert!(!Budget { always_allow_unhealthy: true, ..unmet.clone() }.charges(&running(false)));
        assert!(Budget { always_allow_unhealthy: true, ..unmet }.charges(&running(true)));
    }
}

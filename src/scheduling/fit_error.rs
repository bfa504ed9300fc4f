//! Why a Pod fits nowhere, in kube-scheduler's words.
//!
//! Invariant: the text is exactly upstream's (`framework/types.go`, `FitError`): people and log rules read it.

use super::plugins::{Plugin, PluginSet, PreFilterRejection};
use std::fmt;

/// Why no node was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitError {
    /// How many nodes there are.
    pub nodes: usize,
    /// Who rejected the Pod, so that only what can change their minds wakes it.
    pub rejectors: PluginSet,
    /// What was found.
    pub cause: Cause,
}

/// What kept a Pod from every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The cluster has no node.
    NoNodes,
    /// It was rejected before any node was asked.
    PreFilter(String),
    /// Each reason and for how many nodes it was given.
    Filters(Vec<(u32, String)>),
}

impl FitError {
    /// The cluster has no node. Put down to NodeName, which only a new node satisfies.
    pub fn no_nodes() -> Self {
        Self { nodes: 0, rejectors: PluginSet::default().with(Plugin::NodeName), cause: Cause::NoNodes }
    }

    /// Rejected before any of `nodes` was asked.
    pub fn before_filters(nodes: usize, rejection: PreFilterRejection) -> Self {
        Self { nodes, rejectors: rejection.rejectors, cause: Cause::PreFilter(rejection.message) }
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match &self.cause {
            Cause::NoNodes => return f.write_str("no nodes available to schedule pods"),
            Cause::PreFilter(message) => message.clone(),
            Cause::Filters(reasons) => {
                // Sorted as strings, numbers and all, so that 10 comes before 2.
                let mut reasons: Vec<String> =
                    reasons.iter().map(|(count, reason)| format!("{count} {reason}")).collect();
                reasons.sort_unstable();
                reasons.join(", ")
            }
        };
        write!(f, "0/{} nodes are available:", self.nodes)?;
        if found.is_empty() { Ok(()) } else { write!(f, " {found}.") }
    }
}

impl std::error::Error for FitError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(nodes: usize, reasons: &[(u32, &str)]) -> String {
        let reasons = reasons.iter().map(|(count, reason)| (*count, (*reason).to_owned())).collect();
        FitError { nodes, rejectors: PluginSet::default(), cause: Cause::Filters(reasons) }.to_string()
    }

    #[test]
    fn reasons_are_sorted_as_strings() {
        assert_eq!(
            text(13, &[(2, "node(s) were unschedulable"), (10, "Insufficient cpu"), (1, "Too many pods")]),
            "0/13 nodes are available: 1 Too many pods, 10 Insufficient cpu, 2 node(s) were unschedulable."
        );
    }

    #[test]
    fn what_rejects_before_the_filters_takes_the_place_of_the_counts() {
        let conflict = PreFilterRejection {
            rejectors: PluginSet::default(),
            message: "pod affinity terms conflict".to_owned(),
        };
        assert_eq!(
            FitError::before_filters(4, conflict).to_string(),
            "0/4 nodes are available: pod affinity terms conflict."
        );
    }

    #[test]
    fn a_cluster_without_nodes_has_its_own_text() {
        assert_eq!(FitError::no_nodes().to_string(), "no nodes available to schedule pods");
    }
}

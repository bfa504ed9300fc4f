//! One decision for one new Pod.
//!
//! Invariant: every claim of a growing Pod is honoured first; only if no node fits may the Pod take room that resizes
//! of lower priority claim and do not hold.

use super::fit_error::{Cause, FitError};
use super::plugins::{Filters, Scores, Tally};
use super::select::winner;
use crate::cluster::{Cluster, NodeId, PodRow};

/// What a Pod gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This node.
    Fits(NodeId),
    /// No node, and why.
    Unfit(FitError),
}

/// Decides, and keeps its working room from one Pod to the next.
#[derive(Debug, Default)]
pub struct Cycle {
    feasible: Vec<NodeId>,
    raw: Vec<i64>,
    totals: Vec<i64>,
}

impl Cycle {
    /// Finds a node for a waiting Pod.
    pub fn decide(&mut self, cluster: &Cluster, pod: &PodRow) -> Outcome {
        let all = cluster.nodes.listed().len();
        if all == 0 {
            return Outcome::Unfit(FitError::no_nodes());
        }
        let filters = match Filters::new(cluster, pod) {
            Ok(filters) => filters,
            Err(rejection) => return Outcome::Unfit(FitError::before_filters(all, rejection)),
        };
        if let Some(node) = nominated(cluster, pod).filter(|node| filters.rejector(*node).is_none()) {
            return Outcome::Fits(node);
        }
        let mut tally = Tally::default();
        self.feasible.clear();
        for node in filters.nodes() {
            match filters.rejector(*node) {
                None => self.feasible.push(*node),
                Some(plugin) => filters.count(plugin, *node, &mut tally),
            }
        }
        if self.feasible.is_empty() {
            self.ignore_soft_claims(cluster, pod, &filters);
        }
        match self.feasible.as_slice() {
            [] => {
                let asked = filters.nodes().len();
                let narrowed_by = filters.narrowed_by();
                let reasons = tally.reasons(&cluster.resources, all.saturating_sub(asked), narrowed_by);
                let rejectors = narrowed_by.iter().chain(tally.rejectors.iter()).collect();
                Outcome::Unfit(FitError { nodes: all, rejectors, cause: Cause::Filters(reasons) })
            }
            [only] => Outcome::Fits(*only),
            [first, ..] => {
                let first = *first;
                Outcome::Fits(self.best(cluster, pod).unwrap_or(first))
            }
        }
    }

    /// The second pass: nodes that fit once claims of lower priority that are not held are left out.
    fn ignore_soft_claims(&mut self, cluster: &Cluster, pod: &PodRow, filters: &Filters<'_>) {
        for node in filters.nodes() {
            if cluster.nodes.row(*node).deferred.is_empty() {
                continue;
            }
            let soft = cluster.soft_claims(*node, pod.pod.priority);
            if !soft.is_empty() && filters.admits_with(*node, &soft) {
                self.feasible.push(*node);
            }
        }
    }

    fn best(&mut self, cluster: &Cluster, pod: &PodRow) -> Option<NodeId> {
        Scores::new(cluster, pod).totals(&self.feasible, &mut self.raw, &mut self.totals);
        self.feasible.get(winner(&self.totals)?).copied()
    }
}

/// The node that the Pod was promised, if it exists; it is tried first and alone.
fn nominated(cluster: &Cluster, pod: &PodRow) -> Option<NodeId> {
    let id = cluster.nodes.id(pod.pod.nominated.as_ref()?)?;
    cluster.nodes.row(id).exists.then_some(id)
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

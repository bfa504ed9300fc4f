//! TaintToleration: nodes keep Pods away by taints, or are avoided where that is possible.
//!
//! Invariant: a PreferNoSchedule taint never rejects, and NoSchedule and NoExecute never cost score
//! (kube-scheduler `plugins/tainttoleration`).

use crate::model::Node;
use crate::model::taint::{TaintEffect, Toleration, tolerated};

/// The reason counted for a node.
pub const REASON: &str = "node(s) had untolerated taint(s)";

/// What its score counts for.
pub const WEIGHT: i64 = 3;

/// The filter and the score, made for one Pod.
#[derive(Debug)]
pub struct TaintToleration<'a> {
    tolerations: &'a [Toleration],
}

impl<'a> TaintToleration<'a> {
    /// For a Pod of these tolerations.
    pub fn new(tolerations: &'a [Toleration]) -> Self {
        Self { tolerations }
    }

    /// Whether the Pod tolerates every taint that keeps Pods away.
    pub fn admits(&self, node: &Node) -> bool {
        let mut hard = node.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
        hard.all(|taint| tolerated(self.tolerations, taint))
    }

    /// How many soft taints the Pod does not tolerate, before normalising in reverse.
    pub fn raw_score(&self, node: &Node) -> i64 {
        let soft = node.taints.iter().filter(|taint| taint.effect == TaintEffect::PreferNoSchedule);
        let disliked = soft.filter(|taint| !tolerated(self.tolerations, taint)).count();
        i64::try_from(disliked).unwrap_or(i64::MAX)
    }
}

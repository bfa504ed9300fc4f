//! NodeUnschedulable: a cordoned node takes only Pods that tolerate the cordon.
//!
//! Invariant: the cordon counts even while the node carries no taint for it
//! (kube-scheduler `plugins/nodeunschedulable`).

use crate::model::Node;
use crate::model::taint::{Taint, TaintEffect, Toleration, tolerated};

/// The reason counted for a node.
pub const REASON: &str = "node(s) were unschedulable";

/// The taint that stands for a cordon.
const TAINT_KEY: &str = "node.kubernetes.io/unschedulable";

/// The filter, made for one Pod.
#[derive(Debug)]
pub struct NodeUnschedulable {
    tolerates: bool,
}

impl NodeUnschedulable {
    /// Looks at the Pod's tolerations once.
    pub fn new(tolerations: &[Toleration]) -> Self {
        if tolerations.is_empty() {
            return Self { tolerates: false };
        }
        let taint = Taint { key: TAINT_KEY.into(), value: "".into(), effect: TaintEffect::NoSchedule };
        Self { tolerates: tolerated(tolerations, &taint) }
    }

    /// Whether the node may take the Pod.
    pub fn admits(&self, node: &Node) -> bool {
        self.tolerates || !node.unschedulable
    }
}

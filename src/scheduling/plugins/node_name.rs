//! NodeName: a Pod that names its node is tried there only.
//!
//! Invariant: it narrows the nodes before the filters run, so no node is asked that the Pod did not name
//! (kube-scheduler `plugins/nodename`).

use crate::model::{Pod, Str};

/// The one node that the Pod names.
pub fn only_node(pod: &Pod) -> Option<&Str> {
    pod.node.as_ref()
}

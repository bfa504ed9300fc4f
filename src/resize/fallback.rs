//! What happens when the deadline has passed: the growing Pod itself may go, so that its controller makes it anew
//! where there is room.
//!
//! Invariant: only a Pod that some controller makes again elsewhere, and that no rule protects, is evicted for
//! itself.

use super::Reason;
use super::policies::Terms;
use super::policy::{Fallback, Mode};
use crate::model::{Pod, Timestamp};

/// When the Pod itself is to go, if it still has not got its room by then.
pub(super) fn due(pod: &Pod, terms: &Terms<'_>) -> Option<Timestamp> {
    let policy = terms.policy;
    let asked = policy.fallback == Fallback::EvictSelf && policy.mode == Mode::Enforce;
    // A DaemonSet would make it again on the same node.
    let comes_back = pod.controller.as_ref().is_some_and(|owner| owner.kind != "DaemonSet");
    let may_go = asked && comes_back && !pod.mirror && policy.protect.rule(pod).is_none();
    terms.deadline().filter(|_| may_go)
}

/// Whether a Pod in this state is still without hope: one that gets its room, or is none of our business, stays.
pub(super) fn applies(reason: Reason) -> bool {
    !reason.hopeful() && !matches!(reason, Reason::NotAllowed | Reason::NodeNotReady | Reason::Observing)
}

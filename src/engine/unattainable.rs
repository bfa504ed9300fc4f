//! Deferred resizes that keep room from others and cannot be had as things stand.
//!
//! Invariant: the metric and `check` count by this one rule.

use super::Engine;
use crate::cluster::{Amounts, PodRow};
use crate::model::{PodRef, Str};
use crate::resize::Reason;
use crate::resize::entry::Entry;
use crate::resize::text;

/// A Deferred resize of ours that holds room in vain.
#[derive(Clone, Debug, PartialEq)]
pub struct Unattainable {
    /// The growing Pod.
    pub pod: PodRef,
    /// Its node.
    pub node: Str,
    /// Why it cannot be had.
    pub reason: Reason,
    /// The sentence shown to people.
    pub message: String,
    /// What it claims beyond what it holds, as people write it: `cpu 200m, memory 1Gi`; never empty.
    pub claimed: String,
}

/// Whether nothing that we may do now, or are waiting for, would bring the room. What passes by itself does not
/// count: a wait, an eviction that is tried again, a node that is not Ready. Nor does what mode Observe holds back.
const fn out_of_reach(reason: Reason) -> bool {
    match reason {
        Reason::PreemptionPolicyNever
        | Reason::DisabledByNode
        | Reason::NotAllowed
        | Reason::ExceedsNode
        | Reason::NotAShortage
        | Reason::InsufficientVictims
        | Reason::ProtectedVictims
        | Reason::BlockedByPdb
        | Reason::GraceTooLong
        | Reason::LimitReached
        | Reason::KubeletDisagrees => true,
        Reason::Preempting
        | Reason::WaitingForVictims
        | Reason::WaitingForKubelet
        | Reason::NodeNotReady
        | Reason::Waiting
        | Reason::EvictionFailed
        | Reason::Observing => false,
    }
}

impl Engine {
    /// Every Deferred resize of ours that cannot be had as things stand and claims something, by UID.
    pub fn unattainable(&self) -> Vec<Unattainable> {
        let one = |(entry, claim): (&Entry, Amounts)| {
            let (reason, message) = entry.state.clone()?;
            let claimed = text::amounts(&self.cluster, &claim);
            let (pod, node) = (entry.pod.clone(), entry.node_name.clone());
            Some(Unattainable { pod, node, reason, message, claimed })
        };
        self.claims_in_vain().filter_map(one).collect()
    }

    pub(super) fn claims_in_vain(&self) -> impl Iterator<Item = (&Entry, Amounts)> {
        let vain = |entry: &&Entry| entry.state.as_ref().is_some_and(|(reason, _)| out_of_reach(*reason));
        let claims = self
            .resizes
            .entries()
            .filter(vain)
            .map(|entry| (entry, self.cluster.pods.get(entry.id).map(PodRow::claim).unwrap_or_default()));
        claims.filter(|(_, claim)| claim.iter().next().is_some())
    }
}

//! How much of what there is right now, for dashboards.
//!
//! Invariant: counted from the tables when asked for, never kept beside them.

use super::Engine;
use crate::cluster::Amounts;
use crate::model::Str;
use crate::resize::Reason;
use crate::scheduling::Counts;
use std::collections::{BTreeMap, BTreeSet};

/// A reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Deferred resizes of ours by reason; those the kubelet has not judged are in none.
    pub deferred: BTreeMap<Reason, usize>,
    /// What our Deferred resizes claim beyond what they hold: milli-CPU, bytes or units, by resource name.
    pub claimed: Vec<(Str, i64)>,
    /// The part of `claimed` that resizes claim which cannot be had as things stand: like `claimed`.
    pub unattainable: Vec<(Str, i64)>,
    /// Nodes on which there is such a resize.
    pub unattainable_nodes: usize,
    /// What is charged for Pods' overhead a second time, as their kubelets do: like `claimed`.
    pub overcount: Vec<(Str, i64)>,
    /// Pods in the scheduling queues.
    pub pending: Counts,
}

impl Engine {
    /// Reads the gauges.
    pub fn gauges(&self) -> Gauges {
        let mut deferred = BTreeMap::new();
        let mut claims = Amounts::default();
        for entry in self.resizes.entries() {
            if let Some((reason, _)) = &entry.state {
                *deferred.entry(*reason).or_default() += 1;
            }
            let row = self.cluster.pods.get(entry.id);
            for (id, amount) in
                row.map(|row| row.claim()).iter().flat_map(|claim| claim.iter().collect::<Vec<_>>())
            {
                claims.add(id, amount);
            }
        }
        let (mut vain, mut nodes) = (Amounts::default(), BTreeSet::new());
        for (entry, claim) in self.claims_in_vain() {
            claim.iter().for_each(|(id, amount)| vain.add(id, amount));
            nodes.insert(entry.node);
        }
        let named = |list: &Amounts| -> Vec<(Str, i64)> {
            list.iter().map(|(id, amount)| (self.cluster.resources.name(id), amount)).collect()
        };
        Gauges {
            deferred,
            claimed: named(&claims),
            unattainable: named(&vain),
            unattainable_nodes: nodes.len(),
            overcount: named(&self.cluster.overcount),
            pending: self.waiting.counts(),
        }
    }
}

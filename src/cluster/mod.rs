//! The tables: nodes, Pods, budgets, and what each resource sums to.
//!
//! Invariant: a node's `requested` is the sum of what its Pods reserve, at every moment.

pub mod amounts;
pub mod budgets;
#[cfg(test)]
pub mod fixture;
pub mod footprint;
pub mod ids;
pub mod nodes;
pub mod pods;
mod rounding;

pub use amounts::{Amounts, Columns, ResourceId, ResourceNames};
pub use budgets::{BudgetKey, Budgets};
pub use ids::{NodeId, PodId};
pub use nodes::{NodeChange, NodeRow, Nodes};
pub use pods::{Charge, PodRow, Pods};

use crate::model::requests::PodResources;
use crate::model::{Budget, Labels, Node, Pod, Str, Timestamp};
use rustc_hash::FxHashMap;

/// The most that one Pod counts for: 9 PB, or 9 * 10^12 CPUs. It fits on no node, and a sum over a node's Pods never
/// saturates, so taking the Pod off again leaves the sum as it was.
const MOST: i64 = 1 << 53;

/// All that is known of the cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    /// Resource names by id.
    pub resources: ResourceNames,
    /// Nodes.
    pub nodes: Nodes,
    /// Pods.
    pub pods: Pods,
    /// PodDisruptionBudgets.
    pub budgets: Budgets,
    /// Over all nodes, what is charged for Pods' overhead a second time.
    pub overcount: Amounts,
    namespaces: FxHashMap<Str, (Labels, u32)>,
    namespaces_epoch: u32,
}

/// What folding in a Pod changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodChange {
    /// The node it was charged to before.
    pub from: Option<NodeId>,
    /// The node it is charged to now.
    pub to: Option<NodeId>,
    /// It is new to the tables.
    pub new: bool,
    /// Its node has more room than before: it left, moved, shrank or wants less.
    pub freed: bool,
    /// Something that placement reads changed: labels, gates, demands, resources, priority.
    pub spec: bool,
}

impl Cluster {
    /// The labels of a namespace; none for one that is not known.
    pub fn namespace_labels(&self, name: &str) -> Labels {
        self.namespaces.get(name).map(|(labels, _)| labels.clone()).unwrap_or_default()
    }

    /// Folds in a Pod. One that has finished holds nothing: take it out instead.
    pub fn apply_pod(&mut self, mut pod: Pod) -> (PodId, PodChange) {
        let charge = self.charge(&pod.resources);
        pod.resources = PodResources::default();
        let node = pod.node.clone().map(|name| self.nodes.id_or_ghost(&name));
        let epoch = self.pods.epoch;
        let Some(id) = self.pods.id(&pod.id.uid) else {
            let row =
                PodRow { pod, charge, node: None, assumed: false, evicting: false, claim_held: false, epoch };
            let id = self.pods.insert(row);
            self.attach(id, node);
            return (id, PodChange { to: node, new: true, spec: true, ..PodChange::default() });
        };
        let Some(row) = self.pods.get(id) else { return (id, PodChange::default()) };
        let from = row.node;
        // Until the API confirms or refuses a binding, a Pod without node stays where it was assumed.
        let to = node.or(if row.assumed { from } else { None });
        let before = row.charge.clone();
        let spec = row.charge.desired != charge.desired
            || row.pod.labels != pod.labels
            || row.pod.gated != pod.gated
            || row.pod.placement != pod.placement
            || row.pod.ports != pod.ports
            || row.pod.priority != pod.priority;
        let freed = from.is_some() && (from != to || !before.reserved.above(&charge.reserved).is_empty());
        if from != to {
            self.detach(id);
        } else if let Some(node) = from {
            self.nodes.recharge(node, &before.reserved, before.nonzero, &charge.reserved, charge.nonzero);
            tally(&mut self.overcount, &before, -1);
            tally(&mut self.overcount, &charge, 1);
        }
        if let Some(row) = self.pods.get_mut(id) {
            row.assumed = row.assumed && node.is_none();
            row.evicting = row.evicting && pod.deletion.is_none();
            row.claim_held = row.claim_held && pod.deferred();
            row.pod = pod;
            row.charge = charge;
            row.epoch = epoch;
        }
        if from == to {
            self.note(id);
        } else {
            self.attach(id, to);
        }
        (id, PodChange { from, to, new: false, freed, spec })
    }

    /// Takes a Pod out.
    pub fn remove_pod(&mut self, uid: &str) -> Option<(PodId, PodRow)> {
        let id = self.pods.id(uid)?;
        let node = self.pods.get(id)?.node;
        self.detach(id);
        let mut row = self.pods.remove(id)?;
        row.node = node;
        Some((id, row))
    }

    /// Charges a waiting Pod to a node before the API knows.
    pub fn assume(&mut self, id: PodId, node: NodeId) {
        self.detach(id);
        self.attach(id, Some(node));
        if let Some(row) = self.pods.get_mut(id) {
            row.assumed = true;
        }
    }

    /// Takes an assumption back. True if there was one.
    pub fn forget(&mut self, id: PodId) -> bool {
        let assumed = self.pods.get(id).is_some_and(|row| row.assumed);
        if assumed {
            self.detach(id);
        }
        assumed
    }

    /// Marks a victim whose eviction is on its way: it counts as releasing, and its budgets as spent.
    pub fn evicting(&mut self, id: PodId, now: Timestamp) {
        if let Some(row) = self.pods.get_mut(id) {
            row.evicting = true;
            self.budgets.spend(&row.pod, now);
        }
    }

    /// Takes `evicting` back: the API refused. True if a budget has a unit back.
    pub fn spare(&mut self, uid: &str) -> bool {
        if let Some(row) = self.pods.id(uid).and_then(|id| self.pods.get_mut(id)) {
            row.evicting = false;
        }
        self.budgets.refund(uid)
    }

    /// Says whether the claim of a Deferred resize is kept from everybody. True if that is new.
    pub fn hold_claim(&mut self, id: PodId, held: bool) -> bool {
        match self.pods.get_mut(id) {
            Some(row) => std::mem::replace(&mut row.claim_held, held) != held,
            None => false,
        }
    }

    /// What resizes below `priority` claim on a node and do not hold yet: room that a Pod of that priority may
    /// take where it fits nowhere else.
    pub fn soft_claims(&self, node: NodeId, priority: i32) -> Amounts {
        let rows = self.nodes.row(node).deferred.iter().filter_map(|id| self.pods.get(*id));
        rows.filter(|row| row.pod.priority < priority && !row.claim_held)
            .flat_map(|row| row.claim().iter().collect::<Vec<_>>())
            .collect()
    }

    /// Folds in a Node.
    pub fn apply_node(&mut self, node: Node) -> (NodeId, NodeChange) {
        self.nodes.apply(node, &mut self.resources)
    }

    /// Takes a Node out.
    pub fn remove_node(&mut self, name: &str) -> Option<NodeId> {
        self.nodes.remove(name)
    }

    /// Folds in a budget. True if it changed.
    pub fn apply_budget(&mut self, budget: Budget, now: Timestamp) -> bool {
        let pods = &self.pods;
        self.budgets.apply(budget, now, |uid| pods.id(uid).is_none())
    }

    /// Takes a budget out. True if it was there.
    pub fn remove_budget(&mut self, namespace: &Str, name: &Str) -> bool {
        self.budgets.remove(namespace, name)
    }

    /// Folds in a namespace. True if its labels changed.
    pub fn apply_namespace(&mut self, name: Str, labels: Labels) -> bool {
        let epoch = self.namespaces_epoch;
        let old = self.namespaces.insert(name, (labels.clone(), epoch));
        old.is_none_or(|(known, _)| known != labels)
    }

    /// Takes a namespace out.
    pub fn remove_namespace(&mut self, name: &str) {
        self.namespaces.remove(name);
    }

    /// A list of Pods begins: what it does not hold is stale at its end.
    pub fn begin_pods(&mut self) {
        self.pods.epoch = self.pods.epoch.wrapping_add(1);
    }

    /// The list holds this Pod, as it was known or not at all.
    pub fn keep_pod(&mut self, uid: &str) {
        let epoch = self.pods.epoch;
        if let Some(row) = self.pods.id(uid).and_then(|id| self.pods.get_mut(id)) {
            row.epoch = epoch;
        }
    }

    /// The same of a Node.
    pub fn keep_node(&mut self, name: &str) {
        self.nodes.keep(name);
    }

    /// The same of a budget.
    pub fn keep_budget(&mut self, namespace: &Str, name: &Str) {
        self.budgets.keep(namespace, name);
    }

    /// The same of a namespace.
    pub fn keep_namespace(&mut self, name: &str) {
        let epoch = self.namespaces_epoch;
        if let Some((_, seen)) = self.namespaces.get_mut(name) {
            *seen = epoch;
        }
    }

    /// UIDs of Pods that the list just ended did not hold.
    pub fn unlisted_pods(&self) -> Vec<Str> {
        self.pods.unlisted()
    }

    /// A list of Nodes begins.
    pub fn begin_nodes(&mut self) {
        self.nodes.begin();
    }

    /// Names of Nodes that the list just ended did not hold.
    pub fn unlisted_nodes(&self) -> Vec<Str> {
        self.nodes.unlisted()
    }

    /// A list of budgets begins.
    pub fn begin_budgets(&mut self) {
        self.budgets.begin();
    }

    /// Drops budgets that the list just ended did not hold. True if there was any.
    pub fn sweep_budgets(&mut self) -> bool {
        self.budgets.sweep()
    }

    /// A list of namespaces begins.
    pub fn begin_namespaces(&mut self) {
        self.namespaces_epoch = self.namespaces_epoch.wrapping_add(1);
    }

    /// Drops namespaces that the list just ended did not hold.
    pub fn sweep_namespaces(&mut self) {
        let epoch = self.namespaces_epoch;
        self.namespaces.retain(|_, (_, seen)| *seen == epoch);
    }

    fn charge(&mut self, resources: &PodResources) -> Charge {
        let footprint = footprint::footprint(resources);
        let names = &mut self.resources;
        let mut amounts = |list: &[(Str, i64)]| -> Amounts {
            list.iter().map(|(name, n)| (names.id(name), (*n).min(MOST))).collect()
        };
        Charge {
            desired: amounts(&footprint.desired),
            reserved: amounts(&footprint.reserved),
            held: amounts(&footprint.held),
            overcount: Some(&footprint.overcount)
                .filter(|list| !list.is_empty())
                .map(|list| Box::new(amounts(list))),
            nonzero: (footprint.nonzero_cpu.min(MOST), footprint.nonzero_memory.min(MOST)),
            nonzero_new: (footprint.new_nonzero_cpu.min(MOST), footprint.new_nonzero_memory.min(MOST)),
        }
    }

    fn attach(&mut self, id: PodId, node: Option<NodeId>) {
        if let (Some(row), Some(node)) = (self.pods.get_mut(id), node) {
            row.node = Some(node);
            self.nodes.charge(node, id, &row.charge.reserved, row.charge.nonzero);
            tally(&mut self.overcount, &row.charge, 1);
        }
        self.note(id);
    }

    fn detach(&mut self, id: PodId) {
        if let Some(row) = self.pods.get_mut(id) {
            row.assumed = false;
            if let Some(node) = row.node.take() {
                self.nodes.discharge(node, id, &row.charge.reserved, row.charge.nonzero);
                tally(&mut self.overcount, &row.charge, -1);
            }
        }
        self.pods.note_anti_affinity(id);
    }

    /// Keeps the lists that single out a few Pods.
    fn note(&mut self, id: PodId) {
        if let Some((node, deferred)) = self.pods.get(id).and_then(|r| Some((r.node?, r.pod.deferred()))) {
            self.nodes.note_deferred(node, id, deferred);
        }
        self.pods.note_anti_affinity(id);
    }
}

fn tally(sum: &mut Amounts, charge: &Charge, sign: i64) {
    for (id, amount) in charge.overcount.iter().flat_map(|amounts| amounts.iter()) {
        sum.add(id, amount.saturating_mul(sign));
    }
}

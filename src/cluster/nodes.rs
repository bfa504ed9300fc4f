//! The table of nodes.
//!
//! Invariant: a row lives while its Node exists or a Pod is charged to it; only Nodes that exist are listed.

use super::amounts::{Amounts, Columns, ResourceId, ResourceNames};
use super::ids::{NodeId, PodId};
use super::rounding;
use crate::model::{Node, Str};
use rustc_hash::FxHashMap;

/// One node and who is on it.
#[derive(Debug, Default)]
pub struct NodeRow {
    /// What the API says; only the name is set for a node that Pods name but that does not exist.
    pub node: Node,
    /// The Node object exists.
    pub exists: bool,
    /// Pods charged to it, assumed ones too, in the order they came.
    pub pods: Vec<PodId>,
    /// Those of them whose resize is Deferred.
    pub deferred: Vec<PodId>,
    epoch: u32,
}

/// What about a node changed, for those who wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeChange {
    /// It did not exist before.
    pub added: bool,
    /// Allocatable.
    pub allocatable: bool,
    /// Labels.
    pub labels: bool,
    /// Taints or cordon.
    pub taints: bool,
    /// The Ready condition.
    pub ready: bool,
    /// The switch for resize preemption.
    pub policy: bool,
}

impl NodeChange {
    /// Whether anything that matters changed.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// All nodes.
#[derive(Debug, Default)]
pub struct Nodes {
    rows: Vec<NodeRow>,
    by_name: FxHashMap<Str, NodeId>,
    listed: Vec<NodeId>,
    free: Vec<NodeId>,
    allocatable: Columns,
    requested: Columns,
    nonzero_cpu: Vec<i64>,
    nonzero_memory: Vec<i64>,
    epoch: u32,
}

impl Nodes {
    /// Nodes that exist, in the order in which they were added.
    pub fn listed(&self) -> &[NodeId] {
        &self.listed
    }

    /// A node by name.
    pub fn id(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// One row. Ids come from this table, so the row is there.
    pub fn row(&self, id: NodeId) -> &NodeRow {
        &self.rows[id.index()]
    }

    /// What nodes have to give.
    pub fn allocatable(&self) -> &Columns {
        &self.allocatable
    }

    /// What Pods reserve on nodes: every Pod at the max of desired, allocated and actual.
    pub fn requested(&self) -> &Columns {
        &self.requested
    }

    /// CPU as scoring counts it, in milli-CPU; may be shorter than the table.
    pub fn nonzero_cpu(&self) -> &[i64] {
        &self.nonzero_cpu
    }

    /// Memory as scoring counts it, in bytes; may be shorter than the table.
    pub fn nonzero_memory(&self) -> &[i64] {
        &self.nonzero_memory
    }

    /// The id for `name`, with a row for a node that does not exist if need be.
    pub(super) fn id_or_ghost(&mut self, name: &Str) -> NodeId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let row = NodeRow { node: Node { name: name.clone(), ..Node::default() }, ..NodeRow::default() };
        let id = match self.free.pop() {
            Some(id) => {
                self.rows[id.index()] = row;
                id
            }
            None => {
                let id = NodeId(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
                self.rows.push(row);
                self.nonzero_cpu.push(0);
                self.nonzero_memory.push(0);
                id
            }
        };
        self.by_name.insert(name.clone(), id);
        id
    }

    /// Folds in a Node.
    pub(super) fn apply(&mut self, node: Node, names: &mut ResourceNames) -> (NodeId, NodeChange) {
        let id = self.id_or_ghost(&node.name);
        let epoch = self.epoch;
        let allocatable: Amounts = node
            .allocatable
            .iter()
            .map(|(name, quantity)| (names.id(name), rounding::whole(name, *quantity)))
            .collect();
        self.allocatable.set(id.index(), &allocatable);
        let row = &mut self.rows[id.index()];
        let old = &row.node;
        let change = NodeChange {
            added: !row.exists,
            allocatable: old.allocatable != node.allocatable,
            labels: old.labels != node.labels,
            taints: old.taints != node.taints || old.unschedulable != node.unschedulable,
            ready: old.ready != node.ready,
            policy: old.resize_preemption_disabled_by != node.resize_preemption_disabled_by,
        };
        row.node = node;
        row.epoch = epoch;
        if !row.exists {
            row.exists = true;
            self.listed.push(id);
        }
        (id, change)
    }

    /// Takes a Node out; its row stays while Pods are charged to it.
    pub(super) fn remove(&mut self, name: &str) -> Option<NodeId> {
        let id = self.id(name)?;
        let row = &mut self.rows[id.index()];
        if !row.exists {
            return None;
        }
        row.exists = false;
        row.node = Node { name: row.node.name.clone(), ..Node::default() };
        self.allocatable.set(id.index(), &Amounts::default());
        self.listed.retain(|known| *known != id);
        self.drop_if_unused(id);
        Some(id)
    }

    /// A list of Nodes begins.
    pub(super) fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// The list holds this Node, if there is one of that name.
    pub(super) fn keep(&mut self, name: &str) {
        if let Some(row) = self.id(name).and_then(|id| self.rows.get_mut(id.index())) {
            row.epoch = self.epoch;
        }
    }

    /// Names of Nodes that the list just ended did not hold.
    pub(super) fn unlisted(&self) -> Vec<Str> {
        let stale = |row: &&NodeRow| row.exists && row.epoch != self.epoch;
        self.rows.iter().filter(stale).map(|row| row.node.name.clone()).collect()
    }

    /// Charges a Pod to a node.
    pub(super) fn charge(&mut self, id: NodeId, pod: PodId, reserved: &Amounts, nonzero: (i64, i64)) {
        self.rows[id.index()].pods.push(pod);
        self.recharge(id, &Amounts::default(), (0, 0), reserved, nonzero);
        self.requested.add(id.index(), &[(ResourceId::PODS, 1)].into_iter().collect(), 1);
    }

    /// Takes a Pod's charge back.
    pub(super) fn discharge(&mut self, id: NodeId, pod: PodId, reserved: &Amounts, nonzero: (i64, i64)) {
        let row = &mut self.rows[id.index()];
        row.pods.retain(|known| *known != pod);
        row.deferred.retain(|known| *known != pod);
        self.recharge(id, reserved, nonzero, &Amounts::default(), (0, 0));
        self.requested.add(id.index(), &[(ResourceId::PODS, 1)].into_iter().collect(), -1);
        self.drop_if_unused(id);
    }

    /// Replaces one charge by another.
    pub(super) fn recharge(
        &mut self,
        id: NodeId,
        before: &Amounts,
        nonzero_before: (i64, i64),
        after: &Amounts,
        nonzero_after: (i64, i64),
    ) {
        self.requested.add(id.index(), before, -1);
        self.requested.add(id.index(), after, 1);
        let (cpu, memory) = (&mut self.nonzero_cpu[id.index()], &mut self.nonzero_memory[id.index()]);
        *cpu = cpu.saturating_add(nonzero_after.0).saturating_sub(nonzero_before.0);
        *memory = memory.saturating_add(nonzero_after.1).saturating_sub(nonzero_before.1);
    }

    /// Notes whether a Pod there has a Deferred resize.
    pub(super) fn note_deferred(&mut self, id: NodeId, pod: PodId, deferred: bool) {
        let list = &mut self.rows[id.index()].deferred;
        match (deferred, list.contains(&pod)) {
            (true, false) => list.push(pod),
            (false, true) => list.retain(|known| *known != pod),
            _ => {}
        }
    }

    fn drop_if_unused(&mut self, id: NodeId) {
        let row = &self.rows[id.index()];
        if !row.exists && row.pods.is_empty() {
            self.by_name.remove(&row.node.name);
            self.free.push(id);
        }
    }
}

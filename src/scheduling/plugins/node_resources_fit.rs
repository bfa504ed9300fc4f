//! NodeResourcesFit: what the Pod asks for must be free, and a Pod slot too.
//!
//! Invariant: a resource that the Pod does not ask for is never checked, so a node that is over its limit in one
//! resource still takes Pods that ask for others (kube-scheduler `plugins/noderesources/fit.go`).

use crate::cluster::{Amounts, Nodes, ResourceId};
use smallvec::SmallVec;

/// The reason counted when the node has no Pod slot left.
pub const TOO_MANY_PODS: &str = "Too many pods";

/// One resource that the Pod asks for, beside the columns that answer whether a node has it.
#[derive(Debug)]
struct Check<'a> {
    resource: ResourceId,
    asked: i64,
    allocatable: &'a [i64],
    requested: &'a [i64],
}

impl Check<'_> {
    fn lacks(&self, slot: usize, credit: i64) -> bool {
        let free = cell(self.allocatable, slot).saturating_sub(cell(self.requested, slot));
        self.asked > free.saturating_add(credit)
    }
}

/// The filter, made for one Pod.
#[derive(Debug)]
pub struct NodeResourcesFit<'a> {
    slots: Check<'a>,
    checks: SmallVec<[Check<'a>; 4]>,
}

/// What a node lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The resource; `ResourceId::PODS` for a Pod slot.
    pub resource: ResourceId,
    /// More than the node has in all: nobody's leaving would help.
    pub unresolvable: bool,
}

impl<'a> NodeResourcesFit<'a> {
    /// For a Pod that asks for these amounts.
    pub fn new(asked: &Amounts, nodes: &'a Nodes) -> Self {
        let check = |resource, asked| Check {
            resource,
            asked,
            allocatable: nodes.allocatable().column(resource),
            requested: nodes.requested().column(resource),
        };
        let positive = asked.iter().filter(|(id, amount)| *id != ResourceId::PODS && *amount > 0);
        let checks = positive.map(|(id, amount)| check(id, amount)).collect();
        Self { slots: check(ResourceId::PODS, 1), checks }
    }

    /// Whether the node of that place in the columns has room.
    pub fn admits(&self, slot: usize) -> bool {
        !self.slots.lacks(slot, 0) && self.checks.iter().all(|check| !check.lacks(slot, 0))
    }

    /// The same, where `credit` is given back first: room that is claimed but not held.
    pub fn admits_with(&self, slot: usize, credit: &Amounts) -> bool {
        let has = |check: &Check<'_>| !check.lacks(slot, credit.get(check.resource));
        !self.slots.lacks(slot, 0) && self.checks.iter().all(has)
    }

    /// Everything that the node lacks, a Pod slot first.
    pub fn lacks(&self, slot: usize) -> impl Iterator<Item = Lack> {
        let slots =
            self.slots.lacks(slot, 0).then_some(Lack { resource: ResourceId::PODS, unresolvable: false });
        let short = self.checks.iter().filter(move |check| check.lacks(slot, 0));
        let short = short.map(move |check| Lack {
            resource: check.resource,
            unresolvable: check.asked > cell(check.allocatable, slot),
        });
        slots.into_iter().chain(short)
    }
}

/// A cell of a column that may be shorter than the table, the rest being 0.
pub(super) fn cell(column: &[i64], slot: usize) -> i64 {
    column.get(slot).copied().unwrap_or(0)
}

//! The table of Pods: those bound, and those that wait.
//!
//! Invariant: one row for each UID; a row names the node that the Pod is charged to, if any.

use super::amounts::Amounts;
use super::ids::{NodeId, PodId};
use crate::model::{Pod, Str};
use rustc_hash::FxHashMap;

/// What a Pod counts for, as resource vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Charge {
    /// What its spec asks for: what a new Pod needs, and what a growing Pod wants.
    pub desired: Amounts,
    /// The max of desired, allocated and actual: what it keeps from new Pods.
    pub reserved: Amounts,
    /// The max of allocated and actual: what its kubelet counts for it as a neighbour.
    pub held: Amounts,
    /// What `reserved` counts too much of its overhead; `None` for nearly every Pod.
    pub overcount: Option<Box<Amounts>>,
    /// Milli-CPU and bytes that scoring counts for it on its node.
    pub nonzero: (i64, i64),
    /// Milli-CPU and bytes that scoring counts for it while it is new.
    pub nonzero_new: (i64, i64),
}

/// One Pod.
#[derive(Debug)]
pub struct PodRow {
    /// What the API says. Its raw resources are folded into `charge` and empty here.
    pub pod: Pod,
    /// Its amounts.
    pub charge: Charge,
    /// The node it is charged to.
    pub node: Option<NodeId>,
    /// Charged by our own decision, which the API has not confirmed yet.
    pub assumed: bool,
    /// An eviction of ours is in flight or accepted, and the watch has not shown it yet.
    pub evicting: bool,
    /// Its Deferred resize is as good as granted, so what it claims is kept from everybody.
    pub claim_held: bool,
    pub(super) epoch: u32,
}

impl PodRow {
    /// Whether it is on its way out: being deleted, or evicted by us.
    pub fn releasing(&self) -> bool {
        self.pod.deletion.is_some() || self.evicting
    }

    /// Whether it leaves because somebody had it evicted: us just now, or anybody by its `DisruptionTarget` condition.
    pub fn evicted(&self) -> bool {
        self.evicting || self.pod.deletion.is_some() && self.pod.disrupted
    }

    /// What it asks for beyond what it holds.
    pub fn claim(&self) -> Amounts {
        self.charge.reserved.above(&self.charge.held)
    }
}

/// All Pods.
#[derive(Debug, Default)]
pub struct Pods {
    rows: Vec<Option<PodRow>>,
    by_uid: FxHashMap<Str, PodId>,
    free: Vec<PodId>,
    anti_affine: Vec<PodId>,
    pub(super) epoch: u32,
}

impl Pods {
    /// A Pod by UID.
    pub fn id(&self, uid: &str) -> Option<PodId> {
        self.by_uid.get(uid).copied()
    }

    /// One row, if the id is still in use.
    pub fn get(&self, id: PodId) -> Option<&PodRow> {
        self.rows.get(id.index())?.as_ref()
    }

    /// A row by UID.
    pub fn by_uid(&self, uid: &str) -> Option<(PodId, &PodRow)> {
        let id = self.id(uid)?;
        Some((id, self.get(id)?))
    }

    /// Every Pod, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (PodId, &PodRow)> {
        (0u32..).map(PodId).zip(&self.rows).filter_map(|(id, row)| Some((id, row.as_ref()?)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_uid.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_uid.is_empty()
    }

    /// Pods on nodes whose required anti-affinity keeps other Pods away.
    pub fn with_anti_affinity(&self) -> impl Iterator<Item = (PodId, &PodRow)> {
        self.anti_affine.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    pub(super) fn get_mut(&mut self, id: PodId) -> Option<&mut PodRow> {
        self.rows.get_mut(id.index())?.as_mut()
    }

    pub(super) fn insert(&mut self, row: PodRow) -> PodId {
        let uid = row.pod.id.uid.clone();
        let id = match self.free.pop() {
            Some(id) => {
                self.rows[id.index()] = Some(row);
                id
            }
            None => {
                self.rows.push(Some(row));
                PodId(u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX))
            }
        };
        self.by_uid.insert(uid, id);
        id
    }

    pub(super) fn remove(&mut self, id: PodId) -> Option<PodRow> {
        let row = self.rows.get_mut(id.index())?.take()?;
        self.by_uid.remove(&row.pod.id.uid);
        self.free.push(id);
        self.anti_affine.retain(|known| *known != id);
        Some(row)
    }

    /// Keeps the list of Pods with required anti-affinity; only those on a node matter.
    pub(super) fn note_anti_affinity(&mut self, id: PodId) {
        let matters =
            self.get(id).is_some_and(|row| row.node.is_some() && !row.pod.placement.anti_affinity.is_empty());
        match (matters, self.anti_affine.contains(&id)) {
            (true, false) => self.anti_affine.push(id),
            (false, true) => self.anti_affine.retain(|known| *known != id),
            _ => {}
        }
    }

    /// UIDs that the list just ended did not hold.
    pub(super) fn unlisted(&self) -> Vec<Str> {
        let stale = |(_, row): &(PodId, &PodRow)| row.epoch != self.epoch;
        self.iter().filter(stale).map(|(_, row)| row.pod.id.uid.clone()).collect()
    }
}

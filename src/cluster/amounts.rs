//! Resource vectors with dense resource ids.
//!
//! Invariant: an [`Amounts`] is sorted by resource and holds no zero.

use crate::model::Str;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A resource by its place in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub u32);

impl ResourceId {
    /// CPU, in milli-CPU.
    pub const CPU: Self = Self(0);
    /// Memory, in bytes.
    pub const MEMORY: Self = Self(1);
    /// Local ephemeral storage, in bytes.
    pub const EPHEMERAL: Self = Self(2);
    /// Pod slots.
    pub const PODS: Self = Self(3);

    /// The place in a list of columns.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names behind resource ids; a name keeps its id for the life of the process.
#[derive(Debug)]
pub struct ResourceNames {
    names: Vec<Str>,
    ids: FxHashMap<Str, ResourceId>,
}

impl Default for ResourceNames {
    fn default() -> Self {
        let mut known = Self { names: Vec::new(), ids: FxHashMap::default() };
        for name in ["cpu", "memory", "ephemeral-storage", "pods"] {
            known.id(&Str::from(name));
        }
        known
    }
}

impl ResourceNames {
    /// The id of `name`, given now if it is new.
    pub fn id(&mut self, name: &Str) -> ResourceId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = ResourceId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.ids.insert(name.clone(), id);
        id
    }

    /// How many resources are known.
    pub fn len(&self) -> u32 {
        u32::try_from(self.names.len()).unwrap_or(u32::MAX)
    }

    /// Whether none is known; never so, for four are from the start.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of `id`.
    pub fn name(&self, id: ResourceId) -> Str {
        self.names.get(id.index()).cloned().unwrap_or_default()
    }
}

/// How much of each resource: milli-CPU, bytes, or whole units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(SmallVec<[(ResourceId, i64); 2]>);

impl FromIterator<(ResourceId, i64)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (ResourceId, i64)>>(pairs: I) -> Self {
        let mut sum = Self::default();
        for (id, amount) in pairs {
            sum.add(id, amount);
        }
        sum
    }
}

impl Amounts {
    /// The amount of one resource, 0 where it is not named.
    pub fn get(&self, id: ResourceId) -> i64 {
        match self.0.binary_search_by_key(&id, |(known, _)| *known) {
            Ok(at) => self.0.get(at).map_or(0, |(_, amount)| *amount),
            Err(_) => 0,
        }
    }

    /// Adds to one resource, saturating.
    pub fn add(&mut self, id: ResourceId, amount: i64) {
        match self.0.binary_search_by_key(&id, |(known, _)| *known) {
            Ok(at) => {
                let sum = self.0.get(at).map_or(0, |(_, held)| *held).saturating_add(amount);
                if sum == 0 {
                    self.0.remove(at);
                } else if let Some(entry) = self.0.get_mut(at) {
                    entry.1 = sum;
                }
            }
            Err(at) if amount != 0 => self.0.insert(at, (id, amount)),
            Err(_) => {}
        }
    }

    /// Every resource that is not zero, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, i64)> {
        self.0.iter().copied()
    }

    /// Resource by resource, how much of `self` exceeds `other`; nothing negative.
    pub fn above(&self, other: &Amounts) -> Amounts {
        self.iter().map(|(id, amount)| (id, amount.saturating_sub(other.get(id)).max(0))).collect()
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One `i64` for each resource and node, resource by resource, so that a filter reads memory in order.
#[derive(Debug, Default)]
pub struct Columns(Vec<Vec<i64>>);

impl Columns {
    /// The value of one cell, 0 where nothing was ever set.
    pub fn get(&self, id: ResourceId, slot: usize) -> i64 {
        self.0.get(id.index()).and_then(|column| column.get(slot)).copied().unwrap_or(0)
    }

    /// A whole column; it may be shorter than the table of nodes, the rest being 0.
    pub fn column(&self, id: ResourceId) -> &[i64] {
        self.0.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// Adds `sign` times the amounts to a node's cells, saturating.
    pub fn add(&mut self, slot: usize, amounts: &Amounts, sign: i64) {
        for (id, amount) in amounts.iter() {
            let cell = self.cell(id, slot);
            *cell = cell.saturating_add(amount.saturating_mul(sign));
        }
    }

    /// Sets a node's cells to exactly these amounts.
    pub fn set(&mut self, slot: usize, amounts: &Amounts) {
        for column in &mut self.0 {
            if let Some(cell) = column.get_mut(slot) {
                *cell = 0;
            }
        }
        self.add(slot, amounts, 1);
    }

    fn cell(&mut self, id: ResourceId, slot: usize) -> &mut i64 {
        if self.0.len() <= id.index() {
            self.0.resize_with(id.index() + 1, Vec::new);
        }
        let column = &mut self.0[id.index()];
        if column.len() <= slot {
            column.resize(slot + 1, 0);
        }
        &mut column[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sums_to_zero_is_not_kept() {
        let mut amounts: Amounts = [(ResourceId::CPU, 100)].into_iter().collect();
        amounts.add(ResourceId::CPU, -100);
        assert!(amounts.is_empty());
    }

    #[test]
    fn above_is_what_one_vector_asks_more_than_another() {
        let desired: Amounts = [(ResourceId::CPU, 600), (ResourceId::MEMORY, 10)].into_iter().collect();
        let held: Amounts = [(ResourceId::CPU, 400), (ResourceId::MEMORY, 20)].into_iter().collect();
        assert_eq!(desired.above(&held), [(ResourceId::CPU, 200)].into_iter().collect());
    }

    #[test]
    fn setting_a_node_forgets_resources_it_no_longer_has() {
        let mut columns = Columns::default();
        columns.set(1, &[(ResourceId::CPU, 8), (ResourceId::MEMORY, 4)].into_iter().collect());
        columns.set(1, &[(ResourceId::CPU, 6)].into_iter().collect());
        assert_eq!((columns.get(ResourceId::CPU, 1), columns.get(ResourceId::MEMORY, 1)), (6, 0));
    }
}

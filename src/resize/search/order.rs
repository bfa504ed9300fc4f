//! What makes one set of victims better than another.
//!
//! Invariant: the order is total over sets of distinct Pods, and smaller is better.

use super::items::Items;
use std::cmp::Reverse;

/// A set's place in the order; the fields are compared in turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Victims per priority, from the highest down.
    pub counts: Vec<usize>,
    /// The scaled sum of all that is freed. What is missing is the same for all, so this orders the surplus.
    pub weight: i128,
    /// Start times from the oldest victim on; the later is the better.
    pub starts: Vec<Reverse<i64>>,
    /// UIDs, by their place among all UIDs, ascending.
    pub uids: Vec<usize>,
}

/// A set of items with its place in the order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ranked {
    /// The place.
    pub rank: Rank,
    /// The items, ascending.
    pub set: Vec<usize>,
}

impl Ranked {
    pub fn new(items: &Items, set: &[usize]) -> Self {
        let mut counts = vec![0; items.groups.len()];
        for &p in set {
            counts[items.items[p].group] += 1;
        }
        let mut set = set.to_vec();
        set.sort_unstable();
        let rank = Rank {
            counts,
            weight: set.iter().map(|&p| items.weight(p)).sum(),
            starts: oldest_first(set.iter().map(|&p| items.items[p].start)),
            uids: ascending(set.iter().map(|&p| items.items[p].uid_rank)),
        };
        Self { rank, set }
    }
}

/// Start times in the order in which they are compared.
pub(super) fn oldest_first(starts: impl Iterator<Item = i64>) -> Vec<Reverse<i64>> {
    let mut starts: Vec<Reverse<i64>> = starts.map(Reverse).collect();
    starts.sort_unstable_by_key(|start| start.0);
    starts
}

/// UIDs in the order in which they are compared.
pub(super) fn ascending(uids: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut uids: Vec<usize> = uids.collect();
    uids.sort_unstable();
    uids
}

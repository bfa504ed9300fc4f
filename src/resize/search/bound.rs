//! What the items that are still to come can free at most and must free at least.
//!
//! Invariant: a figure given here may be too generous, never too strict.

use super::items::Items;
use std::ops::Range;

/// Sums of the `k` largest or smallest, by `k`, one list per column.
type Sums = Vec<Vec<i128>>;

/// Bounds for every place in every priority.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Per priority: how many places share one row of the tables below. A place further on then reads sums over
    /// a few items too many.
    strides: Vec<usize>,
    /// Per priority and row: largest sums over the rest of the priority, budgets as they stood at first.
    most: Vec<Vec<Sums>>,
    /// Per priority and row: smallest sums over the rest of the priority.
    least: Vec<Vec<Sums>>,
    /// Per priority: largest sums over it and all below. Without a cap only "all" is ever asked for.
    below: Vec<Sums>,
}

/// Rows per priority at most; keeps the tables small on nodes with very many Pods.
const MAX_ROWS: usize = 256;

impl Bounds {
    pub fn new(items: &Items) -> Self {
        let columns = items.missing.len() + 1;
        let mut bounds = Self { strides: Vec::new(), most: Vec::new(), least: Vec::new(), below: Vec::new() };
        for group in &items.groups {
            let stride = group.len().div_ceil(MAX_ROWS).max(1);
            let starts = || group.clone().step_by(stride);
            let sorted = smallest_first(items, group.clone(), columns);
            let below = smallest_first(items, group.start..items.items.len(), columns);
            bounds.strides.push(stride);
            bounds.most.push(starts().map(|start| largest(items, &sorted, start, usize::MAX)).collect());
            bounds.least.push(starts().map(|start| smallest(items, &sorted, start)).collect());
            bounds.below.push(largest(items, &below, group.start, items.max_victims));
        }
        bounds.below.push(vec![vec![0]; columns]);
        bounds
    }

    /// At most this much of `column` is freed by `k` items of the group from place `p` on.
    pub fn most(&self, items: &Items, group: usize, p: usize, column: usize, k: usize) -> i128 {
        up_to(&self.most[group][self.row(items, group, p)][column], k)
    }

    /// At least this much of `column` is freed by `k` items of the group from place `p` on.
    pub fn least(&self, items: &Items, group: usize, p: usize, column: usize, k: usize) -> i128 {
        up_to(&self.least[group][self.row(items, group, p)][column], k)
    }

    /// At most this much of `column` is freed by `k` items of this group and those below it.
    pub fn below(&self, group: usize, column: usize, k: usize) -> i128 {
        up_to(&self.below[group][column], k)
    }

    fn row(&self, items: &Items, group: usize, p: usize) -> usize {
        (p - items.groups[group].start) / self.strides[group]
    }
}

/// The sum for `k`, or for as many as there are.
fn up_to(sums: &[i128], k: usize) -> i128 {
    sums.get(k).or(sums.last()).copied().unwrap_or(0)
}

/// Per column, the places of `range` in the order of what they free.
fn smallest_first(items: &Items, range: Range<usize>, columns: usize) -> Vec<Vec<usize>> {
    let by = |column: usize| {
        let mut order: Vec<usize> = range.clone().collect();
        order.sort_by_key(|&p| items.items[p].frees[column]);
        order
    };
    (0..columns).map(by).collect()
}

/// Of the places from `start` on, the largest that budgets allow, `limit` of them at most.
fn largest(items: &Items, sorted: &[Vec<usize>], start: usize, limit: usize) -> Sums {
    let sums = |(column, order): (usize, &Vec<usize>)| {
        let mut left = items.budgets.clone();
        let allowed = order.iter().rev().filter(|&&p| p >= start).filter(|&&p| {
            items.items[p].budget.is_none_or(|budget| {
                let allowed = left[budget] > 0;
                left[budget] -= usize::from(allowed);
                allowed
            })
        });
        running(allowed.take(limit).map(|&p| items.items[p].frees[column]))
    };
    sorted.iter().enumerate().map(sums).collect()
}

/// Of the places from `start` on, the smallest.
fn smallest(items: &Items, sorted: &[Vec<usize>], start: usize) -> Sums {
    let sums = |(column, order): (usize, &Vec<usize>)| {
        running(order.iter().filter(|&&p| p >= start).map(|&p| items.items[p].frees[column]))
    };
    sorted.iter().enumerate().map(sums).collect()
}

/// 0, the first, the first two, and so on.
fn running(amounts: impl Iterator<Item = i128>) -> Vec<i128> {
    let mut sums = vec![0];
    sums.extend(amounts.scan(0, |sum, amount| {
        *sum += amount;
        Some(*sum)
    }));
    sums
}

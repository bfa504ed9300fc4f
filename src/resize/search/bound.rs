//! What the items that are still to come can free at most and must free at least.
//!
//! Invariant: a figure given here may be too generous, never too strict.

use super::items::Items;

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
            let rows = || group.clone().step_by(stride).map(|p| p..group.end);
            bounds.strides.push(stride);
            bounds.most.push(rows().map(|rest| largest(items, rest, columns, usize::MAX)).collect());
            bounds.least.push(rows().map(|rest| smallest(items, rest, columns)).collect());
            bounds.below.push(largest(items, group.start..items.items.len(), columns, items.max_victims));
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

fn largest(items: &Items, range: std::ops::Range<usize>, columns: usize, most: usize) -> Sums {
    let mut order: Vec<usize> = range.collect();
    let mut spent = vec![0_usize; items.budgets.len()];
    (0..columns)
        .map(|column| {
            order.sort_by_key(|&p| std::cmp::Reverse(items.items[p].frees[column]));
            spent.fill(0);
            let within_budget = order.iter().filter(|&&p| match items.items[p].budget {
                None => true,
                Some(budget) => {
                    spent[budget] += 1;
                    spent[budget] <= items.budgets[budget]
                }
            });
            running(within_budget.take(most).map(|&p| items.items[p].frees[column]))
        })
        .collect()
}

fn smallest(items: &Items, range: std::ops::Range<usize>, columns: usize) -> Sums {
    let mut order: Vec<usize> = range.collect();
    (0..columns)
        .map(|column| {
            order.sort_by_key(|&p| items.items[p].frees[column]);
            running(order.iter().map(|&p| items.items[p].frees[column]))
        })
        .collect()
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

//! The candidates made ready for the search: grouped, sorted, scaled to whole numbers.
//!
//! Invariant: items are sorted by priority from the highest down; inside a priority, who frees more comes
//! first, and of those that free the same the preferred victim comes first.

use super::{Candidate, Problem};
use std::cmp::Reverse;
use std::ops::Range;

/// One candidate that frees something of what is short and that a budget allows at all.
#[derive(Debug)]
pub(super) struct Item {
    /// Its index in the problem.
    pub index: usize,
    /// Its priority's place among the priorities, 0 the highest.
    pub group: usize,
    /// What it frees: a column per shortage in reduced units, and last the [`Items::scale`]d sum of them.
    pub frees: Vec<i128>,
    /// Start in microseconds; unknown is the largest.
    pub start: i64,
    /// Place of its UID among all UIDs in order.
    pub uid_rank: usize,
    /// The budget that it spends from.
    pub budget: Option<usize>,
    /// See [`Candidate::kind`].
    pub kind: u32,
}

/// The whole problem in the form that the search reads.
#[derive(Debug)]
pub(super) struct Items {
    /// Sorted as the module says.
    pub items: Vec<Item>,
    /// Items of each priority, from the highest down.
    pub groups: Vec<Range<usize>>,
    /// What must be freed, in reduced units.
    pub missing: Vec<i128>,
    /// What one reduced unit of each shortage weighs: common denominator by allocatable.
    pub scale: Vec<i128>,
    /// What each budget allows, at least 0.
    pub budgets: Vec<usize>,
    /// The most victims allowed.
    pub max_victims: usize,
}

impl Items {
    pub fn new(problem: &Problem<'_>) -> Self {
        let budgets: Vec<usize> =
            problem.budgets.iter().map(|&allows| usize::try_from(allows).unwrap_or(0)).collect();
        let allowed = |c: &Candidate| c.budget.is_none_or(|b| budgets.get(b).is_some_and(|&left| left > 0));
        let frees = |c: &Candidate| -> Vec<i64> {
            (0..problem.shortages.len()).map(|r| c.frees.get(r).map_or(0, |&amount| amount.max(0))).collect()
        };
        let chosen: Vec<(usize, &Candidate, Vec<i64>)> = problem
            .candidates
            .iter()
            .enumerate()
            .filter(|(_, c)| allowed(c))
            .map(|(index, c)| (index, c, frees(c)))
            .filter(|(_, _, frees)| frees.iter().any(|&amount| amount > 0))
            .collect();

        let units = Units::new(problem, &chosen);
        let mut uids: Vec<&str> = chosen.iter().map(|(_, c, _)| c.uid.as_str()).collect();
        uids.sort_unstable();
        let mut priorities: Vec<i32> = chosen.iter().map(|(_, c, _)| c.priority).collect();
        priorities.sort_unstable_by_key(|&priority| Reverse(priority));
        priorities.dedup();

        let mut items: Vec<Item> = chosen
            .iter()
            .map(|(index, c, frees)| Item {
                index: *index,
                group: priorities.partition_point(|&priority| priority > c.priority),
                frees: units.columns(frees),
                start: c.start.map_or(i64::MAX, |start| start.0),
                uid_rank: uids.partition_point(|&uid| uid < c.uid.as_str()),
                budget: c.budget,
                kind: c.kind,
            })
            .collect();
        items.sort_by(|a, b| {
            let weight = |item: &Item| item.frees.last().copied();
            (a.group.cmp(&b.group))
                .then_with(|| weight(b).cmp(&weight(a)))
                .then_with(|| b.frees.cmp(&a.frees))
                .then_with(|| a.budget.cmp(&b.budget))
                .then_with(|| b.start.cmp(&a.start))
                .then_with(|| a.uid_rank.cmp(&b.uid_rank))
        });
        let bound = |group: usize| items.partition_point(|item| item.group < group);
        let groups = (0..priorities.len()).map(|group| bound(group)..bound(group + 1)).collect();
        Self {
            items,
            groups,
            missing: units.missing,
            scale: units.scale,
            budgets,
            max_victims: problem.max_victims.unwrap_or(usize::MAX),
        }
    }

    /// The column of the scaled sums.
    pub fn weight_column(&self) -> usize {
        self.missing.len()
    }

    /// The scaled sum of what item `p` frees.
    pub fn weight(&self, p: usize) -> i128 {
        self.items[p].frees[self.weight_column()]
    }

    /// Whether these items free all that is missing.
    pub fn covers(&self, set: &[usize]) -> bool {
        (0..self.missing.len())
            .all(|r| set.iter().map(|&p| self.items[p].frees[r]).sum::<i128>() >= self.missing[r])
    }

    /// The problem's indices of these items, ascending.
    pub fn indices(&self, set: &[usize]) -> Vec<usize> {
        let mut indices: Vec<usize> = set.iter().map(|&p| self.items[p].index).collect();
        indices.sort_unstable();
        indices
    }

    /// For every item those before it in its priority without which it need not go: with each of them a set
    /// that holds the item can be turned into one that is no worse. `alike` says when.
    pub fn leaders(&self, alike: impl Fn(&Item, &Item) -> bool) -> Vec<Vec<usize>> {
        let mut leaders: Vec<Vec<usize>> = Vec::with_capacity(self.items.len());
        let mut implied: Vec<Vec<bool>> = Vec::with_capacity(self.items.len());
        for (p, item) in self.items.iter().enumerate() {
            let start = self.groups[item.group].start;
            let mut direct = Vec::new();
            let mut reached = vec![false; p - start];
            for q in (start..p).rev() {
                // A leader's leader needs no entry: with it left out, the leader is left out too.
                if !reached[q - start] && alike(&self.items[q], item) {
                    direct.push(q);
                    reached[q - start] = true;
                    reached.iter_mut().zip(&implied[q]).for_each(|(mine, its)| *mine |= its);
                }
            }
            leaders.push(direct);
            implied.push(reached);
        }
        leaders
    }
}

/// Reduced units per shortage, so that surplus in parts of allocatable becomes a whole number.
struct Units {
    divisor: Vec<i128>,
    missing: Vec<i128>,
    scale: Vec<i128>,
}

impl Units {
    fn new(problem: &Problem<'_>, chosen: &[(usize, &Candidate, Vec<i64>)]) -> Self {
        let mut divisor = Vec::new();
        let mut missing = Vec::new();
        let mut allocatable = Vec::new();
        for (r, shortage) in problem.shortages.iter().enumerate() {
            let whole = i128::from(shortage.allocatable.max(1));
            let lack = i128::from(shortage.missing.max(0));
            let unit = chosen.iter().fold(gcd(whole, lack), |unit, (_, _, frees)| gcd(unit, frees[r].into()));
            divisor.push(unit);
            missing.push(lack / unit);
            allocatable.push(whole / unit);
        }
        let mut units = Self { divisor, missing, scale: Vec::new() };
        units.scale = units.common_denominator(&allocatable, chosen).unwrap_or_else(|| {
            // Denominators this large belong to no real node. Still whole numbers and still the same for
            // every order of input, only rounded; 2^63 * 2^50 leaves room for thousands of candidates.
            allocatable.iter().map(|&whole| ((1_i128 << 50) / whole).max(1)).collect()
        });
        units
    }

    /// The exact factors, if the sum over all candidates and all shortages stays within 128 bits.
    fn common_denominator(
        &self,
        allocatable: &[i128],
        chosen: &[(usize, &Candidate, Vec<i64>)],
    ) -> Option<Vec<i128>> {
        let denominator = allocatable
            .iter()
            .try_fold(1_i128, |product, &whole| product.checked_mul(whole / gcd(product, whole)))?;
        let scale: Vec<i128> = allocatable.iter().map(|&whole| denominator / whole).collect();
        let mut total = 0_i128;
        for (r, &factor) in scale.iter().enumerate() {
            let freed: i128 = chosen.iter().map(|(_, _, frees)| i128::from(frees[r]) / self.divisor[r]).sum();
            total = total.checked_add(freed.checked_add(self.missing[r])?.checked_mul(factor)?)?;
        }
        // Half the range, so that sums of two such figures fit as well.
        (total <= i128::MAX / 4).then_some(scale)
    }

    fn columns(&self, frees: &[i64]) -> Vec<i128> {
        let mut columns: Vec<i128> =
            frees.iter().zip(&self.divisor).map(|(&amount, unit)| i128::from(amount) / unit).collect();
        columns.push(columns.iter().zip(&self.scale).map(|(amount, factor)| amount * factor).sum());
        columns
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

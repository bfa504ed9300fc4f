//! The walk over sets: first how many victims of each priority, then which.
//!
//! Invariant: `best` is always a set that covers, keeps to budgets and caps and satisfies the rules; what is
//! passed over could not have been better, unless `exhausted` says that the walk was cut short.

use super::bound::Bounds;
use super::items::{Item, Items};
use super::order::{Ranked, ascending, oldest_first};
use std::cmp::Ordering;

/// Which covering sets count.
#[derive(Clone, Copy)]
pub(super) enum Rules<'a> {
    /// All of them.
    Free,
    /// Those that the caller accepts, told by their items.
    Accepted(&'a dyn Fn(&[usize]) -> bool),
}

/// What a walk is after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// Any set that counts: are these numbers of victims possible?
    Any,
    /// The best set with exactly these numbers.
    Best,
}

/// One search through the items.
pub(super) struct Search<'a> {
    items: &'a Items,
    bounds: Bounds,
    rules: Rules<'a>,
    limit: u64,
    /// Steps taken.
    pub visited: u64,
    /// The steps ran out.
    pub exhausted: bool,
    /// The best set so far.
    pub best: Option<Ranked>,
}

impl<'a> Search<'a> {
    pub fn new(items: &'a Items, rules: Rules<'a>, limit: u64) -> Self {
        let bounds = Bounds::new(items);
        Self { items, bounds, rules, limit, visited: 0, exhausted: false, best: None }
    }

    /// Starts from a set that is known to count.
    pub fn seed(&mut self, seed: Option<Ranked>) {
        self.best = seed;
    }

    /// Finds the best set.
    pub fn run(&mut self) {
        let mut counts: Vec<usize> = Vec::with_capacity(self.items.groups.len());
        let leaders = match self.rules {
            Rules::Free => self.items.leaders(frees_as_much),
            Rules::Accepted(_) => self.items.leaders(|lead, item| same(lead, item) && lead.kind == item.kind),
        };
        for (group, members) in self.items.groups.iter().enumerate() {
            // Fewer of this priority than the best set so far, which is known to be possible.
            let known = self.best.as_ref().map_or(members.len() + 1, |best| best.rank.counts[group]);
            let mut count = 0;
            counts.push(count);
            while count < known {
                counts[group] = count;
                if self.walk(&counts, Goal::Any, &leaders) {
                    break;
                }
                if self.exhausted {
                    return;
                }
                count += 1;
            }
            if self.best.is_none() {
                return;
            }
            counts[group] = count;
        }
        let leaders = match self.rules {
            Rules::Free => self.items.leaders(same),
            Rules::Accepted(_) => leaders,
        };
        self.walk(&counts, Goal::Best, &leaders);
    }

    /// Walks over the sets with exactly `counts` of the first priorities and any number of the others.
    /// Whether a set was found that replaced the best.
    fn walk(&mut self, counts: &[usize], goal: Goal, leaders: &[Vec<usize>]) -> bool {
        let mut walk = Walk::new(self, counts, goal, leaders);
        walk.descend(0, 0);
        walk.found
    }
}

/// In a set that only has to cover, `lead` can stand for `item`.
fn frees_as_much(lead: &Item, item: &Item) -> bool {
    let columns = item.frees.len() - 1;
    lead.frees[..columns].iter().zip(&item.frees[..columns]).all(|(a, b)| a >= b)
        && (lead.budget.is_none() || lead.budget == item.budget)
}

/// They differ in start and UID at most, and items are sorted so that `lead` is preferred.
fn same(lead: &Item, item: &Item) -> bool {
    lead.frees == item.frees && lead.budget == item.budget
}

/// One walk: the set in hand, and what can be said in advance of the priorities with a fixed count.
struct Walk<'w, 'a> {
    search: &'w mut Search<'a>,
    items: &'a Items,
    counts: &'w [usize],
    goal: Goal,
    leaders: &'w [Vec<usize>],
    /// Per fixed priority: victims due in those after it.
    due_after: Vec<usize>,
    /// Per fixed priority and column: the most that those after it free, without the free ones.
    most_after: Vec<Vec<i128>>,
    /// Per fixed priority and column: the least that those after it free.
    least_after: Vec<Vec<i128>>,
    set: Vec<usize>,
    /// What is still missing, per shortage; negative is surplus.
    residual: Vec<i128>,
    weight: i128,
    /// What is left of each budget.
    budgets: Vec<usize>,
    left_out: Vec<bool>,
    found: bool,
    stop: bool,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(search: &'w mut Search<'a>, counts: &'w [usize], goal: Goal, leaders: &'w [Vec<usize>]) -> Self {
        let items = search.items;
        let columns = items.weight_column() + 1;
        let mut due_after = vec![0; counts.len()];
        let mut most_after = vec![vec![0; columns]; counts.len()];
        let mut least_after = most_after.clone();
        for group in (1..counts.len()).rev() {
            let (count, start) = (counts[group], items.groups[group].start);
            due_after[group - 1] = due_after[group] + count;
            for column in 0..columns {
                let most = search.bounds.most(items, group, start, column, count);
                let least = search.bounds.least(items, group, start, column, count);
                most_after[group - 1][column] = most_after[group][column] + most;
                least_after[group - 1][column] = least_after[group][column] + least;
            }
        }
        Self {
            items,
            counts,
            goal,
            leaders,
            due_after,
            most_after,
            least_after,
            set: Vec::new(),
            residual: items.missing.clone(),
            weight: 0,
            budgets: items.budgets.clone(),
            left_out: vec![false; items.items.len()],
            found: false,
            stop: false,
            search,
        }
    }

    /// Tries every set that adds items from place `from` on to the one in hand. `due`: how many more the
    /// priority of `from` owes, if its count is fixed and the walk is inside it.
    fn descend(&mut self, from: usize, due: usize) {
        let mut due = due;
        let mut p = from;
        let mut passed = Vec::new();
        while p < self.items.items.len() && !self.stop {
            let group = self.items.items[p].group;
            let members = self.items.groups[group].clone();
            let fixed = self.counts.get(group).copied();
            if p == members.start {
                due = fixed.unwrap_or(0);
            }
            if fixed.is_some() && due == 0 {
                p = members.end;
                continue;
            }
            if !self.step() || self.hopeless(group, p, due, fixed.is_some()) {
                break;
            }
            if self.may_take(p) {
                let due_then = due.saturating_sub(1);
                self.take(p);
                self.judge(group, due_then);
                if !self.stop {
                    self.descend(p + 1, due_then);
                }
                self.give_back(p);
            }
            self.left_out[p] = true;
            passed.push(p);
            p += 1;
            if members.end - p < due {
                break;
            }
        }
        for p in passed {
            self.left_out[p] = false;
        }
    }

    /// Counts a step; false when there are no more.
    fn step(&mut self) -> bool {
        if self.search.visited >= self.search.limit {
            self.search.exhausted = true;
            self.stop = true;
            return false;
        }
        self.search.visited += 1;
        true
    }

    fn may_take(&self, p: usize) -> bool {
        self.set.len() < self.items.max_victims
            && self.items.items[p].budget.is_none_or(|budget| self.budgets[budget] > 0)
            && !self.leaders[p].iter().any(|&lead| self.left_out[lead])
    }

    fn take(&mut self, p: usize) {
        let item = &self.items.items[p];
        self.set.push(p);
        self.residual.iter_mut().zip(&item.frees).for_each(|(left, amount)| *left -= amount);
        self.weight += self.items.weight(p);
        if let Some(budget) = item.budget {
            self.budgets[budget] -= 1;
        }
    }

    fn give_back(&mut self, p: usize) {
        let item = &self.items.items[p];
        self.set.pop();
        self.residual.iter_mut().zip(&item.frees).for_each(|(left, amount)| *left += amount);
        self.weight -= self.items.weight(p);
        if let Some(budget) = item.budget {
            self.budgets[budget] += 1;
        }
    }

    /// Keeps the set in hand if it is complete, counts, and is better than the best so far.
    fn judge(&mut self, group: usize, due: usize) {
        let owed = due + self.due_after.get(group).copied().unwrap_or(0);
        if owed > 0 || self.residual.iter().any(|&left| left > 0) {
            return;
        }
        let ranked = Ranked::new(self.items, &self.set);
        if self.search.best.as_ref().is_some_and(|best| best.rank <= ranked.rank) {
            return;
        }
        let counts = match self.search.rules {
            Rules::Free => true,
            Rules::Accepted(accept) => accept(&ranked.set),
        };
        if counts {
            self.search.best = Some(ranked);
            self.found = true;
            self.stop = self.goal == Goal::Any;
        }
    }

    /// Whether no set that adds items from `p` on can be enough, or better than the best so far.
    fn hopeless(&self, group: usize, p: usize, due: usize, fixed: bool) -> bool {
        let room = self.items.max_victims - self.set.len().min(self.items.max_victims);
        let owed = due + self.due_after.get(group).copied().unwrap_or(0);
        if room == 0 || owed > room {
            return true;
        }
        let bounds = &self.search.bounds;
        let reach = |column: usize| {
            if fixed {
                bounds.most(self.items, group, p, column, due)
                    + self.most_after[group][column]
                    + bounds.below(self.counts.len(), column, room - owed)
            } else {
                bounds.most(self.items, group, p, column, room) + bounds.below(group + 1, column, room)
            }
        };
        let lacking = |r: usize| self.residual[r].max(0);
        let enough = (0..self.residual.len()).all(|r| reach(r) >= lacking(r));
        // All resources at once: two that are each within reach may not be within reach of the same items.
        let weight: i128 = (0..self.residual.len()).map(|r| lacking(r) * self.items.scale[r]).sum();
        if !enough || reach(self.items.weight_column()) < weight {
            return true;
        }
        self.goal == Goal::Best && self.no_better(group, p, due)
    }

    /// Whether no set with the fixed counts that adds items from `p` on can be better than the best so far.
    fn no_better(&self, group: usize, p: usize, due: usize) -> bool {
        let Some(best) = &self.search.best else { return false };
        let least = |column: usize| {
            self.search.bounds.least(self.items, group, p, column, due) + self.least_after[group][column]
        };
        let by_weight = self.weight + least(self.items.weight_column());
        // Each resource is filled at least up to what is missing, and by at least its smallest items.
        let by_surplus: i128 = (0..self.residual.len())
            .map(|r| {
                let surplus = (least(r) - self.residual[r]).max(0);
                (self.items.missing[r] + surplus) * self.items.scale[r]
            })
            .sum();
        match by_weight.max(by_surplus).cmp(&best.rank.weight) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => self.no_better_tie(best, group, p, due),
        }
    }

    /// The same for sets that can at best equal the best one's surplus: by starts, then by UIDs, as if the
    /// latest, or the smallest, of what is left could be had.
    fn no_better_tie(&self, best: &Ranked, group: usize, p: usize, due: usize) -> bool {
        let in_hand = || self.set.iter().map(|&q| &self.items.items[q]);
        let oldest = in_hand().map(|item| item.start).min();
        if oldest.zip(best.rank.starts.first()).is_some_and(|(mine, its)| mine < its.0) {
            return true;
        }
        let (mut starts, mut uids) = (Vec::new(), Vec::new());
        let mut add = |range: std::ops::Range<usize>, count: usize| {
            let rest = &self.items.items[range];
            let mut latest: Vec<i64> = rest.iter().map(|item| item.start).collect();
            latest.sort_unstable_by(|a, b| b.cmp(a));
            starts.extend(latest.into_iter().take(count));
            uids.extend(ascending(rest.iter().map(|item| item.uid_rank)).into_iter().take(count));
        };
        add(p..self.items.groups[group].end, due);
        for later in group + 1..self.counts.len() {
            add(self.items.groups[later].clone(), self.counts[later]);
        }
        let starts = oldest_first(in_hand().map(|item| item.start).chain(starts));
        let uids = ascending(in_hand().map(|item| item.uid_rank).chain(uids));
        (starts, uids) >= (best.rank.starts.clone(), best.rank.uids.clone())
    }
}

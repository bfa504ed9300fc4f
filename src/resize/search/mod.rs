//! Which Pods go: the exact choice of victims for one growing Pod on its own node.
//!
//! Invariant: the answer depends on what the candidates are, never on the order in which they are given.
//!
//! A set is judged whole. Of the sets that free every shortage and keep to budgets and caps the best one is
//! (1) the one with the smallest vector of victim counts per priority, compared from the highest priority down,
//! (2) with the smallest surplus over what is short, each resource in parts of its allocatable,
//! (3) whose victims started latest, compared from the oldest victim on, (4) with the smallest UIDs.
//! kube-scheduler's reprieve (`framework/plugins/defaultpreemption`) keeps the longer running Pods of one
//! priority even where that costs more Pods; here one big Pod goes rather than three small ones.
//!
//! The search settles the number of victims per priority first, from the highest down, then which ones
//! (`walk`). It knows bounds on what is still to come (`bound`), starts from two reprieves (`greedy`) and stops
//! after a counted number of steps with the best set so far.

mod bound;
mod greedy;
mod items;
mod order;
mod walk;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use crate::model::{Str, Timestamp};
use items::Items;
use order::Ranked;
use smallvec::SmallVec;
use walk::{Rules, Search};

/// Search steps that one choice gets by default. Nodes with 110 Pods of usual sizes take hundreds to some
/// thousands of steps, a few milliseconds; all of them take 20 to 100 ms.
pub const DEFAULT_EFFORT: u64 = 200_000;

/// One resource that is short on the node, in the resource's own unit (milli-CPU, bytes, counts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// What the victims must free together; positive.
    pub missing: i64,
    /// The node's allocatable of this resource; positive. Surplus is measured in parts of it.
    pub allocatable: i64,
}

/// A running Pod that may be evicted: lower in priority, not protected, not leaving, at most one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// `spec.priority`; missing is 0.
    pub priority: i32,
    /// What its end frees, in the order of [`Problem::shortages`], same units, never negative.
    pub frees: SmallVec<[i64; 4]>,
    /// `status.startTime`. None counts as now, so as newest.
    pub start: Option<Timestamp>,
    /// `metadata.uid`, the last tie-break.
    pub uid: Str,
    /// The one budget that its eviction spends from, an index into [`Problem::budgets`]. None: it costs none.
    pub budget: Option<usize>,
    /// Candidates of the same priority, `frees`, `budget` and `kind` are alike to `accept`: it may not tell a
    /// set from another in which one stands for the other. Give every candidate its own number if in doubt;
    /// equal numbers save work where `accept` refuses a set.
    pub kind: u32,
}

/// Everything that one choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The resources that are short.
    pub shortages: &'a [Shortage],
    /// Who may go. Those that free nothing of what is short are never chosen.
    pub candidates: &'a [Candidate],
    /// How many evictions each budget still allows; an index without an entry allows none.
    pub budgets: &'a [i64],
    /// Larger sets are not considered.
    pub max_victims: Option<usize>,
    /// Search steps allowed, see [`DEFAULT_EFFORT`].
    pub effort: u64,
}

/// A set that covers every shortage, keeps to budgets and caps, and was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victims {
    /// Indices into [`Problem::candidates`], ascending.
    pub indices: Vec<usize>,
    /// Proven best. If false the effort ran out: the best set seen, never worse than an accepted reprieve.
    pub exact: bool,
    /// Search steps taken.
    pub visited: u64,
}

/// What came of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These go.
    Victims(Victims),
    /// No set is enough and accepted: proven, after `visited` steps.
    Impossible {
        /// Search steps taken.
        visited: u64,
    },
    /// The effort ran out before any accepted set was seen; there may be one.
    Unknown {
        /// Search steps taken.
        visited: u64,
    },
}

impl Answer {
    /// The victims, if a set was found.
    pub fn victims(&self) -> Option<&Victims> {
        match self {
            Self::Victims(victims) => Some(victims),
            Self::Impossible { .. } | Self::Unknown { .. } => None,
        }
    }
}

/// The best accepted set of victims.
///
/// `accept` is asked about sets that cover every shortage within budgets and caps, as ascending indices into
/// the candidates. It may refuse one, say because a neighbour that the kubelet serves first would take the
/// surplus; it need not be monotone, so supersets of a refused set are tried too.
pub fn best_set(problem: &Problem<'_>, accept: impl Fn(&[usize]) -> bool) -> Answer {
    let items = Items::new(problem);
    if items.missing.iter().all(|&missing| missing == 0) {
        return if accept(&[]) {
            Answer::Victims(Victims { indices: Vec::new(), exact: true, visited: 0 })
        } else {
            Answer::Impossible { visited: 0 }
        };
    }
    let seeds = greedy::reprieves(&items);

    // Without `accept` far more can be ruled out, and its refusal is rare: the best of all sets comes first.
    let mut free = Search::new(&items, Rules::Free, problem.effort - problem.effort / 4);
    free.seed(seeds.iter().min().cloned());
    free.run();
    let visited = free.visited;
    match free.best {
        None if !free.exhausted => return Answer::Impossible { visited },
        Some(best) if accept(&items.indices(&best.set)) => {
            return answer(&items, &best, !free.exhausted, visited);
        }
        _ => {}
    }

    let judge = |set: &[usize]| accept(&items.indices(set));
    let mut strict = Search::new(&items, Rules::Accepted(&judge), problem.effort.saturating_sub(visited));
    strict.seed(seeds.into_iter().filter(|seed| judge(&seed.set)).min());
    strict.run();
    let visited = visited + strict.visited;
    match strict.best {
        Some(best) => answer(&items, &best, !strict.exhausted, visited),
        None if strict.exhausted => Answer::Unknown { visited },
        None => Answer::Impossible { visited },
    }
}

fn answer(items: &Items, best: &Ranked, exact: bool, visited: u64) -> Answer {
    Answer::Victims(Victims { indices: items.indices(&best.set), exact, visited })
}

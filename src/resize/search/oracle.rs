//! The slow and obvious answer: every subset, judged by the rules as they are written down.

use super::Problem;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The best accepted set, by trying all of them.
pub fn best_of_all(problem: &Problem<'_>, accept: impl Fn(&[usize]) -> bool) -> Option<Vec<usize>> {
    let n = problem.candidates.len();
    (0_u32..1 << n)
        .map(|mask| (0..n).filter(|i| mask & (1 << i) != 0).collect::<Vec<usize>>())
        .filter(|set| is_enough(problem, set) && accept(set))
        .min_by(|a, b| compare(problem, a, b))
}

/// Covers every shortage, keeps to budgets and cap, and takes nobody who frees nothing of what is short.
pub fn is_enough(problem: &Problem<'_>, set: &[usize]) -> bool {
    let victims = || set.iter().map(|&i| &problem.candidates[i]);
    let covers = problem.shortages.iter().enumerate().all(|(r, shortage)| {
        victims().map(|c| i128::from(c.frees[r])).sum::<i128>() >= i128::from(shortage.missing)
    });
    let in_budget = (0..problem.budgets.len())
        .all(|b| victims().filter(|c| c.budget == Some(b)).count() as i64 <= problem.budgets[b].max(0));
    covers
        && in_budget
        && set.len() <= problem.max_victims.unwrap_or(usize::MAX)
        && victims().all(|c| c.frees.iter().any(|&amount| amount > 0))
}

/// `Less`: `a` is the better set.
pub fn compare(problem: &Problem<'_>, a: &[usize], b: &[usize]) -> Ordering {
    let of = |set: &[usize]| set.iter().map(|&i| problem.candidates[i].clone()).collect::<Vec<_>>();
    let (a, b) = (of(a), of(b));
    let mut counts: BTreeMap<i32, (usize, usize)> = BTreeMap::new();
    a.iter().for_each(|c| counts.entry(c.priority).or_default().0 += 1);
    b.iter().for_each(|c| counts.entry(c.priority).or_default().1 += 1);
    for (_, (in_a, in_b)) in counts.into_iter().rev() {
        if in_a != in_b {
            return in_a.cmp(&in_b);
        }
    }
    // Sum of freed / allocatable as one fraction; the numbers of these tests are small enough.
    let whole: i128 = problem.shortages.iter().map(|s| i128::from(s.allocatable)).product();
    let freed = |set: &[super::Candidate]| -> i128 {
        let parts = problem.shortages.iter().enumerate().map(|(r, s)| {
            set.iter().map(|c| i128::from(c.frees[r])).sum::<i128>() * (whole / i128::from(s.allocatable))
        });
        parts.sum()
    };
    let starts = |set: &[super::Candidate]| {
        let mut starts: Vec<i64> = set.iter().map(|c| c.start.map_or(i64::MAX, |s| s.0)).collect();
        starts.sort_unstable();
        starts
    };
    let uids = |set: &[super::Candidate]| {
        let mut uids: Vec<String> = set.iter().map(|c| c.uid.to_string()).collect();
        uids.sort_unstable();
        uids
    };
    (freed(&a).cmp(&freed(&b)))
        .then_with(|| starts(&b).cmp(&starts(&a)))
        .then_with(|| uids(&a).cmp(&uids(&b)))
}

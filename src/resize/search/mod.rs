//! Placeholder.
use crate::model::{Str, Timestamp};
use smallvec::SmallVec;
#[allow(missing_docs)]
pub struct Shortage {
    pub missing: i64,
    pub allocatable: i64,
}
#[allow(missing_docs)]
pub struct Candidate {
    pub priority: i32,
    pub frees: SmallVec<[i64; 4]>,
    pub start: Option<Timestamp>,
    pub uid: Str,
    pub budget: Option<usize>,
}
#[allow(missing_docs)]
pub struct Problem<'a> {
    pub shortages: &'a [Shortage],
    pub candidates: &'a [Candidate],
    pub budgets: &'a [i64],
    pub max_victims: Option<usize>,
    pub effort: u64,
}
#[allow(missing_docs)]
pub struct Victims {
    pub indices: Vec<usize>,
    pub exact: bool,
    pub visited: u64,
}
#[allow(missing_docs)]
pub fn best_set(_: &Problem<'_>, _: impl Fn(&[usize]) -> bool) -> Option<Victims> {
    None
}

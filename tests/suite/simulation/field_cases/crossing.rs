//! A resize and the placing of a new Pod that cross each other.

use super::*;
use elbowroom::simulation::random::Random;

/// Repetitions, as the case asks for.
const ROUNDS: u64 = 100;

/// How a round ended for the new Pod.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    NeverBound,
    Evicted,
    RefusedByKubelet,
}

fn cross(seed: u64) -> Outcome {
    let mut scenario = read(&file("c61"));
    let mut random = Random::new(seed);
    for (at, _) in &mut scenario.steps {
        *at = Span(1_000_000 + i64::try_from(random.below(40_000)).expect("a small number"));
    }
    scenario.steps.sort_by_key(|(at, _)| *at);
    let faults = Faults { seed, late: 60, lateness: Span::from_millis(400), twice: 20, ..Faults::default() };
    let end = super::super::play(&scenario, faults, Span::default());
    assert_eq!(end.allocated("r", "cpu"), "5000m", "seed {seed}");
    assert!(end.binds() <= 1, "seed {seed}");
    let calls = end.calls();
    assert!(calls.iter().all(|(_, name, _)| *name == "p"), "seed {seed}: {calls:?}");
    match (end.find("p"), calls.len()) {
        (None, 1) => Outcome::Evicted,
        (Some(p), 0) if p.node().is_none() => Outcome::NeverBound,
        (Some(p), 0) if p.phase() == "Failed" => Outcome::RefusedByKubelet,
        (p, _) => panic!("seed {seed}: {calls:?}, and p is {p:?}"),
    }
}

#[test]
fn c61_a_resize_and_a_bind_that_cross_end_well_a_hundred_times() {
    let mut seen: Vec<Outcome> = (0..ROUNDS).map(cross).collect();
    seen.sort();
    seen.dedup();
    assert!(seen.len() >= 2, "the delays are to lead to different ends, but all were {seen:?}");
}

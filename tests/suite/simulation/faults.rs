//! Both stories under faults: whatever goes wrong on the way, they end as if nothing had.

use super::{Played, play, read};
use elbowroom::model::Span;
use elbowroom::simulation::random::Random;
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::Faults;

/// Seeds per story.
const SEEDS: u64 = 300;

/// Long enough for lost answers, backoff and the kubelet's own retry.
const UNTIL: Span = Span::from_seconds(600);

fn check_a(end: &Played, what: &str) {
    assert_eq!(end.evicted(), ["batch"], "{what}");
    assert_eq!(end.allocated("web", "cpu"), "6000m", "{what}");
    assert_eq!(end.reason("web"), "", "{what}: the condition goes with PodResizePending");
    assert_eq!(end.node("batch-2"), Some("n1"), "{what}");
}

fn check_b(end: &Played, what: &str) {
    assert_eq!(end.evicted(), ["busybox-b", "busybox-c"], "{what}");
    assert_eq!(end.allocated("nginx", "memory"), (3_i64 << 30).to_string(), "{what}");
    assert_eq!(end.reason("nginx"), "", "{what}");
    assert!(end.find("busybox-a").is_some(), "{what}");
    let nodes = [end.node("busybox-d"), end.node("busybox-e")];
    assert!(nodes.iter().all(|node| matches!(node, Some("n2" | "n3"))), "{what}: {nodes:?}");
}

fn stories() -> [(Scenario, fn(&Played, &str)); 2] {
    [(read("examples/story-a.yaml"), check_a), (read("examples/story-b.yaml"), check_b)]
}

#[test]
fn late_and_double_watch_events_change_nothing() {
    for (story, check) in &stories() {
        for seed in 0..SEEDS {
            let lateness = Span::from_seconds(3);
            let faults = Faults { seed, late: 40, lateness, twice: 30, ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, seed {seed}", story.name));
        }
    }
}

#[test]
fn failing_calls_and_lost_answers_are_made_good() {
    for (story, check) in &stories() {
        for seed in 0..SEEDS {
            let faults = Faults { seed, failing: 30, ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, seed {seed}", story.name));
        }
    }
}

#[test]
fn a_crash_at_any_time_costs_no_second_victim() {
    for (story, check) in &stories() {
        for seed in 0..SEEDS {
            let mut random = Random::new(seed);
            let point = |random: &mut Random| Span::from_millis(random.below(20_000) as i64);
            let crashes = (0..1 + seed % 3).map(|_| point(&mut random)).collect();
            let faults = Faults { seed, crashes, ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, seed {seed}", story.name));
        }
    }
}

#[test]
fn a_crash_between_any_two_writes_costs_no_second_victim() {
    for (story, check) in &stories() {
        for write in 1..=20 {
            let faults = Faults { crash_after_write: Some(write), ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, after write {write}", story.name));
        }
    }
}

#[test]
fn everything_at_once_changes_nothing() {
    for (story, check) in &stories() {
        for seed in 0..SEEDS {
            let mut random = Random::new(seed ^ 0xfa17);
            let crashes = vec![Span::from_millis(random.below(20_000) as i64)];
            let lateness = Span::from_seconds(2);
            let faults =
                Faults { seed, late: 20, lateness, twice: 10, failing: 15, crashes, ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, seed {seed}", story.name));
        }
    }
}

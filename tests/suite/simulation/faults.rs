//! Both stories under faults: whatever goes wrong on the way, they end as if nothing had.

use super::{Played, play, read};
use elbowroom::engine::{Effect, Engine, Input, Settings};
use elbowroom::model::{Span, Timestamp};
use elbowroom::simulation::random::Random;
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{Brain, Faults};

/// Seeds per story where the scheduler dies.
const SEEDS: u64 = 300;
/// Seeds per story where it lives.
const MILD_SEEDS: u64 = 120;
/// Seeds per story where only what it hears, or whether it may act, goes wrong.
const FEW_SEEDS: u64 = 60;

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

/// Says what is wrong with how a story ended.
type Check = fn(&Played, &str);

fn stories() -> [(Scenario, Check); 2] {
    [(read("examples/story-a.yaml"), check_a), (read("examples/story-b.yaml"), check_b)]
}

#[test]
fn late_and_double_watch_events_change_nothing() {
    for (story, check) in &stories() {
        for seed in 0..MILD_SEEDS {
            let lateness = Span::from_seconds(3);
            let faults = Faults { seed, late: 40, lateness, twice: 30, ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, seed {seed}", story.name));
        }
    }
}

#[test]
fn failing_calls_and_lost_answers_are_made_good() {
    for (story, check) in &stories() {
        for seed in 0..MILD_SEEDS {
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

#[test]
fn watches_that_expire_change_nothing() {
    for (story, check) in &stories() {
        for seed in 0..FEW_SEEDS {
            let mut random = Random::new(seed ^ 0x410);
            let relists = (0..1 + seed % 8).map(|_| Span::from_millis(random.below(20_000) as i64)).collect();
            let lateness = Span::from_seconds(1);
            let faults = Faults { seed, relists, late: 20, lateness, failing: 10, ..Faults::default() };
            check(&play(story, faults, UNTIL), &format!("{}, seed {seed}", story.name));
        }
    }
}

/// An engine that must not write while somebody else leads.
struct Deposable(Engine, bool);

impl Brain for Deposable {
    fn step(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>) {
        if let Input::Leader(leads) = input {
            self.1 = leads;
        }
        self.0.step(input, now, effects);
        let writes = |effect: &&Effect| match effect {
            Effect::Evict { dry_run, .. } => !dry_run,
            effect => matches!(effect, Effect::Bind { .. } | Effect::Patch { .. }),
        };
        assert!(self.1 || !effects.iter().any(|effect| writes(&effect)), "a write of one who does not lead");
    }
}

#[test]
fn who_does_not_lead_writes_nothing_and_goes_on_later() {
    for (story, check) in &stories() {
        for seed in 0..FEW_SEEDS {
            let mut random = Random::new(seed ^ 0x1ead);
            let mut draw = |from: u64| Span::from_millis((from + random.below(4000)) as i64);
            let deposed = (0..1 + seed % 3).map(|index| (draw(8000 * index), draw(1)));
            let faults = Faults { seed, deposed: deposed.collect(), failing: 10, ..Faults::default() };
            let start = || -> Box<dyn Brain> { Box::new(Deposable(Engine::new(Settings::default()), true)) };
            let mut world = story.stage(Box::new(start), faults);
            world.run(UNTIL).unwrap();
            check(&Played(world), &format!("{}, seed {seed}", story.name));
        }
    }
}

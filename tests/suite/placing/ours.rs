//! Which Pods are ours to place, and in which order.

use super::support::*;
use super::world::*;
use elbowroom::model::{Node, Pod};

fn of(scheduler: &str, pod: Pod) -> Pod {
    Pod { scheduler: scheduler.into(), ..pod }
}

fn gated(pod: Pod) -> Pod {
    Pod { gated: true, ..pod }
}

#[test]
fn pods_of_other_schedulers_get_nothing_from_us_and_count() {
    let pods = vec![
        of("default-scheduler", deferred("r1", 90, "2", "3")),
        deferred("r2", 50, "2", "4"),
        of("default-scheduler", pod("v", 1, "4")),
        of("other", waiting("z", 5, "1")),
    ];
    let mut world = world(vec![node("n1", "8")], pods);
    assert_eq!(world.taken("n1"), Some(3000 + 4000 + 4000));
    assert_eq!(world.agree(), ["v"]);
    world.wait(60);
    for stranger in ["r1", "z"] {
        assert!(said(&world.effects, stranger).is_empty());
        assert!(written(&world.effects, stranger).is_empty());
    }
    assert!(binds(&world.effects).is_empty());
}

#[test]
fn a_gated_pod_is_left_alone_until_its_last_gate_goes() {
    let mut world = world(vec![node("n1", "2")], vec![]);
    world.see(gated(waiting("p", 1000, "2")));
    world.wait(30);
    assert!(binds(&world.effects).is_empty());
    assert!(said(&world.effects, "p").is_empty() && written(&world.effects, "p").is_empty());
    assert_eq!(world.engine.gauges().pending.gated, 1);
    world.see(waiting("p", 1000, "2"));
    assert_eq!(world.one_bind().1, "p on n1");
}

#[test]
fn a_gated_pod_on_a_full_node_evicts_nobody_and_then_waits_for_room() {
    let mut world = world(vec![node("n1", "2")], vec![pod("x", 1, "2")]);
    world.see(gated(waiting("p", 1000, "2")));
    world.wait(30);
    world.see(waiting("p", 1000, "2"));
    world.settle();
    assert_eq!(world.why("p"), "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
    assert!(world.evictions().is_empty());
    world.gone(pod("x", 1, "2"));
    assert_eq!(world.settle(), ["p on n1"]);
}

#[test]
fn a_profile_that_does_not_bind_only_counts() {
    let mut world = World::of(vec![profile("resizer", false)]);
    world.list(vec![node("n1", "8")], vec![of("resizer", waiting("p", 1, "1"))], vec![]);
    world.wait(400);
    assert!(binds(&world.effects).is_empty());
    assert!(said(&world.effects, "p").is_empty() && written(&world.effects, "p").is_empty());
}

#[test]
fn each_profile_binds_its_own_under_its_own_name() {
    let mut world = World::of(vec![profile("one", true), profile("two", true), profile("three", false)]);
    let pods = ["one", "two", "three", "four"].map(|name| of(name, waiting(name, 0, "1")));
    world.list(vec![node("n1", "8")], pods.to_vec(), vec![]);
    assert_eq!(world.settle(), ["one on n1", "two on n1"]);
    let reporters: Vec<String> =
        events(&world.effects).into_iter().map(|event| event.reporter.to_string()).collect();
    assert_eq!(reporters, ["one", "two"]);
}

#[test]
fn profiles_share_one_queue_and_one_count_of_room() {
    let mut world = World::of(vec![profile("one", true), profile("two", true)]);
    let pods = vec![of("one", waiting("low", 1, "3")), of("two", waiting("high", 9, "3"))];
    world.list(vec![node("n1", "4")], pods, vec![]);
    assert_eq!(world.settle(), ["high on n1"]);
}

#[test]
fn hopeless_pods_of_high_priority_do_not_keep_the_rest_waiting() {
    let mut world = world(vec![node("n1", "8")], vec![]);
    (0..50).for_each(|n| world.see(waiting(&format!("huge{n}"), 1000, "100")));
    (0..20).for_each(|n| world.see(waiting(&format!("small{n:02}"), 1, "100m")));
    let placed = world.settle();
    let all: Vec<String> = (0..20).map(|n| format!("small{n:02} on n1")).collect();
    assert_eq!(placed, all);
    assert_eq!(world.engine.gauges().pending.unschedulable, 50);
}

#[test]
fn a_pod_that_waits_in_vain_is_tried_again_after_five_minutes() {
    let mut world = world(vec![node("n1", "2")], vec![pod("x", 1, "2")]);
    world.see(waiting("p", 1, "1"));
    world.wait(300);
    assert_eq!(said(&world.effects, "p").len(), 1);
    world.wait(2);
    assert_eq!(said(&world.effects, "p").len(), 2);
}

#[test]
fn an_event_that_cannot_help_does_not_try_a_pod_again() {
    let mut world = world(vec![node("n1", "2")], vec![pod("x", 1, "2")]);
    world.see(waiting("p", 1, "1"));
    for n in 0..20 {
        world.see(pod("x", 1, "2"));
        world.see_node(Node { labels: labels("beat", &n.to_string()), ..node("n1", "2") });
        world.wait(1);
        if n == 0 {
            world.settle();
            world.take();
        }
    }
    assert!(said(&world.effects, "p").is_empty());
}

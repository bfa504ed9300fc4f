//! Room that a growing Pod claims, and who may take it all the same.

use super::support::*;
use super::world::*;
use elbowroom::engine::BindAnswer;
use elbowroom::model::pod::Condition;
use elbowroom::model::{Pod, Timestamp};

/// Golden Q: x 400m, P mid 300m that wants 700m, on a node of 1000m; nobody can be evicted for P.
fn blocked() -> World {
    world(vec![node("n1", "1")], vec![pod("x", 100, "400m"), deferred("p", 50, "300m", "700m")])
}

#[test]
fn a_more_important_pod_takes_room_that_is_claimed_and_not_held() {
    let mut world = blocked();
    world.see(waiting("high", 100, "300m"));
    assert_eq!(world.settle(), ["high on n1"]);
    assert!(world.evictions().is_empty());
}

#[test]
fn pods_of_lower_or_equal_priority_never_get_a_claim() {
    let mut world =
        world(vec![node("n1", "1")], vec![pod("x", 100, "200m"), deferred("p", 100, "300m", "900m")]);
    world.see(waiting("low", 1, "200m"));
    world.see(waiting("equal", 100, "200m"));
    assert_eq!(world.settle(), Vec::<String>::new());
    for name in ["low", "equal"] {
        assert_eq!(world.why(name), "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
    }
    world.wait(600);
    assert_eq!(world.settle(), Vec::<String>::new());
}

#[test]
fn a_claim_is_left_alone_where_another_node_has_room() {
    let mut world = world(
        vec![node("n1", "1"), node("n2", "300m")],
        vec![pod("x", 100, "400m"), deferred("p", 50, "300m", "700m")],
    );
    world.see(waiting("high", 100, "300m"));
    assert_eq!(world.settle(), ["high on n2"]);
}

#[test]
fn a_claim_that_fits_is_held_and_nobodys() {
    let pods = vec![pod("x", 100, "300m"), deferred("p", 50, "300m", "700m")];
    let mut world = world(vec![node("n1", "1")], pods);
    world.see(waiting("high", 1000, "300m"));
    world.wait(60);
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.why("high"), "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn a_claim_for_which_victims_leave_is_held() {
    let mut world =
        world(vec![node("n1", "1")], vec![pod("v", 1, "600m"), deferred("p", 50, "300m", "700m")]);
    assert_eq!(world.agree(), ["v"]);
    world.leaving(pod("v", 1, "600m"));
    world.see(waiting("high", 1000, "100m"));
    assert_eq!(world.settle(), Vec::<String>::new());
    world.gone(pod("v", 1, "600m"));
    assert_eq!(world.settle(), ["high on n1"]);
    world.see(waiting("more", 1000, "300m"));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.taken("n1"), Some(700 + 100));
}

#[test]
fn a_pod_that_waits_takes_the_claim_once_the_kubelet_defers_it() {
    let asked = Pod { resize: None, ..deferred("p", 50, "300m", "700m") };
    let mut world = world(vec![node("n1", "1")], vec![pod("x", 100, "400m"), asked]);
    world.see(waiting("high", 100, "300m"));
    assert_eq!(world.settle(), Vec::<String>::new());
    world.see(deferred("p", 50, "300m", "700m"));
    assert_eq!(world.settle(), ["high on n1"]);
}

#[test]
fn a_pod_that_waits_gets_the_room_when_the_wish_is_taken_back() {
    let mut world =
        world(vec![node("n1", "1")], vec![pod("x", 100, "400m"), deferred("p", 50, "300m", "700m")]);
    world.see(waiting("low", 1, "300m"));
    assert_eq!(world.settle(), Vec::<String>::new());
    world.see(Pod { generation: 3, ..pod("p", 50, "300m") });
    assert_eq!(world.settle(), ["low on n1"]);
}

#[test]
fn a_pod_that_waits_gets_the_room_when_the_wish_becomes_infeasible() {
    let mut world =
        world(vec![node("n1", "1")], vec![pod("x", 100, "400m"), deferred("p", 50, "300m", "700m")]);
    world.see(waiting("low", 1, "300m"));
    assert_eq!(world.settle(), Vec::<String>::new());
    let mut infeasible = deferred("p", 50, "300m", "700m");
    infeasible.resize = Some(Box::new(Condition {
        status: true,
        reason: "Infeasible".into(),
        observed_generation: Some(2),
        since: Some(Timestamp::from_seconds(3001)),
        ..Condition::default()
    }));
    infeasible.resources.infeasible = true;
    world.see(infeasible);
    assert_eq!(world.settle(), ["low on n1"]);
}

#[test]
fn a_resize_and_a_binding_that_cross_end_the_same_way_in_every_order() {
    let asks = || deferred("r", 50, "3", "5");
    // Told of the resize first: no binding, for 1 CPU is left.
    let mut first = world(vec![node("n1", "8")], vec![pod("x", 90, "2"), pod("r", 50, "3")]);
    first.see(asks());
    first.see(waiting("p", 1, "3"));
    first.wait(120);
    assert!(binds(&first.effects).is_empty());
    // Told while the binding is out, or after it: one binding, and then r may evict p.
    for watch_before_answer in [true, false] {
        let mut second = world(vec![node("n1", "8")], vec![pod("x", 90, "2"), pod("r", 50, "3")]);
        second.see(waiting("p", 1, "3"));
        let (call, _) = second.one_bind();
        second.see(asks());
        assert!(second.evictions().is_empty(), "p cannot be evicted before it is bound");
        if watch_before_answer {
            second.see_bound("p", "n1");
            second.answer_bind(call, BindAnswer::Bound);
        } else {
            second.answer_bind(call, BindAnswer::Bound);
            second.see_bound("p", "n1");
        }
        assert_eq!(second.agree(), ["p"]);
        second.wait(60);
        assert!(binds(&second.effects).is_empty() && second.evictions().is_empty());
    }
}

#[test]
fn a_binding_refused_while_the_node_grew_full_leaves_the_room_to_the_resize() {
    let mut world = world(vec![node("n1", "8")], vec![pod("x", 90, "2"), pod("r", 50, "3")]);
    world.see(waiting("p", 1, "3"));
    let (call, _) = world.one_bind();
    world.see(deferred("r", 50, "3", "5"));
    world.answer_bind(call, BindAnswer::Refused("closed".into()));
    world.wait(120);
    assert!(binds(&world.effects).is_empty() && world.evictions().is_empty());
    assert_eq!(world.taken("n1"), Some(7000));
}

//! Room that is kept for resizes that cannot be had, as the metric and `check` count it.

use super::world::*;
use elbowroom::model::Node;
use elbowroom::resize::Reason;

/// What is claimed in vain, as the gauge has it, and on how many nodes.
fn vain(world: &World) -> (Vec<(String, i64)>, usize) {
    let gauges = world.engine.gauges();
    (
        gauges.unattainable.iter().map(|(name, amount)| (name.to_string(), *amount)).collect(),
        gauges.unattainable_nodes,
    )
}

#[test]
fn a_resize_that_nobody_lower_can_make_room_for_holds_room_in_vain() {
    let pods = vec![pod("v", 100, "200m"), deferred("p", 100, "100m", "300m")];
    let mut world = World::new(vec![node("n1", "300m")], pods, vec![]);
    world.agree();
    assert_eq!(vain(&world), (vec![("cpu".into(), 200)], 1));
    let [one] = world.engine.unattainable().try_into().expect("one resize");
    assert_eq!(
        (one.pod.name.as_str(), one.node.as_str(), one.reason),
        ("p", "n1", Reason::InsufficientVictims)
    );
    assert_eq!(one.message, world.message("p"));
    assert_eq!(one.claimed, "cpu 200m");
}

#[test]
fn a_resize_whose_victims_are_going_does_not() {
    let pods = vec![pod("v", 1, "200m"), deferred("p", 100, "100m", "300m")];
    let mut world = World::new(vec![node("n1", "300m")], pods, vec![]);
    assert_eq!(world.agree(), ["v"]);
    assert_eq!(vain(&world), (vec![], 0));
}

#[test]
fn a_node_that_is_not_ready_has_no_room_to_hold_in_vain() {
    let away = Node { ready: false, ..node("n1", "300m") };
    let mut world = World::new(vec![away], vec![deferred("p", 100, "100m", "300m")], vec![]);
    world.agree();
    assert_eq!(world.reason("p"), Some(Reason::NodeNotReady));
    assert_eq!(vain(&world), (vec![], 0));
}

#[test]
fn two_on_one_node_are_summed_and_are_one_node() {
    let grows = |name| deferred(name, 100, "100m", "300m");
    let pods = vec![grows("p"), grows("q"), on("n2", grows("r"))];
    let mut world = World::new(vec![node("n1", "200m"), node("n2", "200m")], pods, vec![]);
    world.agree();
    assert_eq!(vain(&world), (vec![("cpu".into(), 600)], 2));
}

#[test]
fn a_resize_taken_back_holds_nothing_any_more() {
    let mut world = World::new(vec![node("n1", "200m")], vec![deferred("p", 100, "100m", "300m")], vec![]);
    world.agree();
    assert_eq!(vain(&world).1, 1);
    world.see(pod("p", 100, "100m"));
    assert_eq!(vain(&world), (vec![], 0));
}

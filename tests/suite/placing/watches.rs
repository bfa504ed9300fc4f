//! Lists, gaps and names that are used again.

use super::support::*;
use super::world::*;
use elbowroom::engine::{BindAnswer, Effect, Fact, Input};
use elbowroom::model::{Pod, PodRef};

fn renamed(name: &str, uid: &str, pod: Pod) -> Pod {
    Pod { id: PodRef { namespace: "ns".into(), name: name.into(), uid: uid.into() }, ..pod }
}

#[test]
fn what_vanished_in_a_gap_is_gone_after_the_relist() {
    let a = pod("a", 5, "3");
    let r = deferred("r", 50, "2", "4");
    let old = renamed("b", "b-1", pod("b", 5, "3"));
    let mut world = world(vec![node("n1", "8")], vec![a, r, old]);
    world.list(vec![node("n1", "8")], vec![renamed("b", "b-2", pod("b", 5, "1"))], vec![]);
    assert_eq!(world.taken("n1"), Some(1000));
    assert_eq!(world.engine.resizes().entries().count(), 0);
    world.see(waiting("new", 0, "7"));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn a_reused_name_is_another_pod() {
    let old = renamed("web-0", "a", deferred("web-0", 50, "3", "5"));
    let mut world =
        World::new(vec![node("n1", "8")], vec![old.clone(), pod("v", 1, "5")], vec![budget("b", 0)]);
    world.take();
    world.gone(old);
    world.see(renamed("web-0", "b", pod("web-0", 50, "3")));
    world.see_budget(budget("b", 1));
    world.wait(60);
    assert!(world.evictions().is_empty());
    assert_eq!(world.taken("n1"), Some(8000));
}

#[test]
fn a_late_deletion_of_the_old_pod_does_not_touch_the_new_one_of_its_name() {
    let mut world = world(vec![node("n1", "8")], vec![renamed("b", "b-1", pod("b", 5, "3"))]);
    world.see(renamed("b", "b-2", pod("b", 5, "2")));
    world.gone(renamed("b", "b-1", pod("b", 5, "3")));
    assert_eq!(world.taken("n1"), Some(2000));
}

#[test]
fn nothing_is_bound_before_every_list_is_complete() {
    let mut world = World::of(vec![profile("elbowroom", true)]);
    world.step(Input::Node(Fact::Begin));
    world.see_node(node("n1", "8"));
    world.step(Input::Node(Fact::End));
    world.step(Input::Pod(Fact::Begin));
    world.see(waiting("p", 1, "1"));
    world.step(Input::Pod(Fact::End));
    world.step(Input::Namespace(Fact::Begin));
    world.step(Input::Namespace(Fact::End));
    world.wait(20);
    assert_eq!(world.engine.unsynced(), ["poddisruptionbudgets"]);
    assert!(binds(&world.effects).is_empty());
    world.step(Input::Budget(Fact::Begin));
    world.step(Input::Budget(Fact::End));
    assert_eq!(world.one_bind().1, "p on n1");
}

#[test]
fn nothing_is_decided_on_half_of_a_relist() {
    let held = pod("x", 0, "4");
    let mut world = world(vec![node("n1", "4")], vec![held.clone()]);
    world.step(Input::Pod(Fact::Begin));
    world.see(waiting("p", 1, "1"));
    world.wait(20);
    assert!(binds(&world.effects).is_empty());
    world.see(held);
    world.step(Input::Pod(Fact::End));
    assert!(binds(&world.effects).is_empty());
    assert_eq!(world.taken("n1"), Some(4000));
}

#[test]
fn a_relist_from_before_the_binding_does_not_bind_again() {
    let mut world = world(vec![node("n1", "4")], vec![]);
    world.see(waiting("p", 1, "3"));
    let (call, _) = world.one_bind();
    world.list(vec![node("n1", "4")], vec![waiting("p", 1, "3")], vec![]);
    world.answer_bind(call, BindAnswer::Bound);
    world.list(vec![node("n1", "4")], vec![waiting("p", 1, "3")], vec![]);
    assert_eq!((binds(&world.effects).len(), world.taken("n1")), (0, Some(3000)));
    world.list(vec![node("n1", "4")], vec![on("n1", waiting("p", 1, "3"))], vec![]);
    assert_eq!((binds(&world.effects).len(), world.taken("n1")), (0, Some(3000)));
}

#[test]
fn a_pod_that_vanished_in_a_gap_while_its_binding_was_out_holds_nothing() {
    let mut world = world(vec![node("n1", "4")], vec![]);
    world.see(waiting("p", 1, "3"));
    let (call, _) = world.one_bind();
    world.list(vec![node("n1", "4")], vec![waiting("q", 1, "4")], vec![]);
    assert_eq!(world.one_bind().1, "q on n1");
    world.answer_bind(call, BindAnswer::Gone);
    assert_eq!(world.taken("n1"), Some(4000));
}

#[test]
fn a_node_that_vanished_in_a_gap_takes_no_pod() {
    let mut world = world(vec![node("n1", "4"), node("n2", "2")], vec![]);
    world.list(vec![node("n2", "2")], vec![], vec![]);
    world.see(waiting("p", 1, "3"));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.why("p"), "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn one_who_does_not_lead_binds_nothing_and_keeps_count() {
    let mut world = world(vec![node("n1", "4")], vec![]);
    world.step(Input::Leader(false));
    world.see(waiting("p", 1, "3"));
    world.see(pod("x", 1, "1"));
    world.wait(20);
    assert_eq!((binds(&world.effects).len(), world.taken("n1")), (0, Some(1000)));
    world.step(Input::Leader(true));
    assert_eq!(world.one_bind().1, "p on n1");
}

#[test]
fn one_who_may_not_act_does_not_ask_to_be_woken() {
    let mut world = world(vec![node("n1", "4")], vec![]);
    world.see(waiting("p", 1, "3"));
    let (call, _) = world.one_bind();
    world.answer_bind(call, BindAnswer::Refused("closed".into()));
    world.step(Input::Leader(false));
    world.take();
    world.wait(20);
    assert!(world.effects.iter().all(|effect| !matches!(effect, Effect::WakeAt(_))));
    world.step(Input::Leader(true));
    assert_eq!(world.one_bind().1, "p on n1");
}

//! Assume, bind, confirm: every order in which the answer and the watch can come, and every way it can fail.

use super::support::*;
use super::world::*;
use elbowroom::engine::{Answer, BindAnswer, CallId, Decision, Effect, Fact, Input};
use elbowroom::model::Pod;

/// One node of 4 CPU, one Pod of 3 whose binding is out.
fn out() -> (World, CallId) {
    let mut world = world(vec![node("n1", "4")], vec![]);
    world.see(waiting("p", 100, "3"));
    let (call, what) = world.one_bind();
    assert_eq!(what, "p on n1");
    (world, call)
}

fn scheduled(world: &World) -> Vec<(u32, i64)> {
    let one = |decision: &Decision| match decision {
        Decision::Scheduled { attempts, waited, .. } => Some((*attempts, waited.0 / 1_000_000)),
        _ => None,
    };
    decisions(&world.effects).into_iter().filter_map(one).collect()
}

fn refused() -> BindAnswer {
    BindAnswer::Refused("admission webhook \"gate.example\" denied the request: closed".into())
}

#[test]
fn a_pod_holds_its_room_from_the_decision_on() {
    let (mut world, _) = out();
    assert_eq!(world.taken("n1"), Some(3000));
    world.see(waiting("q", 1, "3"));
    assert!(binds(&world.effects).is_empty());
}

#[test]
fn the_answer_may_come_before_the_watch() {
    let (mut world, call) = out();
    world.answer_bind(call, BindAnswer::Bound);
    assert_eq!(world.taken("n1"), Some(3000));
    world.see_bound("p", "n1");
    assert_eq!((world.taken("n1"), scheduled(&world)), (Some(3000), vec![(1, 0)]));
    assert_eq!(said(&world.effects, "p"), ["Scheduled: Successfully assigned ns/p to n1"]);
}

#[test]
fn the_watch_may_come_before_the_answer() {
    let (mut world, call) = out();
    world.see_bound("p", "n1");
    assert_eq!((world.taken("n1"), scheduled(&world)), (Some(3000), vec![]));
    world.answer_bind(call, BindAnswer::Bound);
    assert_eq!((world.taken("n1"), scheduled(&world)), (Some(3000), vec![(1, 0)]));
    assert_eq!(said(&world.effects, "p"), ["Scheduled: Successfully assigned ns/p to n1"]);
}

#[test]
fn a_bound_pod_that_the_watch_shows_without_node_once_more_is_not_bound_again() {
    let (mut world, call) = out();
    world.answer_bind(call, BindAnswer::Bound);
    world.see(waiting("p", 100, "3"));
    world.wait(400);
    assert!(binds(&world.effects).is_empty());
    assert_eq!(world.taken("n1"), Some(3000));
}

#[test]
fn a_refused_binding_gives_the_room_back_and_waits_longer_each_time() {
    let (mut world, mut call) = out();
    for least in [1, 2, 4, 8, 10] {
        world.answer_bind(call, refused());
        assert_eq!(world.taken("n1"), Some(0));
        world.wait(least);
        assert!(binds(&world.effects).is_empty(), "tried again within {least} s");
        world.wait(1);
        call = world.one_bind().0;
    }
    world.answer_bind(call, BindAnswer::Bound);
    assert_eq!(scheduled(&world), [(6, 30)]);
}

#[test]
fn a_refusal_reaches_the_pods_event_and_condition_in_the_words_of_the_webhook() {
    let (mut world, call) = out();
    world.answer_bind(call, refused());
    let text = "binding rejected: admission webhook \"gate.example\" denied the request: closed";
    assert_eq!(said(&world.effects, "p"), [format!("FailedScheduling: {text}")]);
    let written: Vec<String> = written(&world.effects, "p").into_iter().map(|(_, text)| text).collect();
    assert_eq!(written, [format!("false SchedulerError: {text}")]);
}

#[test]
fn refused_pods_do_not_keep_those_behind_them_waiting() {
    let mut world = world(vec![node("n1", "4")], vec![]);
    for (name, priority) in [("p1", 100), ("p2", 90), ("p3", 1)] {
        world.see(waiting(name, priority, "3"));
    }
    let (call, first) = world.one_bind();
    world.answer_bind(call, refused());
    let (call, second) = world.one_bind();
    world.answer_bind(call, BindAnswer::Unknown("no answer within 30s".into()));
    let read = reads(&world.take())[0];
    world.answer_read(read, Some(waiting("p2", 90, "3")));
    let (call, third) = world.one_bind();
    assert_eq!([first, second, third], ["p1 on n1", "p2 on n1", "p3 on n1"]);
    world.answer_bind(call, BindAnswer::Bound);
    world.see_bound("p3", "n1");
    world.wait(30);
    assert_eq!((world.taken("n1"), binds(&world.effects).len()), (Some(3000), 0));
}

#[test]
fn a_conflict_because_somebody_else_placed_it_leaves_it_there() {
    for watch_first in [true, false] {
        let mut world = world(vec![node("n1", "4"), node("n2", "3")], vec![pod("x", 0, "1")]);
        world.see_node(node("n2", "2"));
        world.see(waiting("p", 100, "3"));
        let (call, _) = world.one_bind();
        world.see(waiting("q", 1, "3"));
        let conflict = BindAnswer::Conflict("pod p is already assigned to node \"n2\"".into());
        if watch_first {
            world.see_bound("p", "n2");
            world.answer_bind(call, conflict);
        } else {
            world.answer_bind(call, conflict);
            world.see_bound("p", "n2");
        }
        assert_eq!(world.settle(), ["q on n1"], "watch first: {watch_first}");
        world.wait(400);
        assert!(binds(&world.take()).len() <= 1, "p is not tried again");
        assert_eq!((world.taken("n1"), world.taken("n2")), (Some(4000), Some(3000)));
    }
}

#[test]
fn a_binding_without_answer_that_happened_is_found() {
    let (mut world, call) = out();
    world.answer_bind(call, BindAnswer::Unknown("connection reset".into()));
    assert_eq!(world.taken("n1"), Some(3000));
    let read = reads(&world.take())[0];
    world.answer_read(read, Some(on("n1", waiting("p", 100, "3"))));
    assert_eq!(said(&world.effects, "p"), ["Scheduled: Successfully assigned ns/p to n1"]);
    world.see_bound("p", "n1");
    world.wait(400);
    assert_eq!((world.taken("n1"), binds(&world.effects).len()), (Some(3000), 0));
}

#[test]
fn a_binding_without_answer_that_did_not_happen_is_tried_again_later() {
    let (mut world, call) = out();
    world.answer_bind(call, BindAnswer::Unknown("connection reset".into()));
    let read = reads(&world.take())[0];
    world.answer_read(read, Some(waiting("p", 100, "3")));
    assert_eq!(world.taken("n1"), Some(0));
    world.wait(1);
    assert!(binds(&world.effects).is_empty());
    world.wait(1);
    assert_eq!(world.one_bind().1, "p on n1");
}

#[test]
fn a_binding_without_answer_keeps_its_room_until_somebody_knows() {
    let (mut world, call) = out();
    world.see(waiting("q", 1, "3"));
    world.answer_bind(call, BindAnswer::Unknown("connection reset".into()));
    for _ in 0..5 {
        let asked = reads(&world.take());
        assert_eq!(asked.len(), 1, "it is asked again");
        world.step(Input::Answer(asked[0], Answer::ReadFailed("connection refused".into())));
        assert_eq!(world.taken("n1"), Some(3000));
        assert!(reads(&world.effects).is_empty(), "not at once");
        world.wait(40);
        assert!(binds(&world.effects).is_empty());
    }
    let asked = reads(&world.take());
    world.answer_read(asked[0], Some(on("n1", waiting("p", 100, "3"))));
    assert_eq!(said(&world.effects, "p"), ["Scheduled: Successfully assigned ns/p to n1"]);
}

#[test]
fn the_watch_ends_the_question_about_a_binding_without_answer() {
    let (mut world, call) = out();
    world.answer_bind(call, BindAnswer::Unknown("connection reset".into()));
    let read = reads(&world.take())[0];
    world.step(Input::Answer(read, Answer::ReadFailed("connection refused".into())));
    world.see_bound("p", "n1");
    world.wait(120);
    assert!(reads(&world.effects).is_empty());
    assert_eq!(said(&world.effects, "p"), ["Scheduled: Successfully assigned ns/p to n1"]);
    assert_eq!(world.taken("n1"), Some(3000));
}

#[test]
fn a_binding_without_answer_of_a_pod_that_is_gone_ends_quietly() {
    let (mut world, call) = out();
    world.answer_bind(call, BindAnswer::Unknown("connection reset".into()));
    let read = reads(&world.take())[0];
    world.answer_read(read, None);
    assert_eq!(world.taken("n1"), Some(0));
    world.wait(400);
    assert!(binds(&world.effects).is_empty());
    assert!(said(&world.effects, "p").is_empty());
}

#[test]
fn a_pod_deleted_while_its_binding_is_out_gives_its_room_to_the_next() {
    let (mut world, call) = out();
    world.see(waiting("q", 1, "3"));
    world.gone(waiting("p", 100, "3"));
    assert_eq!(world.one_bind().1, "q on n1");
    world.answer_bind(call, BindAnswer::Gone);
    assert_eq!((world.taken("n1"), world.node_of("q").as_deref()), (Some(3000), Some("n1")));
}

#[test]
fn a_pod_being_deleted_is_not_tried() {
    let mut world = world(vec![node("n1", "4")], vec![]);
    world.leaving(waiting("p", 100, "3"));
    world.wait(400);
    assert!(binds(&world.effects).is_empty());
    assert!(said(&world.effects, "p").is_empty());
}

#[test]
fn a_pod_that_starts_to_leave_while_its_binding_is_out_keeps_its_room_until_the_answer() {
    let (mut world, call) = out();
    world.leaving(waiting("p", 100, "3"));
    assert_eq!(world.taken("n1"), Some(3000));
    world.answer_bind(call, BindAnswer::Conflict("pod p is being deleted".into()));
    assert_eq!(world.taken("n1"), Some(0));
    world.wait(400);
    assert!(binds(&world.effects).is_empty());
    assert!(said(&world.effects, "p").is_empty(), "nobody waits for it any more");
}

#[test]
fn a_node_deleted_while_a_binding_to_it_is_out_is_forgotten_with_the_refusal() {
    let (mut world, call) = out();
    world.step(Input::Node(Fact::Delete(Box::new(node("n1", "4")))));
    world.answer_bind(call, refused());
    assert_eq!(world.taken("n1"), None);
    world.see_node(node("n2", "4"));
    world.wait(2);
    assert_eq!(world.one_bind().1, "p on n2");
    assert_eq!(world.taken("n2"), Some(3000));
}

#[test]
fn a_binding_to_a_node_deleted_meanwhile_may_succeed_all_the_same() {
    let (mut world, call) = out();
    world.step(Input::Node(Fact::Delete(Box::new(node("n1", "4")))));
    world.answer_bind(call, BindAnswer::Bound);
    world.see_bound("p", "n1");
    world.see_node(node("n1", "4"));
    assert_eq!(world.taken("n1"), Some(3000));
}

#[test]
fn an_answer_to_a_pod_that_is_gone_does_not_touch_the_one_in_its_place() {
    for answer in [BindAnswer::Gone, refused(), BindAnswer::Conflict("another UID".into()), BindAnswer::Bound]
    {
        let (mut world, call) = out();
        world.gone(waiting("p", 100, "3"));
        let again = Pod {
            id: elbowroom::model::PodRef { uid: "p-2".into(), ..pod("p", 0, "0").id },
            ..waiting("p", 100, "5")
        };
        world.see(again);
        world.answer_bind(call, answer.clone());
        world.see_node(node("n1", "8"));
        world.wait(20);
        assert_eq!(
            binds(&world.effects).last().map(|(_, what)| what.as_str()),
            Some("p on n1"),
            "{answer:?}"
        );
        assert_eq!(world.node_of("p-2").as_deref(), Some("n1"), "{answer:?}");
    }
}

#[test]
fn an_answer_to_an_unknown_call_changes_nothing() {
    let (mut world, call) = out();
    world.answer_bind(CallId(call.0 + 1000), BindAnswer::Gone);
    world.answer_bind(call, BindAnswer::Bound);
    world.answer_bind(call, refused());
    assert_eq!(world.taken("n1"), Some(3000));
    assert_eq!(world.effects.iter().filter(|effect| matches!(effect, Effect::Bind { .. })).count(), 0);
}

#[test]
fn a_backlog_is_tried_in_steps_and_in_the_order_of_priority() {
    let mut world = World::of(vec![profile("elbowroom", true)]);
    let pods = (0..100).map(|n| waiting(&format!("p{n}"), n, "10m")).collect();
    world.list(vec![node("n1", "64")], pods, vec![]);
    let at_once = binds(&world.effects).len();
    assert!(at_once < 100, "resizes would wait for all {at_once}");
    let order: Vec<String> = (0..100).rev().map(|n| format!("p{n} on n1")).collect();
    assert_eq!(world.settle(), order);
}

//! What people and autoscalers are told of a Pod that waits.

use super::support::*;
use super::world::*;
use elbowroom::engine::{Answer, BindAnswer, Decision, Effect, Input, PatchAnswer};
use elbowroom::model::placement::{Ignored, Unsupported};
use elbowroom::model::pod::Controller;
use elbowroom::model::{Node, Pod};

const FULL: &str = "0/1 nodes are available: 1 Insufficient cpu.";

/// A Pod that does not fit on the one node.
fn stuck() -> World {
    let mut world = world(vec![node("n1", "2")], vec![pod("x", 1, "2")]);
    world.see(waiting("p", 1, "1"));
    world
}

fn conditions(world: &World) -> Vec<String> {
    written(&world.effects, "p").into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_pod_without_room_says_so_in_kube_schedulers_words() {
    let world = stuck();
    assert_eq!(said(&world.effects, "p"), [format!("FailedScheduling: {FULL}")]);
    assert_eq!(conditions(&world), [format!("false Unschedulable: {FULL}")]);
    let event = events(&world.effects)[0];
    assert_eq!((event.action, event.warning, event.reporter.as_str()), ("Scheduling", true, "elbowroom"));
}

#[test]
fn every_reason_is_counted_and_sorted_as_text() {
    let cordoned = Node { unschedulable: true, ..node("n3", "8") };
    let pods = vec![pod("x", 1, "2")];
    let mut world = world(vec![node("n1", "2"), node("n2", "500m"), cordoned], pods);
    world.see(waiting("p", 1, "1"));
    assert_eq!(
        world.why("p"),
        "FailedScheduling: 0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."
    );
}

#[test]
fn a_success_is_told_once_in_kube_schedulers_words() {
    let mut world = world(vec![node("n1", "2")], vec![]);
    world.see(waiting("p", 1, "1"));
    assert_eq!(world.settle(), ["p on n1"]);
    let event = events(&world.effects)[0];
    assert_eq!(event.note, "Successfully assigned ns/p to n1");
    assert_eq!((event.reason, event.action, event.warning), ("Scheduled", "Binding", false));
    assert_eq!(events(&world.effects).len(), 1);
}

#[test]
fn the_condition_is_written_on_change_only() {
    let mut world = stuck();
    world.settle();
    assert_eq!(conditions(&world).len(), 1);
    world.take();
    world.wait(302);
    assert_eq!(said(&world.effects, "p"), [format!("FailedScheduling: {FULL}")]);
    assert!(conditions(&world).is_empty(), "it says the same as before");
    world.see_node(node("n2", "500m"));
    world.settle();
    assert_eq!(conditions(&world), ["false Unschedulable: 0/2 nodes are available: 2 Insufficient cpu."]);
}

#[test]
fn a_condition_that_the_pod_shows_already_is_not_written_after_a_restart() {
    let mut first = stuck();
    first.settle();
    let told = first.told.get("p").unwrap().clone();
    assert!(told.scheduled.is_some());
    let mut second = world(vec![node("n1", "2")], vec![pod("x", 1, "2"), told]);
    second.settle();
    assert_eq!(said(&second.effects, "p").len(), 1);
    assert!(conditions(&second).is_empty());
}

#[test]
fn a_status_that_was_not_stored_is_written_again() {
    let mut world = stuck();
    let (call, _) = written(&world.take(), "p").remove(0);
    world.step(Input::Answer(call, Answer::Patch(PatchAnswer::Failed("conflict".into()))));
    assert!(conditions(&world).is_empty());
    world.wait(2);
    assert_eq!(conditions(&world), [format!("false Unschedulable: {FULL}")]);
}

/// The watch still shows the first message while the second is on its way: the first is written once more.
#[test]
fn the_last_message_wins_however_late_the_watch_is() {
    let mut world = stuck();
    world.settle();
    world.take();
    let roomless = node("n2", "500m");
    world.see_node(roomless.clone());
    let (call, _) = written(&world.take(), "p").remove(0);
    world.step(Input::Node(elbowroom::engine::Fact::Delete(Box::new(roomless))));
    world.see(Pod { labels: labels("app", "touched"), ..world.told["p"].clone() });
    world.wait(4);
    world.step(Input::Answer(call, Answer::Patch(PatchAnswer::Done)));
    assert_eq!(conditions(&world), [format!("false Unschedulable: {FULL}")]);
}

#[test]
fn nothing_is_written_on_a_pod_that_got_its_node() {
    let mut world = world(vec![node("n1", "2")], vec![]);
    world.see(waiting("p", 1, "1"));
    let (call, _) = world.one_bind();
    world.answer_bind(call, BindAnswer::Refused("closed".into()));
    let (patch, _) = written(&world.take(), "p").remove(0);
    world.wait(2);
    let (call, _) = world.one_bind();
    world.answer_bind(call, BindAnswer::Bound);
    world.step(Input::Answer(patch, Answer::Patch(PatchAnswer::Failed("late".into()))));
    world.see_bound("p", "n1");
    world.wait(120);
    assert!(conditions(&world).is_empty());
}

#[test]
fn each_demand_that_is_not_supported_is_named_and_the_pod_is_not_bound() {
    let demands = [
        (Unsupported::Claim("data".into()), "PersistentVolumeClaim (volume \"data\")"),
        (Unsupported::InlineCsi("secrets".into()), "inline CSI volume \"secrets\""),
        (Unsupported::ExclusiveDisk("disk".into()), "exclusive network disk (volume \"disk\")"),
        (Unsupported::HardSpread("zone".into()), "topology spread with DoNotSchedule (key \"zone\")"),
        (Unsupported::PodAffinity("zone".into()), "required pod affinity (key \"zone\")"),
        (Unsupported::PodAntiAffinity("host".into()), "required pod anti-affinity (key \"host\")"),
        (Unsupported::ResourceClaim("gpu".into()), "resource claim \"gpu\""),
        (Unsupported::Gang, "scheduling group"),
    ];
    for (demand, named) in demands {
        let mut world = world(vec![node("n1", "8")], vec![]);
        world.see(with(waiting("p", 1, "1"), |placement| placement.unsupported = vec![demand]));
        assert_eq!(world.settle(), Vec::<String>::new(), "{named}");
        let text = format!("pod asks for what this scheduler does not support yet: {named}");
        assert_eq!(conditions(&world), [format!("false Unschedulable: 0/1 nodes are available: {text}.")]);
    }
}

#[test]
fn preferences_that_are_ignored_are_reported_once_for_an_owner() {
    let owned = |name: &str, owner: &str| Pod {
        controller: Some(Controller { kind: "ReplicaSet".into(), uid: owner.into() }),
        ..with(waiting(name, 0, "1"), |placement| placement.ignored = vec![Ignored::SoftSpread])
    };
    let mut world = world(vec![node("n1", "64")], vec![]);
    let pods = [owned("a1", "a"), owned("a2", "a"), owned("b1", "b"), owned("a3", "a")];
    pods.into_iter().for_each(|pod| world.see(pod));
    assert_eq!(world.settle().len(), 4);
    let ignored = |effect: &Effect| match effect {
        Effect::Report(Decision::PreferencesIgnored { pod, .. }) => Some(pod.name.to_string()),
        _ => None,
    };
    assert_eq!(world.effects.iter().filter_map(ignored).collect::<Vec<_>>(), ["a1", "b1"]);
}

#[test]
fn a_pod_without_controller_speaks_of_its_own_preferences_once() {
    let mut world = world(vec![node("n1", "500m")], vec![]);
    world
        .see(with(waiting("p", 0, "1"), |placement| placement.ignored = vec![Ignored::PreferredPodAffinity]));
    world.wait(305);
    let reports = decisions(&world.effects);
    let ignored = reports.iter().filter(|one| matches!(one, Decision::PreferencesIgnored { .. })).count();
    let tries = reports.iter().filter(|one| matches!(one, Decision::Unschedulable { .. })).count();
    assert_eq!((ignored, tries), (1, 2));
}

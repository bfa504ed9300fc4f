//! Several Deferred resizes on one node, gangs, and victims that no budget allows.

use super::world::*;
use elbowroom::engine::Effect;
use elbowroom::model::{Budget, Pod, Timestamp};
use elbowroom::resize::policy::PdbPolicy;
use elbowroom::resize::{Reason, ResizePolicy};

const NOBODY: [String; 0] = [];

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[test]
fn one_pod_that_is_enough_for_both_goes_rather_than_one_for_each() {
    // One after the other, `x` would go for `a` and `y` for `b`.
    let pods =
        vec![pod("x", 1, "1"), pod("y", 1, "2"), deferred("a", 50, "1", "2"), deferred("b", 50, "1", "2")];
    let mut world = World::new(vec![node("n1", "5")], pods, vec![]);
    assert_eq!(world.agree(), ["y"]);
    assert!(world.said("a", Reason::Preempting).starts_with("short of cpu 1; evicting 1 Pod: y."));
    assert_eq!(world.reason("a"), Some(Reason::WaitingForVictims));
    assert_eq!(world.reason("b"), Some(Reason::WaitingForVictims));
}

#[test]
fn a_pod_too_important_for_the_second_does_not_go_for_it() {
    // `y` ranks above `b`: it would be enough for both, but nobody may take it for `b`.
    let pods =
        vec![pod("x", 1, "1"), pod("y", 20, "2"), deferred("a", 50, "1", "2"), deferred("b", 10, "1", "2")];
    let mut world = World::new(vec![node("n1", "5")], pods, vec![]);
    assert_eq!(world.agree(), ["x"]);
    assert_eq!(world.reason("b"), Some(Reason::InsufficientVictims));
}

#[test]
fn where_only_one_can_be_had_the_first_in_the_kubelets_order_is_helped() {
    let pods = vec![pod("v", 1, "1"), deferred("a", 50, "1", "2"), deferred("b", 40, "1", "3")];
    let mut world = World::new(vec![node("n1", "3")], pods, vec![]);
    assert_eq!(world.agree(), ["v"]);
    assert_eq!(world.reason("a"), Some(Reason::WaitingForVictims));
    assert_eq!(world.reason("b"), Some(Reason::InsufficientVictims));
}

#[test]
fn three_that_are_served_by_one_big_pod_cost_one() {
    let mut pods: Vec<Pod> = ["s1", "s2", "s3"].iter().map(|name| pod(name, 1, "1")).collect();
    pods.push(pod("big", 1, "3"));
    pods.extend(["a", "b", "c"].map(|name| deferred(name, 50, "1", "2")));
    assert_eq!(World::new(vec![node("n1", "9")], pods, vec![]).agree(), ["big"]);
}

#[test]
fn a_smaller_resize_that_takes_the_room_first_is_foreseen() {
    // The kubelet serves `small` before `p`, so room for both has to come.
    let mut small = deferred("small", 60, "1", "2");
    small.scheduler = "default-scheduler".into();
    let pods = vec![pod("x", 1, "1"), pod("y", 2, "1"), small, deferred("p", 50, "1", "2")];
    let mut world = World::new(vec![node("n1", "4")], pods, vec![]);
    assert_eq!(sorted(world.agree()), ["x", "y"]);
}

// Gangs

fn in_gang(pod: Pod) -> Pod {
    Pod { gang: Some("train".into()), ..pod }
}

#[test]
fn a_member_of_a_gang_goes_only_if_no_other_set_of_the_same_counts_would_do() {
    // By surplus and age the member would be first.
    let member = in_gang(pod("member", 1, "2"));
    let pods = vec![member.clone(), pod("alone", 1, "3"), deferred("p", 50, "1", "3")];
    assert_eq!(World::new(vec![node("n1", "6")], pods, vec![]).agree(), ["alone"]);
    let pods = vec![member.clone(), pod("alone", 2, "3"), deferred("p", 50, "1", "3")];
    assert_eq!(World::new(vec![node("n1", "6")], pods, vec![]).agree(), ["member"], "priority comes first");
    let pods = vec![member, pod("small", 1, "1"), deferred("p", 50, "1", "3")];
    assert_eq!(World::new(vec![node("n1", "4")], pods, vec![]).agree(), ["member"], "alone is not enough");
}

#[test]
fn a_growing_member_of_a_gang_is_helped_by_itself() {
    let pods = vec![pod("v", 1, "2"), in_gang(deferred("p", 50, "1", "3"))];
    assert_eq!(World::new(vec![node("n1", "3")], pods, vec![]).agree(), ["v"]);
}

// pdbPolicy: BestEffort

fn best_effort() -> ResizePolicy {
    ResizePolicy { pdb_policy: PdbPolicy::BestEffort, ..ResizePolicy::default() }
}

/// Whom the engine deletes and whom it evicts, everything being allowed.
fn taken(world: &mut World) -> (Vec<String>, Vec<String>) {
    let evicted = world.agree();
    let deleted = world.effects.iter().filter_map(|effect| match effect {
        Effect::Delete { pod, .. } => Some(pod.name.to_string()),
        _ => None,
    });
    (deleted.collect(), evicted)
}

#[test]
fn what_no_budget_allows_is_deleted_under_best_effort_alone() {
    let pods = || vec![pod("v", 1, "3"), deferred("p", 50, "4", "6")];
    let mut strict = World::new(vec![node("n1", "8")], pods(), vec![budget("all", 0)]);
    assert_eq!(taken(&mut strict), (vec![], vec![]));
    let mut world = World::with(best_effort(), vec![node("n1", "8")], pods(), vec![budget("all", 0)]);
    assert_eq!(taken(&mut world), (vec!["v".into()], vec![]));
}

#[test]
fn a_set_within_budgets_comes_before_any_beyond_them() {
    let covering = |name: &str, app: &str| Budget {
        selector: Some(elbowroom::model::Selector::new([elbowroom::model::labels::Requirement::parse(
            "app".into(),
            "In",
            vec![app.into()],
        )])),
        ..budget(name, 0)
    };
    let pods = vec![pod("kept", 1, "3"), pod("free", 40, "3"), deferred("p", 50, "4", "6")];
    let budgets = vec![covering("b", "kept")];
    let mut world = World::with(best_effort(), vec![node("n1", "11")], pods, budgets);
    assert_eq!(taken(&mut world), (vec![], vec!["free".into()]));
}

#[test]
fn of_one_budget_what_it_allows_is_evicted_and_the_rest_deleted() {
    let pods = vec![pod("a", 1, "1"), pod("b", 1, "1"), deferred("p", 50, "4", "6")];
    let mut world = World::with(best_effort(), vec![node("n1", "6")], pods, vec![budget("all", 1)]);
    let (deleted, evicted) = taken(&mut world);
    assert_eq!((deleted.len(), evicted.len()), (1, 1));
    assert_eq!(sorted([deleted, evicted].concat()), ["a", "b"]);
}

#[test]
fn a_pod_under_two_budgets_can_only_be_deleted() {
    let pods = vec![pod("v", 1, "3"), deferred("p", 50, "4", "6")];
    let budgets = vec![budget("one", 1), budget("two", 1)];
    let mut world = World::with(best_effort(), vec![node("n1", "8")], pods, budgets);
    assert_eq!(taken(&mut world), (vec!["v".into()], vec![]));
}

// What is remembered and told

#[test]
fn after_a_restart_it_is_known_that_somebody_was_evicted() {
    let mut world =
        World::new(vec![node("n1", "8")], vec![pod("v", 1, "3"), deferred("p", 50, "4", "6")], vec![]);
    world.agree();
    let told = world.said("p", Reason::WaitingForVictims);
    let leaving = Pod { deletion: Some(Timestamp::from_seconds(3030)), disrupted: true, ..pod("v", 1, "3") };
    let report = |message: String| elbowroom::model::pod::Condition {
        status: true,
        reason: "WaitingForVictims".into(),
        message: message.as_str().into(),
        observed_generation: Some(2),
        since: None,
    };
    let growing = Pod { report: Some(Box::new(report(told))), ..deferred("p", 50, "4", "6") };
    let mut again = World::new(vec![node("n1", "8")], vec![leaving.clone(), growing], vec![]);
    again.agree();
    again.gone(leaving);
    again.see(pod("p", 50, "6"));
    assert!(events(&again.effects).iter().any(|event| event.reason == "ResizePreempted"));
}

#[test]
fn a_condition_that_somebody_else_takes_off_is_put_back() {
    let mut world =
        World::new(vec![node("n1", "8")], vec![pod("e", 50, "3"), deferred("p", 50, "4", "6")], vec![]);
    let patches = |world: &mut World| {
        let count = world.effects.iter().filter(|effect| matches!(effect, Effect::Patch { .. })).count();
        world.agree();
        count
    };
    assert_eq!(patches(&mut world), 1);
    let report = elbowroom::model::pod::Condition {
        reason: "InsufficientVictims".into(),
        message: world.message("p").as_str().into(),
        observed_generation: Some(2),
        ..Default::default()
    };
    world.see(deferred("p", 50, "4", "6"));
    assert_eq!(patches(&mut world), 0, "the watch has not shown it yet");
    world.see(Pod { report: Some(Box::new(report)), ..deferred("p", 50, "4", "6") });
    assert_eq!(patches(&mut world), 0);
    world.see(deferred("p", 50, "4", "6"));
    assert_eq!(patches(&mut world), 1);
}

#[test]
fn that_a_resize_only_waits_is_announced_once_and_only_if_it_lasts() {
    let waiting =
        |world: &World| events(&world.effects).iter().filter(|event| event.reason == "ResizeWaiting").count();
    let mut world =
        World::new(vec![node("n1", "9")], vec![pod("e", 50, "3"), deferred("p", 50, "4", "6")], vec![]);
    world.wait(4);
    assert_eq!(waiting(&world), 0);
    world.wait(60);
    assert_eq!(waiting(&world), 1);
    assert_eq!(world.agree(), NOBODY);
}

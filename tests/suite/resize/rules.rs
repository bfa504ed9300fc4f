//! Each rule of `ResizePreemptionArgs`: what it keeps from happening, and when it no longer does.

use super::world::*;
use elbowroom::engine::{Effect, Input, Profile};
use elbowroom::model::labels::Requirement;
use elbowroom::model::pod::Controller;
use elbowroom::model::{Pod, Selector, Span, Timestamp};
use elbowroom::resize::policy::{Fallback, Mode, Preemptors, Scope};
use elbowroom::resize::{Policies, Reason, ResizePolicy};

const NOBODY: [String; 0] = [];

fn seconds(seconds: i64) -> Span {
    Span::from_seconds(seconds)
}

/// An 8-CPU node, `v` of 3 CPU, and `p` that grows from 4 to 6: `v` has to go.
fn story(policy: ResizePolicy) -> World {
    World::with(policy, vec![node("n1", "8")], vec![pod("v", 1, "3"), growing()], vec![])
}

fn growing() -> Pod {
    deferred("p", 50, "4", "6")
}

fn owned(pod: Pod, kind: &str) -> Pod {
    Pod { controller: Some(Controller { kind: kind.into(), uid: "owner".into() }), ..pod }
}

// scope

#[test]
fn all_pods_helps_pods_of_other_schedulers_and_speaks_with_the_profiles_name() {
    let policy = ResizePolicy { scope: Scope::AllPods, ..ResizePolicy::default() };
    let foreign = Pod { scheduler: "default-scheduler".into(), ..growing() };
    let mut world = World::with(policy, vec![node("n1", "8")], vec![pod("v", 1, "3"), foreign], vec![]);
    assert_eq!(world.agree(), ["v"]);
    let reporters = events(&world.effects).iter().map(|event| event.reporter.to_string()).collect::<Vec<_>>();
    assert!(reporters.iter().all(|name| name == "elbowroom"), "{reporters:?}");
}

#[test]
fn all_pods_binds_nobody_elses_pods() {
    let resize = ResizePolicy { scope: Scope::AllPods, ..ResizePolicy::default() };
    let mut world = World::of(vec![Profile { name: "helper".into(), bind: false, resize }]);
    let pending = Pod { node: None, scheduler: "default-scheduler".into(), ..pod("new", 1, "1") };
    world.list(vec![node("n1", "8")], vec![pending], vec![]);
    assert!(!world.effects.iter().any(|effect| matches!(effect, Effect::Bind { .. })));
}

// wait

#[test]
fn nobody_goes_before_the_wait_is_over() {
    let mut world = story(ResizePolicy { wait: seconds(30), ..ResizePolicy::default() });
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::Waiting));
    assert!(world.message("p").contains("until 00:50:30 UTC"), "{}", world.message("p"));
    world.wait(29);
    assert_eq!(world.agree(), NOBODY);
    world.wait(1);
    assert_eq!(world.agree(), ["v"]);
}

#[test]
fn room_that_comes_during_the_wait_saves_the_victim() {
    let mut world = story(ResizePolicy { wait: seconds(30), ..ResizePolicy::default() });
    world.see_node(node("n1", "9"));
    world.wait(60);
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::WaitingForKubelet));
}

#[test]
fn the_wait_begins_again_with_a_new_wish() {
    let mut world = story(ResizePolicy { wait: seconds(30), ..ResizePolicy::default() });
    world.wait(20);
    let mut more = deferred("p", 50, "4", "7");
    (more.generation, more.observed_generation) = (3, Some(3));
    more.resize.as_mut().expect("a condition").observed_generation = Some(3);
    world.see(more);
    world.wait(29);
    assert_eq!(world.agree(), NOBODY);
    world.wait(1);
    assert_eq!(world.agree(), ["v"]);
}

#[test]
fn what_is_impossible_is_said_at_once_whatever_the_wait() {
    let policy = ResizePolicy { wait: seconds(30), ..ResizePolicy::default() };
    let pods = vec![pod("e", 50, "3"), growing()];
    let mut world = World::with(policy, vec![node("n1", "8")], pods, vec![]);
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::InsufficientVictims));
}

// deadline

#[test]
fn a_victim_whose_grace_period_outlasts_the_deadline_stays() {
    let policy = ResizePolicy { deadline: Some(seconds(300)), ..ResizePolicy::default() };
    let slow = Pod { grace: seconds(301), ..pod("slow", 1, "3") };
    let mut world = World::with(policy, vec![node("n1", "8")], vec![slow, growing()], vec![]);
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::GraceTooLong));
    let message = world.message("p");
    assert!(
        message.contains("slow") && message.contains("5m1s") && message.contains("00:55:00 UTC"),
        "{message}"
    );
}

#[test]
fn one_that_leaves_in_time_goes_in_its_place() {
    let policy = ResizePolicy { deadline: Some(seconds(300)), ..ResizePolicy::default() };
    let slow = Pod { grace: seconds(301), ..pod("slow", 1, "3") };
    let pods = vec![slow, pod("quick", 2, "3"), growing()];
    assert_eq!(World::with(policy, vec![node("n1", "11")], pods, vec![]).agree(), ["quick"]);
}

#[test]
fn once_the_deadline_has_passed_nobody_goes_any_more() {
    let policy = ResizePolicy { deadline: Some(seconds(60)), ..ResizePolicy::default() };
    let high = pod("high", 90, "3");
    let quick = Pod { grace: seconds(0), ..pod("quick", 1, "2") };
    let pods = vec![high.clone(), quick, growing()];
    // Not enough while the important Pod is there; it leaves too late.
    let mut world = World::with(policy, vec![node("n1", "9")], pods, vec![budget("all", 0)]);
    world.wait(61);
    world.see_budget(budget("all", 5));
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::GraceTooLong));
}

// victim age

#[test]
fn a_young_pod_stays_until_it_is_old_enough() {
    let policy = ResizePolicy { min_victim_age: seconds(2030), ..ResizePolicy::default() };
    let mut world = story(policy);
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::ProtectedVictims));
    assert!(world.message("p").contains("minVictimAge (until 00:50:30 UTC)"), "{}", world.message("p"));
    world.wait(30);
    assert_eq!(world.agree(), ["v"]);
}

// Limits

/// Two of three Pods of 1 CPU have to go.
fn two_have_to_go(policy: ResizePolicy) -> World {
    let mut pods: Vec<Pod> = ["a", "b", "c"].iter().map(|name| pod(name, 1, "1")).collect();
    pods.push(growing());
    World::with(policy, vec![node("n1", "7")], pods, vec![])
}

#[test]
fn no_more_than_max_victims_go_for_one_resize() {
    let mut world = two_have_to_go(ResizePolicy { max_victims: Some(1), ..ResizePolicy::default() });
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::LimitReached));
    assert!(
        world.message("p").contains("2 Pods would have to go and maxVictims is 1"),
        "{}",
        world.message("p")
    );
    let mut world = two_have_to_go(ResizePolicy { max_victims: Some(2), ..ResizePolicy::default() });
    assert_eq!(world.agree().len(), 2);
}

#[test]
fn a_limit_prefers_one_more_important_pod_to_two() {
    let policy = ResizePolicy { max_victims: Some(1), ..ResizePolicy::default() };
    let pods = vec![pod("a", 1, "1"), pod("b", 1, "1"), pod("big", 2, "2"), growing()];
    assert_eq!(World::with(policy, vec![node("n1", "8")], pods, vec![]).agree(), ["big"]);
}

#[test]
fn no_more_than_so_many_leave_a_node_at_a_time() {
    let policy = ResizePolicy { max_evicting_per_node: Some(1), ..ResizePolicy::default() };
    let first = Pod { node: Some("n1".into()), ..pod("v1", 1, "2") };
    let pods = vec![first.clone(), pod("v2", 60, "2"), growing(), deferred("q", 70, "1", "3")];
    let mut world = World::with(policy, vec![node("n1", "9")], pods, vec![]);
    let gone = world.agree();
    assert_eq!(gone, ["v1"], "q comes first in the kubelet's order");
    assert_eq!(world.reason("p"), Some(Reason::InsufficientVictims));

    let policy = ResizePolicy { max_evicting_per_node: Some(1), ..ResizePolicy::default() };
    let pods = vec![pod("v1", 1, "2"), pod("v2", 2, "2"), growing(), deferred("q", 70, "1", "3")];
    let mut world = World::with(policy, vec![node("n1", "9")], pods, vec![]);
    assert_eq!(world.agree(), ["v1"]);
    assert_eq!(world.reason("p"), Some(Reason::LimitReached));
    assert!(world.message("p").contains("1 evicted before are leaving node n1"), "{}", world.message("p"));
    // v1 is gone and q has its room: now one more may leave.
    world.see(pod("q", 70, "3"));
    world.gone(pod("v1", 1, "2"));
    assert_eq!(world.agree(), ["v2"]);
}

#[test]
fn no_more_than_so_many_evictions_begin_in_a_minute() {
    let policy = ResizePolicy { max_evictions_per_minute: Some(1), ..ResizePolicy::default() };
    let pods = vec![
        on("n1", pod("v1", 1, "3")),
        on("n1", growing()),
        on("n2", pod("v2", 1, "3")),
        on("n2", deferred("q", 50, "4", "6")),
    ];
    let mut world = World::with(policy, vec![node("n1", "8"), node("n2", "8")], pods, vec![]);
    assert_eq!(world.agree(), ["v1"]);
    assert_eq!(world.reason("q"), Some(Reason::LimitReached));
    assert!(world.message("q").contains("goes on at 00:51:00 UTC"), "{}", world.message("q"));
    world.wait(59);
    assert_eq!(world.agree(), NOBODY);
    world.wait(1);
    assert_eq!(world.agree(), ["v2"]);
}

#[test]
fn a_set_that_no_minute_allows_is_refused_for_good() {
    let policy = ResizePolicy { max_evictions_per_minute: Some(1), ..ResizePolicy::default() };
    let mut world = two_have_to_go(policy);
    world.wait(120);
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::LimitReached));
}

// preemptors

fn selector(key: &str, value: &str) -> Selector {
    Selector::new([Requirement::parse(key.into(), "In", vec![value.into()])])
}

#[test]
fn a_pod_below_the_least_priority_of_preemptors_gets_nothing() {
    let at_least = |priority| ResizePolicy {
        preemptors: Preemptors { min_priority: Some(priority), ..Preemptors::default() },
        ..ResizePolicy::default()
    };
    let mut world = story(at_least(51));
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::NotAllowed));
    assert!(world.message("p").contains("priority 50 is below minPriority 51"), "{}", world.message("p"));
    assert_eq!(story(at_least(50)).agree(), ["v"]);
}

#[test]
fn a_pod_whose_labels_do_not_match_preemptors_gets_nothing() {
    let labelled = |value| ResizePolicy {
        preemptors: Preemptors { label_selector: Some(selector("app", value)), ..Preemptors::default() },
        ..ResizePolicy::default()
    };
    assert_eq!(story(labelled("other")).agree(), NOBODY);
    assert_eq!(story(labelled("p")).agree(), ["v"]);
}

#[test]
fn a_namespace_that_is_labelled_later_lets_its_pods_preempt() {
    let policy = ResizePolicy {
        preemptors: Preemptors { namespace_selector: Some(selector("may", "grow")), ..Preemptors::default() },
        ..ResizePolicy::default()
    };
    let mut world = story(policy);
    assert_eq!(world.agree(), NOBODY);
    assert!(world.message("p").contains("namespace ns does not match"), "{}", world.message("p"));
    world.see_namespace("ns", labels("may", "grow"));
    assert_eq!(world.agree(), ["v"]);
}

// fallback

fn falls_back() -> ResizePolicy {
    ResizePolicy { deadline: Some(seconds(60)), fallback: Fallback::EvictSelf, ..ResizePolicy::default() }
}

/// Nobody can go for this Pod.
fn hopeless(pod: Pod) -> World {
    let pods = vec![super::world::pod("e", 50, "3"), pod];
    World::with(falls_back(), vec![node("n1", "8")], pods, vec![])
}

#[test]
fn after_the_deadline_a_pod_without_hope_is_evicted_for_its_controller_to_make_it_anew() {
    let mut world = hopeless(owned(growing(), "StatefulSet"));
    world.wait(59);
    assert_eq!(world.agree(), NOBODY);
    world.wait(1);
    assert_eq!(world.agree(), ["p"]);
    assert!(world.message("p").contains("The deadline has passed"), "{}", world.message("p"));
    assert!(!events(&world.effects).iter().any(|event| event.reason == "Preempted"));
}

#[test]
fn without_the_fallback_it_stays() {
    let policy = ResizePolicy { fallback: Fallback::None, ..falls_back() };
    let pods = vec![pod("e", 50, "3"), owned(growing(), "StatefulSet")];
    let mut world = World::with(policy, vec![node("n1", "8")], pods, vec![]);
    world.wait(300);
    assert_eq!(world.agree(), NOBODY);
}

#[test]
fn a_pod_that_nobody_makes_anew_elsewhere_is_not_evicted_for_itself() {
    for pod in [growing(), owned(growing(), "DaemonSet")] {
        let mut world = hopeless(pod);
        world.wait(300);
        assert_eq!(world.agree(), NOBODY);
    }
}

#[test]
fn a_pod_whose_room_is_there_is_not_evicted_for_itself() {
    let mut world = hopeless(owned(growing(), "StatefulSet"));
    world.see_node(node("n1", "9"));
    world.wait(300);
    assert_eq!(world.agree(), NOBODY);
}

#[test]
fn its_own_budget_holds_against_the_fallback() {
    let pods = vec![pod("e", 50, "3"), owned(growing(), "StatefulSet")];
    let mut world = World::with(falls_back(), vec![node("n1", "8")], pods, vec![budget("all", 0)]);
    world.wait(60);
    let mut evicted = Vec::new();
    for _ in 0..60 {
        evicted.extend(world.agree_with(&[budget("all", 0)]));
        world.wait(1);
    }
    assert_eq!(evicted, NOBODY);
    assert!(world.message("p").contains("allows no disruption now"), "{}", world.message("p"));
    world.see_budget(budget("all", 1));
    world.wait(60);
    assert_eq!(world.agree_with(&[budget("all", 1)]), ["p"]);
}

// mode, changed while it runs

fn policies(policy: ResizePolicy) -> Policies {
    Policies::new([("elbowroom".into(), policy)])
}

#[test]
fn switched_off_it_takes_back_what_it_said_and_lets_everybody_be() {
    let policy = ResizePolicy { mode: Mode::Observe, ..ResizePolicy::default() };
    let mut world = story(policy);
    world.agree();
    let off = ResizePolicy { mode: Mode::Off, ..ResizePolicy::default() };
    world.step(Input::Policies(policies(off)));
    let removed =
        |effect: &Effect| matches!(effect, Effect::Patch { condition, .. } if condition.value.is_none());
    assert!(world.effects.iter().any(removed), "{:?}", world.effects);
    world.see(growing());
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), None);
}

#[test]
fn switched_off_in_the_middle_of_asking_nobody_goes() {
    let mut world = two_have_to_go(ResizePolicy::default());
    let off = ResizePolicy { mode: Mode::Off, ..ResizePolicy::default() };
    world.step(Input::Policies(policies(off)));
    assert_eq!(world.agree(), NOBODY);
}

#[test]
fn a_rule_that_is_loosened_is_felt_at_once() {
    let mut world = story(ResizePolicy { min_victim_age: seconds(9000), ..ResizePolicy::default() });
    assert_eq!(world.agree(), NOBODY);
    world.step(Input::Policies(policies(ResizePolicy::default())));
    assert_eq!(world.agree(), ["v"]);
}

#[test]
fn a_restart_does_not_begin_the_deadline_anew() {
    // The report shows that this generation was known; it is Deferred since 2000 s, and now it is 3000 s.
    let policy = ResizePolicy { deadline: Some(seconds(600)), ..ResizePolicy::default() };
    let report = elbowroom::model::pod::Condition {
        reason: "BlockedByPDB".into(),
        observed_generation: Some(2),
        since: Some(Timestamp::from_seconds(2001)),
        ..Default::default()
    };
    let told = Pod { report: Some(Box::new(report)), ..growing() };
    let mut world = World::with(policy, vec![node("n1", "8")], vec![pod("v", 1, "3"), told], vec![]);
    assert_eq!(world.agree(), NOBODY);
    assert_eq!(world.reason("p"), Some(Reason::GraceTooLong));
}

//! When nobody is evicted, and what the Pod says then.

use super::world::*;
use elbowroom::engine::{Effect, Fact, Input};
use elbowroom::model::taint::{Taint, TaintEffect};
use elbowroom::model::{Node, Placement, Pod, Timestamp};
use elbowroom::resize::Reason;
use elbowroom::resize::policy::{Mode, Protect, ResizePolicy};

/// Nobody may go for this Pod on this node; returns why.
fn blocked(node: Node, pod: Pod) -> (Reason, String) {
    let name = pod.id.name.to_string();
    let mut world = World::new(vec![node], vec![super::world::pod("v", 1, "200m"), pod], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    (world.reason(&name).expect("a reason"), world.message(&name))
}

fn growing() -> Pod {
    deferred("p", 100, "100m", "300m")
}

#[test]
fn a_pod_that_never_preempts_says_so() {
    let (reason, message) = blocked(node("n1", "300m"), Pod { never_preempts: true, ..growing() });
    assert_eq!(reason, Reason::PreemptionPolicyNever);
    assert!(message.contains("the Pod's preemptionPolicy is Never"), "{message}");
}

#[test]
fn a_node_that_forbids_it_is_obeyed_until_it_no_longer_does() {
    let mut switched = node("n1", "300m");
    switched.resize_preemption_disabled_by = vec!["team-a".into(), "team-b".into()];
    let mut world = World::new(vec![switched.clone()], vec![pod("v", 1, "200m"), growing()], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::DisabledByNode));
    assert!(world.message("p").contains("team-a, team-b"), "{}", world.message("p"));
    switched.resize_preemption_disabled_by.pop();
    world.see_node(switched);
    assert_eq!(world.agree(), Vec::<String>::new());
    world.see_node(node("n1", "300m"));
    assert_eq!(world.agree(), ["v"]);
}

#[test]
fn nobody_goes_on_a_node_that_is_not_ready() {
    let (reason, _) = blocked(Node { ready: false, unschedulable: true, ..node("n1", "300m") }, growing());
    assert_eq!(reason, Reason::NodeNotReady);
}

#[test]
fn a_cordon_alone_does_not_matter() {
    let cordoned = Node { unschedulable: true, ..node("n1", "300m") };
    assert_eq!(World::new(vec![cordoned], vec![pod("v", 1, "200m"), growing()], vec![]).agree(), ["v"]);
}

#[test]
fn a_request_beyond_the_node_evicts_nobody() {
    let (reason, message) = blocked(node("n1", "300m"), deferred("p", 100, "100m", "400m"));
    assert_eq!(reason, Reason::ExceedsNode);
    let expected = "the request alone exceeds node n1's allocatable: cpu 400m of 300m. Ask for less";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn lost_node_affinity_is_no_shortage() {
    let mut pod = growing();
    let placement = Placement { node_selector: labels("pool", "db"), ..Placement::default() };
    pod.placement = placement.into();
    assert_eq!(blocked(node("n1", "300m"), pod).0, Reason::NotAShortage);
}

#[test]
fn an_untolerated_no_execute_taint_is_no_shortage() {
    let mut tainted = node("n1", "300m");
    tainted.taints = vec![Taint { key: "out".into(), value: "".into(), effect: TaintEffect::NoExecute }];
    assert_eq!(blocked(tainted, growing()).0, Reason::NotAShortage);
}

#[test]
fn pressure_is_no_shortage() {
    let mut pod = growing();
    pod.resize.as_mut().expect("a condition").message = "The node had condition: [DiskPressure]. ".into();
    let (reason, message) = blocked(node("n1", "300m"), pod);
    assert_eq!(reason, Reason::NotAShortage);
    assert!(message.contains("says: The node had condition: [DiskPressure]. "), "{message}");
}

#[test]
fn equal_priority_is_never_a_victim() {
    let pods = vec![pod("e", 10, "2"), deferred("r", 10, "2", "3")];
    let mut world = World::new(vec![node("n1", "4")], pods, vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("r"), Some(Reason::InsufficientVictims));
    world.gone(pod("e", 10, "2"));
    assert_eq!(world.reason("r"), Some(Reason::WaitingForKubelet));
}

#[test]
fn nobody_goes_when_all_together_are_not_enough() {
    let pods = vec![pod("h", 90, "4"), pod("v", 1, "3"), deferred("r", 50, "3", "8")];
    let mut world = World::new(vec![node("n1", "10")], pods, vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("r"), Some(Reason::InsufficientVictims));
}

#[test]
fn protected_pods_stay_and_the_growing_pod_says_so() {
    let mut daemon = pod("ds", 1, "200m");
    daemon.controller =
        Some(elbowroom::model::pod::Controller { kind: "DaemonSet".into(), uid: "owner".into() });
    let mut world = World::new(vec![node("n1", "300m")], vec![daemon.clone(), growing()], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::ProtectedVictims));

    let policy = ResizePolicy {
        protect: Protect { daemon_sets: false, ..Protect::default() },
        ..ResizePolicy::default()
    };
    let mut world = World::with(policy, vec![node("n1", "300m")], vec![daemon, growing()], vec![]);
    assert_eq!(world.agree(), ["ds"]);
}

#[test]
fn mirrors_of_static_pods_are_no_victims() {
    let mirror = Pod { mirror: true, ..pod("static", 1, "200m") };
    let mut world = World::new(vec![node("n1", "300m")], vec![mirror, growing()], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::InsufficientVictims));
}

#[test]
fn observe_says_who_would_go_and_evicts_nobody() {
    let policy = ResizePolicy { mode: Mode::Observe, ..ResizePolicy::default() };
    let pods = vec![pod("v", 1, "200m"), growing()];
    let mut world = World::with(policy, vec![node("n1", "300m")], pods, vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::Observing));
    let message = world.message("p");
    assert!(message.starts_with("short of cpu 200m; mode Observe: would evict 1 Pod: v. "), "{message}");
}

#[test]
fn pods_of_other_schedulers_are_not_helped() {
    let foreign = Pod { scheduler: "default-scheduler".into(), ..growing() };
    let mut world = World::new(vec![node("n1", "300m")], vec![pod("v", 1, "200m"), foreign], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), None);
}

#[test]
fn a_condition_of_status_false_is_not_acted_on() {
    let mut pod = growing();
    pod.resize.as_mut().expect("a condition").status = false;
    let mut world =
        World::new(vec![node("n1", "300m")], vec![super::world::pod("v", 1, "200m"), pod], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
}

#[test]
fn a_condition_about_an_older_request_is_not_acted_on() {
    let older = Pod { generation: 3, ..growing() };
    let mut world = World::new(vec![node("n1", "300m")], vec![pod("v", 1, "200m"), older.clone()], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    // The kubelet judges a resize before it syncs the Pod: then only the Pod's status has caught up.
    world.see(Pod { observed_generation: Some(3), ..older });
    assert_eq!(world.agree(), ["v"]);
}

#[test]
fn infeasible_evicts_nobody() {
    let mut pod = growing();
    pod.resize.as_mut().expect("a condition").reason = "Infeasible".into();
    pod.resources.infeasible = true;
    let mut world =
        World::new(vec![node("n1", "300m")], vec![super::world::pod("v", 1, "200m"), pod], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
}

#[test]
fn nobody_goes_before_every_list_is_complete() {
    let mut world = World::new(vec![node("n1", "300m")], vec![], vec![]);
    world.step(Input::Budget(Fact::Begin));
    world.see(pod("v", 1, "200m"));
    world.see(growing());
    assert_eq!(world.agree(), Vec::<String>::new());
    world.see_budget(budget("all", 0));
    world.step(Input::Budget(Fact::End));
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::BlockedByPdb));
}

#[test]
fn a_blocked_state_is_announced_once() {
    let pods = vec![pod("e", 100, "200m"), growing()];
    let mut world = World::new(vec![node("n1", "300m")], pods, vec![]);
    for _ in 0..50 {
        world.see(growing());
        world.agree();
    }
    let blocked =
        |effect: &&Effect| matches!(effect, Effect::Emit(e) if e.reason == "ResizePreemptionBlocked");
    assert!(world.effects.iter().filter(blocked).count() <= 1);
}

#[test]
fn nobody_goes_for_a_pod_that_is_leaving_itself() {
    // Its kubelet may leave the condition as it is until the end.
    let leaving = Pod { deletion: Some(Timestamp::from_seconds(3600)), ..growing() };
    let mut world = World::new(vec![node("n1", "300m")], vec![pod("v", 1, "200m"), leaving], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), None);
}

//! PodDisruptionBudgets hold: in the plan, across nodes, and while evictions are under way.

use super::world::*;
use elbowroom::engine::{Answer, Effect, Input};
use elbowroom::model::{Budget, Pod, Timestamp};
use elbowroom::resize::Reason;

#[test]
fn a_budget_of_zero_keeps_its_pod_and_is_named() {
    let pods = vec![pod("v", 1, "200m"), deferred("p", 100, "100m", "300m")];
    let mut world = World::new(vec![node("n1", "300m")], pods, vec![budget("all", 0)]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::BlockedByPdb));
    let message = world.message("p");
    assert!(message.contains("kept by PodDisruptionBudget ns/all (allows 0 now)"), "{message}");
    world.see_budget(budget("all", 1));
    assert_eq!(world.agree(), ["v"]);
}

/// r1 on n1 needs v1 gone, r2 on n2 needs v2 gone, and the budget over all allows one disruption.
fn two_resizes_on_one_unit() -> World {
    let pods = vec![
        on("n1", pod("v1", 5, "4")),
        on("n2", pod("v2", 5, "4")),
        on("n1", deferred("r1", 80, "2", "4")),
        on("n2", deferred("r2", 80, "2", "4")),
    ];
    World::new(vec![node("n1", "6"), node("n2", "6")], pods, vec![budget("all", 1)])
}

#[test]
fn two_resizes_on_two_nodes_do_not_spend_one_unit_twice() {
    let mut world = two_resizes_on_one_unit();
    assert_eq!(world.agree().len(), 1);
    let blocked = ["r1", "r2"].iter().filter(|name| world.reason(name) == Some(Reason::BlockedByPdb)).count();
    assert_eq!(blocked, 1);
}

#[test]
fn a_unit_that_was_spent_stays_spent_until_the_status_shows_it() {
    let pods = vec![
        on("n1", pod("v1", 5, "4")),
        on("n2", pod("v2", 5, "4")),
        on("n1", deferred("r1", 80, "2", "4")),
    ];
    let mut world = World::new(vec![node("n1", "6"), node("n2", "6")], pods, vec![budget("all", 1)]);
    assert_eq!(world.agree(), ["v1"]);
    // A status from before the eviction arrives late and says 1 once more.
    world.see_budget(Budget { current_healthy: 4, ..budget("all", 1) });
    world.see(on("n2", deferred("r2", 80, "2", "4")));
    assert_eq!(world.agree(), Vec::<String>::new());
    let counted = vec![("v1".into(), Timestamp::from_seconds(3000))];
    world.see_budget(Budget { disrupted: counted, ..budget("all", 0) });
    assert_eq!(world.agree(), Vec::<String>::new());
    world.see_budget(budget("all", 1));
    assert_eq!(world.agree(), ["v2"]);
}

#[test]
fn a_pod_under_two_budgets_is_no_victim() {
    let mut pods = vec![pod("v1", 1, "3"), pod("v2", 2, "3"), deferred("r", 9, "2", "5")];
    pods[1].labels = labels("app", "free");
    let only = |name: &str| Budget {
        selector: Some(elbowroom::model::Selector::new([elbowroom::model::labels::Requirement::parse(
            "app".into(),
            "In",
            vec!["v1".into()],
        )])),
        ..budget(name, 1)
    };
    let mut world = World::new(vec![node("n1", "8")], pods.clone(), vec![only("one"), only("two")]);
    assert_eq!(world.agree(), ["v2"]);

    pods[1].priority = 99;
    let mut world = World::new(vec![node("n1", "8")], pods, vec![only("one"), only("two")]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("r"), Some(Reason::BlockedByPdb));
    let message = world.message("r");
    assert!(
        message.contains("ns/one (allows 1 now), ns/two (allows 1 now) (the Eviction API refuses"),
        "{message}"
    );
}

#[test]
fn an_unready_pod_goes_where_its_budget_always_allows_it() {
    let pods = |ready| vec![Pod { ready, ..pod("v1", 1, "3") }, deferred("r", 40, "3", "5")];
    let lax = || Budget { always_allow_unhealthy: true, ..budget("all", 0) };
    assert_eq!(World::new(vec![node("n1", "6")], pods(false), vec![lax()]).agree(), ["v1"]);
    assert_eq!(World::new(vec![node("n1", "6")], pods(true), vec![lax()]).agree(), Vec::<String>::new());
}

#[test]
fn a_pod_that_never_started_costs_no_budget() {
    let starting = Pod { phase: elbowroom::model::pod::Phase::Pending, ready: false, ..pod("i", 2, "3") };
    let pods = vec![starting, deferred("r", 12, "1", "2")];
    assert_eq!(World::new(vec![node("n1", "4")], pods, vec![budget("all", 0)]).agree(), ["i"]);
}

#[test]
fn a_more_important_pod_goes_when_the_budget_keeps_the_others() {
    let mut pods =
        vec![pod("ci1", 1, "2"), pod("ci2", 1, "2"), pod("other", 2, "2"), deferred("r", 90, "2", "4")];
    pods[2].id.namespace = "elsewhere".into();
    assert_eq!(World::new(vec![node("n1", "8")], pods, vec![budget("all", 0)]).agree(), ["other"]);
}

#[test]
fn a_covered_victim_is_read_again_just_before() {
    let pods = vec![pod("v", 1, "200m"), deferred("p", 100, "100m", "300m")];
    let mut world = World::new(vec![node("n1", "300m")], pods, vec![budget("all", 1)]);
    let effects = world.take();
    let reads = effects.iter().find_map(|effect| match effect {
        Effect::Read { call, pod, budgets } => Some((*call, pod.name.to_string(), budgets.clone())),
        _ => None,
    });
    let (call, name, budgets) = reads.expect("a read");
    assert_eq!((name.as_str(), budgets), ("v", vec!["all".into()]));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Evict { .. })));

    // Meanwhile another Pod has taken the name: a failed precondition would still burn a unit.
    let mut replaced = pod("v", 1, "200m");
    replaced.id.uid = "v-again".into();
    world.step(Input::Answer(call, Answer::Read(Some(Box::new(replaced)), vec![budget("all", 1)])));
    assert_eq!(world.evictions(), []);
}

#[test]
fn a_budget_that_closes_between_two_exits_claims_no_further_victim() {
    // kube-scheduler 1.37 then takes w as well.
    let mut w = pod("w", 50, "200m");
    w.started = Some(Timestamp::from_seconds(1));
    w.labels = labels("app", "w");
    w.id.namespace = "elsewhere".into();
    let (v1, v2) = (pod("v1", 10, "250m"), pod("v2", 10, "250m"));
    let pods = vec![w, v1.clone(), v2.clone(), deferred("p", 100, "300m", "700m")];
    let mut world = World::new(vec![node("n1", "1")], pods, vec![budget("all", 2)]);
    let mut evicted = world.agree();
    evicted.sort();
    assert_eq!(evicted, ["v1", "v2"]);
    world.leaving(v1.clone());
    world.leaving(v2);
    world.see_budget(budget("all", 0));
    world.gone(v1);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::WaitingForVictims));
}

#[test]
fn a_unit_that_is_given_back_goes_to_whoever_waits_for_it() {
    let mut world = two_resizes_on_one_unit();
    assert_eq!(world.reason("r2"), Some(Reason::BlockedByPdb));
    // While v1 is being asked about, the wish that it was to go for is taken back.
    world.see(on("n1", pod("r1", 80, "2")));
    assert_eq!(world.agree(), ["v2"]);
}

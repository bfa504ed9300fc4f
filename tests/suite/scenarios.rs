//! The golden scenarios: each file in `tests/scenarios` plays against the real engine and ends as it must.

use elbowroom::engine::Settings;
use elbowroom::engine::effect::REPORT_CONDITION;
use elbowroom::simulation::objects::{Key, PodExt};
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{Faults, What, World, engine};

/// A scenario that has played to its end.
struct Played(World);

fn play(name: &str) -> Played {
    play_with(name, Faults::default())
}

fn play_with(name: &str, faults: Faults) -> Played {
    let file = format!("tests/scenarios/{name}.yaml");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    let text = std::fs::read_to_string(path).expect(&file);
    let scenario = Scenario::parse(&file, &text).unwrap_or_else(|error| panic!("{error}"));
    let mut world = scenario.stage(engine(Settings::default()), faults);
    world.run(scenario.until).unwrap_or_else(|problem| panic!("{file}: {problem}"));
    Played(world)
}

impl Played {
    /// Pods that the API let go, in order of their names.
    fn evicted(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .0
            .history()
            .iter()
            .filter_map(|moment| match &moment.what {
                What::Eviction(pod, Ok(())) => Some(pod.to_string()),
                _ => None,
            })
            .collect();
        names.sort();
        names
    }

    fn pod(&self, name: &str) -> &k8s_openapi::api::core::v1::Pod {
        self.0.api().pods.get(&Key::new("default", name)).unwrap_or_else(|| panic!("Pod {name} is gone"))
    }

    fn allocated(&self, name: &str) -> String {
        let status = self.pod(name).status.as_ref().expect("a status");
        status.allocated_resources.as_ref().expect("allocated")["cpu"].0.clone()
    }

    /// Why the Pod's resize is where it is; empty when it has no such condition.
    fn reason(&self, name: &str) -> String {
        let condition = self.pod(name).condition(REPORT_CONDITION);
        condition.and_then(|one| one.reason.clone()).unwrap_or_default()
    }

    fn node(&self, name: &str) -> Option<&str> {
        self.pod(name).node()
    }

    fn events(&self, name: &str) -> Vec<&str> {
        let of = |event: &&elbowroom::simulation::api::Recorded| event.pod == Key::new("default", name);
        self.0.api().events.iter().filter(of).map(|event| event.reason.as_str()).collect()
    }
}

#[test]
fn a_one_low_pod_in_the_way_goes_with_one_event_on_each_side() {
    let end = play("a");
    assert_eq!(end.evicted(), ["v"]);
    assert_eq!(end.allocated("p"), "300m");
    assert_eq!(end.reason("p"), "", "the condition goes with PodResizePending");
    assert_eq!(end.events("v").iter().filter(|reason| **reason == "Preempted").count(), 1);
    assert_eq!(end.events("p").iter().filter(|reason| **reason == "ResizePreempting").count(), 1);
}

#[test]
fn c_a_growing_pod_needs_no_further_pod_slot() {
    // Upstream deletes the low Pod.
    let end = play("c");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.allocated("p"), "300m");
}

#[test]
fn e_wishes_of_neighbours_are_not_charged() {
    // Upstream deletes all three.
    let end = play("e");
    assert_eq!(end.evicted(), ["low-3"]);
    assert_eq!(end.allocated("p"), "1000m");
}

#[test]
fn f_of_two_equal_pods_the_first_is_helped() {
    // Upstream helps neither.
    let end = play("f");
    assert_eq!(end.evicted(), ["v"]);
    assert_eq!((end.allocated("a").as_str(), end.allocated("b").as_str()), ("600m", "300m"));
    assert_eq!(end.reason("b"), "InsufficientVictims");
}

#[test]
fn g_a_budget_of_zero_keeps_its_pod() {
    // Upstream deletes it all the same.
    let end = play("g");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "BlockedByPDB");
}

#[test]
fn g2_one_victim_is_fewer_than_three() {
    // Upstream deletes the three small ones.
    let end = play("g2");
    assert_eq!(end.evicted(), ["big"]);
    assert_eq!(end.allocated("p"), "700m");
}

#[test]
fn h_only_what_is_short_counts() {
    // Upstream deletes lowmem too.
    let end = play("h");
    assert_eq!(end.evicted(), ["lowcpu"]);
    assert_eq!(end.allocated("p"), "400m");
    assert_eq!(end.reason("memhog"), "PreemptionPolicyNever");
}

#[test]
fn l_what_is_leaving_is_waited_for_even_when_its_budget_is_used_up() {
    // Upstream deletes w as well.
    let end = play("l");
    assert_eq!(end.evicted(), ["v1", "v2"]);
    assert_eq!(end.allocated("p"), "700m");
}

#[test]
fn r_a_restart_finds_the_victim_on_its_way() {
    // Upstream deletes v1 as well once a budget covers v2.
    let end = play("r");
    assert_eq!(end.evicted(), ["v2"]);
    assert_eq!(end.allocated("p"), "600m");
}

#[test]
fn m_nobody_dies_on_a_node_that_is_not_ready() {
    // Upstream deletes the victim.
    let end = play("m");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "NodeNotReady");
}

#[test]
fn n_a_pod_that_never_preempts_says_so() {
    // Upstream says nothing.
    let end = play("n");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "PreemptionPolicyNever");
    assert!(end.events("p").contains(&"ResizePreemptionBlocked"));
}

#[test]
fn q_claimed_room_goes_to_a_higher_pod_without_a_death() {
    // Upstream deletes the growing Pod.
    let end = play("q");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.node("new"), Some("n1"));
    assert_eq!(end.allocated("p"), "300m");
}

#[test]
fn s_claimed_room_is_kept_from_lower_and_equal_pods() {
    let end = play("s");
    assert_eq!((end.node("new-low"), end.node("new-high")), (None, None));
    assert_eq!(end.evicted(), [""; 0]);
}

#[test]
fn x_a_condition_that_is_false_asks_for_nothing() {
    // Upstream reads the reason alone and deletes the victim.
    let end = play("x");
    assert_eq!(end.evicted(), [""; 0]);
}

#[test]
fn k2_nobody_dies_when_room_would_not_help() {
    // Upstream deletes low, and the resize stays Deferred.
    let end = play("k2");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "NotAShortage");
    assert_eq!(end.allocated("p"), "100m");
}

#[test]
fn oh_overhead_counts_as_the_kubelet_counts_it() {
    let end = play("oh");
    assert_eq!(end.node("new"), None);
}

//! The golden scenarios: each file in `tests/scenarios` plays against the real engine and ends as it must.

use super::{Played, read};
use elbowroom::model::Span;
use elbowroom::simulation::world::Faults;

fn play(name: &str) -> Played {
    super::play(&read(&format!("tests/scenarios/{name}.yaml")), Faults::default(), Span::default())
}

#[test]
fn a_one_low_pod_in_the_way_goes_with_one_event_on_each_side() {
    let end = play("a");
    assert_eq!(end.evicted(), ["v"]);
    assert_eq!(end.allocated("p", "cpu"), "300m");
    assert_eq!(end.reason("p"), "", "the condition goes with PodResizePending");
    assert_eq!(end.events("v").iter().filter(|reason| **reason == "Preempted").count(), 1);
    assert_eq!(end.events("p").iter().filter(|reason| **reason == "ResizePreempting").count(), 1);
}

#[test]
fn c_a_growing_pod_needs_no_further_pod_slot() {
    // Upstream deletes the low Pod.
    let end = play("c");
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "WaitingForKubelet");
}

#[test]
fn e_wishes_of_neighbours_are_not_charged() {
    // Upstream deletes all three.
    let end = play("e");
    assert_eq!(end.evicted(), ["low-3"]);
    assert_eq!(end.allocated("p", "cpu"), "1000m");
}

#[test]
fn f_of_two_equal_pods_the_first_is_helped() {
    // Upstream helps neither.
    let end = play("f");
    assert_eq!(end.evicted(), ["v"]);
    assert_eq!((end.allocated("a", "cpu").as_str(), end.allocated("b", "cpu").as_str()), ("600m", "300m"));
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
    assert_eq!(end.allocated("p", "cpu"), "700m");
}

#[test]
fn h_only_what_is_short_counts() {
    // Upstream deletes lowmem too.
    let end = play("h");
    assert_eq!(end.evicted(), ["lowcpu"]);
    assert_eq!(end.allocated("p", "cpu"), "400m");
    assert_eq!(end.reason("memhog"), "PreemptionPolicyNever");
}

#[test]
fn l_what_is_leaving_is_waited_for_even_when_its_budget_is_used_up() {
    // Upstream deletes w as well.
    let end = play("l");
    assert_eq!(end.evicted(), ["v1", "v2"]);
    assert_eq!(end.allocated("p", "cpu"), "700m");
}

#[test]
fn r_a_restart_finds_the_victim_on_its_way() {
    // Upstream deletes v1 as well once a budget covers v2.
    let end = play("r");
    assert_eq!(end.evicted(), ["v2"]);
    assert_eq!(end.allocated("p", "cpu"), "600m");
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
    assert_eq!(end.allocated("p", "cpu"), "300m");
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
    assert_eq!(end.allocated("p", "cpu"), "100m");
}

#[test]
fn oh_overhead_counts_as_the_kubelet_counts_it() {
    let end = play("oh");
    assert_eq!(end.node("new"), None);
}

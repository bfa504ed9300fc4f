//! Switches, wishes that end, and what is no matter of room.

use super::*;

#[test]
fn c43_a_node_that_forbids_it_is_obeyed_until_it_no_longer_does() {
    let mut case = stage("c43");
    case.until(59);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "DisabledByNode");
    assert_eq!(case.told("r", "ResizePreemptionBlocked"), 1);
    case.until(180);
    let at = case.only_call("v");
    assert!((60.0..61.0).contains(&at), "{at}");
    assert_eq!(case.allocated("r", "cpu"), "4000m");
}

#[test]
fn c44_one_owner_is_enough_to_forbid_it() {
    let mut case = stage("c44");
    case.until(89);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "DisabledByNode");
    // v leaves by itself: what is free then is enough for both.
    case.until(240);
    assert_eq!(case.calls(), []);
    assert_eq!(case.allocated("r", "cpu"), "4000m");
    assert_eq!(case.node("p"), Some("n1"));
}

#[test]
fn c45_a_wish_that_is_taken_back_is_forgotten_at_once() {
    let mut case = stage("c45");
    case.until(19);
    assert_eq!(case.reason("r"), "BlockedByPDB");
    case.until(120);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "");
    assert_eq!(case.node("q"), Some("n1"));
}

#[test]
fn c48_cordon_and_new_taints_do_not_matter_to_who_is_there() {
    let end = play("c48");
    end.only_call("v");
    assert_eq!(end.allocated("r", "cpu"), "4000m");
}

#[test]
fn c48_a_label_that_is_gone_does_for_the_kubelet_asks_for_it_again() {
    let end = finish(&variant("c48", "cordon: true", "cordon: true, labels: {zone: null}"));
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "NotAShortage");
}

#[test]
fn c49_a_wish_that_becomes_infeasible_is_forgotten() {
    let mut case = stage("c49");
    case.until(19);
    assert_eq!(case.reason("r"), "BlockedByPDB");
    case.until(180);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "");
    assert_eq!(case.node("q"), Some("n1"), "r counts two cores");
}

#[test]
fn c50_a_growing_pod_that_leaves_claims_nothing() {
    let mut case = stage("c50");
    case.until(299);
    case.only_call("v");
    assert_eq!(case.reason("r"), "WaitingForVictims");
    case.until(590);
    assert!(case.find("r").is_none() && case.pod("v").leaving());
    assert_eq!(case.node("q"), None);
    case.until(720);
    case.only_call("v");
    assert_eq!(case.node("q"), Some("n1"), "all eight cores");
    assert!(!case.pod("w").leaving());
}

#[test]
fn c51_another_pod_of_the_same_name_inherits_no_wish() {
    let mut case = stage("c51");
    case.until(19);
    assert_eq!(case.reason("web-0"), "BlockedByPDB");
    let first = case.pod("web-0").uid().to_owned();
    case.until(180);
    assert_ne!(case.pod("web-0").uid(), first);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("web-0"), "");
    // Three cores and no more: one of the two new Pods has room.
    assert_eq!((case.node("q1"), case.node("q2")), (Some("n1"), None));
}

#[test]
fn c62_a_neighbour_that_shrinks_makes_the_room() {
    let mut case = stage("c62");
    case.until(59);
    assert_eq!(case.reason("r"), "InsufficientVictims");
    case.until(65);
    assert_eq!(case.allocated("r", "cpu"), "5000m");
    assert_eq!(case.calls(), []);
}

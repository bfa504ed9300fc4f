//! What counts, for whom, and from when on.

use super::*;

#[test]
fn c32_a_pod_counts_at_the_larger_total_not_at_the_larger_containers() {
    assert_eq!(play("c32").node("new"), Some("n1"));
}

#[test]
fn c34_what_is_allocated_counts_while_a_shrink_is_under_way() {
    let mut case = stage("c34");
    case.until(59);
    assert_eq!(case.node("new"), None);
    case.until(120);
    assert_eq!(case.node("new"), Some("n1"));
}

#[test]
fn c35_memory_counts_until_it_is_given_back() {
    let mut case = stage("c35");
    case.until(89);
    assert_eq!(case.node("new"), None);
    case.until(180);
    assert_eq!(case.node("new"), Some("n1"));
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("d"), "", "in progress is not pending");
}

#[test]
fn c36_an_infeasible_wish_neither_counts_nor_preempts() {
    let end = play("c36");
    assert_eq!(end.node("new"), Some("n1"));
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "");
}

#[test]
fn c36_the_same_wish_counts_while_it_is_deferred_and_preempts_nobody() {
    let end = finish(&variant("c36", "reason: Infeasible", "reason: Deferred"));
    assert_eq!(end.node("new"), None);
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "ExceedsNode");
}

#[test]
fn c39_a_delta_is_reserved_from_the_moment_it_is_asked_for() {
    let end = play("c39");
    assert_eq!(end.node("new"), None);
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "InsufficientVictims");
}

#[test]
fn c41_a_resize_that_fits_is_left_to_its_kubelet() {
    let mut case = stage("c41");
    let placed = |case: &Played| case.pod("r").condition("PodScheduled").cloned();
    let before = placed(&case);
    case.until(240);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "WaitingForKubelet");
    assert!(before.is_some() && placed(&case) == before);
    let status = case.pod("r").status.as_ref().expect("a status");
    assert_eq!(status.nominated_node_name, None);
    assert!(case.events("r").len() <= 1, "{:?}", case.events("r"));
    assert_eq!(case.patches("r"), 1);
    assert_eq!((case.node("q1"), case.node("q2")), (Some("n1"), None), "one core is left, not three");
    assert_eq!(case.binds(), 1, "r is bound already");
}

#[test]
fn c52_a_resize_in_progress_preempts_nobody_and_counts() {
    let end = play("c52");
    assert_eq!(end.calls(), []);
    assert_eq!((end.reason("r").as_str(), end.events("r").len()), ("", 0));
    // Three cores and one of five, so that one of the two new Pods has room.
    assert_eq!((end.node("q1"), end.node("q2")), (Some("n1"), None));
}

#[test]
fn c53_a_resize_that_was_refused_claims_nothing() {
    let end = play("c53");
    let refused = |what: &What| matches!(what, What::Refused(_, refusal) if refusal.code == 403);
    assert!(end.0.history().iter().any(|moment| refused(&moment.what)));
    assert_eq!(end.node("new"), Some("n1"));
    assert_eq!(end.reason("r"), "");
}

#[test]
fn c55_the_request_of_the_pod_as_a_whole_counts() {
    let end = play("c55");
    end.only_call("v");
    assert_eq!(end.allocated("r", "cpu"), "900m");
}

#[test]
fn c55_an_infeasible_request_of_the_whole_pod_does_not() {
    let end = play("c55-infeasible");
    assert_eq!(end.node("new"), Some("n1"));
    assert_eq!(end.calls(), []);
}

#[test]
fn c58_a_node_smaller_than_the_wish_is_not_emptied_for_it() {
    let mut case = stage("c58");
    case.until(89);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "ExceedsNode");
    assert_eq!(case.told("r", "ResizePreemptionBlocked"), 1);
    // Judged again once the node is larger.
    case.until(180);
    assert_eq!(case.evicted(), ["v1", "v2"]);
    assert_eq!(case.allocated("r", "cpu"), "9000m");
}

#[test]
fn c75_a_finished_pod_holds_nothing_while_its_object_stays() {
    let end = play("c75");
    assert_eq!(end.calls(), []);
    assert_eq!(end.allocated("r", "cpu"), "4000m");
    assert!(end.find("job").is_some());
}

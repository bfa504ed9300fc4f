//! Kinds of Pods and of conditions that are counted in a way of their own.

use super::*;

#[test]
fn a_sidecar_counts_with_the_containers_beside_it() {
    let end = play("sidecar");
    end.only_call("v");
    assert_eq!(end.allocated("r", "cpu"), "2000m");
}

#[test]
fn an_init_container_that_has_run_still_holds_its_room() {
    let end = play("init");
    assert_eq!(end.calls(), []);
    assert_eq!(end.allocated("r", "cpu"), "2000m");
}

#[test]
fn overhead_counts_on_top_of_what_grows() {
    let end = play("overhead");
    end.only_call("v");
    assert_eq!(end.allocated("r", "cpu"), "700m");
}

#[test]
fn the_mirror_of_a_static_pod_is_no_victim() {
    let end = play("mirror");
    end.only_call("v");
    assert_eq!(end.allocated("r", "cpu"), "4000m");
}

#[test]
fn a_condition_about_an_older_request_is_not_acted_on() {
    let mut case = stage("behind");
    case.until(59);
    assert_eq!((case.calls(), case.reason("r").as_str()), (vec![], ""));
    case.until(120);
    assert!(case.only_call("v") >= 60.0);
}

#[test]
fn memory_that_a_neighbour_does_not_give_back_is_not_there() {
    let end = play("memory");
    end.only_call("e");
}

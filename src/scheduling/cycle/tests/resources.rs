//! Room: amounts, Pod slots, and who holds them.
//!
//! Invariant: what is not asked for is never checked.

use super::*;

#[test]
fn a_pod_goes_where_there_is_room() {
    check("n1 4c: a 3c\nn2 4c: b 2c", "p 2c", "n2");
}

#[test]
fn room_to_the_last_milli_is_room() {
    check("n1 4c: a 3500m", "p 500m", "n1");
    check("n1 4c: a 3500m", "p 501m", "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn every_short_resource_is_a_reason_of_its_own() {
    check(
        "n1 1c 1Gi 1gpu 5disk: a\nn2 8c 1Gi",
        "p 2c 2Gi 2gpu 6disk",
        "0/2 nodes are available: 1 Insufficient cpu, 2 Insufficient ephemeral-storage, \
         2 Insufficient example.com/gpu, 2 Insufficient memory.",
    );
}

#[test]
fn pod_slots_run_out_like_a_resource() {
    check("n1 8c 3pods: a p1, b p2, c p3", "p p9", "0/1 nodes are available: 1 Too many pods.");
    check("n1 8c 4pods: a p1, b p2, c p3", "p p9", "n1");
}

#[test]
fn a_full_node_without_slots_gives_both_reasons() {
    check("n1 1c 1pods: a 1c", "p 1c", "0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods.");
}

#[test]
fn a_node_over_its_limit_takes_pods_that_ask_for_something_else() {
    let over = "n1 4c 32Gi: a 5c";
    check(over, "p", "n1");
    check(over, "p 1Gi", "n1");
    check(over, "p 1m", "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn a_resource_that_no_node_has_is_insufficient() {
    check("n1 4c", "p 1gpu", "0/1 nodes are available: 1 Insufficient example.com/gpu.");
}

#[test]
fn pods_of_other_schedulers_use_room() {
    let mut cluster = cluster("n1 8c");
    let other = Pod { node: Some("n1".into()), scheduler: "other".into(), ..fixture::pod("a 6c") };
    cluster.apply_pod(other);
    let pod = pending(&mut cluster, "p 3c");
    assert_eq!(say(&cluster, pod), "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn pods_that_are_leaving_hold_their_room_until_they_are_gone() {
    let mut cluster = cluster("n1 4c");
    let leaving = Pod {
        node: Some("n1".into()),
        deletion: Some(crate::model::Timestamp::from_seconds(30)),
        ..fixture::pod("a 3c")
    };
    cluster.apply_pod(leaving);
    let pod = pending(&mut cluster, "p 2c");
    assert_eq!(say(&cluster, pod), "0/1 nodes are available: 1 Insufficient cpu.");
    cluster.remove_pod("a");
    assert_eq!(say(&cluster, pod), "n1");
}

#[test]
fn a_node_that_comes_back_smaller_still_has_its_pods() {
    let mut cluster = cluster("n1 8c: a 3c, b 2c");
    let pod = pending(&mut cluster, "p 2c");
    cluster.remove_node("n1");
    assert_eq!(say(&cluster, pod), "no nodes available to schedule pods");
    cluster.apply_node(node("n1 6c"));
    assert_eq!(say(&cluster, pod), "0/1 nodes are available: 1 Insufficient cpu.");
    cluster.apply_node(node("n1 7c"));
    assert_eq!(say(&cluster, pod), "n1");
}

#[test]
fn a_pod_level_request_counts_instead_of_its_containers() {
    let pod_level = |pod: &mut Pod| {
        pod.resources.containers.push(ContainerResources::default());
        pod.resources.pod_level = Some(vec![("cpu".into(), Quantity::from_milli(300))]);
    };
    check_with("n1 250m\nn2 350m", "p 100m", pod_level, "n2");
}

#[test]
fn an_assumed_pod_holds_its_room_and_gives_it_back_when_forgotten() {
    let mut cluster = cluster("n1 4c");
    let (first, second) = (pending(&mut cluster, "a 3c"), pending(&mut cluster, "b 3c"));
    let Outcome::Fits(node) = outcome(&cluster, first) else { panic!("a fits") };
    cluster.assume(first, node);
    assert_eq!(say(&cluster, second), "0/1 nodes are available: 1 Insufficient cpu.");
    cluster.forget(first);
    assert_eq!(say(&cluster, second), "n1");
}

//! Room that growing Pods claim.
//!
//! Invariant: a claim that is held is nobody else's.

use super::*;

#[test]
fn a_resize_keeps_its_room_from_the_moment_it_is_asked() {
    check("n1 8c: r p50 2c->4c, v p1 4c", "p p50 1c", "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn a_claim_is_honoured_while_another_node_fits() {
    check("n1 8c: r p1 2c->4c, v p9 4c\nn2 8c: a 6c", "p p50 1c", "n2");
}

#[test]
fn without_another_node_a_higher_pod_takes_what_is_claimed_but_not_held() {
    check("n1 8c: r p1 2c->4c, v p9 4c\nn2 8c: a 8c", "p p50 1c", "n1");
    check("n1 8c: r p1 2c->4c, v p9 4c", "p p50 2c", "n1");
}

#[test]
fn no_more_than_the_claim_is_given() {
    check("n1 8c: r p1 2c->4c, v p9 4c", "p p50 3c", "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn an_equal_pod_never_gets_a_claim() {
    check("n1 8c: r p50 2c->4c, v p9 4c", "p p50 2c", "0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn a_claim_that_is_held_is_kept_from_everybody() {
    let mut cluster = cluster("n1 8c: r p1 2c->4c, v p9 4c");
    let r = cluster.pods.id("r").unwrap();
    cluster.hold_claim(r, true);
    let pod = pending(&mut cluster, "p p50 2c");
    assert_eq!(say(&cluster, pod), "0/1 nodes are available: 1 Insufficient cpu.");
    cluster.hold_claim(r, false);
    assert_eq!(say(&cluster, pod), "n1");
}

#[test]
fn the_second_pass_keeps_every_other_rule() {
    check(
        "n1 8c cordoned: r p1 2c->4c, v p9 4c\nn2 8c 2pods: s p1 2c->4c, w p9 4c",
        "p p50 1c",
        "0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) were unschedulable.",
    );
}

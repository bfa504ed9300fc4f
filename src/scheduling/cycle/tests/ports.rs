//! Host ports.
//!
//! Invariant: address, protocol and port decide together.

use super::*;

const USED: &str = "n1 8c: a :127.0.0.1/8080 :9000/UDP";
const TAKEN: &str = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";

#[test]
fn another_address_is_another_port() {
    check(USED, "p :10.0.0.5/8080", "n1");
}

#[test]
fn no_address_is_every_address() {
    check(USED, "p :8080", TAKEN);
    check(USED, "p :0.0.0.0/8080", TAKEN);
}

#[test]
fn another_protocol_is_another_port() {
    check(USED, "p :9000", "n1");
    check(USED, "p :9000/UDP", TAKEN);
}

#[test]
fn port_zero_asks_for_nothing() {
    check(USED, "p :0", "n1");
    check("n1 8c: a :0", "p :0", "n1");
}

#[test]
fn a_daemon_pod_needs_its_port_and_its_odd_amount_of_cpu() {
    let daemon = |pod: &mut Pod| {
        require(pod, vec![named("n1")]);
        tolerate(pod, "");
    };
    let node = |free: &str| format!("n1 200m x:NoExecute: full {free}\nn2 8c");
    check_with(&node("86m"), "d p2000000000 114m :9111", daemon, "n1");
    check_with(
        &node("87m"),
        "d p2000000000 114m :9111",
        daemon,
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
    check_with(
        "n1 8c: d :9111\nn2 8c",
        "d2 114m :9111",
        daemon,
        "0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, \
         1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
}

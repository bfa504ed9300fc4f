//! Taints and cordons.
//!
//! Invariant: a toleration covers what it names and no more.

use super::*;

const TAINTED: &str = "n1 8c a=1:NoSchedule b:NoExecute cordoned";
const NO_TAINT: &str = "0/1 nodes are available: 1 node(s) had untolerated taint(s).";
const CORDON: &str = "0/1 nodes are available: 1 node(s) were unschedulable.";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

#[test]
fn exists_without_key_or_effect_tolerates_everything() {
    check_with(TAINTED, "p", |pod| tolerate(pod, ""), "n1");
}

#[test]
fn one_key_tolerates_neither_the_cordon_nor_other_keys() {
    check_with(TAINTED, "p", |pod| tolerate(pod, "a"), CORDON);
    check_with(TAINTED, "p", |pod| tolerate(pod, UNSCHEDULABLE), NO_TAINT);
}

#[test]
fn a_node_that_is_only_cordoned_asks_for_the_cordon_only() {
    let cordoned = "n2 8c cordoned";
    check_with(cordoned, "p", |pod| tolerate(pod, ""), "n2");
    check_with(cordoned, "p", |pod| tolerate(pod, UNSCHEDULABLE), "n2");
    check_with(cordoned, "p", |pod| tolerate(pod, "a"), CORDON);
}

#[test]
fn the_cordon_is_the_reason_before_a_taint() {
    check(TAINTED, "p", CORDON);
}

#[test]
fn a_soft_taint_only_makes_other_nodes_better() {
    check("n1 8c x:PreferNoSchedule", "p 1c", "n1");
    check("n1 8c x:PreferNoSchedule\nn2 8c: a 2c", "p 1c", "n2");
    check_with("n1 8c x:PreferNoSchedule\nn2 8c: a 2c", "p 1c", |pod| tolerate(pod, "x"), "n1");
}

//! Which of several nodes, and which of several reasons.
//!
//! Invariant: equal nodes are told apart by place alone.

use super::*;

#[test]
fn equal_nodes_fill_in_the_order_seen_of_kube_scheduler() {
    let mut cluster = cluster("n1 8c\nn2 8c\nn3 8c\nn4 8c");
    let mut order = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let pod = pending(&mut cluster, &format!("{name} 1c 1Gi"));
        let Outcome::Fits(node) = outcome(&cluster, pod) else { panic!("{name} fits") };
        cluster.assume(pod, node);
        order.push(cluster.nodes.row(node).node.name.to_string());
    }
    assert_eq!(order, ["n1", "n2", "n4", "n3", "n1"]);
}

#[test]
fn the_emptier_node_is_better() {
    check("n1 8c: a 4c 32Gi\nn2 8c: b 2c 16Gi\nn3 8c: c 6c 48Gi", "p 1c 8Gi", "n2");
}

#[test]
fn a_node_that_gets_into_balance_is_better() {
    // Both have 99/2 = 49 free; balance is 69 on n1, which leans to CPU further, and 81 on n2.
    check("n1 8c: a 4c 16Gi\nn2 8c: b 2c 32Gi", "p 2c", "n2");
}

#[test]
fn one_node_that_fits_needs_no_score() {
    check("n1 8c x:PreferNoSchedule\nn2 8c cordoned", "p 1c", "n1");
}

#[test]
fn a_nominated_node_is_tried_first_and_dropped_when_it_does_not_fit() {
    let nominate = |node: &'static str| move |pod: &mut Pod| pod.nominated = Some(node.into());
    check_with("n1 8c\nn2 8c: a 4c", "p 1c", nominate("n2"), "n2");
    check_with("n1 8c\nn2 8c: a 8c", "p 1c", nominate("n2"), "n1");
    check_with("n1 8c\nn2 8c: a 8c", "p 1c", nominate("gone"), "n1");
}

#[test]
fn the_first_reason_of_each_node_is_counted() {
    check(
        "n1 8c\nn2 8c x:NoSchedule\nn3 8c cordoned x:NoSchedule\nn4 1c",
        "p 9c",
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, \
         2 Insufficient cpu.",
    );
}

#[test]
fn everybody_who_rejected_is_remembered() {
    let mut cluster = cluster("n1 1c\nn2 8c cordoned\nn3 8c x:NoSchedule");
    let pod = pending(&mut cluster, "p 2c");
    let Outcome::Unfit(error) = outcome(&cluster, pod) else { panic!("p fits nowhere") };
    let expected = [Plugin::NodeUnschedulable, Plugin::TaintToleration, Plugin::NodeResourcesFit];
    assert_eq!(error.rejectors.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_plugin_that_narrowed_the_nodes_is_a_rejector_too() {
    let mut cluster = cluster("n1 1c\nn2 8c");
    let pod = pending_with(&mut cluster, "p 2c", |pod| require(pod, vec![named("n1")]));
    let Outcome::Unfit(error) = outcome(&cluster, pod) else { panic!("p fits nowhere") };
    let expected = [Plugin::NodeAffinity, Plugin::NodeResourcesFit];
    assert_eq!(error.rejectors.iter().collect::<Vec<_>>(), expected);
}

//! Node selectors, required and preferred node affinity.
//!
//! Invariant: an alternative that cannot be met never widens the choice.

use super::*;

#[test]
fn gt_ignores_labels_that_are_no_number_or_missing() {
    let greater = |pod: &mut Pod| require(pod, vec![labelled("gen", "Gt", &["4"])]);
    check_takers("n1 8c gen=5\nn2 8c gen=v7\nn3 8c", "p", greater, &["n1"]);
}

#[test]
fn not_in_takes_a_missing_key_for_a_match() {
    let no_hdd = |pod: &mut Pod| require(pod, vec![labelled("disk", "NotIn", &["hdd"])]);
    check_takers("n1 8c disk=hdd\nn2 8c\nn3 8c disk=ssd", "p", no_hdd, &["n2", "n3"]);
}

#[test]
fn a_node_selector_and_a_required_term_must_both_hold() {
    let both = |pod: &mut Pod| {
        require(pod, vec![labelled("zone", "In", &["z1"])]);
        place(pod, |to| to.node_selector = [("pool".into(), "p".into())].into_iter().collect());
    };
    check_takers("n1 8c zone=z1\nn2 8c pool=p\nn3 8c zone=z1 pool=p", "p", both, &["n3"]);
    check_with(
        "n1 8c zone=z1\nn2 8c pool=p",
        "p",
        both,
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
    );
}

#[test]
fn an_empty_term_matches_nothing_and_leaves_the_others_alone() {
    let empty = || NodeTerm::new([], []);
    check_takers("n1 8c\nn2 8c\nn3 8c", "p", |pod| require(pod, vec![empty(), named("n2")]), &["n2"]);
    check_takers("n1 8c\nn2 8c", "p", |pod| require(pod, vec![empty()]), &[]);
    let bad = |pod: &mut Pod| {
        require(pod, vec![labelled("gen", "Gt", &["ten"]), labelled("zone", "In", &["z1"])]);
    };
    check_takers("n1 8c gen=11\nn2 8c\nn3 8c zone=z1", "p", bad, &["n3"]);
}

#[test]
fn no_required_term_at_all_matches_no_node() {
    check_takers("n1 8c", "p", |pod| require(pod, vec![]), &[]);
}

#[test]
fn a_pod_pinned_by_name_asks_no_other_node() {
    let pinned = |pod: &mut Pod| require(pod, vec![named("n2")]);
    check_with("n1 8c\nn2 8c\nn3 8c", "p 1c", pinned, "n2");
    check_with(
        "n1 8c\nn2 8c: a 8c\nn3 8c",
        "p 1c",
        pinned,
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
}

#[test]
fn a_pod_pinned_to_a_node_that_is_gone_waits() {
    check_with(
        "n1 8c\nn2 8c",
        "p",
        |pod| require(pod, vec![named("n9")]),
        "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
}

#[test]
fn names_that_exclude_each_other_end_the_attempt() {
    let both = [requirement("metadata.name", "In", &["n1"]), requirement("metadata.name", "In", &["n2"])];
    check_with(
        "n1 8c\nn2 8c",
        "p",
        |pod| require(pod, vec![NodeTerm::new([], both)]),
        "0/2 nodes are available: pod affinity terms conflict.",
    );
}

#[test]
fn preferred_terms_add_up_by_weight() {
    let prefer = |pod: &mut Pod| {
        let terms = vec![(10, labelled("disk", "In", &["ssd"])), (4, labelled("zone", "In", &["z1"]))];
        place(pod, |to| to.preferred = terms);
    };
    check_with("n1 8c zone=z1\nn2 8c disk=ssd\nn3 8c disk=ssd zone=z1", "p 1c", prefer, "n3");
    check_with("n1 8c zone=z1\nn2 8c disk=ssd\nn3 8c", "p 1c", prefer, "n2");
}

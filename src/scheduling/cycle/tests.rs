//! Whole decisions on small clusters.
//!
//! Invariant: every expectation was worked out from kube-scheduler's rules, not read off this code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::cluster::PodId;
use crate::cluster::fixture::{self, cluster, node, pending, pending_with};
use crate::model::labels::Requirement;
use crate::model::node_selector::{NodeSelector, NodeTerm};
use crate::model::placement::{PodTerm, Unsupported};
use crate::model::requests::ContainerResources;
use crate::model::taint::Toleration;
use crate::model::{Placement, Pod, Quantity, Selector, Str};
use crate::scheduling::Plugin;
use std::sync::Arc;

fn outcome(cluster: &Cluster, pod: PodId) -> Outcome {
    Cycle::default().decide(cluster, cluster.pods.get(pod).unwrap())
}

/// The node's name, or the fit error.
fn say(cluster: &Cluster, pod: PodId) -> String {
    match outcome(cluster, pod) {
        Outcome::Fits(node) => cluster.nodes.row(node).node.name.to_string(),
        Outcome::Unfit(error) => error.to_string(),
    }
}

/// Where a waiting Pod of these words goes in that cluster.
fn check(text: &str, words: &str, expected: &str) {
    check_with(text, words, |_| {}, expected);
}

fn check_with(text: &str, words: &str, change: impl FnOnce(&mut Pod), expected: &str) {
    let mut cluster = cluster(text);
    let pod = pending_with(&mut cluster, words, change);
    assert_eq!(say(&cluster, pod), expected, "{words} on\n{text}");
}

/// All nodes that take the Pod, asked one by one.
fn takers(cluster: &Cluster, pod: PodId) -> Vec<String> {
    let filters = Filters::new(cluster, cluster.pods.get(pod).unwrap()).unwrap();
    let takes = |node: &&NodeId| filters.rejector(**node).is_none();
    let name = |node: &NodeId| cluster.nodes.row(*node).node.name.to_string();
    filters.nodes().iter().filter(takes).map(name).collect()
}

fn check_takers(text: &str, words: &str, change: impl FnOnce(&mut Pod), expected: &[&str]) {
    let mut cluster = cluster(text);
    let pod = pending_with(&mut cluster, words, change);
    assert_eq!(takers(&cluster, pod), expected, "{words} on\n{text}");
}

fn place(pod: &mut Pod, change: impl FnOnce(&mut Placement)) {
    change(Arc::make_mut(&mut pod.placement));
}

fn requirement(key: &str, operator: &str, values: &[&str]) -> Option<Requirement> {
    Requirement::parse(key.into(), operator, values.iter().map(|value| Str::from(*value)).collect())
}

fn labelled(key: &str, operator: &str, values: &[&str]) -> NodeTerm {
    NodeTerm::new([requirement(key, operator, values)], [])
}

fn named(name: &str) -> NodeTerm {
    NodeTerm::new([], [requirement("metadata.name", "In", &[name])])
}

fn require(pod: &mut Pod, terms: Vec<NodeTerm>) {
    place(pod, |placement| placement.required = Some(NodeSelector { terms }));
}

fn tolerate(pod: &mut Pod, key: &str) {
    let one = Toleration { key: key.into(), any_value: true, value: "".into(), effect: None };
    place(pod, |placement| placement.tolerations.push(one));
}

/// A required anti-affinity term about Pods with `key=value`, by host.
fn apart_from(key: &str, value: &str) -> PodTerm {
    PodTerm {
        selector: Some(Selector::new([requirement(key, "In", &[value])])),
        namespaces: Vec::new(),
        namespace_selector: None,
        topology_key: "kubernetes.io/hostname".into(),
    }
}

/// Puts a Pod with anti-affinity on a node.
fn guard(cluster: &mut Cluster, words: &str, node: &str, term: PodTerm) {
    let mut pod = fixture::pod(words);
    pod.node = Some(node.into());
    place(&mut pod, |placement| placement.anti_affinity.push(term));
    cluster.apply_pod(pod);
}

mod resources {
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
}

mod claims {
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
}

mod taints {
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
}

mod affinity {
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
}

mod ports {
    use super::*;

    const USED: &str = "n1 8c: a :127.0.0.1/8080 :9000/UDP";
    const TAKEN: &str =
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";

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
}

mod existing_anti_affinity {
    use super::*;

    const GUARDED: &str =
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.";

    fn guarded(term: PodTerm, guard_words: &str, pod_words: &str) -> String {
        let mut cluster = cluster("n1 8c");
        guard(&mut cluster, guard_words, "n1", term);
        cluster.apply_namespace("a".into(), [("team".into(), "red".into())].into_iter().collect());
        let pod = pending(&mut cluster, pod_words);
        say(&cluster, pod)
    }

    #[test]
    fn a_pod_without_any_affinity_is_kept_away_from_the_whole_zone() {
        let mut cluster = cluster("n1 8c zone=z1\nn2 8c zone=z1\nn3 8c zone=z2");
        let by_zone = PodTerm { topology_key: "zone".into(), ..apart_from("app", "batch") };
        guard(&mut cluster, "guard", "n1", by_zone);
        let pod = pending(&mut cluster, "p 1c app=batch");
        assert_eq!(takers(&cluster, pod), ["n3"]);
    }

    #[test]
    fn other_labels_are_let_in() {
        assert_eq!(guarded(apart_from("app", "x"), "guard", "p app=y"), "n1");
        assert_eq!(guarded(apart_from("app", "x"), "guard", "p app=x"), GUARDED);
    }

    #[test]
    fn without_namespaces_it_means_the_guards_own() {
        assert_eq!(guarded(apart_from("app", "x"), "guard @a", "p @a app=x"), GUARDED);
        assert_eq!(guarded(apart_from("app", "x"), "guard @a", "p @b app=x"), "n1");
    }

    #[test]
    fn an_empty_namespace_selector_means_all_namespaces() {
        let all = PodTerm { namespace_selector: Some(Selector::everything()), ..apart_from("app", "x") };
        assert_eq!(guarded(all.clone(), "guard @a", "p @b app=x"), GUARDED);
        assert_eq!(guarded(all, "guard @a", "p @a app=x"), GUARDED);
    }

    #[test]
    fn listed_namespaces_replace_the_guards_own() {
        let listed = PodTerm { namespaces: vec!["b".into()], ..apart_from("app", "x") };
        assert_eq!(guarded(listed.clone(), "guard @a", "p @b app=x"), GUARDED);
        assert_eq!(guarded(listed, "guard @a", "p @a app=x"), "n1");
    }

    #[test]
    fn listed_and_selected_namespaces_add_up() {
        let red = Selector::new([requirement("team", "In", &["red"])]);
        let term =
            PodTerm { namespaces: vec!["b".into()], namespace_selector: Some(red), ..apart_from("app", "x") };
        assert_eq!(guarded(term.clone(), "guard @c", "p @a app=x"), GUARDED);
        assert_eq!(guarded(term.clone(), "guard @c", "p @b app=x"), GUARDED);
        assert_eq!(guarded(term, "guard @c", "p @c app=x"), "n1");
    }

    #[test]
    fn a_missing_selector_means_nobody_and_an_empty_one_everybody() {
        let nobody = PodTerm { selector: None, ..apart_from("app", "x") };
        assert_eq!(guarded(nobody, "guard", "p app=x"), "n1");
        let everybody = PodTerm { selector: Some(Selector::everything()), ..apart_from("app", "x") };
        assert_eq!(guarded(everybody, "guard", "p"), GUARDED);
    }

    #[test]
    fn a_node_without_the_topology_key_is_in_no_domain() {
        let by_zone = PodTerm { topology_key: "zone".into(), ..apart_from("app", "x") };
        assert_eq!(guarded(by_zone, "guard", "p app=x"), "n1");
    }

    #[test]
    fn the_rule_ends_with_the_guard() {
        let mut cluster = cluster("n1 8c");
        guard(&mut cluster, "guard", "n1", apart_from("app", "x"));
        let pod = pending(&mut cluster, "p app=x");
        assert_eq!(say(&cluster, pod), GUARDED);
        cluster.remove_pod("guard");
        assert_eq!(say(&cluster, pod), "n1");
    }

    #[test]
    fn room_is_asked_for_before_anti_affinity() {
        let mut cluster = cluster("n1 1c\nn2 8c");
        guard(&mut cluster, "guard", "n1", apart_from("app", "x"));
        guard(&mut cluster, "guard2", "n2", apart_from("app", "x"));
        let pod = pending(&mut cluster, "p 2c app=x");
        assert_eq!(
            say(&cluster, pod),
            "0/2 nodes are available: 1 Insufficient cpu, \
             1 node(s) didn't satisfy existing pods anti-affinity rules."
        );
    }
}

mod unsupported {
    use super::*;

    #[test]
    fn a_pod_is_not_bound_for_want_of_a_plugin() {
        let spread =
            |pod: &mut Pod| place(pod, |to| to.unsupported.push(Unsupported::HardSpread("zone".into())));
        check_with(
            "n1 8c\nn2 8c",
            "p",
            spread,
            "0/2 nodes are available: pod asks for what this scheduler does not support yet: \
             topology spread with DoNotSchedule (key \"zone\").",
        );
    }

    #[test]
    fn an_anti_affinity_deployment_is_refused_as_a_whole() {
        // Until pod anti-affinity is supported nobody is placed by halves.
        let own = |pod: &mut Pod| {
            let key = "kubernetes.io/hostname".into();
            place(pod, |to| to.unsupported.push(Unsupported::PodAntiAffinity(key)));
        };
        let mut cluster = cluster("n1 4c pool=p\nn2 4c pool=p\nn3 4c");
        let pod = pending_with(&mut cluster, "p 100m", own);
        let Outcome::Unfit(error) = outcome(&cluster, pod) else { panic!("must not be placed") };
        assert_eq!(error.rejectors.iter().collect::<Vec<_>>(), [Plugin::Unsupported]);
    }
}

mod choice {
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
}

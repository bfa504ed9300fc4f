//! Which nodes a new Pod may go to.

use super::support::*;
use super::world::*;
use elbowroom::engine::{Fact, Input, Namespace};
use elbowroom::model::labels::Requirement;
use elbowroom::model::node_selector::{NodeSelector, NodeTerm};
use elbowroom::model::placement::PodTerm;
use elbowroom::model::taint::{Taint, TaintEffect, Toleration};
use elbowroom::model::{Node, Pod, Selector};

fn requirement(key: &str, operator: &str, values: &[&str]) -> Option<Requirement> {
    Requirement::parse(key.into(), operator, values.iter().map(|value| name(value)).collect())
}

fn label_term(key: &str, operator: &str, values: &[&str]) -> NodeTerm {
    NodeTerm::new([requirement(key, operator, values)], [])
}

fn name_term(node: &str) -> NodeTerm {
    NodeTerm::new([], [requirement("metadata.name", "In", &[node])])
}

/// A new Pod that requires one of these terms.
fn requiring(terms: Vec<NodeTerm>) -> Pod {
    with(waiting("new", 0, "1"), |placement| placement.required = Some(NodeSelector { terms }))
}

/// Every node that the Pod would take, asked one by one.
fn fitting(nodes: &[Node], pods: &[Pod], new: &Pod) -> Vec<String> {
    let mut fitting = Vec::new();
    for one in nodes {
        // The others stay, for domains are made of all nodes, but without a slot left.
        let mut nodes = nodes.to_vec();
        for other in nodes.iter_mut().filter(|other| other.name != one.name) {
            other.allocatable.retain(|(resource, _)| *resource != *"pods");
        }
        fitting.extend(place(nodes, pods.to_vec(), new.clone()));
    }
    fitting
}

fn taint(key: &str, value: &str, effect: TaintEffect) -> Taint {
    Taint { key: key.into(), value: value.into(), effect }
}

fn tolerating(key: &str) -> Pod {
    let all = Toleration { key: key.into(), any_value: true, value: "".into(), effect: None };
    with(waiting("new", 0, "1"), |placement| placement.tolerations = vec![all])
}

/// A Pod on that node that wants no `app=x` in its domain.
fn guard(at: &str, namespace: &str, term: PodTerm) -> Pod {
    let mut pod =
        on(at, with(pod(&format!("guard-{at}"), 0, "1"), |placement| placement.anti_affinity = vec![term]));
    pod.id.namespace = namespace.into();
    pod
}

fn keeps_off(label: (&str, &str), topology_key: &str) -> PodTerm {
    PodTerm {
        selector: Some(Selector::new([requirement(label.0, "In", &[label.1])])),
        namespaces: vec![],
        namespace_selector: None,
        topology_key: topology_key.into(),
    }
}

#[test]
fn a_host_port_is_taken_by_address_protocol_and_number() {
    let mut user = with_port(pod("a", 0, "1"), "127.0.0.1", "TCP", 8080);
    user.ports = user
        .ports
        .iter()
        .cloned()
        .chain(with_port(pod("b", 0, "1"), "", "UDP", 9000).ports.to_vec())
        .collect();
    let goes = |ip, protocol, port| {
        place(
            vec![node("n1", "8")],
            vec![user.clone()],
            with_port(waiting("new", 0, "1"), ip, protocol, port),
        )
    };
    assert_eq!(goes("10.0.0.5", "TCP", 8080).as_deref(), Some("n1"));
    assert_eq!(goes("", "TCP", 8080), None);
    assert_eq!(goes("", "TCP", 9000).as_deref(), Some("n1"));
    assert_eq!(goes("", "UDP", 0).as_deref(), Some("n1"));
}

#[test]
fn a_pod_that_waits_for_a_port_is_tried_when_the_port_is_given_back() {
    let user = with_port(pod("a", 0, "1"), "", "TCP", 80);
    let mut world = world(vec![node("n1", "8")], vec![user.clone()]);
    world.see(with_port(waiting("new", 0, "1"), "", "TCP", 80));
    world.settle();
    assert_eq!(
        world.why("new"),
        "FailedScheduling: 0/1 nodes are available: \
         1 node(s) didn't have free ports for the requested pod ports."
    );
    world.gone(user);
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn gt_takes_whole_numbers_only() {
    let nodes = [labelled("n1", "gen", "5"), labelled("n2", "gen", "v7"), node("n3", "64")];
    assert_eq!(fitting(&nodes, &[], &requiring(vec![label_term("gen", "Gt", &["4"])])), ["n1"]);
}

#[test]
fn not_in_takes_nodes_without_the_label() {
    let nodes = [labelled("n1", "disk", "hdd"), node("n2", "64"), labelled("n3", "disk", "ssd")];
    assert_eq!(fitting(&nodes, &[], &requiring(vec![label_term("disk", "NotIn", &["hdd"])])), ["n2", "n3"]);
    assert_eq!(fitting(&nodes, &[], &requiring(vec![label_term("disk", "DoesNotExist", &[])])), ["n2"]);
}

#[test]
fn an_empty_or_unparsable_term_matches_nothing_and_leaves_the_others_alone() {
    let nodes = [node("n1", "64"), node("n2", "64"), labelled("n3", "zone", "z1")];
    let empty = || NodeTerm::new([], []);
    let bad = NodeTerm::new([requirement("gen", "Gt", &["ten"])], []);
    assert_eq!(fitting(&nodes, &[], &requiring(vec![empty(), name_term("n2")])), ["n2"]);
    assert!(fitting(&nodes, &[], &requiring(vec![empty()])).is_empty());
    assert_eq!(fitting(&nodes, &[], &requiring(vec![bad, label_term("zone", "In", &["z1"])])), ["n3"]);
}

#[test]
fn a_toleration_without_key_tolerates_everything() {
    let taints = vec![taint("a", "1", TaintEffect::NoSchedule), taint("b", "", TaintEffect::NoExecute)];
    let tainted = Node { taints, unschedulable: true, ..node("n1", "64") };
    let cordoned = Node { unschedulable: true, ..node("n2", "64") };
    let nodes = [tainted, cordoned];
    assert_eq!(fitting(&nodes, &[], &tolerating("")), ["n1", "n2"]);
    assert!(fitting(&nodes, &[], &tolerating("a")).is_empty());
    assert_eq!(fitting(&nodes, &[], &tolerating("node.kubernetes.io/unschedulable")), ["n2"]);
}

#[test]
fn a_pod_without_affinity_stays_out_of_a_guarded_zone() {
    let nodes = [labelled("n1", "zone", "z1"), labelled("n2", "zone", "z1"), labelled("n3", "zone", "z2")];
    let guards = [guard("n1", "ns", keeps_off(("app", "new"), "zone"))];
    assert_eq!(fitting(&nodes, &guards, &waiting("new", 0, "1")), ["n3"]);
}

#[test]
fn a_pod_kept_off_by_a_guard_is_tried_when_the_guard_goes() {
    let guard = guard("n1", "ns", keeps_off(("app", "new"), "zone"));
    let mut world = world(vec![labelled("n1", "zone", "z1")], vec![guard.clone()]);
    world.see(waiting("new", 0, "1"));
    world.settle();
    assert_eq!(
        world.why("new"),
        "FailedScheduling: 0/1 nodes are available: \
         1 node(s) didn't satisfy existing pods anti-affinity rules."
    );
    world.gone(guard);
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn a_guard_that_is_only_assumed_keeps_others_off_already() {
    let mut first = waiting("guard", 9, "1");
    first.labels = labels("app", "new");
    first = with(first, |placement| placement.anti_affinity = vec![keeps_off(("app", "new"), "zone")]);
    let mut world = world(vec![labelled("n1", "zone", "z1")], vec![first, waiting("new", 0, "1")]);
    assert_eq!(world.one_bind().1, "guard on n1");
}

#[test]
fn no_namespace_selector_is_the_guards_own_namespace_and_an_empty_one_is_all() {
    let nodes = [labelled("n1", "host", "n1"), labelled("n2", "host", "n2")];
    let mut new = waiting("new", 0, "1");
    new.id.namespace = "a".into();
    let goes = |change: fn(&mut PodTerm)| {
        let mut term = keeps_off(("app", "new"), "host");
        change(&mut term);
        fitting(&nodes, &[guard("n1", "a", term.clone()), guard("n2", "b", term)], &new)
    };
    assert_eq!(goes(|_| {}), ["n2"]);
    assert!(goes(|term| term.namespace_selector = Some(Selector::everything())).is_empty());
    assert_eq!(goes(|term| term.namespaces = vec!["b".into()]), ["n1", "n2"]);
    assert!(goes(|term| term.namespaces = vec!["a".into()]).is_empty());
}

#[test]
fn a_namespace_that_gets_another_label_lets_its_pods_past_a_guard() {
    let mut term = keeps_off(("app", "new"), "host");
    term.namespace_selector = Some(Selector::new([requirement("team", "In", &["red"])]));
    let mut world = world(vec![labelled("n1", "host", "n1")], vec![guard("n1", "b", term)]);
    let team = |team| {
        Input::Namespace(Fact::Apply(Box::new(Namespace { name: "ns".into(), labels: labels("team", team) })))
    };
    world.step(team("red"));
    world.see(waiting("new", 0, "1"));
    assert_eq!(world.settle(), Vec::<String>::new());
    world.step(team("blue"));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn a_node_that_comes_back_smaller_still_holds_its_pods() {
    let mut world = world(vec![node("n1", "8")], vec![pod("a", 0, "3"), pod("b", 0, "2")]);
    world.step(Input::Node(Fact::Delete(Box::new(node("n1", "8")))));
    world.see(waiting("new", 0, "2"));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.why("new"), "FailedScheduling: no nodes available to schedule pods");
    world.see_node(node("n1", "6"));
    assert_eq!((world.settle(), world.taken("n1")), (vec![], Some(5000)));
    world.see_node(node("n1", "7"));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn pods_told_of_before_their_node_are_charged_to_it() {
    let mut world = world(vec![], vec![pod("a", 0, "3"), pod("b", 0, "2")]);
    world.see_node(node("n1", "6"));
    world.see(waiting("new", 0, "2"));
    assert_eq!((world.settle(), world.taken("n1")), (vec![], Some(5000)));
}

#[test]
fn a_node_that_is_uncordoned_is_tried() {
    let mut world = world(vec![Node { unschedulable: true, ..node("n1", "8") }], vec![]);
    world.see(waiting("new", 0, "2"));
    world.settle();
    assert_eq!(world.why("new"), "FailedScheduling: 0/1 nodes are available: 1 node(s) were unschedulable.");
    world.see_node(node("n1", "8"));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn replicas_pinned_to_a_pool_wait_for_a_node_that_joins_it() {
    let in_pool = |name| Node { labels: labels("pool", "p"), ..node(name, "1") };
    let pinned =
        |name| with(waiting(name, 0, "1"), |placement| placement.node_selector = labels("pool", "p"));
    let mut world = world(vec![in_pool("n1"), in_pool("n2"), node("n3", "64")], vec![]);
    ["a", "b", "c"].into_iter().for_each(|name| world.see(pinned(name)));
    assert_eq!(world.settle(), ["a on n1", "b on n2"]);
    world.see_node(in_pool("n4"));
    assert_eq!(world.settle(), ["c on n4"]);
}

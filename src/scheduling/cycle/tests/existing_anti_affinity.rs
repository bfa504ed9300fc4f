//! Required anti-affinity of Pods already there.
//!
//! Invariant: it binds Pods that say nothing of affinity.

use super::*;

const GUARDED: &str = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.";

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

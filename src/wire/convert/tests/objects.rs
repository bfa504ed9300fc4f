//! Nodes, budgets and Namespaces.

use super::converter;
use crate::model::taint::TaintEffect;
use crate::model::{Budget, Labels, Node, Timestamp};
use serde_json::{Value, json};

fn node(spec: Value, status: Value) -> Node {
    let object = json!({"metadata": {"name": "n", "uid": "u"}, "spec": spec, "status": status});
    converter().node(&serde_json::from_value(object).unwrap()).unwrap()
}

fn budget(spec: Value, status: Value) -> Budget {
    let metadata = json!({"name": "b", "namespace": "ns", "generation": 2});
    let object = json!({"metadata": metadata, "spec": spec, "status": status});
    converter().budget(&serde_json::from_value(object).unwrap()).unwrap()
}

#[test]
fn a_node_is_ready_only_when_its_condition_is_true() {
    let ready =
        |status: &str| node(json!({}), json!({"conditions": [{"type": "Ready", "status": status}]})).ready;
    assert!(ready("True"));
    assert!(!ready("Unknown"));
    assert!(!node(json!({}), json!({})).ready);
}

#[test]
fn allocatable_falls_back_to_capacity_only_where_it_is_absent() {
    let capacity = json!({"cpu": "4"});
    let names = |status: Value| node(json!({}), status).allocatable.len();
    assert_eq!(names(json!({"capacity": capacity})), 1);
    assert_eq!(names(json!({"capacity": capacity, "allocatable": {}})), 0);
}

#[test]
fn a_node_keeps_its_taints_its_cordon_and_its_policy() {
    let node = node(
        json!({
            "unschedulable": true,
            "taints": [{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "Sometimes"}],
            "podPreemptionPolicy": {"disableResizePreemption": ["autoscaler"]},
        }),
        json!({}),
    );
    assert!(node.unschedulable);
    assert_eq!(node.taints.iter().map(|t| t.effect).collect::<Vec<_>>(), [TaintEffect::NoExecute]);
    assert_eq!(node.resize_preemption_disabled_by, ["autoscaler"]);
}

#[test]
fn a_node_whose_size_cannot_be_read_is_refused() {
    let object = json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "many"}}});
    let refused = converter().node(&serde_json::from_value(object).unwrap()).unwrap_err();
    assert_eq!((refused.name.as_str(), refused.field.as_str()), ("n", "status.allocatable.cpu"));
}

#[test]
fn an_empty_selector_covers_all_and_none_covers_nothing() {
    assert!(budget(json!({"selector": {}}), json!({})).covers("ns", &Labels::default()));
    assert!(!budget(json!({"selector": {}}), json!({})).covers("other", &Labels::default()));
    assert!(!budget(json!({}), json!({})).covers("ns", &Labels::default()));
}

#[test]
fn a_selector_needs_labels_and_expressions() {
    let selector = json!({
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["test"]}],
    });
    let budget = budget(json!({"selector": selector}), json!({}));
    let labels =
        |tier: &str| [("app".into(), "web".into()), ("tier".into(), tier.into())].into_iter().collect();
    assert!(budget.covers("ns", &labels("live")));
    assert!(!budget.covers("ns", &labels("test")));
    assert!(!budget.covers("ns", &Labels::default()));
}

#[test]
fn what_a_budget_allows_is_read_from_its_status() {
    let status = json!({
        "observedGeneration": 2, "disruptionsAllowed": 3, "currentHealthy": 5, "desiredHealthy": 2,
        "disruptedPods": {"web-1": "1970-01-01T00:00:09Z"},
    });
    let read = budget(json!({"unhealthyPodEvictionPolicy": "AlwaysAllow"}), status);
    assert_eq!((read.allowance(), read.current_healthy, read.desired_healthy), (3, 5, 2));
    assert!(read.always_allow_unhealthy && read.counts("web-1"));
    assert_eq!(read.disrupted[0].1, Timestamp::from_seconds(9));
    assert_eq!(budget(json!({}), json!({"disruptionsAllowed": 3})).allowance(), 0, "its status is behind");
}

#[test]
fn a_namespace_is_its_name_and_labels() {
    let object = json!({"metadata": {"name": "team", "labels": {"tier": "gold"}}});
    let namespace = converter().namespace(&serde_json::from_value(object).unwrap()).unwrap();
    assert_eq!(namespace.name, "team");
    assert_eq!(namespace.labels.get("tier").unwrap(), &"gold");
}

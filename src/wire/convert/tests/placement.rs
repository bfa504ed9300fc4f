//! Demands and preferences of Pods.

use super::{converter, with_spec};
use crate::model::Labels;
use crate::model::placement::{Ignored, Placement, Unsupported};
use crate::model::pod::HostPort;
use crate::model::taint::{Taint, TaintEffect, tolerated};
use serde_json::{Value, json};
use std::sync::Arc;

fn placement(spec: Value) -> Arc<Placement> {
    with_spec(spec).placement
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

fn tolerates(toleration: Value, value: &str, effect: TaintEffect) -> bool {
    let taint = Taint { key: "dedicated".into(), value: value.into(), effect };
    tolerated(&placement(json!({"tolerations": [toleration]})).tolerations, &taint)
}

#[test]
fn a_node_selector_asks_for_every_label() {
    let placement = placement(json!({"nodeSelector": {"disk": "ssd", "zone": "a"}}));
    assert!(placement.accepts("n", &labels(&[("disk", "ssd"), ("zone", "a"), ("more", "")])));
    assert!(!placement.accepts("n", &labels(&[("disk", "ssd")])));
}

fn required(terms: Value) -> Arc<Placement> {
    let required = json!({"nodeSelectorTerms": terms});
    placement(
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}),
    )
}

#[test]
fn required_terms_are_alternatives_of_labels_and_names() {
    let named = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]});
    let newer = json!({"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["3"]}]});
    let placement = required(json!([named, newer]));
    assert!(placement.accepts("n7", &Labels::default()));
    assert!(placement.accepts("n1", &labels(&[("gen", "4")])));
    assert!(!placement.accepts("n1", &labels(&[("gen", "3")])));
}

#[test]
fn a_required_affinity_without_terms_accepts_no_node() {
    assert!(!required(json!([])).accepts("n", &Labels::default()));
}

#[test]
fn a_preference_without_weight_is_left_out() {
    let preference = json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]});
    let preferred = json!([{"weight": 0, "preference": preference}, {"weight": 5, "preference": preference}]);
    let affinity = json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}});
    let placement = placement(json!({"affinity": affinity}));
    assert_eq!(placement.preferred.iter().map(|(weight, _)| *weight).collect::<Vec<_>>(), [5]);
    assert!(placement.preferred[0].1.matches("n", &labels(&[("a", "")])));
}

#[test]
fn a_toleration_equals_unless_it_says_exists() {
    let plain = json!({"key": "dedicated", "value": "db"});
    assert!(tolerates(plain.clone(), "db", TaintEffect::NoSchedule));
    assert!(!tolerates(plain, "web", TaintEffect::NoSchedule));
    let exists = json!({"key": "dedicated", "operator": "Exists", "value": "ignored"});
    assert!(tolerates(exists, "web", TaintEffect::NoExecute));
}

#[test]
fn an_operator_or_effect_that_is_not_known_tolerates_nothing() {
    assert!(!tolerates(
        json!({"key": "dedicated", "operator": "Gt", "value": "1"}),
        "2",
        TaintEffect::NoSchedule
    ));
    let odd = json!({"operator": "Exists", "effect": "Sometimes"});
    assert!(!tolerates(odd, "db", TaintEffect::NoSchedule));
}

fn port(ip: &str, protocol: &str, port: i32) -> HostPort {
    HostPort { ip: ip.into(), protocol: protocol.into(), port }
}

#[test]
fn host_ports_are_those_of_containers_and_sidecars() {
    let with = |port: i32, restart: &str| json!({"restartPolicy": restart, "ports": [{"hostPort": port}]});
    let spec = json!({"containers": [with(80, "")], "initContainers": [with(81, "Always"), with(82, "")]});
    assert_eq!(*with_spec(spec).ports, [port("", "TCP", 80), port("", "TCP", 81)]);
}

#[test]
fn a_container_port_takes_nothing_on_the_node() {
    let ports = json!([
        {"containerPort": 80},
        {"containerPort": 80, "hostPort": 0},
        {"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"},
    ]);
    let spec = json!({"containers": [{"name": "a", "ports": ports}]});
    assert_eq!(*with_spec(spec).ports, [port("10.0.0.1", "UDP", 53)]);
}

#[test]
fn volumes_that_bind_a_pod_to_nodes_are_named() {
    let volumes = json!([
        {"name": "tmp", "emptyDir": {}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "own", "ephemeral": {}},
        {"name": "csi", "csi": {"driver": "d"}},
        {"name": "moved", "azureDisk": {}},
        {"name": "disk", "awsElasticBlockStore": {}},
        {"name": "settings", "configMap": {"name": "m"}},
    ]);
    let expected = [
        Unsupported::Claim("claim".into()),
        Unsupported::Claim("own".into()),
        Unsupported::InlineCsi("csi".into()),
        Unsupported::InlineCsi("moved".into()),
        Unsupported::ExclusiveDisk("disk".into()),
    ];
    assert_eq!(placement(json!({"volumes": volumes})).unsupported, expected);
}

#[test]
fn a_hard_spread_is_a_demand_and_a_soft_one_a_wish() {
    let spread = |when: &str| json!({"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": when});
    let placement = placement(json!({"topologySpreadConstraints":
        [spread("DoNotSchedule"), spread("ScheduleAnyway"), spread("ScheduleAnyway")]}));
    assert_eq!(placement.unsupported, [Unsupported::HardSpread("zone".into())]);
    assert_eq!(placement.ignored, [Ignored::SoftSpread]);
}

#[test]
fn required_anti_affinity_binds_the_pod_and_is_kept_for_others() {
    let term = json!({
        "topologyKey": "host",
        "labelSelector": {"matchLabels": {"app": "db"}},
        "namespaces": ["a"],
        "namespaceSelector": {},
    });
    let affinity = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let placement = placement(json!({"affinity": affinity}));
    assert_eq!(placement.unsupported, [Unsupported::PodAntiAffinity("host".into())]);
    let kept = &placement.anti_affinity[0];
    assert_eq!((kept.topology_key.as_str(), kept.namespaces[0].as_str()), ("host", "a"));
    assert!(kept.namespace_selector.as_ref().unwrap().is_everything());
    assert!(kept.selector.as_ref().unwrap().matches(&labels(&[("app", "db")])));
}

#[test]
fn a_label_selector_does_not_know_gt() {
    let selector = json!({"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["1"]}]});
    let term = json!({"topologyKey": "host", "labelSelector": selector});
    let affinity = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let placement = placement(json!({"affinity": affinity}));
    assert!(!placement.anti_affinity[0].selector.as_ref().unwrap().matches(&labels(&[("n", "2")])));
}

#[test]
fn affinity_to_pods_is_a_demand_and_its_preferred_form_a_wish() {
    let required = json!([{"topologyKey": "zone"}]);
    let preferred = json!([{"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}]);
    let placement = placement(json!({"affinity": {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred},
    }}));
    assert_eq!(placement.unsupported, [Unsupported::PodAffinity("zone".into())]);
    assert_eq!(placement.ignored, [Ignored::PreferredPodAffinity]);
}

#[test]
fn claims_of_devices_and_groups_are_demands() {
    let spec = json!({"resourceClaims": [{"name": "gpu"}], "schedulingGroup": {"podGroupName": "g"}});
    let expected = [Unsupported::ResourceClaim("gpu".into()), Unsupported::Gang];
    assert_eq!(placement(spec).unsupported, expected);
}

#[test]
fn equal_placements_and_labels_are_shared() {
    let mut converter = converter();
    let mut next = |name: &str| {
        let object = json!({"metadata": {"name": name}, "spec": {"nodeSelector": {"disk": "ssd"}}});
        converter.pod(&serde_json::from_value(object).unwrap()).unwrap()
    };
    let (a, b) = (next("a"), next("b"));
    assert!(Arc::ptr_eq(&a.placement, &b.placement) && Arc::ptr_eq(&a.ports, &b.ports));
}

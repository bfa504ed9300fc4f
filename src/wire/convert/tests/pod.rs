//! Identity, life and conditions of Pods.

use super::{converter, try_pod, with_metadata, with_spec, with_status};
use crate::model::pod::{Phase, Qos};
use crate::model::{Span, Timestamp};
use serde_json::json;

#[test]
fn a_bare_pod_gets_the_defaults_of_the_api() {
    let pod = with_spec(json!({}));
    assert_eq!(pod.scheduler, "default-scheduler");
    assert_eq!((pod.priority, pod.grace, pod.node), (0, Span::from_seconds(30), None));
    assert_eq!((pod.phase, pod.ready, pod.never_preempts), (Phase::Pending, false, false));
}

#[test]
fn null_reads_like_absent() {
    let pod = with_spec(json!({"nodeName": null, "tolerations": null, "affinity": null, "overhead": null}));
    assert_eq!(pod, with_spec(json!({})));
}

#[test]
fn an_empty_node_name_is_none() {
    assert_eq!(with_spec(json!({"nodeName": ""})).node, None);
    assert_eq!(with_status(json!({"nominatedNodeName": ""})).nominated, None);
}

#[test]
fn managed_fields_and_what_nobody_reads_are_skipped() {
    let pod = with_metadata(json!({"managedFields": [{"fieldsV1": 7}], "finalizers": 3}));
    assert_eq!(pod, with_spec(json!({})));
}

#[test]
fn only_annotations_that_are_asked_for_are_kept() {
    let pod = with_metadata(json!({"annotations": {
        "keep.example/this": "yes",
        "other": "no",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }}));
    assert_eq!(pod.annotations.iter().count(), 1);
    assert_eq!(pod.annotations.get("keep.example/this").unwrap(), &"yes");
    assert!(!pod.mirror);
}

#[test]
fn a_static_pod_is_known_by_its_mirror_annotation() {
    assert!(with_metadata(json!({"annotations": {"kubernetes.io/config.mirror": "4f"}})).mirror);
}

#[test]
fn only_an_owner_that_controls_is_the_controller() {
    let owner = |kind: &str, controller: bool| {
        let (uid, name) = (kind, "o");
        json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, "controller": controller})
    };
    let owners = json!({"ownerReferences": [owner("Node", false), owner("ReplicaSet", true)]});
    assert_eq!(with_metadata(owners).controller.unwrap().kind, "ReplicaSet");
    assert_eq!(with_metadata(json!({"ownerReferences": [owner("Node", false)]})).controller, None);
}

#[test]
fn a_pod_that_is_being_deleted_says_when_its_grace_ends() {
    let pod = with_metadata(json!({
        "deletionTimestamp": "1970-01-01T00:01:40Z",
        "deletionGracePeriodSeconds": 5,
    }));
    assert_eq!(pod.deletion, Some(Timestamp::from_seconds(100)));
    assert_eq!(pod.grace, Span::from_seconds(5));
}

#[test]
fn an_unknown_phase_counts_as_running() {
    assert_eq!(with_status(json!({"phase": "Unknown"})).phase, Phase::Running);
}

#[test]
fn the_first_pending_resize_condition_counts() {
    let condition = |reason: &str| {
        json!({"type": "PodResizePending", "status": "True", "reason": reason, "observedGeneration": 3,
               "lastTransitionTime": "1970-01-01T00:00:07Z"})
    };
    let pod = with_status(json!({"conditions": [condition("Infeasible"), condition("Deferred")]}));
    assert!(pod.resources.infeasible);
    assert!(!pod.deferred());
    let pod = with_status(json!({"conditions": [condition("Deferred"), condition("Infeasible")]}));
    assert!(pod.deferred() && !pod.resources.infeasible);
    let resize = pod.resize.unwrap();
    assert_eq!((resize.observed_generation, resize.since), (Some(3), Some(Timestamp::from_seconds(7))));
}

#[test]
fn a_condition_of_unknown_status_is_not_true() {
    let pod = with_status(json!({"conditions": [
        {"type": "Ready", "status": "Unknown"},
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"},
        {"type": "elbowroom.dev/PodResizePreemption", "status": "True", "reason": "Preempting"},
    ]}));
    assert!(!pod.ready);
    let scheduled = pod.scheduled.unwrap();
    assert_eq!((scheduled.status, scheduled.message.as_str()), (false, "no room"));
    assert!(pod.report.unwrap().status);
}

#[test]
fn a_gate_keeps_a_pod_back() {
    assert!(with_spec(json!({"schedulingGates": [{"name": "later"}]})).gated);
    assert!(!with_spec(json!({"schedulingGates": []})).gated);
}

#[test]
fn a_pod_without_a_name_is_refused() {
    let refused = converter().pod(&serde_json::from_value(json!({"metadata": {}})).unwrap()).unwrap_err();
    assert_eq!(refused.to_string(), "Pod without a name: metadata.name: missing");
}

#[test]
fn the_qos_class_of_the_status_wins() {
    let requests = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
    assert_eq!(try_pod(requests, json!({"qosClass": "Guaranteed"})).unwrap().qos, Qos::Guaranteed);
}

#[test]
fn a_pod_is_guaranteed_when_every_container_limits_both_to_what_it_requests() {
    let both = json!({"cpu": "1", "memory": "1Gi"});
    let full = json!({"name": "a", "resources": {"requests": both, "limits": both}});
    let same =
        json!({"name": "b", "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": both}});
    let cpu_only = json!({"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}});
    assert_eq!(with_spec(json!({"containers": [full, same]})).qos, Qos::Guaranteed);
    assert_eq!(with_spec(json!({"containers": [full, cpu_only]})).qos, Qos::Burstable);
    assert_eq!(with_spec(json!({"containers": [full], "initContainers": [cpu_only]})).qos, Qos::Burstable);
    assert_eq!(with_spec(json!({"containers": [{"name": "c"}]})).qos, Qos::BestEffort);
}

#[test]
fn only_cpu_and_memory_make_a_qos_class() {
    let gpu = json!({"example.com/gpu": "1"});
    let container = json!({"name": "a", "resources": {"requests": gpu, "limits": gpu}});
    assert_eq!(with_spec(json!({"containers": [container]})).qos, Qos::BestEffort);
}

#[test]
fn pod_level_resources_decide_the_qos_class_alone() {
    let both = json!({"cpu": "1", "memory": "1Gi"});
    let spec = json!({"resources": {"requests": both, "limits": both}, "containers": [{"name": "a"}]});
    assert_eq!(with_spec(spec).qos, Qos::Guaranteed);
}

//! The rules of the API server, one by one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{Api, Refusal, Resize, Target};
use crate::model::{Span, Timestamp};
use crate::simulation::objects::{Key, PodExt, condition};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use serde_json::{Value, from_value, json};

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

fn key(name: &str) -> Key {
    Key::new("default", name)
}

fn pod(name: &str, resources: Value) -> Pod {
    from_value(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "i", "resources": resources}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }))
    .unwrap()
}

fn budget(name: &str, spec: Value) -> PodDisruptionBudget {
    let mut spec = spec;
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    from_value(json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec,
    }))
    .unwrap()
}

/// A node of 4 CPU with Pods `a`, `b` and `c` of 1 CPU, running and ready.
fn api() -> Api {
    let mut api = Api::default();
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "4Gi"}},
    });
    api.store_node(from_value::<Node>(node).unwrap());
    for name in ["a", "b", "c"] {
        api.create_pod(NOW, pod(name, json!({"requests": {"cpu": "1"}}))).unwrap();
    }
    api
}

fn with_budget(spec: Value) -> Api {
    let mut api = api();
    api.apply_budget(budget("pdb", spec));
    api.count_budgets(NOW);
    api
}

fn uid(api: &Api, name: &str) -> String {
    api.pods[&key(name)].uid().to_owned()
}

fn evict(api: &mut Api, name: &str) -> Result<(), Refusal> {
    let uid = uid(api, name);
    api.evict_pod(NOW, &key(name), &uid, false)
}

fn change(api: &mut Api, name: &str, edit: impl FnOnce(&mut Pod)) {
    let mut pod = api.pods[&key(name)].clone();
    edit(&mut pod);
    api.store_pod(pod);
}

fn unready(api: &mut Api, name: &str) {
    change(api, name, |pod| {
        pod.set_condition(NOW, condition("Ready", false, "", ""));
    });
    api.count_budgets(NOW);
}

fn allowed(api: &Api) -> i32 {
    api.budgets[&key("pdb")].status.as_ref().unwrap().disruptions_allowed.unwrap()
}

fn resize(api: &mut Api, name: &str, requests: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
    api.resize_pod(&key(name), &Resize::of(requests.iter().copied()))
}

#[test]
fn an_eviction_within_the_budget_spends_one_unit_and_starts_the_grace_period() {
    let mut api = with_budget(json!({"minAvailable": 2}));
    assert_eq!(allowed(&api), 1);
    evict(&mut api, "a").unwrap();
    assert_eq!(allowed(&api), 0);
    let pod = &api.pods[&key("a")];
    assert!(pod.leaving());
    assert_eq!(pod.condition("DisruptionTarget").unwrap().reason.as_deref(), Some("EvictionByEvictionAPI"));
    let status = api.budgets[&key("pdb")].status.as_ref().unwrap();
    assert!(status.disrupted_pods.as_ref().unwrap().contains_key("a"));
}

#[test]
fn a_used_up_budget_answers_429_with_the_cause_and_no_hint() {
    let mut api = with_budget(json!({"minAvailable": 3}));
    let refusal = evict(&mut api, "a").unwrap_err();
    assert_eq!((refusal.code, refusal.budget, refusal.retry_after), (429, true, None));
    assert!(!api.pods[&key("a")].leaving());
}

#[test]
fn a_status_that_is_behind_answers_429_with_a_hint() {
    let mut api = with_budget(json!({"minAvailable": 1}));
    api.apply_budget(budget("pdb", json!({"minAvailable": 2})));
    let refusal = evict(&mut api, "a").unwrap_err();
    assert_eq!((refusal.code, refusal.budget, refusal.retry_after), (429, true, Some(10)));
}

#[test]
fn a_negative_allowance_answers_403() {
    let mut api = with_budget(json!({"minAvailable": 1}));
    let mut pinned = budget("pdb", json!({"minAvailable": 1}));
    pinned.status = Some(from_value(json!({"disruptionsAllowed": -1})).unwrap());
    api.apply_budget(pinned);
    let refusal = evict(&mut api, "a").unwrap_err();
    assert_eq!((refusal.code, refusal.budget), (403, true));
}

#[test]
fn two_budgets_over_one_pod_answer_500_even_to_a_dry_run() {
    let mut api = with_budget(json!({"minAvailable": 1}));
    api.apply_budget(budget("other", json!({"minAvailable": 0})));
    let a = uid(&api, "a");
    let refusal = api.evict_pod(NOW, &key("a"), &a, true).unwrap_err();
    assert_eq!((refusal.code, refusal.budget), (500, false));
}

#[test]
fn another_uid_answers_409_and_burns_a_unit_all_the_same() {
    let mut api = with_budget(json!({"minAvailable": 2}));
    assert_eq!(api.evict_pod(NOW, &key("a"), "another", false).unwrap_err().code, 409);
    assert_eq!(allowed(&api), 0);
    assert!(!api.pods[&key("a")].leaving());
}

#[test]
fn a_burnt_unit_comes_back_after_two_minutes() {
    let mut api = with_budget(json!({"minAvailable": 2}));
    api.evict_pod(NOW, &key("a"), "another", false).unwrap_err();
    assert!(api.count_budgets(NOW + Span::from_seconds(119)).is_some());
    assert_eq!(allowed(&api), 0);
    assert_eq!(api.count_budgets(NOW + Span::from_seconds(120)), None);
    assert_eq!(allowed(&api), 1);
}

#[test]
fn a_dry_run_changes_nothing() {
    let mut api = with_budget(json!({"minAvailable": 2}));
    let a = uid(&api, "a");
    api.evict_pod(NOW, &key("a"), &a, true).unwrap();
    assert_eq!(allowed(&api), 1);
    assert!(!api.pods[&key("a")].leaving());
}

#[test]
fn a_leaving_pod_is_evicted_again_for_nothing() {
    let mut api = with_budget(json!({"minAvailable": 2}));
    evict(&mut api, "a").unwrap();
    evict(&mut api, "a").unwrap();
    assert_eq!(allowed(&api), 0, "one unit for both");
}

#[test]
fn pending_and_finished_pods_cost_nothing() {
    let mut api = with_budget(json!({"minAvailable": 3}));
    change(&mut api, "a", |pod| pod.status_mut().phase = Some("Pending".to_owned()));
    change(&mut api, "b", |pod| pod.status_mut().phase = Some("Failed".to_owned()));
    evict(&mut api, "a").unwrap();
    evict(&mut api, "b").unwrap();
}

#[test]
fn an_unready_pod_goes_for_nothing_when_enough_others_are_healthy() {
    let mut api = with_budget(json!({"minAvailable": 2}));
    unready(&mut api, "a");
    assert_eq!(allowed(&api), 0);
    evict(&mut api, "a").unwrap();
}

#[test]
fn an_unready_pod_is_kept_while_too_few_are_healthy_unless_the_policy_lets_it_go() {
    let mut api = with_budget(json!({"minAvailable": 3}));
    unready(&mut api, "a");
    assert_eq!(evict(&mut api, "a").unwrap_err().code, 429);
    api.apply_budget(budget("pdb", json!({"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"})));
    evict(&mut api, "a").unwrap();
}

#[test]
fn max_unavailable_counts_from_the_scale_not_from_what_is_left() {
    let mut api = with_budget(json!({"maxUnavailable": 1}));
    assert_eq!(allowed(&api), 1);
    evict(&mut api, "a").unwrap();
    api.remove_pod(&key("a"));
    api.count_budgets(NOW);
    assert_eq!(allowed(&api), 0);
}

#[test]
fn percentages_are_rounded_up() {
    // Half of three is two.
    assert_eq!(allowed(&with_budget(json!({"minAvailable": "50%"}))), 1);
    assert_eq!(allowed(&with_budget(json!({"maxUnavailable": "50%"}))), 2);
}

#[test]
fn a_pinned_allowance_is_not_counted_anew() {
    let mut api = api();
    let mut pinned = budget("pdb", json!({"minAvailable": 3}));
    pinned.status = Some(from_value(json!({"disruptionsAllowed": 2})).unwrap());
    api.apply_budget(pinned);
    api.count_budgets(NOW);
    assert_eq!(allowed(&api), 2);
}

#[test]
fn a_resize_raises_the_generation() {
    let mut api = api();
    resize(&mut api, "a", &[("cpu", "2")]).unwrap();
    assert_eq!(api.pods[&key("a")].generation(), 2);
    resize(&mut api, "a", &[("cpu", "2")]).unwrap();
    assert_eq!(api.pods[&key("a")].generation(), 2, "nothing changed");
}

#[test]
fn a_resize_beyond_what_the_node_has_is_refused() {
    let mut api = api();
    let refusal = resize(&mut api, "a", &[("cpu", "4001m")]).unwrap_err();
    assert_eq!(refusal.code, 403);
    resize(&mut api, "a", &[("cpu", "4")]).unwrap();
}

#[test]
fn a_resize_that_changes_the_qos_class_is_refused() {
    let mut api = api();
    let limits = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}});
    api.create_pod(NOW, pod("d", limits)).unwrap();
    let refusal = resize(&mut api, "d", &[("cpu", "2")]).unwrap_err();
    assert!(refusal.message.contains("QOS"), "{}", refusal.message);
}

#[test]
fn a_limit_that_equals_the_request_goes_along() {
    let mut api = api();
    let equal = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
    api.create_pod(NOW, pod("d", equal)).unwrap();
    resize(&mut api, "d", &[("cpu", "2")]).unwrap();
    let resources = api.pods[&key("d")].spec.as_ref().unwrap().containers[0].resources.clone().unwrap();
    assert_eq!(resources.limits.unwrap()["cpu"].0, "2");
}

#[test]
fn a_request_above_its_limit_is_refused() {
    let mut api = api();
    let loose = json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}});
    api.create_pod(NOW, pod("d", loose)).unwrap();
    assert_eq!(resize(&mut api, "d", &[("cpu", "3")]).unwrap_err().code, 422);
}

#[test]
fn only_cpu_and_memory_can_be_resized() {
    assert_eq!(resize(&mut api(), "a", &[("nvidia.com/gpu", "1")]).unwrap_err().code, 422);
}

#[test]
fn a_pod_without_a_node_is_deleted_at_once() {
    let mut api = api();
    change(&mut api, "a", |pod| pod.spec_mut().node_name = None);
    api.delete_pod(NOW, &key("a"), None, None).unwrap();
    assert!(!api.pods.contains_key(&key("a")));
}

#[test]
fn a_second_delete_can_only_shorten_the_grace_period() {
    let mut api = api();
    let deadline = |api: &Api| api.pods[&key("a")].metadata.deletion_timestamp.clone().unwrap();
    api.delete_pod(NOW, &key("a"), None, Some(Span::from_seconds(20))).unwrap();
    let first = deadline(&api);
    api.delete_pod(NOW, &key("a"), None, Some(Span::from_seconds(60))).unwrap();
    assert_eq!(deadline(&api), first);
    api.delete_pod(NOW, &key("a"), None, Some(Span::from_seconds(5))).unwrap();
    assert!(deadline(&api) < first);
}

#[test]
fn binding_asks_for_the_uid_and_for_a_pod_that_is_free() {
    let mut api = api();
    change(&mut api, "a", |pod| pod.spec_mut().node_name = None);
    let a = uid(&api, "a");
    assert_eq!(api.bind_pod(NOW, &key("a"), "another", "n1").unwrap_err().code, 409);
    api.bind_pod(NOW, &key("a"), &a, "n1").unwrap();
    assert_eq!(api.bind_pod(NOW, &key("a"), &a, "n2").unwrap_err().code, 409);
    assert_eq!(api.bind_pod(NOW, &key("nobody"), &a, "n1").unwrap_err().code, 404);
}

#[test]
fn a_gated_pod_is_not_bound() {
    let mut api = api();
    change(&mut api, "a", |pod| {
        pod.spec_mut().node_name = None;
        pod.spec_mut().scheduling_gates = Some(from_value(json!([{"name": "quota"}])).unwrap());
    });
    let a = uid(&api, "a");
    assert_eq!(api.bind_pod(NOW, &key("a"), &a, "n1").unwrap_err().code, 409);
}

#[test]
fn the_priority_class_gives_priority_and_policy() {
    let mut api = api();
    let class = json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "meek"},
        "value": 7, "preemptionPolicy": "Never",
    });
    api.classes.insert("meek".to_owned(), from_value(class).unwrap());
    let mut new = pod("d", json!({}));
    new.spec_mut().priority_class_name = Some("meek".to_owned());
    api.create_pod(NOW, new.clone()).unwrap();
    let spec = api.pods[&key("d")].spec.clone().unwrap();
    assert_eq!((spec.priority, spec.preemption_policy.as_deref()), (Some(7), Some("Never")));
    new.metadata.name = Some("e".to_owned());
    new.spec_mut().priority_class_name = Some("unknown".to_owned());
    assert_eq!(api.create_pod(NOW, new).unwrap_err().code, 403);
}

#[test]
fn a_condition_keeps_its_time_while_its_status_stays() {
    let mut api = api();
    let a = uid(&api, "a");
    let patch = |api: &mut Api, after: i64, status: bool, message: &str| {
        let value = condition("Mine", status, "Why", message);
        api.patch_condition(NOW + Span::from_seconds(after), &key("a"), &a, "Mine", Some(value)).unwrap();
        api.pods[&key("a")].condition("Mine").unwrap().last_transition_time.clone().unwrap()
    };
    let first = patch(&mut api, 0, false, "one");
    assert_eq!(patch(&mut api, 5, false, "two"), first);
    assert_ne!(patch(&mut api, 9, true, "two"), first);
    let other = api.patch_condition(NOW, &key("a"), "another", "Mine", None);
    assert_eq!(other.unwrap_err().code, 409);
}

#[test]
fn a_pod_without_resources_of_its_own_is_not_resized_as_a_whole() {
    let mut api = api();
    let whole = Resize { target: Target::Pod, ..Resize::of([("cpu", "2")]) };
    assert_eq!(api.resize_pod(&key("a"), &whole).unwrap_err().code, 422);
    change(&mut api, "a", |pod| {
        pod.spec_mut().resources = Some(from_value(json!({"requests": {"cpu": "1"}})).unwrap());
    });
    api.resize_pod(&key("a"), &whole).unwrap();
    assert_eq!(api.pods[&key("a")].generation(), 2);
    let too_much = Resize { target: Target::Pod, ..Resize::of([("cpu", "5")]) };
    assert_eq!(api.resize_pod(&key("a"), &too_much).unwrap_err().code, 403, "more than the node has");
}

//! Requests, and what the kubelet says of them.

use super::{try_pod, with_spec};
use crate::model::Quantity;
use crate::model::requests::Requests;
use serde_json::{Value, json};

fn requests(pairs: &[(&str, &str)]) -> Requests {
    pairs.iter().map(|(name, text)| ((*name).into(), Quantity::parse(text).unwrap())).collect()
}

fn container(name: &str, cpu: &str) -> Value {
    json!({"name": name, "resources": {"requests": {"cpu": cpu}}})
}

#[test]
fn statuses_are_matched_by_container_name() {
    let spec = json!({"containers": [container("a", "1"), container("b", "2")]});
    let status = json!({"containerStatuses": [
        {"name": "b", "allocatedResources": {"cpu": "1500m"}, "resources": {"requests": {"cpu": "1200m"}}},
    ]});
    let resources = try_pod(spec, status).unwrap().resources;
    assert_eq!((&resources.containers[0].allocated, &resources.containers[0].actual), (&None, &None));
    assert_eq!(resources.containers[1].requests, requests(&[("cpu", "2")]));
    assert_eq!(resources.containers[1].allocated, Some(requests(&[("cpu", "1500m")])));
    assert_eq!(resources.containers[1].actual, Some(requests(&[("cpu", "1200m")])));
}

#[test]
fn an_init_container_that_always_restarts_is_a_sidecar() {
    let mut sidecar = container("s", "1");
    sidecar["restartPolicy"] = "Always".into();
    let spec = json!({"initContainers": [container("i", "1"), sidecar], "containers": [sidecar]});
    let resources = with_spec(spec).resources;
    assert_eq!(resources.init_containers.iter().map(|c| c.sidecar).collect::<Vec<_>>(), [false, true]);
    assert!(!resources.containers[0].sidecar);
}

#[test]
fn totals_of_the_pod_are_read_beside_those_of_its_containers() {
    let spec = json!({"resources": {"requests": {"cpu": "3"}}, "overhead": {"memory": "1Mi"}});
    let status = json!({"allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "1"}}});
    let resources = try_pod(spec, status).unwrap().resources;
    assert_eq!(resources.pod_level, Some(requests(&[("cpu", "3")])));
    assert_eq!(resources.overhead, requests(&[("memory", "1Mi")]));
    assert_eq!(resources.status_allocated, Some(requests(&[("cpu", "2")])));
    assert_eq!(resources.status_actual, Some(requests(&[("cpu", "1")])));
    assert!(!resources.status_bare);
}

#[test]
fn a_total_without_requests_is_not_an_absent_one() {
    let bare = |status| try_pod(json!({}), status).unwrap().resources.status_bare;
    assert!(bare(json!({"resources": {"limits": {"cpu": "1"}}})));
    assert!(!bare(json!({})));
}

#[test]
fn a_quantity_may_be_a_number() {
    let spec = json!({"containers": [{"name": "a", "resources": {"requests": {"cpu": 2, "memory": 0.5}}}]});
    assert_eq!(
        with_spec(spec).resources.containers[0].requests,
        requests(&[("cpu", "2"), ("memory", "500m")])
    );
}

#[test]
fn a_quantity_that_cannot_be_read_refuses_the_pod_by_field_and_text() {
    let refused = try_pod(json!({"containers": [container("web", "2 cores")]}), json!({})).unwrap_err();
    assert_eq!(refused.name, "ns/p");
    assert_eq!(refused.field, "containers \"web\": resources.requests.cpu");
    assert!(refused.problem.contains("2 cores"), "{refused}");
}

#[test]
fn a_status_that_cannot_be_read_refuses_the_pod_too() {
    let refused = try_pod(json!({}), json!({"allocatedResources": {"cpu": "x"}})).unwrap_err();
    assert_eq!(refused.field, "status.allocatedResources.cpu");
}

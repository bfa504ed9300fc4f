//! What a Pod counts for, against Kubernetes' own helper (`e2e/golden`).
//!
//! Invariant: whatever differs from Go is named here with the reason.

use elbowroom::cluster::footprint::footprint;
use elbowroom::model::requests::{ContainerResources, PodResources, Requests};
use elbowroom::model::{Quantity, Str};
use serde::Deserialize;
use std::collections::BTreeMap;

type Texts = BTreeMap<String, String>;
type Amounts = BTreeMap<String, i64>;

#[derive(Deserialize)]
struct Case {
    name: String,
    pod: Pod,
    desired: Amounts,
    reserved: Amounts,
    held: Amounts,
    nonzero: (i64, i64),
    new: (i64, i64),
}

#[derive(Deserialize)]
struct Pod {
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    init_containers: Vec<Container>,
    containers: Vec<Container>,
    resources: Option<Resources>,
    #[serde(default)]
    overhead: Texts,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    name: String,
    restart_policy: Option<String>,
    #[serde(default)]
    resources: Resources,
}

#[derive(Default, Deserialize)]
struct Resources {
    requests: Option<Texts>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
    #[serde(default)]
    init_container_statuses: Vec<ContainerStatus>,
    #[serde(default)]
    container_statuses: Vec<ContainerStatus>,
    allocated_resources: Option<Texts>,
    resources: Option<Resources>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerStatus {
    name: String,
    allocated_resources: Option<Texts>,
    resources: Option<Resources>,
}

fn requests(texts: &Texts) -> Requests {
    texts.iter().map(|(name, text)| (Str::from(name.as_str()), Quantity::parse(text).unwrap())).collect()
}

fn in_resources(resources: Option<&Resources>) -> Option<Requests> {
    resources.and_then(|resources| resources.requests.as_ref()).map(requests)
}

impl Pod {
    fn resources(&self) -> PodResources {
        let status = &self.status;
        let container = |one: &Container| {
            let mut reported = status.container_statuses.iter().chain(&status.init_container_statuses);
            let reported = reported.find(|status| status.name == one.name);
            ContainerResources {
                requests: in_resources(Some(&one.resources)).unwrap_or_default(),
                allocated: reported.and_then(|status| status.allocated_resources.as_ref()).map(requests),
                actual: reported.and_then(|status| in_resources(status.resources.as_ref())),
                sidecar: one.restart_policy.as_deref() == Some("Always"),
            }
        };
        let pending = status.conditions.iter().find(|condition| condition.r#type == "PodResizePending");
        let status_actual = in_resources(status.resources.as_ref());
        PodResources {
            containers: self.spec.containers.iter().map(container).collect(),
            init_containers: self.spec.init_containers.iter().map(container).collect(),
            pod_level: in_resources(self.spec.resources.as_ref()),
            overhead: requests(&self.spec.overhead),
            status_allocated: status.allocated_resources.as_ref().map(requests),
            status_bare: status.resources.is_some() && status_actual.is_none(),
            status_actual,
            infeasible: pending.is_some_and(|condition| condition.reason == "Infeasible"),
        }
    }
}

fn amounts(list: &[(Str, i64)]) -> Amounts {
    assert!(
        list.is_sorted_by(|(one, _), (next, _)| one < next) && list.iter().all(|(_, amount)| *amount != 0)
    );
    list.iter().map(|(name, amount)| (name.to_string(), *amount)).collect()
}

/// In Go the milli-CPU of `1E` wrap to 0, and the Pod fits everywhere. Ours saturates, and it fits nowhere.
const WRAPS_IN_GO: &str = "a cpu request that Go wraps to nothing";

/// Checks one reading of every Pod.
fn check<T: PartialEq + std::fmt::Debug>(reading: impl Fn(&Case) -> (T, T)) {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../golden/footprints.json")).unwrap();
    assert!(cases.len() >= 400, "{} cases", cases.len());
    for case in cases.iter().filter(|case| case.name != WRAPS_IN_GO) {
        let (ours, go) = reading(case);
        assert_eq!(ours, go, "{}", case.name);
    }
}

#[test]
fn a_new_pod_asks_for_what_go_says() {
    check(|case| (amounts(&footprint(&case.pod.resources()).desired), case.desired.clone()));
}

#[test]
fn a_pod_on_a_node_reserves_what_go_says() {
    check(|case| (amounts(&footprint(&case.pod.resources()).reserved), case.reserved.clone()));
}

#[test]
fn a_neighbour_holds_what_its_kubelet_says() {
    check(|case| (amounts(&footprint(&case.pod.resources()).held), case.held.clone()));
}

#[test]
fn scoring_counts_a_pod_on_a_node_as_go_does() {
    check(|case| {
        let ours = footprint(&case.pod.resources());
        ((ours.nonzero_cpu, ours.nonzero_memory), case.nonzero)
    });
}

#[test]
fn scoring_counts_a_new_pod_as_go_does() {
    check(|case| {
        let ours = footprint(&case.pod.resources());
        ((ours.new_nonzero_cpu, ours.new_nonzero_memory), case.new)
    });
}

#[test]
fn a_cpu_request_that_go_wraps_to_nothing_saturates() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../golden/footprints.json")).unwrap();
    let case = cases.iter().find(|case| case.name == WRAPS_IN_GO).unwrap();
    assert_eq!(case.desired, Amounts::new(), "Go wraps no more: remove the exception");
    assert_eq!(footprint(&case.pod.resources()).desired, [(Str::from("cpu"), i64::MAX)]);
}

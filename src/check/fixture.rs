//! Facts for the tests of rules.
//!
//! Invariant: nothing is found in a healthy cluster but what a test puts there.

#![allow(clippy::expect_used)]

use super::{BudgetFacts, Facts, Finding, GateFacts, Id, NodeFacts, PriorityClass, Rights, check};
use crate::engine::{Profile, Settings};
use crate::model::pod::{Condition, Phase, PodRef};
use crate::model::requests::{ContainerResources, Requests};
use crate::model::{Budget, Node, Pod, Quantity, Selector, Timestamp};
use crate::resize::ResizePolicy;

/// A cluster with one node, two Pods of different priority, and elbowroom as it comes.
pub fn healthy() -> Facts {
    Facts {
        server: Some("v1.37.2".into()),
        rights: Some(Rights { of: "elbowroom".into(), missing: Vec::new() }),
        gate: GateFacts { api_server: Some(false), ..GateFacts::default() },
        classes: Some(vec![class("batch", 10), class("web", 1000)]),
        nodes: vec![node("n1")],
        pods: vec![pod("job", 10), pod("shop", 1000)],
        settings: Settings { profiles: vec![profile("elbowroom")], ..Settings::default() },
        now: Timestamp::from_seconds(3000),
        ..Facts::default()
    }
}

/// What this rule finds.
pub fn found(facts: &Facts, id: Id) -> Vec<Finding> {
    check(facts).findings.into_iter().filter(|finding| finding.id == id).collect()
}

/// The only thing that it finds.
pub fn the_one(facts: &Facts, id: Id) -> Finding {
    let [one] = found(facts, id).try_into().expect("one finding");
    one
}

pub fn profile(name: &str) -> Profile {
    Profile { name: name.into(), bind: true, resize: ResizePolicy::default() }
}

pub fn class(name: &str, value: i32) -> PriorityClass {
    PriorityClass { name: name.into(), value, ..PriorityClass::default() }
}

fn cpu(text: &str) -> Requests {
    vec![("cpu".into(), text.parse::<Quantity>().expect("a quantity"))]
}

/// A Ready node of 4 CPUs.
pub fn node(name: &str) -> NodeFacts {
    let mut allocatable = cpu("4");
    allocatable.push(("pods".into(), "110".parse().expect("a quantity")));
    let node = Node { name: name.into(), uid: name.into(), ready: true, allocatable, ..Node::default() };
    NodeFacts { node, kubelet: "v1.37.2".into() }
}

/// A running Pod of ours on `n1` that holds 1 CPU.
pub fn pod(name: &str, priority: i32) -> Pod {
    let mut pod = Pod {
        id: PodRef { namespace: "ns".into(), name: name.into(), uid: name.into() },
        generation: 1,
        observed_generation: Some(1),
        scheduler: "elbowroom".into(),
        node: Some("n1".into()),
        priority,
        phase: Phase::Running,
        ready: true,
        started: Some(Timestamp::from_seconds(1000)),
        ..Pod::default()
    };
    let held = Some(cpu("1"));
    pod.resources.containers = vec![ContainerResources {
        requests: cpu("1"),
        allocated: held.clone(),
        actual: held,
        sidecar: false,
    }];
    pod
}

/// The same, wanting so much instead, and what the kubelet says to that.
pub fn pending(name: &str, priority: i32, wants: &str, reason: &str) -> Pod {
    let mut pod = pod(name, priority);
    pod.resources.containers.iter_mut().for_each(|container| container.requests = cpu(wants));
    pod.resize = Some(Box::new(Condition {
        status: true,
        reason: reason.into(),
        message: "Node didn't have enough resource: cpu, requested: 0, used: 0, capacity: 0".into(),
        observed_generation: Some(1),
        since: Some(Timestamp::from_seconds(2000)),
    }));
    pod
}

/// A budget over every Pod of the namespace, computed, of which so many are there and healthy.
pub fn budget(name: &str, desired: i32, expected: i32) -> BudgetFacts {
    let budget = Budget {
        namespace: "ns".into(),
        name: name.into(),
        uid: name.into(),
        generation: 1,
        observed_generation: 1,
        selector: Some(Selector::everything()),
        disruptions_allowed: (expected - desired).max(0),
        current_healthy: expected,
        desired_healthy: desired,
        ..Budget::default()
    };
    BudgetFacts { budget, expected, ..BudgetFacts::default() }
}

#[test]
fn nothing_is_found_in_a_healthy_cluster() {
    assert_eq!(check(&healthy()).findings, []);
}

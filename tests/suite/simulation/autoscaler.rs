//! The Vertical Pod Autoscaler gives a resize up after five minutes; with a deadline of as much, nobody goes for a
//! resize that is given up.

use super::Played;
use elbowroom::engine::{Profile, Settings};
use elbowroom::model::Span;
use elbowroom::resize::ResizePolicy;
use elbowroom::resize::policy::Fallback;
use elbowroom::simulation::objects::Key;
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{Faults, What, engine};

/// 1000m: `p` grows from 500m to 900m at 10 s; `v` has 400m and this grace period; a newcomer of 100m comes at
/// 20 s. A budget over `covered` allows so much in the beginning; the steps follow.
fn cluster(grace: &str, (covered, allowed): (&str, i32), steps: &str) -> Scenario {
    let text = format!(
        "apiVersion: elbowroom.dev/v1alpha1
kind: Scenario
metadata: {{name: autoscaler}}
until: 15m
steps:
- at: 10s
  resize: {{pod: p, cpu: 900m}}
- at: 20s
  create:
    apiVersion: v1
    kind: Pod
    metadata: {{name: newcomer}}
    spec: {{priority: 100, containers: [{{name: c, image: i, resources: {{requests: {{cpu: 100m}}}}}}]}}
{steps}
---
apiVersion: v1
kind: Node
metadata: {{name: n1}}
status: {{allocatable: {{cpu: 1000m, memory: 1Gi, pods: '110'}}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: {{app: p}}
  ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: p, uid: p, controller: true}}]
spec:
  nodeName: n1
  priority: 1000
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: 500m}}}}}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: v, labels: {{app: v}}}}
spec:
  nodeName: n1
  priority: 100
  terminationGracePeriodSeconds: {grace}
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: 400m}}}}}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: keep}}
spec: {{selector: {{matchLabels: {{app: {covered}}}}}}}
status: {{disruptionsAllowed: {allowed}}}
"
    );
    Scenario::parse("autoscaler", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn play(scenario: &Scenario, fallback: Fallback) -> Played {
    let resize =
        ResizePolicy { deadline: Some(Span::from_seconds(300)), fallback, ..ResizePolicy::default() };
    let profile = Profile { name: "elbowroom".into(), bind: true, resize };
    let settings = Settings { profiles: vec![profile], ..Settings::default() };
    let mut world = scenario.stage(engine(settings), Faults::default());
    world.run(scenario.until).unwrap_or_else(|problem| panic!("{problem}"));
    Played(world)
}

/// How long after the resize, the first thing that happens, a Pod was let go by the Eviction API.
fn evicted_after(end: &Played, name: &str) -> Option<Span> {
    let (first, pod) = (end.0.history().first()?, Key::new("default", name));
    let gone = |what: &What| matches!(what, What::Eviction(of, Ok(())) if *of == pod);
    end.0.history().iter().find(|moment| gone(&moment.what)).map(|moment| moment.at - first.at)
}

#[test]
fn a_victim_that_is_gone_before_the_deadline_goes() {
    let end = play(&cluster("200", ("v", 1), ""), Fallback::None);
    assert_eq!(end.evicted(), ["v"]);
    assert_eq!(end.allocated("p", "cpu"), "900m");
}

#[test]
fn a_victim_that_outlasts_the_deadline_stays() {
    let end = play(&cluster("310", ("v", 1), ""), Fallback::None);
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "GraceTooLong");
}

#[test]
fn nobody_goes_once_it_would_be_too_late_and_a_reverted_resize_leaves_no_claim() {
    let steps = "\
- {at: 250s, budget: {name: keep, disruptionsAllowed: 1}}
- {at: 310s, resize: {pod: p, cpu: 500m}}";
    let end = play(&cluster("100", ("v", 0), steps), Fallback::None);
    assert_eq!(end.evicted(), [""; 0]);
    assert_eq!(end.reason("p"), "", "there is nothing more to say");
    assert_eq!(end.node("newcomer"), Some("n1"), "the room is free again");
}

#[test]
fn the_claim_keeps_the_room_for_as_long_as_the_resize_is_asked_for() {
    let end = play(&cluster("310", ("v", 1), ""), Fallback::None);
    assert_eq!(end.node("newcomer"), None);
}

#[test]
fn a_growing_pod_that_is_evicted_leaves_neither_claim_nor_victims() {
    let steps = "\
- {at: 250s, budget: {name: keep, disruptionsAllowed: 1}}
- {at: 310s, delete: {pod: p}}";
    let end = play(&cluster("100", ("v", 0), steps), Fallback::None);
    assert_eq!(end.evicted(), [""; 0]);
    assert!(end.find("p").is_none());
    assert_eq!(end.node("newcomer"), Some("n1"));
}

#[test]
fn with_the_fallback_the_growing_pod_itself_goes_and_not_before_the_deadline() {
    let end = play(&cluster("310", ("v", 1), ""), Fallback::EvictSelf);
    assert_eq!(end.evicted(), ["p"]);
    let after = evicted_after(&end, "p").expect("an eviction");
    assert!(after >= Span::from_seconds(300) && after < Span::from_seconds(305), "{after:?}");
}

#[test]
fn the_fallback_obeys_the_budget_of_the_growing_pod() {
    let end = play(&cluster("310", ("p", 0), ""), Fallback::EvictSelf);
    assert_eq!(end.evicted(), [""; 0]);

    let opened = "- {at: 400s, budget: {name: keep, disruptionsAllowed: 1}}";
    let end = play(&cluster("310", ("p", 0), opened), Fallback::EvictSelf);
    assert_eq!(end.evicted(), ["p"]);
    assert!(evicted_after(&end, "p") >= Some(Span::from_seconds(390)));
}

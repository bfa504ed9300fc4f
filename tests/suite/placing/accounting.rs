//! What Pods on a node keep from a new one.

use super::support::*;
use super::world::*;
use elbowroom::model::pod::{Condition, Phase};
use elbowroom::model::requests::{ContainerResources, Requests};
use elbowroom::model::{Node, Pod};

fn amounts(pairs: &[(&str, &str)]) -> Requests {
    pairs.iter().map(|(resource, amount)| (name(resource), quantity(amount))).collect()
}

fn container(desired: &str, allocated: &str, actual: &str) -> ContainerResources {
    let (allocated, actual) = (Some(requests(allocated)), Some(requests(actual)));
    ContainerResources { requests: requests(desired), allocated, actual, sidecar: false }
}

fn of(containers: Vec<ContainerResources>) -> Pod {
    let mut pod = pod("old", 0, "0");
    pod.resources.containers = containers;
    pod
}

fn with_memory(name: &str, cpu: &str, memory: &str) -> Node {
    let allocatable = amounts(&[("cpu", cpu), ("memory", memory), ("pods", "110")]);
    Node { allocatable, ..node(name, cpu) }
}

fn memory(desired: &str, allocated: &str, actual: &str) -> ContainerResources {
    let of = |memory| amounts(&[("memory", memory)]);
    ContainerResources {
        requests: of(desired),
        allocated: Some(of(allocated)),
        actual: Some(of(actual)),
        sidecar: false,
    }
}

#[test]
fn opposite_changes_in_two_containers_count_as_the_larger_total() {
    let old = of(vec![container("300m", "800m", "800m"), container("900m", "300m", "300m")]);
    let mut world = world(vec![node("n1", "2")], vec![old]);
    assert_eq!(world.taken("n1"), Some(1200));
    world.see(waiting("new", 0, "800m"));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn a_shrink_under_way_counts_as_allocated_until_it_is_done() {
    let mut world = world(vec![node("n1", "2")], vec![of(vec![container("500m", "1500m", "1")])]);
    world.see(waiting("new", 0, "800m"));
    assert_eq!((world.settle(), world.taken("n1")), (vec![], Some(1500)));
    world.see(of(vec![container("500m", "500m", "500m")]));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn memory_that_was_asked_back_and_not_given_back_is_taken() {
    let shrinking = |actual| of(vec![memory("2Gi", "2Gi", actual)]);
    let other = Pod { id: pod("e", 0, "0").id, ..of(vec![memory("8Gi", "8Gi", "8Gi")]) };
    let mut world = world(vec![with_memory("n1", "8", "16Gi")], vec![shrinking("6Gi"), other]);
    let mut new = waiting("new", 0, "0");
    new.resources.containers = vec![asking(amounts(&[("memory", "3Gi")]))];
    world.see(new);
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.why("new"), "FailedScheduling: 0/1 nodes are available: 1 Insufficient memory.");
    assert!(world.evictions().is_empty());
    world.see(shrinking("2Gi"));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn an_infeasible_wish_keeps_nothing_from_new_pods_and_evicts_nobody() {
    let mut greedy = deferred("r", 900, "1", "40");
    greedy.resize.as_mut().unwrap().reason = "Infeasible".into();
    greedy.resources.infeasible = true;
    let mut world = world(vec![node("n1", "8")], vec![greedy, pod("v", 1, "5")]);
    world.see(waiting("new", 0, "2"));
    assert_eq!(world.settle(), ["new on n1"]);
    assert!(world.evictions().is_empty());
}

#[test]
fn a_deferred_wish_larger_than_the_node_keeps_new_pods_away_and_evicts_nobody() {
    let mut world = world(vec![node("n1", "8")], vec![deferred("r", 900, "1", "40"), pod("v", 1, "5")]);
    world.see(waiting("new", 0, "2"));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert!(world.evictions().is_empty());
}

#[test]
fn a_delta_is_reserved_from_the_moment_it_is_asked() {
    let nodes = vec![node("n1", "12"), node("n2", "500m")];
    let mut asked = deferred("r", 30, "2", "7");
    asked.resize = None;
    for resizing in [asked, deferred("r", 30, "2", "7")] {
        assert_eq!(place(nodes.clone(), vec![pod("x", 90, "8"), resizing], waiting("new", 5, "1")), None);
    }
}

#[test]
fn a_resize_that_the_api_refused_reserves_nothing() {
    let mut elsewhere = waiting("new", 0, "1");
    elsewhere.id.namespace = "other".into();
    let pods = vec![pod("r", 50, "2"), pod("x", 0, "4")];
    assert_eq!(place(vec![node("n1", "7")], pods, elsewhere).as_deref(), Some("n1"));
}

#[test]
fn a_sidecar_runs_beside_the_init_containers_after_it() {
    let mut new = waiting("new", 0, "1");
    let sidecar = ContainerResources { sidecar: true, ..asking(requests("500m")) };
    new.resources.init_containers = vec![asking(requests("2")), sidecar, asking(requests("1"))];
    assert_eq!(place(vec![node("n1", "2")], vec![], new.clone()).as_deref(), Some("n1"));
    assert_eq!(place(vec![node("n1", "1999m")], vec![], new), None);
}

#[test]
fn an_init_container_counts_after_it_has_run() {
    let mut old = of(vec![container("1", "1", "1")]);
    old.resources.init_containers = vec![asking(requests("3"))];
    assert_eq!(place(vec![node("n1", "4")], vec![old], waiting("new", 0, "2")), None);
}

#[test]
fn overhead_is_part_of_what_a_new_pod_needs() {
    let of = |cpu| {
        let mut new = waiting("new", 0, cpu);
        new.resources.overhead = requests("250m");
        new
    };
    assert_eq!(place(vec![node("n1", "2")], vec![], of("1800m")), None);
    assert_eq!(place(vec![node("n1", "2")], vec![], of("1750m")).as_deref(), Some("n1"));
}

/// The kubelet's own total includes overhead and then it is added once more; the kubelet counts so too.
#[test]
fn overhead_in_the_kubelets_total_counts_twice_as_the_kubelet_counts_it() {
    let mut old = of(vec![container("400m", "400m", "400m")]);
    old.resources.overhead = requests("100m");
    old.resources.status_allocated = Some(requests("500m"));
    old.resources.status_actual = Some(requests("500m"));
    let mut world = world(vec![node("n1", "1")], vec![old]);
    world.see(waiting("new", 0, "450m"));
    assert_eq!((world.settle(), world.taken("n1")), (vec![], Some(600)));
    // It is not hidden: the difference is a gauge, until the Pod is gone.
    assert_eq!(world.engine.gauges().overcount, [("cpu".into(), 100)]);
    world.gone(of(vec![container("400m", "400m", "400m")]));
    assert_eq!(world.engine.gauges().overcount, []);
}

#[test]
fn finished_pods_hold_nothing() {
    let ended = |name, phase, cpu| Pod { phase, ..pod(name, 0, cpu) };
    let pods = vec![ended("j1", Phase::Succeeded, "3"), ended("j2", Phase::Failed, "2"), pod("k", 0, "2")];
    assert_eq!(place(vec![node("n1", "6")], pods, waiting("new", 0, "4")).as_deref(), Some("n1"));
}

#[test]
fn a_finished_pod_kept_by_a_finalizer_holds_nothing() {
    let pods = vec![deferred("r", 50, "2", "4"), pod("job", 1, "3"), pod("w", 1, "1")];
    let mut world = world(vec![node("n1", "6")], pods);
    world.take();
    let finished = Pod { phase: Phase::Succeeded, deletion: Some(world.now), ..pod("job", 1, "3") };
    world.see(finished);
    world.see(waiting("new", 0, "1"));
    assert_eq!(world.settle(), ["new on n1"]);
    assert_eq!(world.taken("n1"), Some(4000 + 1000 + 1000));
}

#[test]
fn a_node_over_its_limit_takes_pods_that_do_not_ask_for_what_is_short() {
    let mut full = world(vec![with_memory("n1", "8", "64Gi")], vec![pod("x", 100, "5")]);
    full.see_node(with_memory("n1", "4", "64Gi"));
    let (mut nothing, mut memory) = (waiting("nothing", 0, "0"), waiting("memory", 0, "0"));
    nothing.resources.containers = vec![asking(vec![])];
    memory.resources.containers = vec![asking(amounts(&[("memory", "1Gi")]))];
    for new in [nothing, memory, waiting("cpu", 0, "1m")] {
        full.see(new);
    }
    assert_eq!(full.settle(), ["nothing on n1", "memory on n1"]);
    assert_eq!(full.why("cpu"), "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
}

#[test]
fn a_pod_level_request_replaces_the_sum_of_its_containers() {
    let mut new = waiting("new", 0, "100m");
    new.resources.containers.push(asking(vec![]));
    new.resources.pod_level = Some(amounts(&[("cpu", "300m"), ("memory", "300Mi")]));
    let nodes = vec![with_memory("n1", "250m", "8Gi"), with_memory("n2", "350m", "8Gi")];
    assert_eq!(place(nodes, vec![], new).as_deref(), Some("n2"));
}

#[test]
fn pods_of_other_schedulers_use_room() {
    let foreign = |name| Pod { scheduler: "default-scheduler".into(), ..pod(name, 0, "3") };
    let pods = vec![foreign("a"), foreign("b")];
    assert_eq!(place(vec![node("n1", "8")], pods, waiting("new", 0, "3")), None);
}

#[test]
fn a_pod_slot_is_room_too() {
    let slots = |count| {
        let allocatable = amounts(&[("cpu", "8"), ("pods", count)]);
        vec![Node { allocatable, ..node("n1", "8") }]
    };
    let mut world = world(slots("2"), vec![pod("a", 0, "1"), pod("b", 0, "1")]);
    world.see(waiting("new", 0, "1"));
    world.settle();
    assert_eq!(world.why("new"), "FailedScheduling: 0/1 nodes are available: 1 Too many pods.");
    world.see_node(slots("3").remove(0));
    assert_eq!(world.settle(), ["new on n1"]);
}

#[test]
fn a_new_wish_of_an_old_condition_still_counts_at_the_larger() {
    let mut pod = deferred("r", 50, "2", "4");
    pod.resize = Some(Box::new(Condition { reason: "Deferred".into(), ..Condition::default() }));
    let world = world(vec![node("n1", "8")], vec![pod]);
    assert_eq!(world.taken("n1"), Some(4000));
}

#[test]
fn a_pod_of_absurd_size_leaves_the_sums_of_its_node_as_they_were() {
    let huge = Pod { node: Some("n1".into()), ..pod("huge", 0, "9E") };
    let full = Pod { node: Some("n1".into()), ..pod("full", 0, "8") };
    let mut world = World::new(vec![node("n1", "8")], vec![full, huge.clone()], vec![]);
    world.gone(huge);
    let cluster = world.engine.cluster();
    let id = cluster.nodes.id("n1").expect("a node");
    assert_eq!(cluster.nodes.requested().get(elbowroom::cluster::ResourceId::CPU, id.index()), 8000);
}

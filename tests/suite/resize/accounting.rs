//! Who is counted how, and who goes.

use super::world::*;
use elbowroom::model::Pod;
use elbowroom::resize::Reason;

#[test]
fn the_one_low_pod_in_the_way_goes() {
    let mut world =
        World::new(vec![node("n1", "8")], vec![pod("v", 1, "3"), deferred("p", 50, "4", "6")], vec![]);
    assert_eq!(world.agree(), ["v"]);
    assert_eq!(world.reason("p"), Some(Reason::WaitingForVictims));
}

#[test]
fn neighbours_count_at_what_they_hold_not_at_what_they_wish() {
    // kube-scheduler 1.37 deletes all three: it counts their unmet wishes.
    let low = |name: &str| deferred(name, 10, "500m", "2");
    let pods = vec![low("l1"), low("l2"), low("l3"), deferred("p", 100, "500m", "1")];
    let mut world = World::new(vec![node("n1", "2")], pods, vec![]);
    assert_eq!(world.agree().len(), 1);
}

#[test]
fn one_big_pod_goes_rather_than_three_small_ones() {
    let mut pods = vec![pod("big", 10, "300m"), deferred("p", 100, "300m", "700m")];
    pods.extend(["s1", "s2", "s3"].map(|name| pod(name, 10, "100m")));
    assert_eq!(World::new(vec![node("n1", "1")], pods, vec![]).agree(), ["big"]);
}

#[test]
fn room_that_is_idle_counts_before_victims() {
    let mut pods: Vec<_> = ["v1", "v2", "v3", "v4"].iter().map(|name| pod(name, 2, "1")).collect();
    pods.push(deferred("r", 70, "4", "7"));
    assert_eq!(World::new(vec![node("n1", "10")], pods, vec![]).agree().len(), 1);
}

#[test]
fn two_equal_pods_do_not_starve_each_other() {
    // kube-scheduler 1.37 leaves both waiting: each counts the other's wish.
    let pods =
        vec![deferred("a", 100, "300m", "600m"), deferred("b", 100, "300m", "600m"), pod("low", 10, "400m")];
    let mut world = World::new(vec![node("n1", "1")], pods, vec![]);
    assert_eq!(world.agree(), ["low"]);
    assert_eq!(world.reason("a"), Some(Reason::WaitingForVictims));
    assert_eq!(world.reason("b"), Some(Reason::InsufficientVictims));
}

#[test]
fn what_is_leaving_already_is_credit() {
    let (v, w) = (pod("v", 1, "3"), pod("w", 2, "2"));
    let mut leaving = v.clone();
    leaving.deletion = Some(elbowroom::model::Timestamp::from_seconds(3020));
    let pods = vec![leaving, w, deferred("r", 40, "3", "6")];
    let mut world = World::new(vec![node("n1", "8")], pods, vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("r"), Some(Reason::WaitingForVictims));
    world.gone(v);
    assert_eq!(world.reason("r"), Some(Reason::WaitingForKubelet));
}

#[test]
fn a_pod_slot_is_not_needed_twice() {
    let mut full = node("n1", "1");
    full.allocatable = vec![("cpu".into(), quantity("1")), ("pods".into(), quantity("2"))];
    let pods = vec![pod("low", 1, "100m"), deferred("p", 100, "100m", "300m")];
    let mut world = World::new(vec![full], pods, vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::WaitingForKubelet));
}

#[test]
fn a_finished_pod_holds_nothing() {
    let mut job = pod("job", 1, "3");
    job.phase = elbowroom::model::pod::Phase::Succeeded;
    let mut world =
        World::new(vec![node("n1", "6")], vec![job, pod("w", 1, "1"), deferred("r", 50, "2", "4")], vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("r"), Some(Reason::WaitingForKubelet));
}

#[test]
fn any_resource_can_be_short() {
    let gpu = |mut pod: elbowroom::model::Pod, has: &str, wants: &str| {
        let amount = |text: &str| vec![("example.com/gpu".into(), quantity(text))];
        let one = &mut pod.resources.containers[0];
        (one.requests, one.allocated, one.actual) = (amount(wants), Some(amount(has)), Some(amount(has)));
        pod
    };
    let mut host = node("n1", "8");
    host.allocatable.push(("example.com/gpu".into(), quantity("4")));
    let pods =
        vec![gpu(pod("v", 1, "1"), "2", "2"), pod("cpu", 1, "4"), gpu(deferred("p", 9, "1", "1"), "2", "3")];
    assert_eq!(World::new(vec![host], pods, vec![]).agree(), ["v"]);
}

#[test]
fn a_smaller_wish_that_the_kubelet_serves_first_is_foreseen() {
    // Freeing 3 would only let the more important neighbour grow; both fit when 5 are free.
    let pods = vec![
        deferred("first", 90, "1", "4"),
        deferred("p", 50, "1", "3"),
        pod("a", 1, "3"),
        pod("b", 1, "2"),
    ];
    let mut world = World::new(vec![node("n1", "7")], pods, vec![]);
    let mut evicted = world.agree();
    evicted.sort();
    assert_eq!(evicted, ["a", "b"]);
}

#[test]
fn two_small_pods_go_rather_than_a_more_important_one_that_frees_all_at_once() {
    // Only cpu is short, until the room that a frees lets somebody else's Pod take the memory that p needs too.
    // h alone frees enough of both, but ranks higher.
    let sized = |mut pod: Pod, cpu: &str, memory: &str, wants: Option<(&str, &str)>| {
        let list = |cpu: &str, memory: &str| {
            vec![("cpu".into(), quantity(cpu)), ("memory".into(), quantity(memory))]
        };
        let held = Some(list(cpu, memory));
        let one = &mut pod.resources.containers[0];
        (one.allocated, one.actual) = (held.clone(), held);
        let (cpu, memory) = wants.unwrap_or((cpu, memory));
        one.requests = list(cpu, memory);
        pod
    };
    let mut host = node("n1", "10");
    host.allocatable.push(("memory".into(), quantity("10")));
    let mut first = sized(deferred("first", 90, "1", "1"), "1", "1", Some(("3", "3")));
    first.scheduler = "default-scheduler".into();
    let pods = vec![
        first,
        sized(deferred("p", 50, "1", "1"), "1", "1", Some(("3", "3"))),
        sized(pod("h", 40, "4"), "4", "4", None),
        sized(pod("a", 1, "2"), "4", "0", None),
        sized(pod("b", 1, "2"), "0", "2", None),
    ];
    let mut evicted = World::new(vec![host], pods, vec![]).agree();
    evicted.sort();
    assert_eq!(evicted, ["a", "b"]);
}

//! Footprints by hand, and what holds of any.
//!
//! Invariant: one rule a test.

#![allow(clippy::unwrap_used)]
use super::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn requests(list: &[(&str, &str)]) -> Requests {
    list.iter().map(|(name, text)| (Str::from(*name), Quantity::parse(text).unwrap())).collect()
}

fn cpu(text: &str) -> Requests {
    requests(&[("cpu", text)])
}

/// A container that has what it asks for.
fn settled(amount: &Requests) -> ContainerResources {
    ContainerResources {
        requests: amount.clone(),
        allocated: Some(amount.clone()),
        actual: Some(amount.clone()),
        sidecar: false,
    }
}

fn asking(amount: &Requests) -> ContainerResources {
    ContainerResources { requests: amount.clone(), ..ContainerResources::default() }
}

fn pod(containers: Vec<ContainerResources>) -> PodResources {
    PodResources { containers, ..PodResources::default() }
}

fn counted(amount: &[(&str, i64)]) -> Vec<(Str, i64)> {
    amount.iter().map(|(name, amount)| (Str::from(*name), *amount)).collect()
}

#[test]
fn the_max_is_taken_of_totals_not_of_containers() {
    let grows = ContainerResources { requests: cpu("900m"), ..settled(&cpu("300m")) };
    let shrinks = ContainerResources { requests: cpu("300m"), ..settled(&cpu("800m")) };
    let footprint = footprint(&pod(vec![shrinks, grows]));
    assert_eq!(footprint.reserved, counted(&[("cpu", 1200)]));
    assert_eq!(footprint.held, counted(&[("cpu", 1100)]));
}

#[test]
fn a_shrink_holds_its_allocation_until_it_is_done() {
    let shrinking = ContainerResources {
        requests: cpu("500m"),
        allocated: Some(cpu("1500m")),
        actual: Some(cpu("1")),
        sidecar: false,
    };
    assert_eq!(footprint(&pod(vec![shrinking])).reserved, counted(&[("cpu", 1500)]));
    assert_eq!(footprint(&pod(vec![settled(&cpu("500m"))])).reserved, counted(&[("cpu", 500)]));
}

#[test]
fn a_deferred_growth_is_reserved_but_not_held() {
    let growing = ContainerResources { requests: cpu("6"), ..settled(&cpu("4")) };
    let footprint = footprint(&pod(vec![growing]));
    assert_eq!(footprint.reserved, counted(&[("cpu", 6000)]));
    assert_eq!(footprint.held, counted(&[("cpu", 4000)]));
}

#[test]
fn an_infeasible_growth_is_not_reserved() {
    let growing = ContainerResources { requests: cpu("600"), ..settled(&cpu("4")) };
    let footprint = footprint(&PodResources { infeasible: true, ..pod(vec![growing]) });
    assert_eq!(footprint.desired, counted(&[("cpu", 600_000)]));
    assert_eq!(footprint.reserved, counted(&[("cpu", 4000)]));
}

#[test]
fn a_huge_cpu_request_is_never_taken_for_nothing() {
    assert_eq!(footprint(&pod(vec![asking(&cpu("1E"))])).desired, counted(&[("cpu", i64::MAX)]));
}

#[test]
fn a_pod_is_rounded_once() {
    let half = asking(&requests(&[("memory", "1500m")]));
    assert_eq!(footprint(&pod(vec![half.clone(), half])).desired, counted(&[("memory", 3)]));
}

#[test]
fn an_init_container_runs_beside_the_sidecars_before_it() {
    let sidecar = ContainerResources { sidecar: true, ..asking(&cpu("500m")) };
    let init_containers = vec![asking(&cpu("2")), sidecar, asking(&cpu("1"))];
    let started = PodResources { init_containers, ..pod(vec![asking(&cpu("1"))]) };
    assert_eq!(footprint(&started).desired, counted(&[("cpu", 2000)]));
}

#[test]
fn an_init_container_counts_after_it_has_run() {
    let done = PodResources { init_containers: vec![settled(&cpu("3"))], ..pod(vec![settled(&cpu("1"))]) };
    assert_eq!(footprint(&done).held, counted(&[("cpu", 3000)]));
}

#[test]
fn overhead_is_added() {
    let with = |text| PodResources { overhead: cpu("250m"), ..pod(vec![asking(&cpu(text))]) };
    assert_eq!(footprint(&with("1800m")).desired, counted(&[("cpu", 2050)]));
    assert_eq!(footprint(&with("1750m")).desired, counted(&[("cpu", 2000)]));
}

#[test]
fn overhead_counts_twice_as_the_kubelet_has_it_once_the_totals_are_reported() {
    let reported = PodResources {
        overhead: cpu("100m"),
        status_allocated: Some(cpu("500m")),
        status_actual: Some(cpu("500m")),
        ..pod(vec![settled(&cpu("400m"))])
    };
    assert_eq!(footprint(&reported).reserved, counted(&[("cpu", 600)]));
}

#[test]
fn pod_level_requests_take_the_place_of_the_containers() {
    let level = requests(&[("cpu", "300m"), ("memory", "300Mi")]);
    let containers = vec![asking(&cpu("100m")), asking(&Requests::new())];
    let footprint = footprint(&PodResources { pod_level: Some(level), ..pod(containers) });
    assert_eq!(footprint.desired, counted(&[("cpu", 300), ("memory", 300 << 20)]));
}

#[test]
fn fractions_from_a_values_file_fit_to_the_byte() {
    let asked = requests(&[("cpu", "2.5"), ("memory", "1.3Gi")]);
    let footprint = footprint(&pod(vec![asking(&asked)]));
    assert_eq!(footprint.desired, counted(&[("cpu", 2500), ("memory", 1_395_864_372)]));
}

#[test]
fn scoring_assumes_something_of_a_container_that_asks_for_nothing() {
    let footprint = footprint(&pod(vec![asking(&Requests::new()), asking(&cpu("0"))]));
    assert_eq!((footprint.nonzero_cpu, footprint.nonzero_memory), (100, 2 * DEFAULT_MEMORY));
    assert_eq!(footprint.desired, counted(&[]));
}

#[test]
fn quota_names_and_bare_words_are_no_node_resources() {
    let asked = requests(&[("example.com/fpga", "1"), ("pods", "1"), ("requests.example.com/fpga", "1")]);
    let footprint = footprint(&pod(vec![asking(&asked)]));
    assert_eq!(footprint.desired, counted(&[("example.com/fpga", 1)]));
}

fn amounts() -> impl Strategy<Value = Requests> {
    let name = prop::sample::select(vec!["cpu", "memory", "hugepages-2Mi", "example.com/fpga"]);
    prop::collection::btree_map(name, 0_i64..5000, 0..3).prop_map(|map| {
        map.into_iter().map(|(name, milli)| (Str::from(name), Quantity::from_milli(milli))).collect()
    })
}

fn containers() -> impl Strategy<Value = Vec<ContainerResources>> {
    let one = (amounts(), of(amounts()), of(amounts()), any::<bool>());
    let one = one.prop_map(|(requests, allocated, actual, sidecar)| ContainerResources {
        requests,
        allocated,
        actual,
        sidecar,
    });
    vec(one, 0..4)
}

prop_compose! {
    fn pods()(
        containers in containers(),
        init_containers in containers(),
        pod_level in of(amounts()),
        overhead in amounts(),
        status_allocated in of(amounts()),
        status_actual in of(amounts()),
        infeasible in any::<bool>(),
    ) -> PodResources {
        PodResources {
            containers, init_containers, pod_level, overhead, status_allocated, status_actual, infeasible,
            status_bare: false,
        }
    }
}

fn covers(more: &[(Str, i64)], less: &[(Str, i64)]) -> bool {
    less.iter().all(|(name, amount)| more.iter().any(|(known, most)| known == name && most >= amount))
}

proptest! {
    // With pod-level requests the reported totals replace what containers ask for, even if they are less.
    #[test]
    fn what_is_desired_is_reserved_unless_it_is_infeasible(pod in pods()) {
        let footprint = footprint(&PodResources { pod_level: None, ..pod.clone() });
        prop_assert!(pod.infeasible || covers(&footprint.reserved, &footprint.desired));
    }

    // Reported totals may lag behind the containers' allocations; without them nothing is held unreserved.
    #[test]
    fn what_is_held_is_reserved_when_no_totals_are_reported(pod in pods()) {
        let footprint = footprint(&PodResources { status_allocated: None, status_actual: None, ..pod });
        prop_assert!(covers(&footprint.reserved, &footprint.held));
    }

    #[test]
    fn scoring_never_counts_less_than_what_is_reserved(pod in pods()) {
        let footprint = footprint(&pod);
        let scored = counted(&[("cpu", footprint.nonzero_cpu), ("memory", footprint.nonzero_memory)]);
        let is_scored = |name: &Str| matches!(&**name, "cpu" | "memory");
        let reserved: Vec<_> = footprint.reserved.into_iter().filter(|(name, _)| is_scored(name)).collect();
        prop_assert!(covers(&scored, &reserved));
    }

    #[test]
    fn the_order_of_regular_containers_means_nothing(pod in pods()) {
        let mut turned = pod.clone();
        turned.containers.reverse();
        prop_assert_eq!(footprint(&pod), footprint(&turned));
    }

    #[test]
    fn a_pod_of_which_nothing_is_reported_reserves_and_holds_what_it_desires(pod in pods()) {
        let mut new = PodResources {
            status_allocated: None, status_actual: None, infeasible: false, ..pod
        };
        for one in new.containers.iter_mut().chain(&mut new.init_containers) {
            (one.allocated, one.actual) = (None, None);
        }
        let footprint = footprint(&new);
        prop_assert_eq!(&footprint.reserved, &footprint.desired);
        prop_assert_eq!(&footprint.held, &footprint.desired);
    }
}

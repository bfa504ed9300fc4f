//! How long one decision for a new Pod takes, by number of nodes: `cargo bench --bench cycle`.
//!
//! Prints the mean over a backlog in which every Pod is assumed where it was placed, as in a real run, and over Pods
//! that fit nowhere.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use elbowroom::cluster::Cluster;
use elbowroom::model::labels::Labels;
use elbowroom::model::requests::{ContainerResources, PodResources};
use elbowroom::model::{Node, Pod, Quantity, Str};
use elbowroom::scheduling::{Cycle, Outcome};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    println!("{:>6}  {:>14}  {:>14}", "nodes", "fits, ns", "fits nowhere, ns");
    for nodes in [10, 100, 1000, 5000] {
        let mut cluster = Cluster::default();
        for number in 0..nodes {
            cluster.apply_node(node(number));
        }
        let fits = backlog(&mut cluster, 2000);
        let unfit = hopeless(&mut cluster, 200);
        println!("{nodes:>6}  {:>14}  {:>14}", fits.as_nanos(), unfit.as_nanos());
    }
}

/// The mean time of a decision for plain Pods, one after the other.
fn backlog(cluster: &mut Cluster, pods: u32) -> Duration {
    let (mut cycle, mut spent) = (Cycle::default(), Duration::ZERO);
    for number in 0..pods {
        let (id, _) = cluster.apply_pod(pod(number, 100));
        let started = Instant::now();
        let outcome = cluster.pods.get(id).map(|row| cycle.decide(cluster, row));
        spent += started.elapsed();
        if let Some(Outcome::Fits(node)) = black_box(outcome) {
            cluster.assume(id, node);
        }
    }
    spent / pods
}

/// The mean time until a Pod is known to fit nowhere.
fn hopeless(cluster: &mut Cluster, pods: u32) -> Duration {
    let (id, _) = cluster.apply_pod(pod(u32::MAX, 1_000_000));
    let mut cycle = Cycle::default();
    let started = Instant::now();
    for _ in 0..pods {
        black_box(cluster.pods.get(id).map(|row| cycle.decide(cluster, row)));
    }
    started.elapsed() / pods
}

fn node(number: u32) -> Node {
    let name = Str::from(format!("node-{number}"));
    let labels =
        [("kubernetes.io/hostname".into(), name.clone()), ("zone".into(), format!("z{}", number % 3).into())];
    let allocatable = vec![
        ("cpu".into(), Quantity::from_units(32)),
        ("memory".into(), Quantity::from_units(256 << 30)),
        ("pods".into(), Quantity::from_units(110)),
    ];
    Node { name, labels: labels.into_iter().collect::<Labels>(), ready: true, allocatable, ..Node::default() }
}

fn pod(number: u32, milli_cpu: i64) -> Pod {
    let mut pod = Pod::default();
    pod.id.uid = format!("pod-{number}").into();
    let requests = vec![
        ("cpu".into(), Quantity::from_milli(milli_cpu)),
        ("memory".into(), Quantity::from_units(500 << 20)),
    ];
    let container = ContainerResources { requests, ..ContainerResources::default() };
    pod.resources = PodResources { containers: vec![container], ..PodResources::default() };
    pod
}

//! Decisions that kube-scheduler's own plugins made (`e2e/golden/placements`).
//!
//! Invariant: the same cluster and Pod give the same node, the same scores and the same words.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::cluster::fixture::{cluster, pending};
use std::fmt::Write;

const GOLDEN: &str = include_str!("../../../tests/golden/placements.txt");

/// Our answer, in the words of the file.
fn answer(nodes: &str, pod: &str) -> String {
    let mut cluster = cluster(nodes);
    let pod = pending(&mut cluster, pod);
    let row = cluster.pods.get(pod).unwrap();
    let mut cycle = Cycle::default();
    let node = match cycle.decide(&cluster, row) {
        Outcome::Unfit(error) => return format!("! {error}"),
        Outcome::Fits(node) => node,
    };
    let name = |node: NodeId| &cluster.nodes.row(node).node.name;
    let mut text = format!("= {}", name(node));
    if cycle.feasible.len() > 1 {
        for (node, total) in cycle.feasible.iter().zip(&cycle.totals) {
            write!(text, " {}:{total}", name(*node)).unwrap();
        }
    }
    text
}

#[test]
fn every_decision_is_the_one_that_kube_scheduler_makes() {
    let cases: Vec<&str> = GOLDEN.split("# ").filter(|case| !case.is_empty()).collect();
    assert!(cases.len() >= 600, "only {} cases", cases.len());
    let mut wrong = String::new();
    for case in cases {
        let (number, rest) = case.split_once('\n').unwrap();
        let (nodes, rest) = rest.split_once("> ").unwrap();
        let (pod, expected) = rest.trim_end().split_once('\n').unwrap();
        let ours = answer(nodes, pod);
        if ours != expected {
            writeln!(
                wrong,
                "# {number}\n{nodes}> {pod}\n  kube-scheduler {expected}\n  here           {ours}\n"
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

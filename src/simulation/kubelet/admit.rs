//! Whether a Pod may run with what its spec asks for, next to what the others hold.
//!
//! Invariant: a neighbour counts at max(allocated, actual), never at what it would like; one whose containers have
//! ended counts nothing (kubelet `lifecycle/predicate.go`, `allocation/allocation_manager.go`).

use super::{Kubelet, Stage, Turn};
use crate::cluster::footprint::footprint;
use crate::model::{Pod as Fact, taint};
use crate::model::{Quantity, Str};
use crate::simulation::objects::{PodExt, allocatable, exact};
use k8s_openapi::api::core::v1::Pod;

/// Why a Pod is not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// `OutOfcpu`, `NodeAffinity` and the like: the reason of a new Pod that fails.
    pub reason: String,
    /// The sentence, in the kubelet's words.
    pub message: String,
}

impl Kubelet {
    /// The general predicates in the kubelet's order: pod slots, resources, affinity, host ports, NoExecute taints.
    pub(super) fn check(&self, pod: &Pod, at: &mut Turn<'_>) -> Result<(), Refused> {
        let others: Vec<Fact> = at
            .api
            .pods_on(&self.node)
            .filter(|other| other.uid() != pod.uid() && !other.finished())
            .filter(|other| self.pods.get(other.uid()).is_some_and(|local| local.stage != Stage::Dead))
            .cloned()
            .collect::<Vec<_>>()
            .iter()
            .filter_map(|other| at.facts.pod(other))
            .collect();
        let Some(fact) = at.facts.pod(pod) else { return Ok(()) };
        let Some(node) = at.facts.node(at.node) else { return Ok(()) };
        let room = allocatable(at.node);
        let capacity = |name: &str| room.get(name).and_then(exact).map_or(0, |amount| rounded(name, amount));

        let slots = i64::try_from(others.len()).unwrap_or(i64::MAX);
        if room.contains_key("pods") && slots + 1 > capacity("pods") {
            return Err(shortage("pods", 1, slots, capacity("pods")));
        }
        let mut desired = footprint(&fact.resources).desired;
        desired.sort_by_key(|(name, _)| order(name));
        let held: Vec<Vec<(Str, i64)>> =
            others.iter().map(|other| footprint(&other.resources).held).collect();
        for (name, asked) in &desired {
            let used: i64 = held.iter().flatten().filter(|(held, _)| held == name).map(|(_, n)| n).sum();
            if *asked > capacity(name) - used {
                return Err(shortage(name, *asked, used, capacity(name)));
            }
        }
        if !fact.placement.accepts(&node.name, &node.labels) {
            return Err(predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"));
        }
        if others
            .iter()
            .flat_map(|other| other.ports.iter())
            .any(|taken| fact.ports.iter().any(|wanted| wanted.clashes(taken)))
        {
            return Err(predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports"));
        }
        let lethal = |one: &&taint::Taint| one.effect == taint::TaintEffect::NoExecute;
        if node.taints.iter().filter(lethal).any(|one| !taint::tolerated(&fact.placement.tolerations, one)) {
            return Err(predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate"));
        }
        Ok(())
    }
}

/// Milli-CPU for cpu, whole units for everything else.
fn rounded(name: &str, amount: Quantity) -> i64 {
    if name == "cpu" { amount.ceil_milli() } else { amount.ceil_units() }
}

/// The order in which the kubelet looks at resources.
fn order(name: &str) -> (u8, String) {
    let rank = match name {
        "cpu" => 0,
        "memory" => 1,
        "ephemeral-storage" => 2,
        _ => 3,
    };
    (rank, name.to_owned())
}

fn shortage(name: &str, requested: i64, used: i64, capacity: i64) -> Refused {
    Refused {
        reason: format!("OutOf{name}"),
        message: format!(
            "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
        ),
    }
}

fn predicate(name: &str, what: &str) -> Refused {
    Refused { reason: name.to_owned(), message: format!("Predicate {name} failed: {what}") }
}

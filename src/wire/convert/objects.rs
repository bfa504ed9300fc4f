//! Nodes, budgets and Namespaces as facts.
//!
//! Invariant: what a status does not say yet is read as the cautious value: not ready, nothing allowed.

use super::placement::taint_effect;
use super::{Converter, Problem, Unreadable, name, timestamp};
use crate::model::Namespace;
use crate::model::taint::Taint;
use crate::model::{Budget, Node};
use crate::wire;

impl Converter {
    /// The Node as a fact.
    ///
    /// # Errors
    /// It has no name, or a quantity that cannot be read.
    pub fn node(&mut self, node: &wire::Node) -> Result<Node, Unreadable> {
        self.node_fact(node).map_err(|problem| problem.of("Node", &node.metadata))
    }

    fn node_fact(&mut self, node: &wire::Node) -> Result<Node, Problem> {
        let (metadata, spec, status) = (&node.metadata, &node.spec, &node.status);
        // The API server fills allocatable from capacity where a kubelet has not said it.
        let allocatable = status.allocatable.as_ref().or(status.capacity.as_ref());
        let taints = spec.taints.iter().filter_map(|taint| {
            let effect = taint_effect(&taint.effect)?;
            Some(Taint { key: self.intern(&taint.key), value: self.intern(&taint.value), effect })
        });
        Ok(Node {
            taints: taints.collect(),
            name: self.intern(&name(metadata)?),
            uid: metadata.uid.as_deref().unwrap_or_default().into(),
            labels: self.labels(metadata.labels.as_ref()),
            unschedulable: spec.unschedulable.unwrap_or_default(),
            ready: status.conditions.iter().any(|one| one.kind == "Ready" && one.status == "True"),
            allocatable: match allocatable {
                Some(amounts) => self.amounts(amounts, || "status.allocatable".into())?,
                None => Vec::new(),
            },
            resize_preemption_disabled_by: spec
                .pod_preemption_policy
                .disable_resize_preemption
                .iter()
                .map(|owner| self.intern(owner))
                .collect(),
        })
    }

    /// The budget as a fact.
    ///
    /// # Errors
    /// It has no name.
    pub fn budget(&mut self, budget: &wire::Budget) -> Result<Budget, Unreadable> {
        let (metadata, spec, status) = (&budget.metadata, &budget.spec, &budget.status);
        let name = name(metadata).map_err(|problem| problem.of("PodDisruptionBudget", metadata))?;
        let disrupted = status.disrupted_pods.iter();
        Ok(Budget {
            namespace: self.intern(metadata.namespace.as_deref().unwrap_or_default()),
            name,
            uid: metadata.uid.as_deref().unwrap_or_default().into(),
            generation: metadata.generation.unwrap_or_default(),
            selector: spec.selector.as_ref().map(|selector| self.selector(selector)),
            always_allow_unhealthy: spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow"),
            observed_generation: status.observed_generation.unwrap_or_default(),
            disruptions_allowed: status.disruptions_allowed.unwrap_or_default(),
            current_healthy: status.current_healthy.unwrap_or_default(),
            desired_healthy: status.desired_healthy.unwrap_or_default(),
            disrupted: disrupted.map(|(pod, since)| (pod.as_str().into(), timestamp(since))).collect(),
        })
    }

    /// The Namespace as a fact.
    ///
    /// # Errors
    /// It has no name.
    pub fn namespace(&mut self, namespace: &wire::Namespace) -> Result<Namespace, Unreadable> {
        let metadata = &namespace.metadata;
        let name = name(metadata).map_err(|problem| problem.of("Namespace", metadata))?;
        Ok(Namespace { name: self.intern(&name), labels: self.labels(metadata.labels.as_ref()) })
    }
}

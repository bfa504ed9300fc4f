//! Nodes on which nobody gets room.
//!
//! Invariant: nodes with the same fault are one finding.

use super::control_plane::minor;
use super::{Facts, Finding, Id, NodeFacts, Object, Severity, count, verb};
use std::collections::BTreeMap;

/// The first minor version whose kubelets resize in place without a gate of their own.
pub(super) const FIRST_MINOR: u32 = 33;

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    let old = |node: &&NodeFacts| minor(&node.kubelet).is_some_and(|minor| minor < FIRST_MINOR);
    let old = objects(facts.nodes.iter().filter(old));
    if !old.is_empty() {
        let (nodes, run) = (count(old.len(), "node"), verb(old.len(), "run"));
        findings.push(Finding {
            id: Id::OldKubelet,
            severity: Severity::Warning,
            objects: old,
            message: format!("{nodes} {run} a kubelet before 1.{FIRST_MINOR}, which defers no resize"),
            next_step: format!("upgrade the kubelets to 1.{FIRST_MINOR} or later"),
        });
    }
    let away = objects(facts.nodes.iter().filter(|node| !node.node.ready));
    if !away.is_empty() {
        let nodes = if away.len() == 1 { "1 node is".into() } else { format!("{} nodes are", away.len()) };
        findings.push(Finding {
            id: Id::NodeNotReady,
            severity: Severity::Warning,
            objects: away,
            message: format!("{nodes} not Ready; nobody is evicted there, for the kubelet would not act"),
            next_step: "mend or drain the node".into(),
        });
    }
    let mut owners: BTreeMap<String, Vec<&NodeFacts>> = BTreeMap::new();
    for node in &facts.nodes {
        let by: Vec<&str> = node.node.resize_preemption_disabled_by.iter().map(|one| one.as_str()).collect();
        if !by.is_empty() {
            owners.entry(by.join(", ")).or_default().push(node);
        }
    }
    for (by, nodes) in owners {
        let all = nodes.len() == facts.nodes.len();
        let (told, disable) = (count(nodes.len(), "node"), verb(nodes.len(), "disable"));
        let told = if all { format!("all nodes ({told})") } else { told };
        findings.push(Finding {
            id: Id::NodeDisablesPreemption,
            severity: if all { Severity::Warning } else { Severity::Info },
            objects: objects(nodes.into_iter()),
            message: format!("{told} {disable} resize preemption, by {by}"),
            next_step: format!(
                "ask {by}, or take it out of spec.podPreemptionPolicy.disableResizePreemption of the Node"
            ),
        });
    }
}

fn objects<'a>(nodes: impl Iterator<Item = &'a NodeFacts>) -> Vec<Object> {
    let mut objects: Vec<Object> = nodes.map(|one| Object::named("Node", one.node.name.as_str())).collect();
    objects.sort();
    objects
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{found, healthy, node, the_one};
    use super::*;

    #[test]
    fn ready_nodes_of_today_are_no_finding() {
        let facts = Facts { nodes: vec![node("n1"), node("n2")], ..healthy() };
        for id in [Id::OldKubelet, Id::NodeNotReady, Id::NodeDisablesPreemption] {
            assert!(found(&facts, id).is_empty());
        }
    }

    #[test]
    fn old_kubelets_are_named_together() {
        let old = |name| NodeFacts { kubelet: "v1.32.9-eks-1".into(), ..node(name) };
        let facts = Facts { nodes: vec![old("n2"), node("n3"), old("n1")], ..healthy() };
        let one = the_one(&facts, Id::OldKubelet);
        assert_eq!(one.objects, [Object::named("Node", "n1"), Object::named("Node", "n2")]);
        assert_eq!(one.message, "2 nodes run a kubelet before 1.33, which defers no resize");
    }

    #[test]
    fn the_first_kubelet_that_can_is_not_old() {
        let first = NodeFacts { kubelet: "v1.33.0".into(), ..node("n1") };
        assert!(found(&Facts { nodes: vec![first], ..healthy() }, Id::OldKubelet).is_empty());
    }

    #[test]
    fn a_node_that_is_not_ready_is_named() {
        let mut away = node("n1");
        away.node.ready = false;
        let findings = found(&Facts { nodes: vec![away, node("n2")], ..healthy() }, Id::NodeNotReady);
        assert_eq!(findings[0].objects, [Object::named("Node", "n1")]);
    }

    #[test]
    fn who_disables_preemption_is_named_and_some_nodes_are_a_note() {
        let mut off = node("n1");
        off.node.resize_preemption_disabled_by = vec!["autoscaler".into()];
        let facts = Facts { nodes: vec![off, node("n2")], ..healthy() };
        let one = the_one(&facts, Id::NodeDisablesPreemption);
        assert_eq!(one.message, "1 node disables resize preemption, by autoscaler");
        assert_eq!(one.severity, Severity::Info);
    }

    #[test]
    fn all_nodes_that_disable_preemption_make_it_useless() {
        let mut off = node("n1");
        off.node.resize_preemption_disabled_by = vec!["autoscaler".into()];
        let findings = found(&Facts { nodes: vec![off], ..healthy() }, Id::NodeDisablesPreemption);
        assert_eq!(findings[0].severity, Severity::Warning);
    }
}

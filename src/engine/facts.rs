//! Folding what the watches say into the tables, and telling both queues what moved.
//!
//! Invariant: an object that a complete list did not hold is treated as deleted.

use super::Engine;
use super::effect::Effect;
use super::input::{Fact, Namespace};
use crate::model::{Budget, Node, Pod, Str, Timestamp};
use crate::scheduling::ClusterEvent;

/// Which lists are complete.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pods: bool,
    nodes: bool,
    budgets: bool,
    namespaces: bool,
}

impl Lists {
    pub(super) fn incomplete(&self) -> Vec<&'static str> {
        let kinds = [
            (self.pods, "pods"),
            (self.nodes, "nodes"),
            (self.budgets, "poddisruptionbudgets"),
            (self.namespaces, "namespaces"),
        ];
        kinds.into_iter().filter(|(complete, _)| !complete).map(|(_, kind)| kind).collect()
    }
}

impl Engine {
    pub(super) fn pod(&mut self, fact: Fact<Pod>, now: Timestamp, effects: &mut Vec<Effect>) {
        match fact {
            Fact::Begin => {
                self.lists.pods = false;
                self.cluster.begin_pods();
            }
            Fact::Apply(pod) if pod.finished() => self.pod_gone(&pod.id.uid, now, effects),
            Fact::Apply(pod) => self.pod_seen(*pod, now, effects),
            Fact::Keep(pod) => self.cluster.keep_pod(&pod.id.uid),
            Fact::Delete(pod) => self.pod_gone(&pod.id.uid, now, effects),
            Fact::End => {
                for uid in self.cluster.unlisted_pods() {
                    self.pod_gone(&uid, now, effects);
                }
                self.lists.pods = true;
            }
        }
    }

    fn pod_seen(&mut self, pod: Pod, now: Timestamp, effects: &mut Vec<Effect>) {
        let in_force = pod.resources.in_force();
        let was_deferred = self.cluster.pods.by_uid(&pod.id.uid).is_some_and(|(_, row)| row.pod.deferred());
        let newly_deferred = pod.deferred() && !was_deferred;
        let (id, change) = self.cluster.apply_pod(pod);
        for node in [change.from, change.to].into_iter().flatten() {
            self.resizes.touch(node);
        }
        let mut orders = Vec::new();
        self.resizes.follow(&mut self.cluster, id, now, &mut orders);
        self.carry_out(orders, now, effects);
        self.follow_report(id);
        self.follow_placement(id, &change, now);
        if newly_deferred {
            // Until now its wish was kept from everybody; what is only claimed yields to more important Pods.
            self.waiting.wake(ClusterEvent::AssignedPodScaleDown, now);
        }
        self.follow_actuation(id, in_force, now, effects);
    }

    fn pod_gone(&mut self, uid: &Str, now: Timestamp, effects: &mut Vec<Effect>) {
        self.actuating.remove(uid);
        self.conditions.forget_pod(uid);
        let mut orders = Vec::new();
        self.resizes.gone(&mut self.cluster, uid, now, &mut orders);
        if let Some((id, row)) = self.cluster.remove_pod(uid) {
            self.waiting.remove(id);
            if let Some(node) = row.node {
                self.resizes.touch(node);
                self.waiting.wake(ClusterEvent::AssignedPodDelete, now);
            }
        }
        self.carry_out(orders, now, effects);
    }

    pub(super) fn node(&mut self, fact: Fact<Node>, now: Timestamp) {
        match fact {
            Fact::Begin => {
                self.lists.nodes = false;
                self.cluster.begin_nodes();
            }
            Fact::Apply(node) => {
                let (id, change) = self.cluster.apply_node(*node);
                if change.any() {
                    self.resizes.touch(id);
                }
                ClusterEvent::of_node(change).for_each(|event| self.waiting.wake(event, now));
            }
            Fact::Keep(node) => self.cluster.keep_node(&node.name),
            Fact::Delete(node) => self.node_gone(&node.name),
            Fact::End => {
                for name in self.cluster.unlisted_nodes() {
                    self.node_gone(&name);
                }
                self.lists.nodes = true;
            }
        }
    }

    fn node_gone(&mut self, name: &str) {
        if let Some(id) = self.cluster.remove_node(name) {
            self.resizes.touch(id);
        }
    }

    pub(super) fn budget(&mut self, fact: Fact<Budget>, now: Timestamp) {
        let changed = match fact {
            Fact::Begin => {
                self.lists.budgets = false;
                self.cluster.begin_budgets();
                false
            }
            Fact::Apply(budget) => self.cluster.apply_budget(*budget, now),
            Fact::Keep(budget) => {
                self.cluster.keep_budget(&budget.namespace, &budget.name);
                false
            }
            Fact::Delete(budget) => self.cluster.remove_budget(&budget.namespace, &budget.name),
            Fact::End => {
                self.lists.budgets = true;
                self.cluster.sweep_budgets()
            }
        };
        if changed {
            self.resizes.touch_blocked_by_budgets();
        }
    }

    pub(super) fn namespace(&mut self, fact: Fact<Namespace>, now: Timestamp) {
        match fact {
            Fact::Begin => {
                self.lists.namespaces = false;
                self.cluster.begin_namespaces();
            }
            Fact::Apply(one) => {
                if self.cluster.apply_namespace(one.name, one.labels) {
                    self.resizes.touch_excluded();
                    self.waiting.wake(ClusterEvent::NamespaceUpdate, now);
                }
            }
            Fact::Keep(one) => self.cluster.keep_namespace(&one.name),
            Fact::Delete(one) => self.cluster.remove_namespace(&one.name),
            Fact::End => {
                self.lists.namespaces = true;
                self.cluster.sweep_namespaces();
            }
        }
    }
}

//! What people and controllers do to the cluster from outside.
//!
//! Invariant: an action goes through the API server's checks; one that is refused changes nothing and is told.

use super::{What, World};
use crate::simulation::api::{Refusal, Report, Resize};
use crate::simulation::kubelet;
use crate::simulation::objects::{Amounts, Key, PodExt};
use k8s_openapi::api::core::v1::{
    Namespace, Node, NodeCondition, NodePodPreemptionPolicy, NodeStatus, Pod, Taint,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::collections::BTreeMap;
use std::fmt;

/// An object of a kind that the simulation knows.
#[derive(Clone, Debug)]
pub enum Object {
    /// A Pod.
    Pod(Box<Pod>),
    /// A Node.
    Node(Box<Node>),
    /// A PodDisruptionBudget.
    Budget(Box<PodDisruptionBudget>),
    /// A Namespace.
    Namespace(Box<Namespace>),
    /// A PriorityClass.
    Class(Box<PriorityClass>),
}

impl Object {
    /// Kind and key; the namespace is empty for kinds without one.
    pub fn id(&self) -> (&'static str, Key) {
        let namespaced = |mut key: Key| {
            if key.namespace.is_empty() {
                key.namespace = "default".to_owned();
            }
            key
        };
        match self {
            Self::Pod(one) => ("Pod", namespaced(one.key())),
            Self::Node(one) => ("Node", Key::of(&one.metadata)),
            Self::Budget(one) => ("PodDisruptionBudget", namespaced(Key::of(&one.metadata))),
            Self::Namespace(one) => ("Namespace", Key::of(&one.metadata)),
            Self::Class(one) => ("PriorityClass", Key::of(&one.metadata)),
        }
    }
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Action {
    /// `kubectl patch pod --subresource resize`.
    Resize(Key, Resize),
    /// What the kubelet of a passive node says of a Pod.
    Report(Key, Box<Report>),
    /// `kubectl create`.
    Create(Object),
    /// `kubectl delete pod`.
    Delete(Key),
    /// Changes of a Node.
    Node(String, Box<NodeChange>),
    /// `kubectl delete node`.
    DeleteNode(String),
    /// Changes of a budget.
    Budget(Key, BudgetChange),
    /// `kubectl delete pdb`.
    DeleteBudget(Key),
    /// Kills the scheduler and starts it anew, with no memory.
    Restart,
}

/// What changes about a Node; what is empty stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeChange {
    /// New allocatable amounts, each resource by itself.
    pub allocatable: Amounts,
    /// Condition Ready.
    pub ready: Option<bool>,
    /// `spec.unschedulable`.
    pub cordon: Option<bool>,
    /// Labels to set, or to remove.
    pub labels: BTreeMap<String, Option<String>>,
    /// All taints anew.
    pub taints: Option<Vec<Taint>>,
    /// `spec.podPreemptionPolicy.disableResizePreemption`.
    pub disable_resize_preemption: Option<Vec<String>>,
}

/// What changes about a budget; what is empty stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetChange {
    /// Pins `status.disruptionsAllowed`.
    pub disruptions_allowed: Option<i32>,
    /// `spec.minAvailable`, in place of maxUnavailable.
    pub min_available: Option<IntOrString>,
    /// `spec.maxUnavailable`, in place of minAvailable.
    pub max_unavailable: Option<IntOrString>,
}

impl World {
    /// Puts the first objects in place: classes and nodes before what refers to them.
    pub(super) fn load(&mut self, objects: Vec<Object>) {
        let rank = |object: &Object| match object {
            Object::Class(_) => 0,
            Object::Namespace(_) => 1,
            Object::Node(_) => 2,
            Object::Budget(_) => 3,
            Object::Pod(_) => 4,
        };
        let mut objects = objects;
        objects.sort_by_key(rank);
        for object in objects {
            let what = Action::Create(object.clone());
            let (_, key) = object.id();
            if let Err(refusal) = self.create(object) {
                self.note(What::Refused(what.to_string(), refusal));
                continue;
            }
            let Some(pod) = self.api.pods.get(&key).filter(|pod| pod.node().is_some()) else { continue };
            let mut pod = pod.clone();
            kubelet::running(&mut pod, self.now, &mut self.facts);
            self.api.store_pod(pod);
        }
        self.api.count_budgets(self.now);
        // Nobody is told: the lists that begin every life hold all of it.
        self.api.changes();
        for node in self.api.nodes.keys().cloned().collect::<Vec<_>>() {
            self.start_kubelet(&node);
            self.measure(&node);
        }
    }

    pub(super) fn act(&mut self, index: usize) {
        let Some(action) = self.actions.get(index).cloned() else { return };
        let what = action.to_string();
        // The Pod's own line tells these.
        let told =
            !matches!(action, Action::Create(Object::Pod(_)) | Action::Resize(..) | Action::Report(..));
        let answer = match action {
            Action::Resize(key, resize) => self.api.resize_pod(&key, &resize),
            Action::Report(key, report) => self.report(&key, &report),
            Action::Create(object) => self.create(object),
            Action::Delete(key) => self.api.delete_pod(self.now, &key, None, None),
            Action::Node(name, change) => self.change_node(&name, &change),
            Action::DeleteNode(name) => self.api.delete_node(&name),
            Action::Budget(key, change) => self.change_budget(&key, &change),
            Action::DeleteBudget(key) => self.api.delete_budget(&key),
            Action::Restart => {
                self.crash();
                return;
            }
        };
        match answer {
            Err(refusal) => self.note(What::Refused(what, refusal)),
            Ok(()) if told => self.note(What::Done(what)),
            Ok(()) => {}
        }
    }

    fn create(&mut self, object: Object) -> Result<(), Refusal> {
        match object {
            Object::Pod(pod) => self.api.create_pod(self.now, *pod).map(drop)?,
            Object::Node(mut node) => {
                let status = node.status.get_or_insert_with(NodeStatus::default);
                if status.allocatable.is_none() {
                    status.allocatable = status.capacity.clone();
                }
                let conditions = status.conditions.get_or_insert_default();
                if !conditions.iter().any(|one| one.type_ == "Ready") {
                    conditions.push(ready(true));
                }
                self.api.store_node(*node);
            }
            Object::Budget(budget) => self.api.apply_budget(*budget),
            Object::Namespace(namespace) => self.api.store_namespace(*namespace),
            Object::Class(class) => {
                self.api.classes.insert(class.metadata.name.clone().unwrap_or_default(), *class);
            }
        }
        Ok(())
    }

    fn report(&mut self, key: &Key, report: &Report) -> Result<(), Refusal> {
        let node = self.api.pods.get(key).and_then(|pod| self.api.nodes.get(pod.node()?));
        if node.is_some_and(|node| !kubelet::is_passive(node)) {
            return Err(Refusal::new(409, "the node's kubelet is not passive and says by itself what is so"));
        }
        self.api.report_pod(self.now, key, report)
    }

    fn change_node(&mut self, name: &str, change: &NodeChange) -> Result<(), Refusal> {
        let gone = || Refusal::new(404, format!("nodes \"{name}\" not found"));
        let mut node = self.api.nodes.get(name).cloned().ok_or_else(gone)?;
        let status = node.status.get_or_insert_default();
        status.allocatable.get_or_insert_default().extend(change.allocatable.clone());
        if let Some(up) = change.ready {
            let conditions = status.conditions.get_or_insert_default();
            conditions.retain(|one| one.type_ != "Ready");
            conditions.push(ready(up));
        }
        let labels = node.metadata.labels.get_or_insert_default();
        for (key, value) in &change.labels {
            match value {
                Some(value) => labels.insert(key.clone(), value.clone()),
                None => labels.remove(key),
            };
        }
        let spec = node.spec.get_or_insert_default();
        spec.unschedulable = change.cordon.or(spec.unschedulable);
        spec.taints = change.taints.clone().or_else(|| spec.taints.take());
        if let Some(owners) = &change.disable_resize_preemption {
            let policy = NodePodPreemptionPolicy { disable_resize_preemption: Some(owners.clone()) };
            spec.pod_preemption_policy = Some(policy).filter(|_| !owners.is_empty());
        }
        self.api.store_node(node);
        Ok(())
    }

    fn change_budget(&mut self, key: &Key, change: &BudgetChange) -> Result<(), Refusal> {
        let gone = || Refusal::new(404, format!("poddisruptionbudgets.policy \"{}\" not found", key.name));
        let mut budget = self.api.budgets.get(key).cloned().ok_or_else(gone)?;
        let spec = budget.spec.get_or_insert_default();
        if change.min_available.is_some() {
            (spec.min_available, spec.max_unavailable) = (change.min_available.clone(), None);
        }
        if change.max_unavailable.is_some() {
            (spec.max_unavailable, spec.min_available) = (change.max_unavailable.clone(), None);
        }
        match change.disruptions_allowed {
            Some(allowed) => budget.status.get_or_insert_default().disruptions_allowed = Some(allowed),
            None => budget.status = None,
        }
        self.api.apply_budget(budget);
        Ok(())
    }
}

fn ready(up: bool) -> NodeCondition {
    NodeCondition {
        type_: "Ready".to_owned(),
        status: if up { "True" } else { "False" }.to_owned(),
        ..NodeCondition::default()
    }
}

/// What is done, as the timeline tells it.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resize(key, resize) => {
                write!(f, "resize of {key} asked for:")?;
                resize.requests.iter().try_for_each(|(name, amount)| write!(f, " {name} {}", amount.0))
            }
            Self::Report(key, _) => write!(f, "the kubelet's status of Pod {key}"),
            Self::Create(object) => {
                let (kind, key) = object.id();
                write!(f, "{kind} {key} created")
            }
            Self::Delete(key) => write!(f, "Pod {key} deleted"),
            Self::Node(name, change) => write!(f, "Node {name}: {change}"),
            Self::DeleteNode(name) => write!(f, "Node {name} deleted"),
            Self::Budget(key, change) => write!(f, "PodDisruptionBudget {key}: {change}"),
            Self::DeleteBudget(key) => write!(f, "PodDisruptionBudget {key} deleted"),
            Self::Restart => f.write_str("elbowroom restarted"),
        }
    }
}

impl fmt::Display for NodeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.allocatable.iter().map(|(name, amount)| format!("{name} {}", amount.0)));
        parts.extend(self.ready.map(|up| if up { "Ready" } else { "not Ready" }.to_owned()));
        parts.extend(self.cordon.map(|on| if on { "cordoned" } else { "uncordoned" }.to_owned()));
        parts.extend(self.labels.iter().map(|(key, value)| match value {
            Some(value) => format!("label {key}={value}"),
            None => format!("label {key} removed"),
        }));
        parts.extend(self.taints.iter().flatten().map(|taint| {
            format!("taint {}={}:{}", taint.key, taint.value.as_deref().unwrap_or_default(), taint.effect)
        }));
        if self.taints.as_ref().is_some_and(Vec::is_empty) {
            parts.push("no taints".to_owned());
        }
        if let Some(owners) = &self.disable_resize_preemption {
            parts.push(if owners.is_empty() {
                "resize preemption allowed".to_owned()
            } else {
                format!("resize preemption disabled by {}", owners.join(", "))
            });
        }
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for BudgetChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &IntOrString| match value {
            IntOrString::Int(number) => number.to_string(),
            IntOrString::String(text) => text.clone(),
        };
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.disruptions_allowed.map(|n| format!("disruptionsAllowed {n}")));
        parts.extend(self.min_available.as_ref().map(|value| format!("minAvailable {}", text(value))));
        parts.extend(self.max_unavailable.as_ref().map(|value| format!("maxUnavailable {}", text(value))));
        f.write_str(&parts.join(", "))
    }
}

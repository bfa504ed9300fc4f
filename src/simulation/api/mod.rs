//! The simulated API server: objects by name, the calls that change them, and who is told.
//!
//! Invariant: an object changes only in here, and every change is in the journal in the order it happened.

mod admission;
mod disruption;
mod eviction;
mod lifecycle;
mod report;
mod resize;
#[cfg(test)]
mod tests;

pub use disruption::SETTLING;
pub use report::Report;
pub use resize::{Resize, Target};

use super::objects::{Key, PodExt};
use crate::model::{Span, Timestamp};
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use std::collections::BTreeMap;

/// A call that the API server refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// What `kubectl` would show.
    pub message: String,
    /// The status names cause `DisruptionBudget`.
    pub budget: bool,
    /// `retryAfterSeconds`, where the status has one.
    pub retry_after: Option<u32>,
}

impl Refusal {
    /// A refusal without a cause.
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), budget: false, retry_after: None }
    }
}

/// One change of one object, as a watch would tell it.
#[derive(Clone, Debug)]
pub enum Change {
    /// A Pod was stored; what it was before, if it was.
    Pod(Box<Pod>, Option<Box<Pod>>),
    /// A Pod is gone.
    PodGone(Box<Pod>),
    /// A Node was stored; what it was before.
    Node(Box<Node>, Option<Box<Node>>),
    /// A Node is gone.
    NodeGone(Box<Node>),
    /// A budget was stored.
    Budget(Box<PodDisruptionBudget>),
    /// A budget is gone.
    BudgetGone(Box<PodDisruptionBudget>),
    /// A namespace was stored.
    Namespace(Box<Namespace>),
    /// An event about a Pod was recorded.
    Event(Recorded),
}

/// An event, as `kubectl describe` would list it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When.
    pub at: Timestamp,
    /// The Pod it is about.
    pub pod: Key,
    /// Type Warning.
    pub warning: bool,
    /// Reason.
    pub reason: String,
    /// Note.
    pub note: String,
    /// Who reports it.
    pub from: String,
}

/// The objects.
#[derive(Clone, Debug, Default)]
pub struct Api {
    /// Pods by namespace and name.
    pub pods: BTreeMap<Key, Pod>,
    /// Nodes by name.
    pub nodes: BTreeMap<String, Node>,
    /// Budgets by namespace and name.
    pub budgets: BTreeMap<Key, PodDisruptionBudget>,
    /// Namespaces by name.
    pub namespaces: BTreeMap<String, Namespace>,
    /// Priority classes by name.
    pub classes: BTreeMap<String, PriorityClass>,
    /// All events, in order.
    pub events: Vec<Recorded>,
    /// The disruption controller's memory.
    disruption: disruption::Memory,
    /// Changes that nobody was told yet.
    journal: Vec<Change>,
    uids: u64,
}

impl Api {
    /// Takes the changes since it was last asked.
    pub fn changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.journal)
    }

    /// The Pod of that name and UID; `None` also when another one has the name.
    pub fn pod(&self, key: &Key, uid: &str) -> Option<&Pod> {
        self.pods.get(key).filter(|pod| pod.uid() == uid)
    }

    /// Pods bound to a node.
    pub fn pods_on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Pod> {
        self.pods.values().filter(move |pod| pod.node() == Some(node))
    }

    /// Stores a changed Pod, if it differs.
    pub fn store_pod(&mut self, pod: Pod) {
        let key = pod.key();
        let old = self.pods.get(&key).cloned();
        if old.as_ref() == Some(&pod) {
            return;
        }
        self.journal.push(Change::Pod(Box::new(pod.clone()), old.map(Box::new)));
        self.pods.insert(key, pod);
    }

    /// Takes a Pod out of the store.
    pub fn remove_pod(&mut self, key: &Key) {
        if let Some(pod) = self.pods.remove(key) {
            self.journal.push(Change::PodGone(Box::new(pod)));
        }
    }

    /// Stores a Node, if it differs.
    pub fn store_node(&mut self, mut node: Node) {
        let name = node.metadata.name.clone().unwrap_or_default();
        if node.metadata.uid.is_none() {
            node.metadata.uid = Some(self.uid());
        }
        let old = self.nodes.get(&name).cloned();
        if old.as_ref() == Some(&node) {
            return;
        }
        self.journal.push(Change::Node(Box::new(node.clone()), old.map(Box::new)));
        self.nodes.insert(name, node);
    }

    /// Deletes a Node. Its Pods stay for the garbage collector.
    ///
    /// # Errors
    /// 404.
    pub fn delete_node(&mut self, name: &str) -> Result<(), Refusal> {
        let node = self.nodes.remove(name).ok_or_else(|| not_found("nodes", name))?;
        self.journal.push(Change::NodeGone(Box::new(node)));
        Ok(())
    }

    /// Stores a namespace.
    pub fn store_namespace(&mut self, namespace: Namespace) {
        let name = namespace.metadata.name.clone().unwrap_or_default();
        self.journal.push(Change::Namespace(Box::new(namespace.clone())));
        self.namespaces.insert(name, namespace);
    }

    /// Records an event.
    pub fn record(&mut self, event: Recorded) {
        self.journal.push(Change::Event(event.clone()));
        self.events.push(event);
    }

    /// The next UID: countable, so that two runs give the same.
    fn uid(&mut self) -> String {
        self.uids += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.uids)
    }
}

/// How long the Pods of a deleted node stay before the garbage collector takes them.
pub const ORPHAN_AGE: Span = Span::from_seconds(60);

fn not_found(kind: &str, name: &str) -> Refusal {
    Refusal::new(404, format!("{kind} \"{name}\" not found"))
}

//! What happened, in order, with the room on the node before and after.
//!
//! Invariant: room is counted as the node's kubelet counts it: allocatable, and what its Pods hold.

use super::World;
use crate::cluster::footprint::footprint;
use crate::engine::Decision;
use crate::model::Timestamp;
use crate::simulation::api::{Change, Refusal};
use crate::simulation::objects::{Key, PodExt, allocatable, exact};
use std::collections::BTreeMap;

/// Amounts held on a node: milli-CPU, bytes, whole units.
pub(super) type Held = BTreeMap<String, i64>;

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Moment {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: What,
    /// How it changed the room on a node, if it did.
    pub room: Option<Room>,
}

/// What can happen.
#[derive(Clone, Debug)]
pub enum What {
    /// An object changed.
    Change(Box<Change>),
    /// The scheduler decided something.
    Decision(Decision),
    /// The API server answered an eviction of this Pod.
    Eviction(Key, Result<(), Refusal>),
    /// A step of the scenario was done.
    Done(String),
    /// A step was refused.
    Refused(String, Refusal),
    /// The scheduler was killed.
    Crashed,
    /// It is back.
    Restarted,
}

/// Room on a node, before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// The node.
    pub node: String,
    /// Held before, by resource.
    pub before: BTreeMap<String, i64>,
    /// Held after.
    pub after: BTreeMap<String, i64>,
    /// What there is.
    pub allocatable: BTreeMap<String, i64>,
}

impl World {
    pub(super) fn note(&mut self, what: What) {
        let node = match &what {
            What::Change(change) => match change.as_ref() {
                Change::Pod(pod, _) | Change::PodGone(pod) => pod.node().map(str::to_owned),
                Change::Node(node, _) | Change::NodeGone(node) => node.metadata.name.clone(),
                _ => None,
            },
            _ => None,
        };
        let room = node.and_then(|node| self.measure(&node));
        self.history.push(Moment { at: self.now, what, room });
    }

    /// Counts what is held on a node. `Some` if it is not what it was.
    pub(super) fn measure(&mut self, name: &str) -> Option<Room> {
        let after = self.held(name);
        let before = self.rooms.insert(name.to_owned(), after.clone()).unwrap_or_default();
        let node = self.api.nodes.get(name)?;
        (before != after).then(|| Room {
            node: name.to_owned(),
            before,
            after,
            allocatable: allocatable(node)
                .iter()
                .filter_map(|(name, amount)| {
                    let amount = exact(amount)?;
                    let whole = if name == "cpu" { amount.ceil_milli() } else { amount.ceil_units() };
                    Some((name.clone(), whole))
                })
                .collect(),
        })
    }

    fn held(&mut self, node: &str) -> Held {
        let mut sum = Held::new();
        for pod in self.api.pods_on(node).filter(|pod| !pod.finished()) {
            // Not admitted yet: holds nothing.
            if pod.status.as_ref().is_none_or(|status| status.start_time.is_none()) {
                continue;
            }
            let Some(fact) = self.facts.pod(pod) else { continue };
            for (name, amount) in footprint(&fact.resources).held {
                let total = sum.entry(name.to_string()).or_default();
                *total = total.saturating_add(amount);
            }
        }
        sum
    }
}

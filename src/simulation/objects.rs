//! Small readings and edits of API objects that the simulated API server and kubelets share.
//!
//! Invariant: an object is edited as its owner would, and conditions move their time only when the status moves.

use crate::model::{Quantity, Span, Timestamp};
use jiff::Timestamp as Instant;
use k8s_openapi::api::core::v1::{
    Container, Node, Pod, PodCondition, PodSpec, PodStatus, ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use std::collections::BTreeMap;

/// Amounts by resource name as the API writes them.
pub type Amounts = BTreeMap<String, ApiQuantity>;

/// Namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    /// The key of these names.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The key of an object.
    pub fn of(meta: &ObjectMeta) -> Self {
        Self::new(meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
    }
}

impl std::fmt::Display for Key {
    /// The name alone in namespace `default` and where there is no namespace, else `namespace/name`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.namespace.is_empty() || self.namespace == "default" {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// A time as the API writes it.
pub fn time(at: Timestamp) -> Time {
    Time(Instant::from_microsecond(at.0).unwrap_or(Instant::UNIX_EPOCH))
}

/// A time as the engine counts it.
pub fn timestamp(time: &Time) -> Timestamp {
    Timestamp(time.0.as_microsecond())
}

/// The exact value of an API quantity; `None` when it is none.
pub fn exact(quantity: &ApiQuantity) -> Option<Quantity> {
    Quantity::parse(&quantity.0).ok()
}

/// Whether two amounts are equal in value, however they are spelled; an absent one is zero.
pub fn same_amount(a: Option<&ApiQuantity>, b: Option<&ApiQuantity>) -> bool {
    a.and_then(exact).unwrap_or_default() == b.and_then(exact).unwrap_or_default()
}

/// Whether two lists of amounts are equal in value.
pub fn same_amounts(a: &Amounts, b: &Amounts) -> bool {
    a.keys().chain(b.keys()).all(|name| same_amount(a.get(name), b.get(name)))
}

/// Readings of a Pod.
pub trait PodExt {
    /// Namespace and name.
    fn key(&self) -> Key;
    /// UID, empty where there is none.
    fn uid(&self) -> &str;
    /// `metadata.generation`.
    fn generation(&self) -> i64;
    /// The node it is bound to.
    fn node(&self) -> Option<&str>;
    /// `status.phase`, Pending where there is none.
    fn phase(&self) -> &str;
    /// Succeeded or Failed.
    fn finished(&self) -> bool;
    /// It has a deletionTimestamp.
    fn leaving(&self) -> bool;
    /// One condition.
    fn condition(&self, kind: &str) -> Option<&PodCondition>;
    /// Condition Ready is True.
    fn ready(&self) -> bool;
    /// `terminationGracePeriodSeconds`.
    fn grace(&self) -> Span;
    /// `spec.priority`, 0 where there is none.
    fn priority(&self) -> i32;
    /// An annotation.
    fn annotation(&self, name: &str) -> Option<&str>;
    /// All containers that can be resized, init containers first.
    fn containers(&self) -> Box<dyn Iterator<Item = &Container> + '_>;
    /// The status, made if there is none.
    fn status_mut(&mut self) -> &mut PodStatus;
    /// The spec, made if there is none.
    fn spec_mut(&mut self) -> &mut PodSpec;
    /// Adds or replaces a condition; its transition time moves only with its status.
    fn set_condition(&mut self, now: Timestamp, condition: PodCondition) -> bool;
    /// Takes a condition away. True if it was there.
    fn remove_condition(&mut self, kind: &str) -> bool;
}

impl PodExt for Pod {
    fn key(&self) -> Key {
        Key::of(&self.metadata)
    }

    fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    fn generation(&self) -> i64 {
        self.metadata.generation.unwrap_or_default()
    }

    fn node(&self) -> Option<&str> {
        self.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
    }

    fn phase(&self) -> &str {
        self.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending")
    }

    fn finished(&self) -> bool {
        matches!(self.phase(), "Succeeded" | "Failed")
    }

    fn leaving(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    fn condition(&self, kind: &str) -> Option<&PodCondition> {
        self.status.as_ref()?.conditions.as_ref()?.iter().find(|one| one.type_ == kind)
    }

    fn ready(&self) -> bool {
        self.condition("Ready").is_some_and(|one| one.status == "True")
    }

    fn grace(&self) -> Span {
        let seconds = self.spec.as_ref().and_then(|spec| spec.termination_grace_period_seconds);
        Span::from_seconds(seconds.unwrap_or(30))
    }

    fn priority(&self) -> i32 {
        self.spec.as_ref().and_then(|spec| spec.priority).unwrap_or_default()
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(name).map(String::as_str)
    }

    fn containers(&self) -> Box<dyn Iterator<Item = &Container> + '_> {
        let init = self.spec.iter().flat_map(|spec| spec.init_containers.iter().flatten());
        Box::new(init.chain(self.spec.iter().flat_map(|spec| &spec.containers)))
    }

    fn status_mut(&mut self) -> &mut PodStatus {
        self.status.get_or_insert_default()
    }

    fn spec_mut(&mut self) -> &mut PodSpec {
        self.spec.get_or_insert_default()
    }

    fn set_condition(&mut self, now: Timestamp, mut condition: PodCondition) -> bool {
        let list = self.status_mut().conditions.get_or_insert_default();
        let Some(old) = list.iter_mut().find(|one| one.type_ == condition.type_) else {
            condition.last_transition_time.get_or_insert_with(|| time(now));
            list.push(condition);
            return true;
        };
        if condition.last_transition_time.is_none() {
            let moved = old.status != condition.status;
            condition.last_transition_time =
                if moved { Some(time(now)) } else { old.last_transition_time.clone() };
        }
        if *old == condition {
            return false;
        }
        *old = condition;
        true
    }

    fn remove_condition(&mut self, kind: &str) -> bool {
        let Some(list) = self.status.as_mut().and_then(|status| status.conditions.as_mut()) else {
            return false;
        };
        let before = list.len();
        list.retain(|one| one.type_ != kind);
        list.len() != before
    }
}

/// A condition with status True or False.
pub fn condition(kind: &str, status: bool, reason: &str, message: &str) -> PodCondition {
    PodCondition {
        type_: kind.to_owned(),
        status: if status { "True" } else { "False" }.to_owned(),
        reason: Some(reason.to_owned()).filter(|text| !text.is_empty()),
        message: Some(message.to_owned()).filter(|text| !text.is_empty()),
        ..PodCondition::default()
    }
}

/// The requests of a container.
pub fn requests(resources: Option<&ResourceRequirements>) -> Amounts {
    resources.and_then(|one| one.requests.clone()).unwrap_or_default()
}

/// Whether a node's condition Ready is True.
pub fn node_ready(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|one| one.type_ == "Ready" && one.status == "True")
}

/// A node's allocatable amounts.
pub fn allocatable(node: &Node) -> Amounts {
    node.status.as_ref().and_then(|status| status.allocatable.clone()).unwrap_or_default()
}

//! Everything that can move the engine, as one closed enum.
//!
//! Invariant: time, identifiers and the outcome of every call come in here and nowhere else.

use super::answer::{Answer, CallId};
pub use crate::model::Namespace;
use crate::model::{Budget, Node, Pod};
use crate::resize::Policies;

/// One stimulus.
#[derive(Clone, Debug)]
pub enum Input {
    /// What a watch of Pods said.
    Pod(Fact<Pod>),
    /// What a watch of Nodes said.
    Node(Fact<Node>),
    /// What a watch of PodDisruptionBudgets said.
    Budget(Fact<Budget>),
    /// What a watch of Namespaces said.
    Namespace(Fact<Namespace>),
    /// The answer to one of our calls.
    Answer(CallId, Answer),
    /// Time has passed, as asked by `WakeAt`, or there was more to do than fits one step.
    Tick,
    /// Other rules for Deferred resizes are in force from now on.
    Policies(Policies),
    /// Whether this process may act. Without it facts are folded in and nothing is decided.
    Leader(bool),
}

/// A watch event. Between `Begin` and `End` the whole list is told; what is not in it is gone.
#[derive(Clone, Debug)]
pub enum Fact<T> {
    /// A list begins.
    Begin,
    /// An object exists, new or changed.
    Apply(Box<T>),
    /// A list holds an object that cannot be read; no more than its identity is told. What was known of it stays.
    Keep(Box<T>),
    /// An object is gone.
    Delete(Box<T>),
    /// The list is complete.
    End,
}

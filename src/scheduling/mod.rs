//! The pipeline for new Pods: when each is tried, and which node it gets.
//!
//! Invariant: a decision reads the tables and changes nothing; the same tables and Pod give the same node.

pub mod cycle;
pub mod fit_error;
pub mod plugins;
pub mod queue;
mod select;

pub use cycle::{Cycle, Outcome};
pub use fit_error::FitError;
pub use plugins::{Plugin, PluginSet};
pub use queue::{ClusterEvent, Counts, Failure, Move, Queue, QueueName, QueueSettings};

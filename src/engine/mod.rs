//! The one place that decides: folds inputs into the tables, runs both queues and says what to do.
//!
//! Invariant: the same inputs at the same times give the same effects; nothing here waits, reads a clock or fails.

pub mod decision;
pub mod effect;
pub mod input;

pub use decision::{Decision, QueueName, ResizeOutcome};
pub use effect::{CallId, Effect, Event};
pub use input::{Answer, BindAnswer, EvictAnswer, Fact, Input, Namespace, PatchAnswer};

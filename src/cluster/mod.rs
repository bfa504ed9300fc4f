//! The tables: nodes, Pods, budgets, and what each resource sums to.
//!
//! Invariant: a node's `requested` is the sum of what its Pods reserve, at every moment.

pub mod amounts;

pub use amounts::{Amounts, Columns, ResourceId, ResourceNames};

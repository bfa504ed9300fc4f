//! From exact quantities to the integers of the tables.
//!
//! Invariant: CPU is milli-CPU and everything else whole units, rounded up, never wrapped
//! (kube-scheduler `framework/types.go`, `NewResource`).

use crate::model::Quantity;

/// An amount of the resource `name`, of a node or of a Pod's sum.
pub fn whole(name: &str, quantity: Quantity) -> i64 {
    if name == "cpu" { quantity.ceil_milli() } else { quantity.ceil_units() }
}

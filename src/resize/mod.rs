//! Room for running Pods that grow: one entry for each Deferred resize.
//!
//! Invariant: nobody is evicted unless, with the victims gone, the kubelet would allocate the resize.

pub mod eligible;
mod enough;
pub mod entry;
mod execution;
pub mod explain;
mod fallback;
pub mod judge;
pub mod kubelet;
pub mod orders;
mod pace;
pub mod policies;
pub mod policy;
pub mod queue;
pub mod reason;
pub mod said;
pub mod search;
mod telling;
pub mod text;
mod together;
pub mod victims;

pub use orders::{Answered, Ask, Order, Outcome, Reply, Verdict};
pub use policies::Policies;
pub use policy::ResizePolicy;
pub use queue::Queue;
pub use reason::{Reason, ResizeEvent};

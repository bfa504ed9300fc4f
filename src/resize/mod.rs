//! Room for running Pods that grow: one entry for each Deferred resize.
//!
//! Invariant: nobody is evicted unless, with the victims gone, the kubelet would allocate the resize.

pub mod reason;

pub use reason::{Reason, ResizeEvent};

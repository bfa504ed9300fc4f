//! The API objects as they come over the wire, reduced to the fields that facts need, and their conversion.
//!
//! Invariant: a field that is not named here is skipped by the parser and never allocated; managed fields
//! least of all. No decision reads priority classes: admission has already written `spec.priority`.

mod amounts;
mod budget;
mod convert;
mod lenient;
mod metadata;
mod namespace;
mod node;
mod pod;
mod priority_class;
mod selector;

pub use budget::Budget;
pub use convert::{Converter, Unreadable};
pub use namespace::Namespace;
pub use node::Node;
pub use pod::{AboveLimit, Pod, Wish};
pub use priority_class::PriorityClass;

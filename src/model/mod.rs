//! The vocabulary: quantities, resources, labels, selectors, priorities, budgets and what the API says of an object.
//!
//! Invariant: plain values only. Nothing here knows a table, a queue, a clock or a client.

pub mod budget;
pub mod labels;
pub mod namespace;
pub mod node;
pub mod node_selector;
pub mod placement;
pub mod pod;
pub mod quantity;
pub mod requests;
pub mod taint;
pub mod text;
pub mod time;

pub use budget::Budget;
pub use labels::{Labels, Selector};
pub use namespace::Namespace;
pub use node::Node;
pub use placement::Placement;
pub use pod::{Pod, PodRef};
pub use quantity::Quantity;
pub use text::{Interner, Str};
pub use time::{Span, Timestamp};

//! The vocabulary: quantities, resources, labels, selectors, priorities, budgets and what the API says of an object.
//!
//! Invariant: plain values only. Nothing here knows a table, a queue, a clock or a client.

pub mod quantity;
pub mod requests;
pub mod text;
pub mod time;

pub use quantity::Quantity;
pub use text::{Interner, Str};
pub use time::{Span, Timestamp};

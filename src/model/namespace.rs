//! What the API says of a Namespace.
//!
//! Invariant: its labels are all that a decision reads.

use super::{Labels, Str};

/// A Namespace as last seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace {
    /// Name.
    pub name: Str,
    /// Labels, for namespace selectors.
    pub labels: Labels,
}

//! Dense names for nodes and Pods.
//!
//! Invariant: an id means what its table says it means; it is given again once its owner is gone.

/// A node by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place in a column.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A Pod by its place in the table. Places are used again once a Pod is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodId(pub u32);

impl PodId {
    /// The place in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

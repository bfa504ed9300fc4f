//! Tests that need no cluster.

mod footprints;
mod quantities;

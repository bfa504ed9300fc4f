//! Tests that need no cluster.

mod layering;

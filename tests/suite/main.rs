//! Tests that need no cluster.

mod footprints;
mod layering;
mod quantities;
mod resize;

//! Tests that need no cluster.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod footprints;
mod layering;
mod quantities;
mod resize;

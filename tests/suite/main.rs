//! Tests that need no cluster.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod check;
mod command_line;
mod documentation;
mod field_cases;
mod footprints;
mod inspect;
mod layering;
mod metrics;
mod placing;
mod quantities;
mod resize;
mod simulation;
mod world;

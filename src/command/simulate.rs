//! `elbowroom simulate FILE`: a scenario of one's own, without a cluster.
//!
//! Invariant: the same file gives the same timeline.

use anyhow::{Result, bail};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Play a scenario file of Kubernetes manifests and timed steps, without any cluster.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The scenario.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Plays the scenario and prints its timeline.
///
/// # Errors
/// A file that cannot be read or makes no sense; output that cannot be written.
pub fn execute(arguments: &Arguments, _out: &mut dyn Write) -> Result<()> {
    bail!("{}: the simulation is not built in", arguments.file.display())
}

//! `elbowroom simulate FILE`: a scenario of one's own, without a cluster.
//!
//! Invariant: the same file gives the same timeline.

use crate::engine::Settings;
use crate::simulation::play;
use anyhow::{Context, Result};
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
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<()> {
    let name = arguments.file.display().to_string();
    let text = std::fs::read_to_string(&arguments.file).with_context(|| format!("cannot read {name}"))?;
    write!(out, "{}", play(&name, &text, Settings::default())?)?;
    Ok(())
}

//! `elbowroom explain`: why a Pod is not growing, or has no node.
//!
//! Invariant: nothing is written; the answer is what the engine of `run` would decide.

use super::inspect::InspectArguments;
use anyhow::Result;
use clap::Args;
use std::io::Write;

/// Say why a Pod's resize is Deferred or why it has no node, who would be evicted, and what forbids it.
///
/// Reads a cluster, or dumps with -f; writes nothing.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    inspect: InspectArguments,
}

/// Prints the explanation.
///
/// # Errors
/// See [`InspectArguments::execute`]; also when nothing can be written.
pub fn execute(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    arguments.inspect.execute(None, out)
}

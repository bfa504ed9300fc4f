//! `elbowroom plan resize`: what a resize would cost, before anyone asks for it.
//!
//! Invariant: nothing is written; the wish exists only on the copy that is judged.

use super::inspect::InspectArguments;
use crate::inspect::Plan;
use crate::model::Quantity;
use crate::wire::Wish;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::io::Write;

/// Say what a change would cost before anyone asks for it.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Resize(Resize),
}

/// Say whether a resize would fit, who would be evicted for it, and what would forbid it.
///
/// Amounts are requests. A limit that equals its request moves with it; others stay unless they are given.
/// Reads a cluster, or dumps with -f; writes nothing.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("wish").required(true).multiple(true))]
struct Resize {
    #[command(flatten)]
    inspect: InspectArguments,

    /// The container, or sidecar; not needed where there is only one.
    #[arg(short, long, value_name = "NAME")]
    container: Option<String>,

    /// Its cpu request.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, group = "wish", allow_hyphen_values = true)]
    cpu: Option<Quantity>,

    /// Its memory request.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, group = "wish", allow_hyphen_values = true)]
    memory: Option<Quantity>,

    /// Its cpu limit.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, group = "wish", allow_hyphen_values = true)]
    cpu_limit: Option<Quantity>,

    /// Its memory limit.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, group = "wish", allow_hyphen_values = true)]
    memory_limit: Option<Quantity>,
}

fn quantity(text: &str) -> Result<Quantity, String> {
    let quantity = Quantity::parse(text).map_err(|error| error.to_string())?;
    if quantity < Quantity::ZERO { Err("expected nothing below 0".to_owned()) } else { Ok(quantity) }
}

impl Resize {
    fn plan(&self) -> Plan {
        let named = |cpu: Option<Quantity>, memory: Option<Quantity>| {
            let all = [("cpu", cpu), ("memory", memory)];
            all.into_iter().filter_map(|(name, amount)| Some((name.to_owned(), amount?))).collect()
        };
        let (requests, limits) = (named(self.cpu, self.memory), named(self.cpu_limit, self.memory_limit));
        Plan { container: self.container.clone(), wish: Wish { requests, limits } }
    }
}

/// Prints the explanation of the resize.
///
/// # Errors
/// See [`InspectArguments::execute`]; also when nothing can be written.
pub fn execute(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let What::Resize(resize) = &arguments.what;
    resize.inspect.execute(Some(resize.plan()), out)
}

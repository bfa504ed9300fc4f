//! `elbowroom check`: what makes resize preemption dangerous or useless in a cluster.
//!
//! Invariant: the exit code says it without reading the output: 0 good, 1 bad, 2 could not be checked.

mod facts;
mod json;
mod text;

use super::inspect::{now, read_files};
use crate::check::check;
use crate::config::{Config, Warning};
use crate::driver;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use facts::Seen;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Nothing worse was found than is asked for.
const GOOD: u8 = 0;
/// Something was.
const BAD: u8 = 1;

/// Find what makes resize preemption dangerous or useless in a cluster. Changes nothing.
///
/// Looks at rights, versions, feature gates, priorities, budgets, nodes and resizes. Exits with 0 when nothing is
/// worse than a warning, with 1 when there is an error, and with 2 when the cluster cannot be checked.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The configuration that elbowroom runs with; without it, that of `run` without one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// How to reach the cluster; counts before clientConnection.kubeconfig of the configuration file.
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    context: Option<String>,

    /// Dumps of `kubectl get pods,nodes,pdb,ns,priorityclasses -A -o yaml` (or json) instead of a cluster; `-` is
    /// standard input. Rights, version and gates are left out then.
    #[arg(short, long = "filename", value_name = "FILE", num_args = 1..)]
    files: Vec<PathBuf>,

    /// Whose rights to look at, such as system:serviceaccount:elbowroom:elbowroom; without it, one's own.
    #[arg(long = "as", value_name = "USER", conflicts_with = "files")]
    user: Option<String>,

    /// Let warnings count as errors.
    #[arg(long)]
    strict: bool,

    /// How to print what was found.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people.
    Text,
    /// For scripts; docs/check.md has the fields.
    Json,
    /// The same as YAML.
    Yaml,
}

impl Arguments {
    fn configuration(&self) -> Result<(Config, Vec<Warning>)> {
        let (mut config, warnings) = match &self.config {
            Some(path) => Config::read(path)?,
            None => (Config::default(), Vec::new()),
        };
        if let Some(path) = &self.kubeconfig {
            let path = path.to_str().context("--kubeconfig: the path is not UTF-8")?;
            config.client.kubeconfig = Some(path.to_owned());
        }
        Ok((config, warnings))
    }

    fn look(&self, config: &Config, warnings: &[Warning]) -> Result<Seen> {
        if !self.files.is_empty() {
            let names: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
            let objects = read_files(&self.files)?;
            return Ok(Seen::dumped(objects, &names.join(", "), config, warnings, now()));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let survey = driver::survey(config, self.context.as_deref(), self.user.as_deref());
        let survey = runtime.context("cannot start")?.block_on(survey)?;
        Ok(Seen::live(survey, config, warnings, now()))
    }
}

/// Reads the cluster, prints what was found and says whether it is good.
///
/// # Errors
/// A bad configuration, a cluster that cannot be reached or does not let us look; output that cannot be written.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<ExitCode> {
    let (config, warnings) = arguments.configuration()?;
    let seen = arguments.look(&config, &warnings)?;
    let report = check(&seen.facts);
    let page = match arguments.output {
        Output::Text => text::render(&seen, &report),
        Output::Json => json::render(&seen, &report)? + "\n",
        Output::Yaml => json::yaml(&seen, &report)?,
    };
    match out.write_all(page.as_bytes()) {
        // Whoever reads no more still learns the outcome.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    Ok(ExitCode::from(if report.good(arguments.strict) { GOOD } else { BAD }))
}

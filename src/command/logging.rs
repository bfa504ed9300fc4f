//! Log lines on stderr, for people or for machines.
//!
//! Invariant: stdout is left to what a command was asked to tell.

use anyhow::{Context, Result};
use clap::{ArgAction, Args, ValueEnum};
use std::io::{self, IsTerminal};
use tracing_subscriber::EnvFilter;

/// How and how much is logged.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// How log lines are written to stderr.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub log_format: Format,

    /// What is logged: a level, or levels by module such as `info,elbowroom::driver=debug`.
    #[arg(long, value_name = "FILTER", env = "ELBOWROOM_LOG", default_value = "info", value_parser = filter)]
    pub log_level: String,

    /// Log elbowroom's own steps too; twice for all of them.
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One readable line.
    Text,
    /// One JSON object.
    Json,
}

impl LogArguments {
    /// The filter with what `-v` adds. The client library logs each failed request as an error, also those that
    /// the driver copes with and tells in its own words; so it is left out unless asked for by name.
    fn filter(&self) -> String {
        let level = format!("kube_client=off,kube_runtime=off,{}", self.log_level);
        match self.verbose {
            0 => level,
            1 => format!("{level},elbowroom=debug"),
            _ => format!("{level},elbowroom=trace"),
        }
    }

    /// Starts logging for the whole process.
    ///
    /// # Errors
    /// Logging was started before.
    pub fn start(&self) -> Result<()> {
        let filter = EnvFilter::try_new(self.filter()).context("log filter")?;
        let lines =
            tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false);
        let started = match self.log_format {
            Format::Text => lines.with_ansi(io::stderr().is_terminal()).try_init(),
            Format::Json => {
                lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
            }
        };
        // The library's error is no `Error` that can be kept as a cause.
        started.map_err(|cause| anyhow::anyhow!("cannot start logging: {cause}"))
    }
}

/// Accepts what can be used as a filter.
fn filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbosity_adds_to_the_filter() {
        let arguments =
            |verbose| LogArguments { log_format: Format::Text, log_level: "warn".into(), verbose };
        let quiet = "kube_client=off,kube_runtime=off,warn";
        assert_eq!(arguments(0).filter(), quiet);
        assert_eq!(arguments(1).filter(), format!("{quiet},elbowroom=debug"));
        assert_eq!(arguments(2).filter(), format!("{quiet},elbowroom=trace"));
    }

    #[test]
    fn a_filter_that_makes_no_sense_is_refused() {
        assert!(filter("info,elbowroom::driver=debug").is_ok());
        assert!(filter("elbowroom=loud").is_err());
    }
}

//! The command line: what can be asked for, and how it is answered and refused.
//!
//! Invariant: exit code 0 is success, 1 a failure told in one line on stderr, 2 a command line that makes no
//! sense. Of `check`, 1 is a cluster that is not as it should be, and 2 one that cannot be checked.

mod check;
mod demo;
mod explain;
mod inspect;
mod logging;
mod plan;
mod run;
mod simulate;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// A Kubernetes scheduler that makes room for running Pods that grow.
#[derive(Debug, Parser)]
#[command(name = "elbowroom", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Check(check::Arguments),
    Demo(demo::Arguments),
    Simulate(simulate::Arguments),
    Explain(explain::Arguments),
    Plan(plan::Arguments),
}

/// Does what the arguments, program name first, ask for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match parse(arguments.into_iter().collect()) {
        Ok(arguments) => arguments.command,
        Err(refusal) => {
            // Also how help and the version are told: those are no failure. Nobody may be listening.
            let _ = refusal.print();
            return ExitCode::from(if refusal.use_stderr() { 2 } else { 0 });
        }
    };
    let failed = ExitCode::from(if matches!(command, Command::Check(_)) { 2 } else { 1 });
    let done = |()| ExitCode::SUCCESS;
    let outcome = match command {
        Command::Run(arguments) => run::execute(arguments).map(done),
        Command::Check(arguments) => check::execute(&arguments, &mut io::stdout().lock()),
        Command::Demo(arguments) => demo::execute(&arguments, &mut io::stdout().lock()).map(done),
        Command::Simulate(arguments) => simulate::execute(&arguments, &mut io::stdout().lock()).map(done),
        Command::Explain(arguments) => explain::execute(&arguments, &mut io::stdout().lock()).map(done),
        Command::Plan(arguments) => plan::execute(&arguments, &mut io::stdout().lock()).map(done),
    };
    match outcome {
        Ok(code) => code,
        // `elbowroom demo | head` is no failure.
        Err(error) if reader_left(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", one_line(&error));
            if error.is::<inspect::Usage>() { ExitCode::from(2) } else { failed }
        }
    }
}

/// Reads the command line. Started as `kubectl-elbowroom` we are a plugin, and say so in help and refusals.
fn parse(arguments: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command();
    let program = arguments.first().and_then(|name| Path::new(name).file_stem());
    if program.is_some_and(|name| name == "kubectl-elbowroom") {
        command = command.bin_name("kubectl elbowroom").display_name("kubectl elbowroom");
    }
    let matches = command.try_get_matches_from_mut(arguments)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The error and its causes, joined by colons, without line breaks.
fn one_line(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        // Some libraries repeat their cause in their own text.
        if !parts.last().is_some_and(|told| told.ends_with(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

fn reader_left(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref::<io::Error>().is_some_and(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_error_is_one_line_with_its_causes() {
        let error = anyhow!("connection refused\n  by peer").context("cannot reach the API server");
        assert_eq!(one_line(&error), "cannot reach the API server: connection refused by peer");
    }

    #[test]
    fn a_cause_that_is_told_already_is_not_repeated() {
        let error = anyhow!("file not found").context("cannot read a.yaml: file not found");
        assert_eq!(one_line(&error), "cannot read a.yaml: file not found");
    }

    #[test]
    fn a_reader_that_left_is_no_failure() {
        let left = || anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(reader_left(&left()));
        assert!(reader_left(&left().context("writing the timeline")));
        assert!(!reader_left(&anyhow::Error::from(io::Error::from(io::ErrorKind::NotFound))));
    }
}

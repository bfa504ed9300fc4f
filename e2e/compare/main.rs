//! The comparison with kube-scheduler: `cargo test --test compare [-- FILTER…]`, or `make compare`.
//!
//! Brings up a control plane of its own (or takes the one in `KUBECONFIG`, which must have the gate on), plays
//! each scenario file in `tests/scenarios` with kube-scheduler and with elbowroom, and prints a table. FILTER is
//! the name of a file without its ending. Ends with 1 when a case could not be played, or when elbowroom did
//! otherwise than in the simulation.

#[allow(dead_code, unused_imports, reason = "shared with the tests, which use all of it")]
#[path = "../harness/mod.rs"]
mod harness;

#[path = "mod.rs"]
mod compare;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures::StreamExt as _;
use k8s_openapi::jiff::Timestamp;

use compare::table::{Row, table};
use compare::{Case, Contender, files, id, play};
use harness::{Suite, say};

/// They mostly wait; each has a scheduler of its own, though.
const AT_A_TIME: usize = 14;

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    match runtime.block_on(run(std::env::args().skip(1).collect())) {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    say(&format!("compare: {error:#}"));
    ExitCode::FAILURE
}

async fn run(filter: Vec<String>) -> Result<ExitCode> {
    let files: Vec<_> =
        files()?.into_iter().filter(|path| filter.is_empty() || filter.contains(&id(path))).collect();
    ensure!(!files.is_empty(), "no case is called {}", filter.join(" or "));
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for path in files {
        match Case::read(&path) {
            Ok(case) => cases.push(case),
            Err(error) => left_out.push(format!("{}: {error:#}", id(&path))),
        }
    }
    let begun = Instant::now();
    let suite = Arc::new(Suite::start().await?);
    let (rows, interrupted) = rows(&suite, &cases).await;
    let version = suite.client.apiserver_version().await;
    let left = suite.finish(interrupted).await;
    let version = version?.git_version;

    let (today, ours) = (Timestamp::now().strftime("%Y-%m-%d"), env!("CARGO_PKG_VERSION"));
    print(&format!("{today}, Kubernetes and kube-scheduler {version}, elbowroom {ours}.\n\n"));
    print(&table(&rows));
    left_out.iter().for_each(|why| print(&format!("- Not played: {why}.\n")));
    print(&format!("\n{} plays in {:.0} s.\n", rows.len(), begun.elapsed().as_secs_f64()));
    let wrong: Vec<_> = rows.iter().filter_map(Row::disagreement).collect();
    wrong.iter().for_each(|line| say(&format!("compare: {line}")));
    left.context("clean up")?;
    Ok(if wrong.is_empty() && !interrupted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All plays, or those that were over when somebody pressed Ctrl-C.
async fn rows<'a>(suite: &Arc<Suite>, cases: &'a [Case]) -> (Vec<Row<'a>>, bool) {
    let plays = cases.iter().flat_map(|case| Contender::BOTH.map(|contender| (case, contender)));
    let mut plays = futures::stream::iter(plays)
        .map(|(case, contender)| async move {
            let row = play(suite, case, contender).await;
            say(&format!("compare: {} with {}", case.id, contender.name()));
            row
        })
        .buffered(AT_A_TIME);
    let mut rows = Vec::new();
    loop {
        tokio::select! {
            row = plays.next() => match row {
                Some(row) => rows.push(row),
                None => return (rows, false),
            },
            _ = tokio::signal::ctrl_c() => return (rows, true),
        }
    }
}

fn print(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}

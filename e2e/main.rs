//! Tests against a real API server: `cargo test --test e2e [-- FILTER]`.
//!
//! With `KUBECONFIG` set they run in that cluster, else they bring up a control plane of their own and take
//! it down again. elbowroom runs as a separate process with no more rights than `deploy/` gives it;
//! `ELBOWROOM_BIN` names another program to test. Every test has its own namespace, nodes and schedulerName,
//! so that tests run side by side and with whatever else is in the cluster, and leaves nothing behind.

mod compare;
mod harness;
mod scenarios;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use harness::{Scenario, Suite};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // They mostly wait: for a kubelet, a controller, or for nothing to happen.
    arguments.test_threads.get_or_insert(8);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => Arc::new(runtime),
        Err(error) => return fail(&error.into()),
    };
    let scenarios = scenarios::all();
    if arguments.list {
        let trials = scenarios.into_iter().map(|s| Trial::test(s.name, || Ok(()))).collect();
        return libtest_mimic::run(&arguments, trials).exit_code();
    }
    let suite = match runtime.block_on(Suite::start()) {
        Ok(suite) => Arc::new(suite),
        Err(error) => return fail(&error),
    };
    runtime.spawn(finish_when_interrupted(suite.clone()));
    let trials = scenarios.into_iter().map(|scenario| trial(&runtime, &suite, scenario)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let left = runtime.block_on(suite.finish(conclusion.has_failed()));
    match left {
        Ok(()) => conclusion.exit_code(),
        Err(error) => fail(&error),
    }
}

fn trial(runtime: &Arc<tokio::runtime::Runtime>, suite: &Arc<Suite>, scenario: Scenario) -> Trial {
    let (runtime, suite) = (runtime.clone(), suite.clone());
    let skipped = suite.lacks(scenario.needs);
    let name = scenario.name;
    let run =
        move || runtime.block_on(suite.run(&scenario)).map_err(|error| Failed::from(format!("{error:#}")));
    Trial::test(name, run).with_ignored_flag(skipped)
}

/// Ctrl-C: the cluster may be somebody's own, so it is cleaned up all the same.
async fn finish_when_interrupted(suite: Arc<Suite>) {
    if tokio::signal::ctrl_c().await.is_ok() {
        harness::say("e2e: interrupted, cleaning up");
        if let Err(error) = suite.finish(true).await {
            harness::say(&format!("e2e: {error:#}"));
        }
        std::process::exit(130);
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    harness::say(&format!("e2e: {error:#}"));
    ExitCode::FAILURE
}

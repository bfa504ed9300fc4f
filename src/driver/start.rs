//! From a configuration to a running scheduler, and its clean end.
//!
//! Invariant: what can be found wrong is found before anything is decided; afterwards only a signal ends it.

use super::calls::Calls;
use super::client::Clients;
use super::engine_loop::{EngineLoop, WAITING_INPUTS};
use super::events::Events;
use super::{rights, watch as watches};
use crate::config::Config;
use crate::engine::Engine;
use crate::serve::{Metrics, Readiness, Server};
use crate::wire::{self, Converter};
use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tracing::{info, warn};

/// How long calls in flight may take at the end.
const LAST_CALLS: Duration = Duration::from_secs(5);

/// Schedules Pods until SIGTERM or SIGINT.
///
/// # Errors The address is taken, the API server cannot be reached or does not know us, a right is missing,
/// or the engine has ended.
pub async fn run(config: Config, http_address: SocketAddr) -> Result<()> {
    let server = Server::bind(http_address).await?;
    let metrics = Metrics::new().context("cannot set up metrics")?;
    config.profiles.iter().for_each(|profile| metrics.profile(&profile.scheduler_name));
    let readiness = Readiness::new();
    let mut terminated = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupted = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;

    let clients = Clients::new(&config.client).await?;
    clients.greet().await?;
    rights::check(&clients.writes, &config).await?;

    let (stopping, stop) = watch::channel(false);
    let mut served = stop.clone();
    let until = async move { drop(served.wait_for(|stopped| *stopped).await) };
    let serving = tokio::spawn(server.run(metrics.clone(), readiness.clone(), until));

    let (to_engine, inputs) = mpsc::channel(WAITING_INPUTS);
    let converter = || Converter::new(annotations(&config));
    let calls = Arc::new(Calls::start(&clients, converter(), &to_engine, &stop));
    let events = Events::start(clients.writes.clone(), metrics.clone(), stop.clone());
    watches::start::<wire::Node>(&clients.reads, converter(), &metrics, &to_engine);
    watches::start::<wire::Namespace>(&clients.reads, converter(), &metrics, &to_engine);
    watches::start::<wire::Budget>(&clients.reads, converter(), &metrics, &to_engine);
    watches::start::<wire::Pod>(&clients.reads, converter(), &metrics, &to_engine);

    let ended = EngineLoop {
        engine: Engine::new(config.settings()),
        inputs,
        calls: Arc::clone(&calls),
        events,
        metrics,
        readiness: readiness.clone(),
        stop,
    }
    .start()
    .context("cannot start the engine")?;

    let signal = tokio::select! {
        _ = terminated.recv() => "SIGTERM",
        _ = interrupted.recv() => "SIGINT",
        _ = ended => bail!("the engine has ended"),
    };
    info!(signal, "Ending");
    readiness.wait_for(vec!["shutdown"]);
    let _ = stopping.send(true);
    if timeout(LAST_CALLS, calls.finished()).await.is_err() {
        warn!("Calls are still in flight; whether they happen is for the next start to see");
    }
    serving.abort();
    Ok(())
}

/// The annotations that some profile asks about.
pub(super) fn annotations(config: &Config) -> Vec<String> {
    let protections = config.profiles.iter().map(|profile| &profile.resize.protect);
    let mut keys: Vec<String> =
        protections.flat_map(|protect| &protect.annotations).map(|(key, _)| key.to_string()).collect();
    keys.sort();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_annotations_of_the_policy_are_kept() {
        let keys = annotations(&Config::default());
        assert_eq!(keys, ["cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt"]);
    }
}

//! From a configuration to a running scheduler, and its clean end.
//!
//! Invariant: what can be found wrong is found before anything is decided; afterwards only a signal ends it.

use super::calls::Calls;
use super::client::Clients;
use super::engine_loop::{EngineLoop, WAITING_INPUTS};
use super::events::Events;
use super::reload::Reload;
use super::watch::Rules;
use super::{rights, watch as watches};
use crate::config::Config;
use crate::engine::Engine;
use crate::serve::{Metrics, Readiness, Server};
use crate::wire::{self, Converter};
use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tracing::{info, warn};

/// How long calls in flight may take at the end.
const LAST_CALLS: Duration = Duration::from_secs(5);

/// Schedules Pods until SIGTERM or SIGINT. The file, if the configuration is from one, is read again when it changes.
///
/// # Errors The address is taken, the API server cannot be reached or does not know us, a right is missing,
/// or the engine has ended.
pub async fn run(config: Config, file: Option<PathBuf>, http_address: SocketAddr) -> Result<()> {
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
    let (changes, rules) = watch::channel(Rules::of(&config));
    // Of a Pod that is read again no annotation matters.
    let calls = Arc::new(Calls::start(&clients, Converter::new([]), &to_engine, &stop));
    let events = Events::start(clients.writes.clone(), metrics.clone(), stop.clone());
    watches::start::<wire::Node>(&clients.reads, &rules, &metrics, &to_engine);
    watches::start::<wire::Namespace>(&clients.reads, &rules, &metrics, &to_engine);
    watches::start::<wire::Budget>(&clients.reads, &rules, &metrics, &to_engine);
    watches::start::<wire::Pod>(&clients.reads, &rules, &metrics, &to_engine);
    let settings = config.settings();
    let reload = |path| Reload {
        path,
        config,
        client: clients.writes.clone(),
        metrics: metrics.clone(),
        rules: changes,
    };
    file.map(|path| tokio::spawn(reload(path).run()));

    let ended = EngineLoop {
        engine: Engine::new(settings),
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

//! A proxy between elbowroom and the API server that counts writes and can end elbowroom at any of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::observe::lock;

/// A moment between two writes.
#[derive(Debug, Clone, Copy)]
pub enum KillAt {
    /// The n-th write never reaches the API server.
    Before(usize),
    /// The n-th write is done, and its answer never reaches elbowroom.
    After(usize),
}

/// Listens until dropped.
pub struct Proxy {
    /// The server to name in a kubeconfig.
    pub address: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    client: kube::Client,
    plan: Mutex<Option<(Pid, KillAt)>>,
    writes: AtomicUsize,
    /// Ends of paths; what is written there waits.
    held: Mutex<Vec<String>>,
    /// Writes that were begun and not ended.
    open: watch::Sender<usize>,
    /// `METHOD path code` of each write that was forwarded.
    log: Mutex<Vec<String>>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// Forwards with the identity in this kubeconfig.
    ///
    /// # Errors
    /// When the kubeconfig is not usable or there is no port.
    pub async fn start(kubeconfig: &str) -> Result<Self> {
        let file = Kubeconfig::from_yaml(kubeconfig)?;
        let mut config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.default_retry = false;
        let shared = Arc::new(Shared {
            client: kube::Client::try_from(config)?,
            plan: Mutex::default(),
            writes: AtomicUsize::new(0),
            held: Mutex::default(),
            open: watch::Sender::new(0),
            log: Mutex::default(),
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(forward).with_state(shared.clone());
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, task })
    }

    /// That process ends at that write, counted from now; without one nothing happens.
    pub fn arm(&self, plan: Option<(Pid, KillAt)>) {
        self.shared.writes.store(0, Ordering::SeqCst);
        *lock(&self.shared.plan) = plan;
    }

    /// What is written to a path with that end never arrives, and is not answered, as long as the proxy is there.
    pub fn hold(&self, path_end: &str) {
        lock(&self.shared.held).push(path_end.to_owned());
    }

    /// Whether the planned end has come.
    pub fn has_killed(&self) -> bool {
        lock(&self.shared.plan).is_none()
    }

    /// Waits until no write is on its way. A process that starts after this sees in its lists what the one before
    /// it has done; else it may do the same once more, which does no harm and cannot be told from a fault.
    pub async fn settled(&self) {
        // What a process wrote just before its end may not have been read yet.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        // The sender lives as long as the proxy.
        let _ = self.shared.open.subscribe().wait_for(|open| *open == 0).await;
    }

    /// The writes that got through, as `METHOD path code`.
    pub fn writes(&self) -> Vec<String> {
        lock(&self.shared.log).clone()
    }
}

impl Shared {
    /// Ends the process if this is the moment; then nothing more is forwarded or answered.
    fn strike(&self, now: impl Fn(KillAt) -> bool) -> bool {
        let mut plan = lock(&self.plan);
        match *plan {
            Some((pid, at)) if now(at) => {
                *plan = None;
                let _ = kill_process(pid, Signal::KILL);
                true
            }
            _ => false,
        }
    }
}

async fn forward(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    // A task of its own: what was sent goes on, and is noted, even if nobody is left to be answered.
    let passed = tokio::spawn(async move {
        let writes = changes_something(&request);
        shared.open.send_modify(|open| *open += usize::from(writes));
        let passed = pass(&shared, request, writes).await;
        shared.open.send_modify(|open| *open -= usize::from(writes));
        passed
    });
    let passed = passed.await;
    let passed = passed.map_err(anyhow::Error::from).flatten();
    passed.unwrap_or_else(|error| (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response())
}

/// The questions about its own rights change nothing in the cluster.
fn changes_something(request: &Request) -> bool {
    request.method() != Method::GET && !request.uri().path().contains("/selfsubject")
}

async fn pass(shared: &Shared, request: Request, writes: bool) -> Result<Response> {
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 22).await?;
    let count = if writes { shared.writes.fetch_add(1, Ordering::SeqCst) + 1 } else { 0 };
    if writes && shared.strike(|at| matches!(at, KillAt::Before(n) if n == count)) {
        anyhow::bail!("not forwarded");
    }
    if writes && lock(&shared.held).iter().any(|end| parts.uri.path().ends_with(end)) {
        std::future::pending::<()>().await;
    }
    for name in [header::AUTHORIZATION, header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
        parts.headers.remove(name);
    }
    let line = format!("{} {}", parts.method, parts.uri.path());
    let answer = shared.client.send(axum::http::Request::from_parts(parts, body.into())).await?;
    let (mut parts, body) = answer.into_parts();
    for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
        parts.headers.remove(name);
    }
    if !writes {
        return Ok(Response::from_parts(parts, Body::new(body)));
    }
    // Read to its end: only then is the write surely done.
    let body = body.collect_bytes().await?;
    lock(&shared.log).push(format!("{line} {}", parts.status.as_u16()));
    if shared.strike(|at| matches!(at, KillAt::After(n) if n == count)) {
        anyhow::bail!("not answered");
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

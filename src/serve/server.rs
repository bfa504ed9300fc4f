//! The HTTP server: `/metrics`, `/healthz`, `/livez`, `/readyz`.
//!
//! Invariant: the address is taken before anything else starts, so that a taken one is an error of the start.

use super::metrics::CONTENT_TYPE;
use super::{Metrics, Readiness};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// A server that has its address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

#[derive(Clone)]
struct Shared {
    metrics: Metrics,
    readiness: Readiness,
}

impl Server {
    /// Takes the address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is taken, or not ours; the error names it.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let failed = |cause: io::Error| {
            io::Error::new(cause.kind(), format!("cannot serve HTTP on {address}: {cause}"))
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// The address that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is there, then finishes what it has begun.
    ///
    /// # Errors
    /// The listener fails.
    pub async fn run(
        self,
        metrics: Metrics,
        readiness: Readiness,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let router = router(Shared { metrics, readiness });
        axum::serve(self.listener, router).with_graceful_shutdown(stop).await
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(alive))
        .route("/livez", get(alive))
        .route("/readyz", get(ready))
        .with_state(shared)
}

async fn alive() -> &'static str {
    "ok"
}

async fn ready(State(shared): State<Shared>) -> Response {
    let waiting = shared.readiness.waiting();
    if waiting.is_empty() {
        "ok".into_response()
    } else {
        let lines = format!("not ready, waiting for: {}\n", waiting.join(", "));
        (StatusCode::SERVICE_UNAVAILABLE, lines).into_response()
    }
}

async fn metrics(State(shared): State<Shared>) -> Response {
    match shared.metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    struct Running {
        address: SocketAddr,
        readiness: Readiness,
        stop: oneshot::Sender<()>,
        done: JoinHandle<io::Result<()>>,
    }

    async fn running() -> Running {
        let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, readiness) = (server.address(), Readiness::new());
        let (stop, stopped) = oneshot::channel();
        let stopped = async move { drop(stopped.await) };
        let done = tokio::spawn(server.run(Metrics::new().unwrap(), readiness.clone(), stopped));
        Running { address, readiness, stop, done }
    }

    /// Status line and whole answer of one request.
    async fn ask(address: SocketAddr, path: &'static str) -> (u16, String) {
        tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
        })
        .await
        .unwrap()
    }

    #[tokio::test]
    async fn readiness_follows_the_caches() {
        let server = running().await;
        server.readiness.wait_for(vec!["nodes", "pods"]);
        let (status, answer) = ask(server.address, "/readyz").await;
        assert_eq!(status, 503);
        assert!(answer.ends_with("not ready, waiting for: nodes, pods\n"), "{answer}");
        server.readiness.wait_for(vec![]);
        assert_eq!(ask(server.address, "/readyz").await.0, 200);
        server.readiness.wait_for(vec!["shutdown"]);
        assert_eq!(ask(server.address, "/readyz").await.0, 503);
    }

    #[tokio::test]
    async fn health_does_not_wait_for_the_caches() {
        let server = running().await;
        assert_eq!(ask(server.address, "/healthz").await.0, 200);
        assert_eq!(ask(server.address, "/livez").await.0, 200);
    }

    #[tokio::test]
    async fn a_scrape_gets_prometheus_text() {
        let server = running().await;
        let (status, answer) = ask(server.address, "/metrics").await;
        assert_eq!(status, 200);
        assert!(answer.contains("content-type: text/plain; version=0.0.4"), "{answer}");
        assert!(answer.contains("# TYPE scheduler_pending_pods gauge\n"));
    }

    #[tokio::test]
    async fn an_unknown_path_is_not_found() {
        let server = running().await;
        assert_eq!(ask(server.address, "/debug/pprof").await.0, 404);
    }

    #[tokio::test]
    async fn it_ends_when_told() {
        let server = running().await;
        server.stop.send(()).unwrap();
        server.done.await.unwrap().unwrap();
        assert!(TcpStream::connect(server.address).is_err());
    }

    #[tokio::test]
    async fn a_taken_address_is_one_clear_line() {
        let server = running().await;
        let error = Server::bind(server.address).await.unwrap_err().to_string();
        let address = server.address;
        assert!(
            error.starts_with(&format!("cannot serve HTTP on {address}: Address already in use")),
            "{error}"
        );
    }
}

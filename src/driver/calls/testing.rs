//! A mocked API server for tests of single calls.
//!
//! Invariant: it answers what it is told to and remembers what it was asked.

#![allow(clippy::unwrap_used)]

use crate::model::PodRef;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tower_test::mock::{Handle, pair};

type Server = Handle<Request<Body>, Response<Body>>;

/// One request as the server saw it.
#[derive(Debug)]
pub(in crate::driver) struct Seen {
    /// Method, path and query.
    pub(in crate::driver) line: String,
    /// Content type.
    pub(in crate::driver) kind: String,
    /// Body, as JSON.
    pub(in crate::driver) body: Value,
}

/// The Pod that tests ask about.
pub(in crate::driver) fn pod() -> PodRef {
    PodRef { namespace: "ns".into(), name: "p".into(), uid: "u1".into() }
}

/// A failure as the API server writes it.
pub(in crate::driver) fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
           "message": message})
}

fn client() -> (Client, Server) {
    let (service, server) = pair::<Request<Body>, Response<Body>>();
    (Client::new(service, "default"), server)
}

fn response(code: u16, body: &Value) -> Response<Body> {
    Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap()
}

async fn see(request: Request<Body>) -> Seen {
    let line = format!("{} {}", request.method(), request.uri());
    let kind = request.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
    let body = request.into_body().collect_bytes().await.unwrap();
    Seen { line, kind: kind.unwrap_or_default(), body: serde_json::from_slice(&body).unwrap_or(Value::Null) }
}

/// A server that answers one request so, and tells what it was.
pub(in crate::driver) fn answered(code: u16, body: Value) -> (Client, JoinHandle<Seen>) {
    let (client, mut server) = client();
    let seen = tokio::spawn(async move {
        let (request, send) = server.next_request().await.unwrap();
        let seen = see(request).await;
        send.send_response(response(code, &body));
        seen
    });
    (client, seen)
}

/// A server that answers one request after another so, and tells what they were.
pub(in crate::driver) fn answered_each(
    replies: Vec<(u16, Value)>,
) -> (Client, mpsc::UnboundedReceiver<Seen>) {
    let (client, mut server) = client();
    let (tell, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for (code, body) in replies {
            let Some((request, send)) = server.next_request().await else { return };
            tell.send(see(request).await).unwrap();
            send.send_response(response(code, &body));
        }
    });
    (client, seen)
}

/// A server that answers by path, in whatever order it is asked.
pub(in crate::driver) fn by_path(replies: Vec<(&'static str, u16, Value)>) -> Client {
    let (client, mut server) = client();
    tokio::spawn(async move {
        while let Some((request, send)) = server.next_request().await {
            let (_, code, body) = replies.iter().find(|(path, ..)| request.uri().path() == *path).unwrap();
            send.send_response(response(*code, body));
        }
    });
    client
}

/// A server that takes requests and never answers.
pub(in crate::driver) fn unanswered() -> (Client, JoinHandle<()>) {
    let (client, mut server) = client();
    let held = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Some(request) = server.next_request().await {
            held.push(request);
        }
    });
    (client, held)
}

//! Calls to the API server, one file for each kind.
//!
//! Invariant: every call that the engine asked for is answered once, with what is known and no more: where a
//! write may have happened, the answer says so.

mod bind;
mod delete;
mod evict;
mod failure;
mod lane;
mod patch;
mod read;
#[cfg(test)]
pub(super) mod testing;

pub(super) use failure::{Failure, root, said};
pub(super) use lane::Lane;

use super::client::Clients;
use crate::engine::{Answer, CallId, ConditionPatch, Input};
use crate::model::{PodRef, Str};
use crate::wire::Converter;
use kube::core::Request;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How long one call may take. Tests have less patience.
const CALL_TIMEOUT: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 10_000 });
/// Binds in flight: beyond this the API server gets no faster.
const BINDS: u32 = 64;
/// Evictions, reads and patches in flight, each.
const OTHERS: u32 = 16;

/// The lanes in which calls go out. None waits for another.
pub(super) struct Calls {
    binds: Lane<(CallId, PodRef, Str)>,
    evictions: Lane<(CallId, PodRef, bool)>,
    deletions: Lane<(CallId, PodRef, Str)>,
    reads: Lane<(CallId, PodRef, Vec<Str>)>,
    patches: Lane<(CallId, PodRef, ConditionPatch)>,
}

impl Calls {
    /// Lanes that send answers to `inputs` and start nothing more once `stop` is true.
    pub(super) fn start(
        clients: &Clients,
        converter: Converter,
        inputs: &mpsc::Sender<Input>,
        stop: &watch::Receiver<bool>,
    ) -> Self {
        let writes = &clients.writes;
        let converter = Arc::new(Mutex::new(converter));
        let (to, client) = (inputs.clone(), writes.clone());
        let binds = Lane::start(BINDS, stop.clone(), move |(call, pod, node): (CallId, PodRef, Str)| {
            let (to, client) = (to.clone(), client.clone());
            async move { answer(&to, call, Answer::Bind(bind::bind(&client, &pod, &node).await)).await }
        });
        let (to, client) = (inputs.clone(), writes.clone());
        let evictions = Lane::start(OTHERS, stop.clone(), move |(call, pod, dry): (CallId, PodRef, bool)| {
            let (to, client) = (to.clone(), client.clone());
            async move { answer(&to, call, Answer::Evict(evict::evict(&client, &pod, dry).await)).await }
        });
        let (to, client) = (inputs.clone(), writes.clone());
        let deletions =
            Lane::start(OTHERS, stop.clone(), move |(call, pod, reporter): (CallId, PodRef, Str)| {
                let (to, client) = (to.clone(), client.clone());
                async move {
                    answer(&to, call, Answer::Evict(delete::delete(&client, &pod, &reporter).await)).await
                }
            });
        // Not the retrying client: an answer that comes late is worth less than one that fails soon.
        let (to, client) = (inputs.clone(), writes.clone());
        let reads =
            Lane::start(OTHERS, stop.clone(), move |(call, pod, budgets): (CallId, PodRef, Vec<Str>)| {
                let (to, client, converter) = (to.clone(), client.clone(), Arc::clone(&converter));
                async move { answer(&to, call, read::read(&client, &converter, &pod, &budgets).await).await }
            });
        let (to, client) = (inputs.clone(), writes.clone());
        let patches = Lane::start(
            OTHERS,
            stop.clone(),
            move |(call, pod, condition): (CallId, PodRef, ConditionPatch)| {
                let (to, client) = (to.clone(), client.clone());
                async move {
                    answer(&to, call, Answer::Patch(patch::patch(&client, &pod, &condition).await)).await;
                }
            },
        );
        Self { binds, evictions, deletions, reads, patches }
    }

    pub(super) fn bind(&self, call: CallId, pod: PodRef, node: Str) {
        self.binds.enter((call, pod, node));
    }

    pub(super) fn evict(&self, call: CallId, pod: PodRef, dry_run: bool) {
        self.evictions.enter((call, pod, dry_run));
    }

    pub(super) fn delete(&self, call: CallId, pod: PodRef, reporter: Str) {
        self.deletions.enter((call, pod, reporter));
    }

    pub(super) fn read(&self, call: CallId, pod: PodRef, budgets: Vec<Str>) {
        self.reads.enter((call, pod, budgets));
    }

    pub(super) fn patch(&self, call: CallId, pod: PodRef, condition: ConditionPatch) {
        self.patches.enter((call, pod, condition));
    }

    /// Waits until no call is in flight. Only once they are stopped is that for good.
    pub(super) async fn finished(&self) {
        self.binds.empty().await;
        self.evictions.empty().await;
        self.deletions.empty().await;
        self.patches.empty().await;
    }
}

async fn answer(inputs: &mpsc::Sender<Input>, call: CallId, answer: Answer) {
    // It fails only when the engine has ended, and then nobody asks any more.
    let _ = inputs.send(Input::Answer(call, answer)).await;
}

/// Where the Pods of a namespace are.
fn pods(namespace: &str) -> Request {
    Request::new(format!("/api/v1/namespaces/{namespace}/pods"))
}

/// Waits for one call, no longer than a call may take.
pub(super) async fn within<T>(call: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
    match tokio::time::timeout(CALL_TIMEOUT, call).await {
        Ok(outcome) => outcome.map_err(Failure::from),
        Err(_) => Err(Failure::Lost(format!("no answer within {CALL_TIMEOUT:?}"))),
    }
}

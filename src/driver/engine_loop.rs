//! The one thread that owns the engine.
//!
//! Invariant: it waits for inputs and nothing else; every effect is handed on without waiting.

use super::calls::Calls;
use super::events::Events;
use super::report;
use crate::engine::{Effect, Engine, Input, QueueName};
use crate::model::{Span, Str, Timestamp};
use crate::resize::Reason;
use crate::serve::{Metrics, Readiness};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::info;

/// Inputs that may wait: enough to keep the engine busy, few enough to keep facts fresh.
pub(super) const WAITING_INPUTS: usize = 1024;
/// Inputs taken at a time.
const BATCH: usize = 128;
/// How often gauges are read.
const GAUGES_EVERY: Duration = Duration::from_secs(1);

/// The engine with all that it is connected to.
pub(super) struct EngineLoop {
    pub(super) engine: Engine,
    pub(super) inputs: mpsc::Receiver<Input>,
    pub(super) calls: Arc<Calls>,
    pub(super) events: Events,
    pub(super) metrics: Metrics,
    pub(super) readiness: Readiness,
    pub(super) stop: watch::Receiver<bool>,
}

impl EngineLoop {
    /// Starts the thread. The receiver resolves when the thread has ended, for whatever cause.
    pub(super) fn start(self) -> io::Result<oneshot::Receiver<()>> {
        let (ended, end) = oneshot::channel();
        let runtime = Handle::current();
        let thread = std::thread::Builder::new().name("engine".into());
        thread.spawn(move || {
            runtime.block_on(self.run());
            let _ = ended.send(());
        })?;
        Ok(end)
    }

    async fn run(mut self) {
        let mut stop = self.stop.clone();
        let mut batch = Vec::with_capacity(BATCH);
        let mut effects = Vec::new();
        let mut wake: Option<Timestamp> = None;
        let mut told = Told::default();
        loop {
            // A timer would round up to the next millisecond, and the engine asks for more steps all the
            // time.
            let due = wake.is_some_and(|at| at <= now());
            let timer = [wake.map(instant), told.gauges_at].into_iter().flatten().min();
            let timer = timer.unwrap_or_else(|| Instant::now() + GAUGES_EVERY);
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => return,
                taken = self.inputs.recv_many(&mut batch, BATCH) => if taken == 0 { return },
                () = std::future::ready(()), if due => {}
                () = tokio::time::sleep_until(timer), if !due => {}
            }
            if due || wake.is_some_and(|at| at <= now()) {
                wake = None;
                batch.push(Input::Tick);
            }
            for input in batch.drain(..) {
                let began = Instant::now();
                self.engine.step(input, now(), &mut effects);
                if effects.is_empty() {
                    continue;
                }
                let thought = span(began.elapsed());
                for effect in effects.drain(..) {
                    if let Some(at) = self.carry_out(effect, thought) {
                        wake = Some(wake.map_or(at, |known| known.min(at)));
                    }
                }
            }
            self.tell(&mut told);
        }
    }

    /// Hands one effect on; what is returned is when to step again.
    fn carry_out(&self, effect: Effect, thought: Span) -> Option<Timestamp> {
        match effect {
            Effect::Bind { call, pod, node } => self.calls.bind(call, pod, node),
            Effect::Evict { call, pod, dry_run } => self.calls.evict(call, pod, dry_run),
            Effect::Delete { call, pod, reporter } => self.calls.delete(call, pod, reporter),
            Effect::Read { call, pod, budgets } => self.calls.read(call, pod, budgets),
            Effect::Patch { call, pod, condition } => self.calls.patch(call, pod, condition),
            Effect::Emit(event) => self.events.emit(event),
            Effect::Report(decision) => report::report(&decision, thought, &self.metrics),
            Effect::WakeAt(at) => return Some(at),
        }
        None
    }

    /// Tells readiness at once and gauges once a second.
    fn tell(&self, told: &mut Told) {
        if !told.ready {
            let missing = self.engine.unsynced();
            told.ready = missing.is_empty();
            if told.ready {
                info!("Caches are full");
            }
            self.readiness.wait_for(missing);
        }
        if told.gauges_at.is_some_and(|at| Instant::now() < at) {
            return;
        }
        told.gauges_at = Some(Instant::now() + GAUGES_EVERY);
        let gauges = self.engine.gauges();
        for reason in Reason::ALL {
            self.metrics.deferred(reason, gauges.deferred.get(&reason).copied().unwrap_or_default());
        }
        let pending = gauges.pending;
        for (queue, pods) in [
            (QueueName::Active, pending.active),
            (QueueName::Backoff, pending.backoff),
            (QueueName::Unschedulable, pending.unschedulable),
            (QueueName::Gated, pending.gated),
        ] {
            self.metrics.pending(queue, pods);
        }
        tell_amounts(&mut told.claimed, gauges.claimed, |resource, amount| {
            self.metrics.claimed(resource, amount)
        });
        tell_amounts(&mut told.unattainable, gauges.unattainable, |resource, amount| {
            self.metrics.claimed_unattainable(resource, amount);
        });
        self.metrics.unattainable_nodes(gauges.unattainable_nodes);
        tell_amounts(&mut told.overcount, gauges.overcount, |resource, amount| {
            self.metrics.overcount(resource, amount);
        });
    }
}

/// Sets one gauge by resource; those known from before go back to zero, not away.
fn tell_amounts(known: &mut BTreeSet<Str>, amounts: Vec<(Str, i64)>, set: impl Fn(&str, i64)) {
    let zero = |resource: &&Str| !amounts.iter().any(|(named, _)| named == *resource);
    known.iter().filter(zero).for_each(|resource| set(resource, 0));
    amounts.iter().for_each(|(resource, amount)| set(resource, *amount));
    known.extend(amounts.into_iter().map(|(resource, _)| resource));
}

/// What was told last.
#[derive(Default)]
struct Told {
    ready: bool,
    gauges_at: Option<Instant>,
    /// Resources that were ever claimed.
    claimed: BTreeSet<Str>,
    /// Resources that were ever claimed in vain.
    unattainable: BTreeSet<Str>,
    /// Resources that were ever charged twice.
    overcount: BTreeSet<Str>,
}

fn span(duration: Duration) -> Span {
    Span(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}

/// The clock of the API's own time stamps.
fn now() -> Timestamp {
    Timestamp(span(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()).0)
}

/// The instant of a time stamp, now if it has passed.
fn instant(at: Timestamp) -> Instant {
    let micros = u64::try_from((at - now()).0).unwrap_or_default();
    // A wake far away is as good as one in a day.
    Instant::now() + Duration::from_micros(micros).min(Duration::from_secs(86_400))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::driver::calls::testing::answered_each;
    use crate::driver::client::Clients;
    use crate::engine::{Fact, Settings};
    use crate::wire::Converter;
    use serde_json::{Value, json};

    fn pod_and_node() -> [Input; 2] {
        let mut converter = Converter::new([]);
        let container = json!({"name": "c", "resources": {"requests": {"cpu": "1"}}});
        let pod: Value = json!({
            "metadata": {"name": "p", "namespace": "ns", "uid": "u1"},
            "spec": {"schedulerName": "elbowroom", "containers": [container]},
        });
        let node: Value = json!({
            "metadata": {"name": "n1", "uid": "n1"},
            "status": {
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        });
        let pod = converter.pod(&serde_json::from_value(pod).unwrap()).unwrap();
        let node = converter.node(&serde_json::from_value(node).unwrap()).unwrap();
        [Input::Pod(Fact::Apply(Box::new(pod))), Input::Node(Fact::Apply(Box::new(node)))]
    }

    fn begin_all() -> [Input; 4] {
        [
            Input::Pod(Fact::Begin),
            Input::Node(Fact::Begin),
            Input::Budget(Fact::Begin),
            Input::Namespace(Fact::Begin),
        ]
    }

    fn end_all() -> [Input; 4] {
        [Input::Pod(Fact::End), Input::Node(Fact::End), Input::Budget(Fact::End), Input::Namespace(Fact::End)]
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_pod_that_is_seen_is_bound_and_told_of_once_the_lists_are_complete() {
        let (client, mut seen) = answered_each(vec![(201, json!({})), (201, json!({}))]);
        let clients = Clients::of(client.clone());
        let (stopping, stop) = watch::channel(false);
        let (to_engine, inputs) = mpsc::channel(WAITING_INPUTS);
        let (metrics, readiness) = (Metrics::new().unwrap(), Readiness::new());
        let engine_loop = EngineLoop {
            engine: Engine::new(Settings::default()),
            inputs,
            calls: Arc::new(Calls::start(&clients, Converter::new([]), &to_engine, &stop)),
            events: Events::start(client, metrics.clone(), stop.clone()),
            metrics,
            readiness: readiness.clone(),
            stop,
        };
        let ended = engine_loop.start().unwrap();
        for input in begin_all().into_iter().chain(pod_and_node()) {
            to_engine.send(input).await.unwrap();
        }
        assert!(seen.try_recv().is_err(), "nothing is decided on half a list");
        for input in end_all() {
            to_engine.send(input).await.unwrap();
        }
        let bound = seen.recv().await.unwrap();
        assert_eq!(bound.line, "POST /api/v1/namespaces/ns/pods/p/binding?");
        assert_eq!(bound.body["target"]["name"], "n1");
        assert_eq!(seen.recv().await.unwrap().body["reason"], "Scheduled");
        assert!(readiness.waiting().is_empty());
        stopping.send(true).unwrap();
        ended.await.unwrap();
    }
}

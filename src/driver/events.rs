//! Events of `events.k8s.io/v1`.
//!
//! Invariant: an event never holds anything back. It waits in a bounded queue, is dropped and counted when
//! that is full, and is not tried again.

use super::calls::{Failure, Lane, within};
use crate::engine::Event;
use crate::model::PodRef;
use crate::serve::Metrics;
use k8s_openapi::jiff;
use kube::Client;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Request;
use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tracing::debug;

/// Events that may wait. A backlog of Pods that are all placed at once gives one each.
const WAITING: usize = 8192;
/// Event writes in flight.
const IN_FLIGHT: u32 = 8;
/// The API refuses longer notes.
const NOTE_BYTES: usize = 1024;
/// The API refuses longer names; the time takes up to 17 of it.
const NAME_BYTES: usize = 253 - 17;
/// An event that comes again within this time continues its series, as in client-go.
const SERIES: Duration = Duration::from_secs(6 * 60);
/// Series that are remembered.
const REMEMBERED: usize = 4096;

/// Where events are handed in.
#[derive(Clone)]
pub(super) struct Events {
    queue: mpsc::Sender<Event>,
    metrics: Metrics,
}

impl Events {
    /// Starts the task that sends events. Once `stop` is true none is sent any more.
    pub(super) fn start(client: Client, metrics: Metrics, stop: watch::Receiver<bool>) -> Self {
        let (queue, mut waiting) = mpsc::channel::<Event>(WAITING);
        let mut series = SeriesBook::new(instance());
        let lane = Lane::start(IN_FLIGHT, stop, move |write| send(client.clone(), write));
        tokio::spawn(async move {
            // The lane's own queue stays short, so that what waits is bounded here.
            while let Some(event) = waiting.recv().await {
                lane.enter_when_free(series.write(event, Instant::now())).await;
            }
        });
        Self { queue, metrics }
    }

    /// Hands one in, or drops it.
    pub(super) fn emit(&self, event: Event) {
        if self.queue.try_send(event).is_err() {
            self.metrics.event_dropped();
        }
    }
}

/// One write of an event.
struct Write {
    namespace: String,
    name: String,
    /// The whole event, for a new one or one whose object has expired.
    event: Value,
    /// What changes when it has come before.
    series: Option<Value>,
}

/// Which events have come lately. A note cannot be changed, so another note is another event.
struct SeriesBook {
    instance: String,
    known: FxHashMap<Event, Known>,
    last_stamp: i128,
}

struct Known {
    name: String,
    count: i32,
    last: Instant,
}

impl SeriesBook {
    fn new(instance: String) -> Self {
        Self { instance, known: FxHashMap::default(), last_stamp: 0 }
    }

    fn write(&mut self, event: Event, now: Instant) -> Write {
        if self.known.len() >= REMEMBERED {
            self.known.retain(|_, known| now.duration_since(known.last) < SERIES);
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let time = jiff::Timestamp::now();
        let known = self.known.get_mut(&event).filter(|known| now.duration_since(known.last) < SERIES);
        let (name, series) = match known {
            Some(known) => {
                known.count = known.count.saturating_add(1);
                known.last = now;
                let series = json!({"count": known.count, "lastObservedTime": micros(time)});
                (known.name.clone(), Some(series))
            }
            None => {
                // Two events of one Pod in one instant need two names.
                self.last_stamp = time.as_nanosecond().max(self.last_stamp + 1);
                let name = format!("{}.{:x}", cut(&event.regarding.name, NAME_BYTES, ""), self.last_stamp);
                let known = Known { name: name.clone(), count: 1, last: now };
                self.known.insert(event.clone(), known);
                (name, None)
            }
        };
        Write {
            namespace: event.regarding.namespace.to_string(),
            event: self.body(&event, &name, time),
            name,
            series,
        }
    }

    fn body(&self, event: &Event, name: &str, time: jiff::Timestamp) -> Value {
        let mut body = json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"namespace": &*event.regarding.namespace, "name": name},
            "eventTime": micros(time),
            "reportingController": &*event.reporter,
            "reportingInstance": cut(&format!("{}-{}", event.reporter, self.instance), 128, ""),
            "type": if event.warning { "Warning" } else { "Normal" },
            "reason": event.reason,
            "action": event.action,
            "note": cut(&event.note, NOTE_BYTES, " ..."),
            "regarding": reference(&event.regarding),
        });
        if let (Some(related), Some(body)) = (&event.related, body.as_object_mut()) {
            body.insert("related".to_owned(), reference(related));
        }
        body
    }
}

fn reference(pod: &PodRef) -> Value {
    let PodRef { namespace, name, uid } = pod;
    json!({"apiVersion": "v1", "kind": "Pod", "namespace": &**namespace, "name": &**name, "uid": &**uid})
}

/// A time in the form of `metav1.MicroTime`.
fn micros(time: jiff::Timestamp) -> String {
    format!("{time:.6}")
}

/// The text in at most so many bytes, with a mark where it was cut.
fn cut(text: &str, bytes: usize, mark: &str) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes.saturating_sub(mark.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{mark}", text.get(..end).unwrap_or_default())
}

/// This host, to tell two instances of one reporter apart.
fn instance() -> String {
    let of_kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = of_kernel.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    if name.trim().is_empty() { "unknown".to_owned() } else { name.trim().to_owned() }
}

async fn send(client: Client, write: Write) {
    let outcome = match &write.series {
        None => create(&client, &write).await,
        Some(series) => match patch(&client, &write, series).await {
            // The object has expired, or its creation has failed.
            Err(failure) if failure.code() == Some(404) => create(&client, &write).await,
            outcome => outcome,
        },
    };
    if let Err(failure) = outcome {
        debug!(
            namespace = write.namespace,
            event = write.name,
            error = failure.said(),
            "Event was not stored"
        );
    }
}

fn events(namespace: &str) -> Request {
    Request::new(format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events"))
}

async fn create(client: &Client, write: &Write) -> Result<(), Failure> {
    let body = write.event.to_string().into_bytes();
    let request = events(&write.namespace)
        .create(&PostParams::default(), body)
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

async fn patch(client: &Client, write: &Write, series: &Value) -> Result<(), Failure> {
    let body = Patch::Strategic(json!({"series": series}));
    let request = events(&write.namespace)
        .patch(&write.name, &PatchParams::default(), &body)
        .map_err(|error| Failure::Unsent(error.to_string()))?;
    within(client.request::<IgnoredAny>(request)).await.map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::calls::testing::{answered_each, pod, status};
    use super::*;

    fn event(note: &str) -> Event {
        Event {
            regarding: pod(),
            related: None,
            warning: true,
            reason: "FailedScheduling",
            action: "Scheduling",
            note: note.into(),
            reporter: "elbowroom".into(),
        }
    }

    fn book() -> SeriesBook {
        SeriesBook::new("host".into())
    }

    #[test]
    fn an_event_has_every_field_that_the_api_wants() {
        let related = PodRef { name: "v".into(), ..pod() };
        let write = book().write(Event { related: Some(related), ..event("no room") }, Instant::now());
        let body = write.event;
        assert!(write.name.starts_with("p."), "{}", write.name);
        assert_eq!(body["metadata"], json!({"namespace": "ns", "name": write.name}));
        assert_eq!((&body["type"], &body["reason"]), (&json!("Warning"), &json!("FailedScheduling")));
        assert_eq!((&body["action"], &body["note"]), (&json!("Scheduling"), &json!("no room")));
        assert_eq!(body["reportingController"], "elbowroom");
        assert_eq!(body["reportingInstance"], "elbowroom-host");
        assert_eq!(body["regarding"]["uid"], "u1");
        assert_eq!(body["related"]["name"], "v");
        assert_eq!(body["eventTime"].as_str().unwrap().len(), "2026-01-01T00:00:00.000000Z".len());
    }

    #[test]
    fn a_long_note_is_cut_at_a_character() {
        let write = book().write(event(&"ä".repeat(600)), Instant::now());
        let note = write.event["note"].as_str().unwrap();
        assert_eq!((note.len(), note.ends_with("ä ...")), (1024, true));
    }

    #[test]
    fn the_same_event_within_six_minutes_is_a_series() {
        let (mut book, start) = (book(), Instant::now());
        let first = book.write(event("no room"), start);
        let second = book.write(event("no room"), start + Duration::from_secs(100));
        assert_eq!(second.name, first.name);
        assert_eq!((first.series, second.series.unwrap()["count"].clone()), (None, json!(2)));
        let later = book.write(event("no room"), start + Duration::from_secs(461));
        assert_ne!(later.name, first.name);
        assert!(later.series.is_none());
    }

    #[test]
    fn another_note_is_another_event() {
        let (mut book, now) = (book(), Instant::now());
        let (first, second) = (book.write(event("a"), now), book.write(event("b"), now));
        assert_ne!(first.name, second.name);
        assert!(second.series.is_none());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut book, now) = (book(), Instant::now());
        for number in 0..REMEMBERED * 2 {
            book.write(event(&number.to_string()), now);
        }
        assert!(book.known.len() <= REMEMBERED);
    }

    #[tokio::test]
    async fn a_new_event_is_created_and_a_repeated_one_patched() {
        let (client, mut seen) = answered_each(vec![(201, json!({})), (200, json!({}))]);
        let (mut book, now) = (book(), Instant::now());
        send(client.clone(), book.write(event("no room"), now)).await;
        send(client, book.write(event("no room"), now)).await;
        let (create, patch) = (seen.recv().await.unwrap(), seen.recv().await.unwrap());
        assert_eq!(create.line, "POST /apis/events.k8s.io/v1/namespaces/ns/events?");
        let name = create.body["metadata"]["name"].as_str().unwrap().to_owned();
        assert_eq!(patch.line, format!("PATCH /apis/events.k8s.io/v1/namespaces/ns/events/{name}?"));
        assert_eq!(patch.body["series"]["count"], 2);
        assert_eq!(patch.body.as_object().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_series_whose_event_has_expired_is_created_anew() {
        let gone = status(404, "NotFound", "");
        let (client, mut seen) = answered_each(vec![(201, json!({})), (404, gone), (201, json!({}))]);
        let (mut book, now) = (book(), Instant::now());
        send(client.clone(), book.write(event("no room"), now)).await;
        send(client, book.write(event("no room"), now)).await;
        let mut verbs = Vec::new();
        while let Some(request) = seen.recv().await {
            verbs.push(request.line.split(' ').next().unwrap().to_owned());
        }
        assert_eq!(verbs, ["POST", "PATCH", "POST"]);
    }

    #[tokio::test]
    async fn an_event_too_many_is_dropped_and_counted() {
        let (queue, _waiting) = mpsc::channel(1);
        let events = Events { queue, metrics: Metrics::new().unwrap() };
        events.emit(event("a"));
        events.emit(event("b"));
        let text = String::from_utf8(events.metrics.render().unwrap()).unwrap();
        assert!(text.contains("scheduler_events_dropped_total 1\n"));
    }
}

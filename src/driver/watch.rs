//! Watches, one task for each kind.
//!
//! Invariant: every event of the API becomes one fact, in order. What cannot be read is told by name and
//! counted; it keeps the last form that could be.

use super::calls::{root, said as status_said};
use crate::engine::{Fact, Input, Namespace};
use crate::model::{Budget, Node, Pod};
use crate::resize::Policies;
use crate::serve::Metrics;
use crate::wire::{self, Converter, Unreadable};
use futures::StreamExt;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tracing::{debug, error, info, warn};

/// How long the server keeps a quiet watch open; five seconds later it counts as dead.
const WATCH_SECONDS: u32 = 40;
/// First pause after a failed watch; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause: after an outage the facts should not be old for long.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// What the watches have to know of the configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rules {
    /// Annotation keys that some rule asks about.
    pub(super) annotations: Vec<String>,
    /// The rules for Deferred resizes.
    pub(super) policies: Policies,
}

/// A kind that is watched.
pub(super) trait Watched:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
    /// What it becomes.
    type Fact: Send;
    /// Which of them are watched.
    const FIELDS: Option<&'static str> = None;
    /// Whether annotations that the rules ask about are kept.
    const ANNOTATED: bool = false;

    fn fact(&self, converter: &mut Converter) -> Result<Self::Fact, Unreadable>;

    /// The same object with no more than says that it is gone.
    fn identity(self) -> Self {
        self
    }

    fn input(fact: Fact<Self::Fact>) -> Input;
}

impl Watched for wire::Pod {
    type Fact = Pod;
    /// Finished Pods hold nothing; leaving the selection comes as a deletion.
    const FIELDS: Option<&'static str> = Some("status.phase!=Succeeded,status.phase!=Failed");
    const ANNOTATED: bool = true;

    fn fact(&self, converter: &mut Converter) -> Result<Pod, Unreadable> {
        converter.pod(self)
    }
    fn identity(self) -> Self {
        wire::Pod::identity(self)
    }
    fn input(fact: Fact<Pod>) -> Input {
        Input::Pod(fact)
    }
}

impl Watched for wire::Node {
    type Fact = Node;
    fn fact(&self, converter: &mut Converter) -> Result<Node, Unreadable> {
        converter.node(self)
    }
    fn identity(self) -> Self {
        wire::Node::identity(self)
    }
    fn input(fact: Fact<Node>) -> Input {
        Input::Node(fact)
    }
}

impl Watched for wire::Budget {
    type Fact = Budget;
    fn fact(&self, converter: &mut Converter) -> Result<Budget, Unreadable> {
        converter.budget(self)
    }
    fn input(fact: Fact<Budget>) -> Input {
        Input::Budget(fact)
    }
}

impl Watched for wire::Namespace {
    type Fact = Namespace;
    fn fact(&self, converter: &mut Converter) -> Result<Namespace, Unreadable> {
        converter.namespace(self)
    }
    fn input(fact: Fact<Namespace>) -> Input {
        Input::Namespace(fact)
    }
}

/// Starts the watch of one kind.
pub(super) fn start<K: Watched>(
    client: &Client,
    rules: &watch::Receiver<Rules>,
    metrics: &Metrics,
    inputs: &mpsc::Sender<Input>,
) {
    tokio::spawn(follow::<K>(client.clone(), rules.clone(), metrics.clone(), inputs.clone()));
}

/// Watches one kind until nobody listens any more.
async fn follow<K: Watched>(
    client: Client,
    mut rules: watch::Receiver<Rules>,
    metrics: Metrics,
    inputs: mpsc::Sender<Input>,
) {
    let mut kept = rules.borrow_and_update().annotations.clone();
    let mut converter = Converter::new(kept.clone());
    // Rules that are put in force once every annotation that they ask about is known.
    let mut coming: Option<Policies> = None;
    let kind = K::kind(&()).into_owned();
    let mut config = watcher::Config::default().timeout(WATCH_SECONDS).streaming_lists();
    if let Some(fields) = K::FIELDS {
        config = config.fields(fields);
    }
    let mut stream = watcher::watcher(Api::<K>::all(client.clone()), config.clone()).boxed();
    let mut pause = FIRST_PAUSE;
    let (mut interrupted, mut relisted, mut follows_rules) = (false, false, K::ANNOTATED);
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            changed = rules.changed(), if follows_rules => {
                // Without a file nobody changes them.
                let Ok(()) = changed else {
                    follows_rules = false;
                    continue;
                };
                let Rules { annotations, policies } = rules.borrow_and_update().clone();
                coming = Some(policies);
                if annotations != kept {
                    converter = Converter::new(annotations.clone());
                    kept = annotations;
                    stream = watcher::watcher(Api::<K>::all(client.clone()), config.clone()).boxed();
                } else if relisted && send_rules(&mut coming, &inputs).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let Some(event) = event else { return };
        match event {
            Ok(event) => {
                if interrupted {
                    info!(kind, "Watch goes on");
                }
                (pause, interrupted) = (FIRST_PAUSE, false);
                match &event {
                    Event::Init => relisted = false,
                    Event::InitDone => relisted = true,
                    _ => {}
                }
                let Some(fact) = fact(event, &mut converter, &metrics, &kind) else { continue };
                if inputs.send(K::input(fact)).await.is_err()
                    || relisted && send_rules(&mut coming, &inputs).await.is_err()
                {
                    return;
                }
            }
            Err(failure) if no_streaming(&failure) => {
                debug!(kind, "The server does not stream lists; listing in pages");
                config.initial_list_strategy = watcher::InitialListStrategy::ListWatch;
                stream = watcher::watcher(Api::<K>::all(client.clone()), config.clone()).boxed();
            }
            Err(failure) => {
                match said(&failure) {
                    Said::Unreadable(problem) => {
                        error!(kind, problem, "Object cannot be read; no decision sees its change");
                        metrics.unreadable(&kind);
                    }
                    Said::Expired => {
                        debug!(kind, "Watch has expired; listing again");
                        pause = FIRST_PAUSE;
                    }
                    Said::Failed(problem) if !interrupted => {
                        warn!(kind, problem, "Watch is interrupted; trying again");
                        interrupted = true;
                    }
                    Said::Failed(problem) => debug!(kind, problem, "Watch is still interrupted"),
                }
                tokio::select! {
                    () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                    () = inputs.closed() => return,
                }
            }
        }
    }
}

async fn send_rules(coming: &mut Option<Policies>, inputs: &mpsc::Sender<Input>) -> Result<(), ()> {
    match coming.take() {
        Some(policies) => inputs.send(Input::Policies(policies)).await.map_err(drop),
        None => Ok(()),
    }
}

/// The fact of one event; `None` when not even the object's identity can be read.
fn fact<K: Watched>(
    event: Event<K>,
    converter: &mut Converter,
    metrics: &Metrics,
    kind: &str,
) -> Option<Fact<K::Fact>> {
    let mut read = |object: &K| object.fact(converter).map(Box::new);
    let told = match event {
        Event::Init => return Some(Fact::Begin),
        Event::InitDone => return Some(Fact::End),
        Event::Delete(object) => read(&object.identity()).map(Fact::Delete),
        Event::Apply(object) | Event::InitApply(object) => match read(&object) {
            Ok(fact) => Ok(Fact::Apply(fact)),
            Err(problem) => {
                complain(&problem, metrics, kind);
                return read(&object.identity()).ok().map(Fact::Keep);
            }
        },
    };
    told.map_err(|problem| complain(&problem, metrics, kind)).ok()
}

fn complain(problem: &Unreadable, metrics: &Metrics, kind: &str) {
    error!(%problem, "Object cannot be read; decisions see what was known of it before, if anything");
    metrics.unreadable(kind);
}

/// Whether the server refuses to send a list as a stream: it is older, or the feature is off.
fn no_streaming(failure: &watcher::Error) -> bool {
    let watcher::Error::WatchStartFailed(kube::Error::Api(status)) = failure else { return false };
    matches!(status.code, 400 | 422) && status.message.contains("sendInitialEvents")
}

enum Said {
    Unreadable(String),
    Expired,
    Failed(String),
}

fn said(failure: &watcher::Error) -> Said {
    match failure {
        watcher::Error::WatchFailed(kube::Error::SerdeError(problem)) => {
            Said::Unreadable(problem.to_string())
        }
        watcher::Error::WatchError(status) if status.code == 410 => Said::Expired,
        watcher::Error::WatchError(status) => Said::Failed(status_said(status)),
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => Said::Failed(root(error)),
        watcher::Error::NoResourceVersion => Said::Failed("the server sent no resource version".into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::calls::testing::{answered_each, status};
    use super::*;
    use kube::core::Status;
    use serde_json::{Value, json};

    fn pod_event(wrap: fn(wire::Pod) -> Event<wire::Pod>, cpu: &str, metrics: &Metrics) -> Option<Fact<Pod>> {
        let container = json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
        let object: Value = json!({"metadata": {"name": "p"}, "spec": {"containers": [container]}});
        let event = wrap(serde_json::from_value(object).unwrap());
        fact(event, &mut Converter::new([]), metrics, "Pod")
    }

    #[test]
    fn a_list_is_told_from_its_beginning_to_its_end() {
        let metrics = Metrics::new().unwrap();
        let begin = fact(Event::<wire::Pod>::Init, &mut Converter::new([]), &metrics, "Pod");
        assert!(matches!(begin, Some(Fact::Begin)));
        assert!(matches!(pod_event(Event::InitApply, "1", &metrics), Some(Fact::Apply(_))));
        let end = fact(Event::<wire::Pod>::InitDone, &mut Converter::new([]), &metrics, "Pod");
        assert!(matches!(end, Some(Fact::End)));
    }

    #[test]
    fn an_object_that_cannot_be_read_is_counted() {
        let metrics = Metrics::new().unwrap();
        assert!(matches!(pod_event(Event::Apply, "two", &metrics), Some(Fact::Keep(_))));
        let text = String::from_utf8(metrics.render().unwrap()).unwrap();
        assert!(text.contains("scheduler_unreadable_objects_total{kind=\"Pod\"} 1\n"));
    }

    #[test]
    fn an_object_that_cannot_be_read_can_still_go() {
        let metrics = Metrics::new().unwrap();
        let Some(Fact::Delete(pod)) = pod_event(Event::Delete, "two", &metrics) else {
            unreachable!("a deletion needs no more than the name")
        };
        assert_eq!(pod.id.name, "p");
    }

    #[tokio::test]
    async fn a_server_that_streams_no_lists_is_asked_for_pages() {
        let refused = status(422, "Invalid", "sendInitialEvents: Forbidden: the feature is off");
        let node = json!({"metadata": {"name": "n1", "resourceVersion": "6"}});
        let list = json!({"metadata": {"resourceVersion": "7"}, "items": [node]});
        let (client, mut seen) = answered_each(vec![(422, refused), (200, list)]);
        let (to_engine, mut inputs) = mpsc::channel(8);
        let (_changes, rules) = watch::channel(Rules::default());
        start::<wire::Node>(&client, &rules, &Metrics::new().unwrap(), &to_engine);
        assert!(matches!(inputs.recv().await, Some(Input::Node(Fact::Begin))));
        assert!(matches!(inputs.recv().await, Some(Input::Node(Fact::Apply(node))) if node.name == "n1"));
        assert!(matches!(inputs.recv().await, Some(Input::Node(Fact::End))));
        assert!(seen.recv().await.unwrap().line.contains("sendInitialEvents=true"));
        assert!(seen.recv().await.unwrap().line.starts_with("GET /api/v1/nodes?&limit=500"));
    }

    #[test]
    fn only_a_refused_stream_means_pages() {
        let refused = |code, text: &str| {
            let status = Status::failure(text, "Invalid").with_code(code);
            no_streaming(&watcher::Error::WatchStartFailed(kube::Error::Api(status.boxed())))
        };
        assert!(refused(
            422,
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless ..."
        ));
        assert!(!refused(403, "pods is forbidden"));
    }
}

//! What happens to the Pods of one namespace, as an outside observer sees it. Nothing seen is ever forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use kube::runtime::watcher;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::pods::is_leaving;

/// The Pods now, and who ever began to leave.
#[derive(Debug, Default)]
pub struct Seen {
    /// By name.
    pub pods: BTreeMap<String, Pod>,
    /// Names that were seen with a deletion timestamp, or vanished.
    pub left: BTreeSet<String>,
    /// UIDs of Pods that are gone: a late answer to a write does not bring them back.
    gone: BTreeSet<String>,
}

/// Follows one namespace until dropped.
pub struct Observer {
    seen: Arc<Mutex<Seen>>,
    changes: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Observer {
    /// Starts to watch.
    pub fn start(pods: Api<Pod>) -> Self {
        let seen = Arc::<Mutex<Seen>>::default();
        let (sender, changes) = watch::channel(0);
        let into = seen.clone();
        let task = tokio::spawn(async move {
            let mut events = watcher(pods, watcher::Config::default()).boxed();
            let mut listed = BTreeSet::new();
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => lock(&into).note(event, &mut listed),
                    // It goes on from where it was when it is polled again. No growing pause: a test waits.
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                        continue;
                    }
                }
                sender.send_modify(|count| *count += 1);
            }
        });
        Self { seen, changes, task }
    }

    /// A handle for a task that follows the same Pods.
    pub fn follow(&self) -> (Arc<Mutex<Seen>>, watch::Receiver<u64>) {
        (self.seen.clone(), self.changes.clone())
    }

    /// The present state.
    pub fn now(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    /// Waits until the check holds.
    ///
    /// # Errors
    /// Says what was waited for, when it does not hold in time.
    pub async fn until(
        &self,
        within: Duration,
        what: &str,
        mut check: impl FnMut(&Seen) -> bool,
    ) -> Result<()> {
        let (end, mut changes) = (Instant::now() + within, self.changes.clone());
        loop {
            changes.mark_unchanged();
            if check(&self.now()) {
                return Ok(());
            }
            let Some(rest) = end.checked_duration_since(Instant::now()) else {
                bail!("waited {within:?} in vain: {what}");
            };
            // A time-out is seen by the check above.
            let _ = tokio::time::timeout(rest, changes.changed()).await;
        }
    }
}

/// The state behind a poisoned lock is as good as any: a test has failed anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    /// A Pod as the answer to a write showed it, or as a watch did: the newer of the two stays.
    pub fn put(&mut self, pod: Pod) {
        let Some(name) = pod.metadata.name.clone() else { return };
        if is_leaving(&pod) {
            self.left.insert(name.clone());
        }
        if pod.metadata.uid.as_ref().is_some_and(|uid| self.gone.contains(uid)) {
            return;
        }
        let version = |p: &Pod| p.metadata.resource_version.as_deref().and_then(|v| v.parse::<u64>().ok());
        let newer = self
            .pods
            .get(&name)
            .is_none_or(|old| old.metadata.uid != pod.metadata.uid || version(old) <= version(&pod));
        if newer {
            self.pods.insert(name, pod);
        }
    }

    fn remove(&mut self, name: &str) {
        let known = self.pods.remove(name);
        self.gone.extend(known.and_then(|pod| pod.metadata.uid));
        self.left.insert(name.to_owned());
    }

    fn note(&mut self, event: watcher::Event<Pod>, listed: &mut BTreeSet<String>) {
        match event {
            watcher::Event::Init => listed.clear(),
            watcher::Event::InitApply(pod) => {
                listed.extend(pod.metadata.name.clone());
                self.put(pod);
            }
            watcher::Event::InitDone => {
                let vanished: Vec<_> =
                    self.pods.keys().filter(|name| !listed.contains(*name)).cloned().collect();
                vanished.iter().for_each(|name| self.remove(name));
            }
            watcher::Event::Apply(pod) => self.put(pod),
            watcher::Event::Delete(pod) => {
                self.gone.extend(pod.metadata.uid);
                if let Some(name) = pod.metadata.name {
                    self.remove(&name);
                }
            }
        }
    }
}

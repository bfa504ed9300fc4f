//! What an outside observer sees of one play: who is taken, what their budgets allowed, who gets what he asked.
//!
//! Invariant: budgets and Pods are put in order by their resource versions, for two watches know no common time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt as _;
use kube::core::{Selector, SelectorExt as _};
use kube::runtime::watcher;
use tokio::task::JoinHandle;

use crate::harness::{OURS, PENDING, World, condition, is_leaving, node_of, settled};

/// Follows the Pods and budgets of one world until dropped.
pub struct Recorder {
    record: Arc<Mutex<Record>>,
    tasks: [JoinHandle<()>; 2],
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// All that was seen.
pub struct Record {
    /// Who was made to leave, in order.
    pub victims: Vec<Victim>,
    /// The Pods as they were seen last.
    pub pods: BTreeMap<String, Pod>,
    /// The Deferred ones.
    pub growth: BTreeMap<String, Growth>,
    /// When a Pod without a node was seen first, and with one.
    pub placed: BTreeMap<String, (Instant, Option<Instant>)>,
    /// When something happened last.
    pub changed: Instant,
    /// Not victims: their owner deletes them.
    deleted: BTreeSet<String>,
    budgets: Vec<Allowed>,
    signatures: BTreeMap<String, String>,
}

/// Somebody who was made to leave.
pub struct Victim {
    /// Its name.
    pub name: String,
    version: u64,
    ready: bool,
    /// By the Eviction API, which keeps the budgets itself.
    evicted: bool,
    pod: Pod,
}

/// A resize that was Deferred.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// When the kubelet said so.
    pub since: Instant,
    /// When that was over: nothing was pending any more.
    pub over: Option<Instant>,
    /// The generation that was Deferred last.
    generation: Option<i64>,
    /// It was over because the wish was taken back.
    pub reverted: bool,
}

/// What a budget allowed from some version on.
struct Allowed {
    version: u64,
    budget: PodDisruptionBudget,
}

impl Recorder {
    /// Begins to watch.
    pub fn start(world: &World) -> Self {
        let record = Arc::new(Mutex::new(Record {
            victims: Vec::new(),
            pods: BTreeMap::new(),
            growth: BTreeMap::new(),
            placed: BTreeMap::new(),
            changed: Instant::now(),
            deleted: BTreeSet::new(),
            budgets: Vec::new(),
            signatures: BTreeMap::new(),
        }));
        let pods = follow::<Pod>(world, record.clone(), |record, event| match event {
            watcher::Event::InitApply(pod) | watcher::Event::Apply(pod) => record.see(pod),
            watcher::Event::Delete(pod) => record.lose(pod),
            watcher::Event::Init | watcher::Event::InitDone => {}
        });
        let budgets = follow::<PodDisruptionBudget>(world, record.clone(), |record, event| {
            if let watcher::Event::InitApply(budget) | watcher::Event::Apply(budget) = event {
                record.budgets.push(Allowed { version: version(&budget), budget });
            }
        });
        Self { record, tasks: [pods, budgets] }
    }

    /// What was seen so far.
    pub fn now(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nothing has happened for that long and nobody is on its way out, or until patience ends.
    pub async fn quiet(&self, quiet: Duration, patience: Duration) {
        let end = Instant::now() + patience;
        loop {
            {
                let record = self.now();
                let leaving = record.pods.values().any(is_leaving);
                if Instant::now() > end || (record.changed.elapsed() > quiet && !leaving) {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn follow<K>(
    world: &World,
    record: Arc<Mutex<Record>>,
    note: fn(&mut Record, watcher::Event<K>),
) -> JoinHandle<()>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + Send
        + 'static,
{
    let mut events = watcher(world.api::<K>(), watcher::Config::default()).boxed();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => note(&mut record.lock().unwrap_or_else(PoisonError::into_inner), event),
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    })
}

impl Record {
    /// That Pod is deleted by its owner, not taken by a scheduler.
    pub fn owner_deletes(&mut self, pod: &str) {
        self.deleted.insert(pod.to_owned());
    }

    fn see(&mut self, pod: Pod) {
        let name = pod.name_any();
        let signature = signature(&pod);
        if self.signatures.get(&name) != Some(&signature) {
            self.changed = Instant::now();
            self.signatures.insert(name.clone(), signature);
        }
        let before = self.pods.get(&name);
        let left = before.is_some_and(|before| before.uid() == pod.uid() && is_leaving(before));
        if is_leaving(&pod) && !left {
            self.take(&pod);
        }
        if !is_leaving(&pod) {
            self.follow_growth(&pod);
        }
        let placed = self.placed.get(&name).copied();
        match (node_of(&pod), placed) {
            (None, None) => drop(self.placed.insert(name.clone(), (Instant::now(), None))),
            (Some(_), Some((since, None))) => {
                self.placed.insert(name.clone(), (since, Some(Instant::now())));
            }
            _ => {}
        }
        self.pods.insert(name, pod);
    }

    fn follow_growth(&mut self, pod: &Pod) {
        let name = pod.name_any();
        let deferred = condition(pod, PENDING)
            .is_some_and(|c| c.status == "True" && c.reason.as_deref() == Some("Deferred"));
        match self.growth.get_mut(&name) {
            None if deferred => {
                let generation = pod.metadata.generation;
                let growth = Growth { since: Instant::now(), over: None, generation, reverted: false };
                self.growth.insert(name, growth);
            }
            Some(growth) if deferred => {
                growth.over = None;
                growth.generation = pod.metadata.generation;
            }
            Some(growth) if growth.over.is_none() && settled(pod) => {
                growth.over = Some(Instant::now());
                growth.reverted = pod.metadata.generation != growth.generation;
            }
            _ => {}
        }
    }

    fn lose(&mut self, pod: Pod) {
        self.changed = Instant::now();
        let known = self.pods.remove(&pod.name_any());
        if !known.is_some_and(|known| known.uid() == pod.uid() && is_leaving(&known)) {
            self.take(&pod);
        }
    }

    fn take(&mut self, pod: &Pod) {
        let name = pod.name_any();
        if self.deleted.contains(&name) {
            return;
        }
        let target = condition(pod, "DisruptionTarget").and_then(|c| c.reason.clone());
        let before = self.pods.get(&name).unwrap_or(pod);
        self.victims.push(Victim {
            name,
            version: version(pod),
            ready: condition(before, "Ready").is_some_and(|c| c.status == "True"),
            evicted: target.as_deref() == Some("EvictionByEvictionAPI"),
            pod: pod.clone(),
        });
    }

    /// How many ready Pods were taken past a budget over them that allowed none at that moment.
    ///
    /// # Errors
    /// When a budget's selector makes no sense.
    pub fn budgets_broken(&self) -> Result<usize> {
        let mut broken = 0;
        for (index, victim) in self.victims.iter().enumerate() {
            if victim.evicted || !victim.ready {
                continue;
            }
            let mut names: Vec<_> = self.budgets.iter().map(|one| one.budget.name_any()).collect();
            names.sort();
            names.dedup();
            for name in names {
                broken += usize::from(self.breaks(index, victim, &name)?);
            }
        }
        Ok(broken)
    }

    fn breaks(&self, index: usize, victim: &Victim, budget: &str) -> Result<bool> {
        let of_then = |one: &&Allowed| one.budget.name_any() == budget && one.version < victim.version;
        let Some(then) = self.budgets.iter().filter(of_then).max_by_key(|one| one.version) else {
            return Ok(false);
        };
        if !covers(&then.budget, &victim.pod)? {
            return Ok(false);
        }
        let allowed = then.budget.status.as_ref().and_then(|s| s.disruptions_allowed).unwrap_or_default();
        // The controller may not yet have counted those who were taken just before.
        let mut spent = 0;
        for other in self.victims.iter().take(index).filter(|other| other.version > then.version) {
            spent += i32::from(!other.evicted && other.ready && covers(&then.budget, &other.pod)?);
        }
        Ok(allowed - spent <= 0)
    }
}

fn covers(budget: &PodDisruptionBudget, pod: &Pod) -> Result<bool> {
    let Some(selector) = budget.spec.as_ref().and_then(|spec| spec.selector.clone()) else {
        return Ok(false);
    };
    Ok(Selector::try_from(selector)?.matches(pod.labels()))
}

fn version(object: &impl kube::Resource) -> u64 {
    object.meta().resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or_default()
}

/// What of a Pod counts as something happening. A condition that only gets another time is not among it.
fn signature(pod: &Pod) -> String {
    let said = |kind| condition(pod, kind).map(|c| (c.status.clone(), c.reason.clone(), c.message.clone()));
    let allocated =
        pod.status.as_ref().and_then(|s| s.container_statuses.as_ref()).map(|statuses| {
            statuses.iter().map(|status| status.allocated_resources.clone()).collect::<Vec<_>>()
        });
    let (node, phase) = (node_of(pod), pod.status.as_ref().and_then(|s| s.phase.clone()));
    format!("{} {node:?} {phase:?} {allocated:?} {:?} {:?}", is_leaving(pod), said(PENDING), said(OURS))
}

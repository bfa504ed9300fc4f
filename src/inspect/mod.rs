//! `explain` and `plan`: why a Pod is not growing or has no node, and what a resize would cost, for people.
//!
//! Invariant: the same engine decides here as in production, on a copy; nothing is ever written.

mod advice;
mod names;
mod neighbours;
mod objects;
mod placement;
mod plan;
mod resize;
mod rules;
pub mod shape;
mod tables;
mod text;

pub use objects::{Objects, Unusable};
pub use plan::{Plan, Senseless};
pub use text::{WIDTH, text};

use crate::cluster::{Cluster, PodId, PodRow, ResourceId};
use crate::config::Config;
use crate::model::{Pod, Str, Timestamp};
use crate::resize::Reason;
use crate::resize::explain::Picture;
use crate::resize::judge::current;
use crate::resize::policies::Terms;
use crate::resize::text::{amount, duration};
use crate::wire::{self, Converter, Unreadable};
use kube::Resource;
use plan::Planned;
use resize::{Findings, Wish};
use rules::Rules;
use shape::{Explanation, Subject};
use tables::{Facts, Tables, Verdict};

/// The group and version of what `-o json` and `-o yaml` print.
pub const API_VERSION: &str = "elbowroom.dev/v1alpha1";

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The Pod's namespace; `None` asks for the only Pod of that name.
    pub namespace: Option<String>,
    /// The Pod's name.
    pub name: String,
    /// A resize that is only considered; without it the Pod is explained as it is.
    pub plan: Option<Plan>,
}

/// Why there is no answer. Each renders as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// There is no such Pod.
    #[error("no Pod {0} was found")]
    NotFound(String),
    /// Several namespaces have one.
    #[error("several Pods are named {name}: say which with -n, one of {namespaces}")]
    Ambiguous {
        /// The name.
        name: String,
        /// Those that have one.
        namespaces: String,
    },
    /// The Pod itself cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The plan does not fit the Pod.
    #[error(transparent)]
    Senseless(#[from] Senseless),
    /// The engine does not look at it, for a cause that is not known here.
    #[error("nothing is decided about Pod {0}: please report it with a dump")]
    Undecided(String),
    /// A resize of a Pod without a node is a matter of its placement.
    #[error("Pod {0} is on no node: nobody would be evicted for its resize; ask `explain` why it has none")]
    Nowhere(String),
}

/// Answers the question from these objects, under this configuration, as of `now`.
///
/// # Errors
/// The Pod is not among them, cannot be read, or cannot be resized as asked.
pub fn inspect(
    mut objects: Objects,
    question: &Question,
    config: &Config,
    now: Timestamp,
) -> Result<Explanation, NoAnswer> {
    objects.pods.iter_mut().for_each(complete);
    let at = find(&objects.pods, question)?;
    let mut notes = std::mem::take(&mut objects.notes);
    let mut converter = Converter::new(config.annotations());
    let Some(wire) = objects.pods.get(at).cloned() else {
        return Err(NoAnswer::NotFound(question.name.clone()));
    };
    let before = converter.pod(wire.clone())?;
    let path = names::path(&before.id);
    let planned = match &question.plan {
        Some(_) if before.node.is_none() => return Err(NoAnswer::Nowhere(path)),
        Some(plan) => Some(plan.applied(&path, &wire, now)?),
        None => None,
    };
    let pod = match &planned {
        Some(planned) => converter.pod(planned.pod.clone())?,
        None => before.clone(),
    };
    objects.pods.remove(at);
    let mut case = Case {
        rules: Rules::of(config, &pod),
        facts: Facts::of(objects, &mut converter, &mut notes),
        config,
        pod,
        now,
    };
    case.narrow();
    case.answer(planned.map(|planned| (planned, before)), &mut converter, notes)
}

/// Gives a Pod of a hand-written dump what the API gives every Pod.
fn complete(pod: &mut wire::Pod) {
    let metadata = pod.meta_mut();
    let namespace = metadata.namespace.get_or_insert_with(|| "default".to_owned()).clone();
    let name = metadata.name.clone().unwrap_or_default();
    metadata.uid.get_or_insert_with(|| format!("{namespace}/{name}"));
}

fn find(pods: &[wire::Pod], question: &Question) -> Result<usize, NoAnswer> {
    let named = |pod: &wire::Pod| {
        let metadata = pod.meta();
        metadata.name.as_ref() == Some(&question.name)
            && (question.namespace.is_none() || metadata.namespace == question.namespace)
    };
    let found: Vec<usize> = pods.iter().enumerate().filter(|(_, pod)| named(pod)).map(|(at, _)| at).collect();
    let mut namespaces: Vec<&str> =
        found.iter().filter_map(|at| pods.get(*at)?.meta().namespace.as_deref()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    match (found.last(), namespaces.as_slice()) {
        (Some(last), [_]) => Ok(*last),
        (Some(_), several) => {
            Err(NoAnswer::Ambiguous { name: question.name.clone(), namespaces: several.join(", ") })
        }
        (None, _) => Err(NoAnswer::NotFound(match &question.namespace {
            Some(namespace) => format!("{namespace}/{}", question.name),
            None => question.name.clone(),
        })),
    }
}

/// One Pod, and all that its answer rests on.
struct Case<'a> {
    config: &'a Config,
    rules: Rules,
    facts: Facts,
    /// Not among the facts.
    pod: Pod,
    now: Timestamp,
}

impl Case<'_> {
    /// Leaves out who has nothing to do with it. What elbowroom does on another node is not decided here: it is
    /// done there already, and the budgets show it.
    fn narrow(&mut self) {
        let uid = self.pod.id.uid.clone();
        self.facts.pods.retain(|other| other.id.uid != uid);
        if let Some(node) = &self.pod.node {
            self.facts.pods.retain(|other| other.node.as_ref() == Some(node));
        }
    }

    fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        facts.pods.push(Pod { scheduler: rules::PROFILE.into(), ..self.pod.clone() });
        facts
    }

    fn tables(&self, in_the_end: bool) -> Tables {
        let policy = if in_the_end { self.rules.in_the_end() } else { self.rules.judged_by() };
        Tables::fill(self.facts(), self.config, &policy, self.now)
    }

    fn answer(
        &self,
        planned: Option<(Planned, Pod)>,
        converter: &mut Converter,
        notes: Vec<String>,
    ) -> Result<Explanation, NoAnswer> {
        let tables = self.tables(false);
        let cluster = tables.engine().cluster();
        let mut explanation = Explanation {
            api_version: API_VERSION,
            kind: "Explanation",
            summary: String::new(),
            pod: self.subject(),
            policy: self.rules.shown.clone(),
            resize: None,
            placement: None,
            blocked_by: Vec::new(),
            next_steps: Vec::new(),
            notes,
        };
        if let Some(nothing) = self.nothing() {
            explanation.summary = format!("Pod {}: {nothing}", names::path(&self.pod.id));
            return Ok(explanation);
        }
        let Some((id, row)) = cluster.pods.by_uid(&self.pod.id.uid) else {
            return Err(NoAnswer::NotFound(names::path(&self.pod.id)));
        };
        explanation.pod.asks = names::amounts(cluster, &row.charge.desired);
        if row.node.is_none() {
            let placement = placement::explain(cluster, row);
            explanation.summary = match &placement.fits {
                Some(node) => format!("Pod {}: no node yet; {node} would take it", names::path(&row.pod.id)),
                None => format!("Pod {}: no node takes it", names::path(&row.pod.id)),
            };
            explanation.blocked_by = placement::blockers(&placement);
            explanation.next_steps = placement::next_steps(&placement);
            explanation.placement = Some(placement);
            return Ok(explanation);
        }
        explanation.pod.holds = names::holds(cluster, row);
        let refusals = match &planned {
            Some((planned, before)) => {
                let mut refusals = planned.refusals(converter, before)?;
                refusals.extend(exceeding(cluster, row));
                refusals
            }
            None => Vec::new(),
        };
        let wish = planned.map(|(planned, _)| Wish { refusals, command: planned.command() });
        match self.explain_resize(&mut explanation, &tables, (id, row), wish) {
            Some(()) => Ok(explanation),
            None => Err(NoAnswer::Undecided(names::path(&self.pod.id))),
        }
    }

    fn explain_resize(
        &self,
        explanation: &mut Explanation,
        tables: &Tables,
        (id, row): (PodId, &PodRow),
        wish: Option<Wish>,
    ) -> Option<()> {
        let cluster = tables.engine().cluster();
        let mut verdict = self.tables(false).decide(&self.pod.id.uid);
        let state = verdict.state.clone()?;
        if matches!(state.0, Reason::Observing | Reason::Waiting) {
            let Verdict { victims, forced, exact, .. } = self.tables(true).decide(&self.pod.id.uid);
            (verdict.victims, verdict.forced, verdict.exact) = (victims, forced, exact);
        }
        let policy = self.rules.judged_by();
        let entry = tables.engine().resizes().entries().find(|entry| entry.id == id);
        let counted_from = entry.map_or(self.now, |entry| entry.counted_from);
        let terms = Terms { policy: &policy, counted_from, now: self.now, pace: None };
        let picture = Picture::draw(cluster, id, &terms, &verdict.victims)?;
        let findings =
            Findings { cluster, row, policy: &policy, state, verdict: &verdict, picture: &picture, wish };
        explanation.summary = summary(&findings, self.now);
        explanation.blocked_by = advice::blockers(&findings);
        explanation.next_steps = advice::next_steps(&findings);
        let others = verdict.others.iter().map(|(other, victims)| {
            let victims: Vec<String> = victims.iter().map(names::path).collect();
            format!("first {} would go for {}", victims.join(", "), names::path(other))
        });
        explanation.notes.extend(others);
        explanation.resize = Some(findings.shown());
        Some(())
    }

    fn subject(&self) -> Subject {
        let pod = &self.pod;
        Subject {
            namespace: pod.id.namespace.to_string(),
            name: pod.id.name.to_string(),
            uid: pod.id.uid.to_string(),
            node: pod.node.as_ref().map(Str::to_string),
            scheduler_name: pod.scheduler.to_string(),
            priority: pod.priority,
            qos_class: names::qos(pod.qos),
            generation: pod.generation,
            asks: shape::AmountsByName::new(),
            holds: shape::AmountsByName::new(),
        }
    }

    /// What there is to say of a Pod that is neither growing nor without a node.
    fn nothing(&self) -> Option<String> {
        let pod = &self.pod;
        let on = pod.node.as_ref().map(|node| format!(" on node {node}")).unwrap_or_default();
        let resize = pod.resize.as_ref().filter(|condition| condition.status);
        let said = |text: &str| {
            format!("{} (the kubelet says: {})", text, resize.map_or("", |one| one.message.trim()))
        };
        if pod.finished() {
            return Some(format!("it has finished{on}"));
        }
        if let Some(at) = pod.deletion {
            return Some(format!("it is being deleted{on}, until {} at most", names::rfc3339(at)));
        }
        if pod.node.is_none() {
            return pod.gated.then(|| "it is held back by scheduling gates".to_owned());
        }
        match resize {
            None => Some(format!("it runs{on} and no resize of it is pending")),
            Some(one) if one.reason == "Infeasible" => {
                Some(said(&format!("its resize{on} is Infeasible, so no room would help")))
            }
            Some(one) if one.reason != "Deferred" => Some(said(&format!("its resize{on} is {}", one.reason))),
            Some(one) if !current(pod) => {
                let seen = one.observed_generation.unwrap_or_default();
                let generation = pod.generation;
                Some(format!(
                    "its kubelet{on} has judged generation {seen} and not yet {generation}: ask again in a moment"
                ))
            }
            Some(_) => None,
        }
    }
}

/// Cpu and memory beyond all that the node has.
fn exceeding(cluster: &Cluster, row: &PodRow) -> Option<shape::Refusal> {
    let node = row.node?;
    let over = row.charge.desired.iter().filter_map(|(resource, asks)| {
        let has = cluster.nodes.allocatable().get(resource, node.index());
        let name = cluster.resources.name(resource);
        let counts = resource == ResourceId::CPU || resource == ResourceId::MEMORY;
        (counts && asks > has)
            .then(|| format!("{name} {} of {}", amount(resource, asks), amount(resource, has)))
    });
    let over: Vec<String> = over.collect();
    plan::exceeding(&names::path(&row.pod.id), &cluster.nodes.row(node).node, &over)
}

fn summary(found: &Findings<'_>, now: Timestamp) -> String {
    let pod = names::path(&found.row.pod.id);
    let node = found.row.pod.node.as_ref().map(Str::to_string).unwrap_or_default();
    let goes = names::count(found.verdict.victims.len(), "Pod");
    if found.wish.is_some() {
        return match found.state.0 {
            Reason::WaitingForKubelet => {
                format!("Pod {pod} on node {node}: the resize fits now, nobody would go")
            }
            Reason::Preempting => {
                format!("Pod {pod} on node {node}: the resize would be Deferred, and {goes} would go")
            }
            reason => {
                format!(
                    "Pod {pod} on node {node}: the resize would be Deferred, and stay so: {}",
                    reason.as_str()
                )
            }
        };
    }
    let since = found.row.pod.resize.as_ref().and_then(|condition| condition.since);
    let since = since.map(|since| format!(" for {}", duration(now - since))).unwrap_or_default();
    format!("Pod {pod} on node {node}: its resize is Deferred{since}: {}", found.reason().as_str())
}

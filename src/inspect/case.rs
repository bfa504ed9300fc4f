//! One question, answered: which kind of answer the Pod gets, and what it is put together from.
//!
//! Invariant: every Pod gets exactly one of: a resize, a placement, or one line that says why neither.

use super::plan::{self, Planned};
use super::resize::{Findings, Wish};
use super::rules::{self, Rules};
use super::shape::{self, Explanation, Subject};
use super::tables::{Facts, Tables, Verdict};
use super::{API_VERSION, NoAnswer, advice, names, placement};
use crate::cluster::{Cluster, PodId, PodRow, ResourceId};
use crate::config::Config;
use crate::model::{Pod, Str, Timestamp};
use crate::resize::Reason;
use crate::resize::explain::Picture;
use crate::resize::judge::current;
use crate::resize::policies::Terms;
use crate::resize::text::{amount, duration};
use crate::wire::Converter;

/// One Pod, and all that its answer rests on.
pub struct Case<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The Pod's rules.
    pub rules: Rules,
    /// Everybody else.
    pub facts: Facts,
    /// The Pod; not among the facts.
    pub pod: Pod,
    /// As of when.
    pub now: Timestamp,
}

impl Case<'_> {
    /// Leaves out who has nothing to do with it. What elbowroom does on another node is not decided here: it is
    /// done there already, and the budgets show it.
    pub fn narrow(&mut self) {
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

    /// The answer; `planned` is the Pod with its wish, and as it is without it.
    pub fn answer(
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
    if let Some(wish) = &found.wish {
        let what = match (wish.refusals.first(), found.state.0) {
            (Some(refusal), _) => format!("the API server would refuse the resize with {}", refusal.code),
            (None, Reason::WaitingForKubelet) => "the resize fits now, nobody would go".to_owned(),
            (None, Reason::WaitingForVictims) => {
                "the resize would be Deferred until those are gone who leave already".to_owned()
            }
            (None, Reason::Preempting) => format!("the resize would be Deferred, and {goes} would go"),
            (None, Reason::Waiting) => {
                format!("the resize would be Deferred, and {goes} would go after a wait")
            }
            (None, reason) => format!("the resize would be Deferred, and stay so: {}", reason.as_str()),
        };
        return format!("Pod {pod} on node {node}: {what}");
    }
    let since = found.row.pod.resize.as_ref().and_then(|condition| condition.since);
    let since = since.map(|since| format!(" for {}", duration(now - since))).unwrap_or_default();
    format!("Pod {pod} on node {node}: its resize is Deferred{since}: {}", found.reason().as_str())
}

//! From what was read to what the rules look at.
//!
//! Invariant: what files cannot tell is said to be unread, not absent.

use crate::check::{BudgetFacts, Facts, GateFacts, NodeFacts, PriorityClass};
use crate::config::{Config, Warning};
use crate::driver::Survey;
use crate::inspect::Objects;
use crate::model::Timestamp;
use crate::wire::{self, Converter, Unreadable};

/// Facts, and where they are from.
pub struct Seen {
    /// The API server's address, or the files.
    pub source: String,
    /// What the rules look at.
    pub facts: Facts,
}

impl Seen {
    /// Of a cluster.
    pub fn live(survey: Survey, config: &Config, warnings: &[Warning], now: Timestamp) -> Self {
        let mut facts = read(survey.objects, config, warnings, now);
        if !survey.classes_known {
            facts.classes = None;
        }
        facts.server = Some(survey.version);
        facts.rights = survey.rights;
        facts.gate = survey.gate;
        facts.unread.extend(survey.unread);
        Self { source: survey.url, facts }
    }

    /// Of dumps.
    pub fn dumped(
        objects: Objects,
        names: &str,
        config: &Config,
        warnings: &[Warning],
        now: Timestamp,
    ) -> Self {
        let mut facts = read(objects, config, warnings, now);
        let mut unread = vec!["rights and the server's version: files do not tell"];
        if facts.classes.as_ref().is_some_and(Vec::is_empty) {
            facts.classes = None;
            unread.push("PriorityClasses: none is in the files");
        }
        if facts.budgets.is_empty() {
            unread.push("PodDisruptionBudgets: none is in the files");
        }
        facts.unread.extend(unread.into_iter().map(str::to_owned));
        Self { source: names.to_owned(), facts }
    }
}

fn read(objects: Objects, config: &Config, warnings: &[Warning], now: Timestamp) -> Facts {
    let mut converter = Converter::new(config.annotations());
    let mut facts = Facts {
        gate: GateFacts::default(),
        classes: Some(objects.classes.iter().map(class).collect()),
        settings: config.settings(),
        warnings: warnings.iter().map(ToString::to_string).collect(),
        now,
        ..Facts::default()
    };
    let mut unreadable = Vec::new();
    for namespace in objects.namespaces {
        keep(converter.namespace(namespace), &mut unreadable, |one| facts.namespaces.push(one));
    }
    for budget in objects.budgets {
        let (demand, expected) = (budget.demand(), budget.expected_pods());
        let sync_failed = budget.sync_failed().map(str::to_owned);
        keep(converter.budget(budget), &mut unreadable, |budget| {
            facts.budgets.push(BudgetFacts { budget, demand, expected, sync_failed });
        });
    }
    for node in objects.nodes {
        let kubelet = node.kubelet_version().to_owned();
        keep(converter.node(node), &mut unreadable, |node| facts.nodes.push(NodeFacts { node, kubelet }));
    }
    for pod in objects.pods {
        keep(converter.pod(pod), &mut unreadable, |one| facts.pods.push(one));
    }
    // A dump has finished Pods too.
    facts.pods.retain(|pod| !pod.finished());
    facts.unreadable = unreadable;
    facts
}

fn class(one: &wire::PriorityClass) -> PriorityClass {
    PriorityClass {
        name: one.name().to_owned(),
        value: one.value,
        global_default: one.global_default.unwrap_or_default(),
        never_preempts: one.preemption_policy.as_deref() == Some("Never"),
    }
}

fn keep<T>(read: Result<T, Unreadable>, unreadable: &mut Vec<String>, keep: impl FnOnce(T)) {
    match read {
        Ok(object) => keep(object),
        Err(problem) => unreadable.push(problem.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn dumped(text: &str) -> Facts {
        let mut objects = Objects::default();
        objects.read("dump.yaml", &format!("---\n{text}")).unwrap();
        Seen::dumped(objects, "dump.yaml", &Config::default(), &[], Timestamp::from_seconds(1)).facts
    }

    #[test]
    fn what_cannot_be_understood_does_not_hide_the_rest() {
        let facts = dumped(
            "{apiVersion: v1, kind: List, items: [\
             {kind: Node, metadata: {name: n1}, status: {nodeInfo: {kubeletVersion: v1.36.0}}},\
             {kind: Pod, metadata: {name: bad, namespace: ns}, \
              spec: {containers: [{name: c, resources: {requests: {cpu: two}}}]}},\
             {kind: Pod, metadata: {name: good, namespace: ns, uid: u}}]}",
        );
        assert_eq!((facts.pods.len(), facts.unreadable.len()), (1, 1));
        assert!(facts.unreadable[0].starts_with("Pod ns/bad: "), "{}", facts.unreadable[0]);
        assert_eq!(facts.nodes[0].kubelet, "v1.36.0");
    }

    #[test]
    fn classes_are_read_with_what_they_say_and_finished_pods_are_left_out() {
        let facts = dumped(
            "{kind: List, items: [\
             {kind: Pod, metadata: {name: done, namespace: ns}, status: {phase: Succeeded}},\
             {kind: PriorityClass, metadata: {name: polite}, value: 5, globalDefault: true, \
              preemptionPolicy: Never}]}",
        );
        let expected =
            PriorityClass { name: "polite".into(), value: 5, global_default: true, never_preempts: true };
        assert_eq!((facts.classes, facts.pods.len()), (Some(vec![expected]), 0));
    }

    #[test]
    fn what_files_do_not_hold_is_not_taken_for_missing() {
        let facts = dumped("{kind: Node, metadata: {name: n1}}");
        assert_eq!((facts.classes, facts.rights, facts.server), (None, None, None));
        let told: Vec<&str> = facts.unread.iter().filter_map(|one| one.split(": ").next()).collect();
        assert_eq!(told, ["rights and the server's version", "PriorityClasses", "PodDisruptionBudgets"]);
    }
}

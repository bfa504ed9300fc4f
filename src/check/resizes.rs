//! Resizes that cannot be had, and the room that they keep from others.
//!
//! Invariant: the engine itself judges, under the given policies in mode Observe; what it asks for is dropped.

use super::{Facts, Finding, Id, Object, Severity, count};
use crate::engine::{Engine, Fact, Input, Settings, Unattainable};
use crate::model::Pod;
use crate::resize::Reason;
use crate::resize::policy::{Mode, Scope};
use std::collections::BTreeMap;

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    find_held(facts, findings);
    find_infeasible(facts, findings);
    find_unserved(facts, findings);
}

fn object(pod: &Pod) -> Object {
    Object::within("Pod", pod.id.namespace.as_str(), pod.id.name.as_str())
}

fn find_held(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut held = unattainable(facts);
    held.sort_by(|a, b| a.node.cmp(&b.node).then_with(|| a.pod.cmp(&b.pod)));
    findings.extend(held.into_iter().map(|one| {
        let (pod, node, claimed, why) = (&one.pod, &one.node, &one.claimed, &one.message);
        let object = Object::within("Pod", pod.namespace.as_str(), pod.name.as_str());
        Finding {
            id: Id::ResizeHoldsRoom,
            severity: Severity::Warning,
            message: format!(
                "node {node} keeps {claimed} for the resize of {object}, which cannot be had ({}): {why}",
                one.reason.as_str()
            ),
            objects: vec![object],
            next_step: next_step(one.reason).into(),
        }
    }));
}

fn next_step(reason: Reason) -> &'static str {
    match reason {
        Reason::BlockedByPdb => "wait for the budget or widen it; or take the resize back",
        Reason::ProtectedVictims => "take the resize back, or the protection off a Pod on the node",
        Reason::DisabledByNode => "take the resize back, or ask whoever disables preemption on the node",
        Reason::NotAllowed => "take the resize back, or widen preemptors in the configuration",
        Reason::LimitReached | Reason::GraceTooLong => {
            "take the resize back, or widen the limit that is named"
        }
        Reason::NotAShortage => "remove what is in the way, or take the resize back",
        Reason::KubeletDisagrees => "free the difference by hand, or take the resize back",
        _ => "take the resize back by setting the requests to what the Pod holds, or ask for less",
    }
}

/// What the engine says of these facts, when it only observes.
fn unattainable(facts: &Facts) -> Vec<Unattainable> {
    let mut settings: Settings = facts.settings.clone();
    for profile in &mut settings.profiles {
        profile.bind = false;
        if profile.resize.mode == Mode::Enforce {
            profile.resize.mode = Mode::Observe;
        }
    }
    let mut engine = Engine::new(settings);
    let mut dropped = Vec::new();
    let mut tell = |input| {
        engine.step(input, facts.now, &mut dropped);
        dropped.clear();
    };
    tell(Input::Namespace(Fact::Begin));
    facts.namespaces.iter().for_each(|one| tell(Input::Namespace(Fact::Apply(Box::new(one.clone())))));
    tell(Input::Namespace(Fact::End));
    tell(Input::Budget(Fact::Begin));
    facts.budgets.iter().for_each(|one| tell(Input::Budget(Fact::Apply(Box::new(one.budget.clone())))));
    tell(Input::Budget(Fact::End));
    tell(Input::Node(Fact::Begin));
    facts.nodes.iter().for_each(|one| tell(Input::Node(Fact::Apply(Box::new(one.node.clone())))));
    tell(Input::Node(Fact::End));
    tell(Input::Pod(Fact::Begin));
    facts.pods.iter().for_each(|one| tell(Input::Pod(Fact::Apply(Box::new(one.clone())))));
    // With the last list complete, everything is judged in this step.
    tell(Input::Pod(Fact::End));
    engine.unattainable()
}

fn find_infeasible(facts: &Facts, findings: &mut Vec<Finding>) {
    let infeasible = |pod: &&Pod| {
        pod.resize.as_ref().is_some_and(|condition| condition.status && condition.reason == "Infeasible")
    };
    findings.extend(facts.pods.iter().filter(infeasible).map(|pod| {
        let words = pod.resize.as_ref().map_or("", |condition| condition.message.as_str());
        Finding {
            id: Id::ResizeInfeasible,
            severity: Severity::Info,
            objects: vec![object(pod)],
            message: format!("the kubelet will never grant the resize of {}: {words}", object(pod)),
            next_step: "take the resize back, or have the Pod created anew with what it should have".into(),
        }
    }));
}

/// Deferred Pods of other schedulers, one finding for each name.
fn find_unserved(facts: &Facts, findings: &mut Vec<Finding>) {
    let profiles = &facts.settings.profiles;
    let ours = |pod: &Pod| {
        profiles.iter().any(|one| one.resize.scope == Scope::AllPods || one.name == pod.scheduler)
    };
    let mut others: BTreeMap<&str, Vec<Object>> = BTreeMap::new();
    for pod in facts.pods.iter().filter(|pod| pod.deferred() && pod.deletion.is_none() && !ours(pod)) {
        others.entry(pod.scheduler.as_str()).or_default().push(object(pod));
    }
    for (scheduler, mut pods) in others {
        pods.sort();
        findings.push(Finding {
            id: Id::ResizeNotServed,
            severity: Severity::Info,
            message: format!(
                "{} with a Deferred resize and schedulerName {scheduler}, which no profile serves",
                count(pods.len(), "Pod")
            ),
            objects: pods,
            next_step: "serve that name, or every Pod with scope AllPods, if they should get room".into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{budget, found, healthy, pending, pod, profile, the_one};
    use super::*;

    #[test]
    fn a_resize_beyond_its_node_is_named_with_what_it_keeps() {
        let facts = Facts { pods: vec![pending("p", 1000, "9", "Deferred")], ..healthy() };
        let one = the_one(&facts, Id::ResizeHoldsRoom);
        assert_eq!(one.objects, [Object::within("Pod", "ns", "p")]);
        let expected = "node n1 keeps cpu 8 for the resize of ns/p, which cannot be had (ExceedsNode): ";
        assert!(one.message.starts_with(expected), "{}", one.message);
        assert!(one.next_step.starts_with("take the resize back"));
    }

    #[test]
    fn a_resize_that_somebody_makes_room_for_is_no_finding() {
        let others = [pod("a", 1), pod("b", 1), pod("c", 1)];
        let pods = others.into_iter().chain([pending("p", 1000, "2", "Deferred")]).collect();
        assert!(found(&Facts { pods, ..healthy() }, Id::ResizeHoldsRoom).is_empty());
    }

    #[test]
    fn a_resize_that_a_budget_blocks_keeps_room_too() {
        let others = [pod("a", 1), pod("b", 1), pod("c", 1)];
        let pods = others.into_iter().chain([pending("p", 1000, "2", "Deferred")]).collect();
        let facts = Facts { pods, budgets: vec![budget("all", 4, 4)], ..healthy() };
        let findings = found(&facts, Id::ResizeHoldsRoom);
        assert!(findings[0].message.contains("(BlockedByPDB)"), "{}", findings[0].message);
        assert!(findings[0].next_step.starts_with("wait for the budget"));
    }

    #[test]
    fn nobody_judges_where_preemption_is_off() {
        let mut facts = Facts { pods: vec![pending("p", 1000, "9", "Deferred")], ..healthy() };
        facts.settings.profiles[0].resize.mode = Mode::Off;
        assert!(found(&facts, Id::ResizeHoldsRoom).is_empty());
    }

    #[test]
    fn an_infeasible_resize_keeps_nothing_and_is_told() {
        let facts = Facts { pods: vec![pending("p", 1000, "9", "Infeasible")], ..healthy() };
        assert_eq!(found(&facts, Id::ResizeInfeasible)[0].severity, Severity::Info);
        assert!(found(&facts, Id::ResizeHoldsRoom).is_empty());
    }

    #[test]
    fn deferred_pods_of_another_scheduler_are_counted_by_its_name() {
        let theirs =
            |name| Pod { scheduler: "default-scheduler".into(), ..pending(name, 1, "2", "Deferred") };
        let mut facts = Facts { pods: vec![theirs("q"), theirs("p")], ..healthy() };
        let one = the_one(&facts, Id::ResizeNotServed);
        assert!(one.message.starts_with("2 Pods with a Deferred resize and schedulerName default-scheduler"));
        facts.settings.profiles.push(profile("default-scheduler"));
        assert!(found(&facts, Id::ResizeNotServed).is_empty());
    }
}

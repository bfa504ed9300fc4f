//! Priorities by which the wrong Pods go, or none can.
//!
//! Invariant: the system's own classes and Pods are left out; nobody chose them.

use super::{Facts, Finding, Id, Object, PriorityClass, Severity, count};
use crate::model::Pod;
use std::collections::BTreeSet;

/// The highest value that a PriorityClass of one's own may have; those above are the system's.
const HIGHEST_OWN: i32 = 1_000_000_000;

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    let classes: Option<Vec<&PriorityClass>> =
        facts.classes.as_ref().map(|all| all.iter().filter(|one| one.value <= HIGHEST_OWN).collect());
    let pods: Vec<&Pod> = facts.pods.iter().filter(|pod| ordinary(pod)).collect();
    match &classes {
        Some(classes) if classes.is_empty() => findings.push(Finding {
            id: Id::NoPriorityClasses,
            severity: Severity::Warning,
            objects: Vec::new(),
            message:
                "there is no PriorityClass but the system's, so every new Pod has priority 0 and none makes \
                      room for another"
                    .into(),
            next_step: "create a class for what should grow and one below it for what may go".into(),
        }),
        _ => find_equal(&pods, findings),
    }
    let classes = classes.unwrap_or_default();
    if let Some(default) = classes.iter().find(|one| one.global_default) {
        find_outranked(default, &classes, &pods, findings);
    }
    find_never(&classes, &pods, findings);
}

/// Whether somebody could have chosen another priority for it, and it is on a node.
fn ordinary(pod: &Pod) -> bool {
    pod.node.is_some() && !pod.mirror && pod.priority <= HIGHEST_OWN && pod.id.namespace != *"kube-system"
}

fn find_equal(pods: &[&Pod], findings: &mut Vec<Finding>) {
    let priorities: BTreeSet<i32> = pods.iter().map(|pod| pod.priority).collect();
    let (Some(priority), 1) = (priorities.first(), priorities.len()) else { return };
    if pods.len() < 2 {
        return;
    }
    findings.push(Finding {
        id: Id::EqualPriorities,
        severity: Severity::Warning,
        objects: Vec::new(),
        message: format!(
            "all {} outside kube-system have priority {priority}, so none makes room for another",
            count(pods.len(), "Pod")
        ),
        next_step:
            "give what should grow a PriorityClass with a higher value; Pods must be created anew for it"
                .into(),
    });
}

/// A default of 0 or less changes nothing for Pods without a class, or puts them below all who have one.
fn find_outranked(
    default: &PriorityClass,
    classes: &[&PriorityClass],
    pods: &[&Pod],
    findings: &mut Vec<Finding>,
) {
    if default.value <= 0 {
        return;
    }
    let mut below: Vec<&&PriorityClass> = classes.iter().filter(|one| one.value < default.value).collect();
    below.sort_by_key(|one| (one.value, one.name.as_str()));
    let names: Vec<&str> = below.iter().map(|one| one.name.as_str()).collect();
    let outranked = pods.iter().filter(|pod| pod.priority < default.value).count();
    let whom = match (names.is_empty(), outranked) {
        (false, _) => format!("those of {}", names.join(", ")),
        (true, 0) => return,
        (true, number) => format!("{} created before it", count(number, "running Pod")),
    };
    findings.push(Finding {
        id: Id::GlobalDefaultOutranks,
        severity: Severity::Warning,
        objects: vec![Object::named("PriorityClass", &default.name)],
        message: format!(
            "PriorityClass {} is the global default with value {}, so Pods that name no class outrank {whom} and may \
             have them evicted",
            default.name, default.value
        ),
        next_step: "give the global default the lowest value, or none, and name classes where they matter".into(),
    });
}

fn find_never(classes: &[&PriorityClass], pods: &[&Pod], findings: &mut Vec<Finding>) {
    for class in classes.iter().filter(|one| one.never_preempts) {
        let of_class = |pod: &&&Pod| pod.never_preempts && pod.priority == class.value;
        let number = pods.iter().filter(of_class).count();
        if number == 0 {
            continue;
        }
        findings.push(Finding {
            id: Id::ClassNeverPreempts,
            severity: Severity::Info,
            objects: vec![Object::named("PriorityClass", &class.name)],
            message: format!(
                "PriorityClass {} has preemptionPolicy Never: nobody is evicted for {} of priority {} that may grow",
                class.name,
                count(number, "Pod"),
                class.value
            ),
            next_step: "use a class with PreemptLowerPriority for what should get room".into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{class, found, healthy, pod};
    use super::*;

    #[test]
    fn only_the_systems_classes_are_a_warning() {
        let system = class("system-node-critical", 2_000_001_000);
        let facts = Facts { classes: Some(vec![system]), ..healthy() };
        assert_eq!(found(&facts, Id::NoPriorityClasses)[0].severity, Severity::Warning);
        assert!(found(&facts, Id::EqualPriorities).is_empty(), "said already");
    }

    #[test]
    fn a_class_of_ones_own_is_enough() {
        let facts = Facts { classes: Some(vec![class("batch", 10)]), ..healthy() };
        assert!(found(&facts, Id::NoPriorityClasses).is_empty());
    }

    #[test]
    fn classes_that_could_not_be_read_are_not_missing() {
        assert!(found(&Facts { classes: None, ..healthy() }, Id::NoPriorityClasses).is_empty());
    }

    #[test]
    fn pods_that_all_have_one_priority_are_a_warning() {
        let mut system = pod("dns", 2_000_000_000);
        system.id.namespace = "kube-system".into();
        let facts = Facts { pods: vec![pod("a", 7), pod("b", 7), system], ..healthy() };
        let findings = found(&facts, Id::EqualPriorities);
        let expected = "all 2 Pods outside kube-system have priority 7, so none makes room for another";
        assert_eq!(findings[0].message, expected);
    }

    #[test]
    fn two_priorities_are_enough() {
        let facts = Facts { pods: vec![pod("a", 7), pod("b", 8)], ..healthy() };
        assert!(found(&facts, Id::EqualPriorities).is_empty());
    }

    #[test]
    fn one_pod_alone_is_equal_to_nobody() {
        assert!(found(&Facts { pods: vec![pod("a", 7)], ..healthy() }, Id::EqualPriorities).is_empty());
    }

    fn with_default(value: i32, others: &[(&str, i32)]) -> Facts {
        let default = PriorityClass { global_default: true, ..class("standard", value) };
        let others = others.iter().map(|(name, value)| class(name, *value));
        Facts { classes: Some(others.chain([default]).collect()), ..healthy() }
    }

    #[test]
    fn a_global_default_above_other_classes_names_them() {
        let facts = with_default(100, &[("web", 1000), ("night", 20), ("batch", 10)]);
        let findings = found(&facts, Id::GlobalDefaultOutranks);
        assert!(findings[0].message.contains("outrank those of batch, night and may"), "{findings:?}");
    }

    #[test]
    fn a_global_default_above_pods_made_before_it_counts_them() {
        let mut facts = with_default(100, &[("web", 1000)]);
        facts.pods = vec![pod("old", 0), pod("new", 100)];
        let findings = found(&facts, Id::GlobalDefaultOutranks);
        assert!(findings[0].message.contains("outrank 1 running Pod created before it"), "{findings:?}");
    }

    #[test]
    fn a_global_default_below_all_is_as_it_should_be() {
        let mut facts = with_default(100, &[("web", 1000)]);
        facts.pods = vec![pod("new", 100)];
        assert!(found(&facts, Id::GlobalDefaultOutranks).is_empty());
    }

    #[test]
    fn a_global_default_of_zero_changes_nothing() {
        // Placeholders below 0 are meant to go first.
        assert!(found(&with_default(0, &[("overprovisioning", -10)]), Id::GlobalDefaultOutranks).is_empty());
    }

    #[test]
    fn a_class_that_never_preempts_is_told_with_its_pods() {
        let never = PriorityClass { never_preempts: true, ..class("polite", 50) };
        let polite = Pod { never_preempts: true, ..pod("p", 50) };
        let facts = Facts { classes: Some(vec![never]), pods: vec![polite, pod("q", 50)], ..healthy() };
        let findings = found(&facts, Id::ClassNeverPreempts);
        assert!(findings[0].message.contains("for 1 Pod of priority 50"), "{findings:?}");
    }

    #[test]
    fn a_class_that_never_preempts_and_has_no_pod_is_no_finding() {
        let never = PriorityClass { never_preempts: true, ..class("polite", 50) };
        let facts = Facts { classes: Some(vec![never]), pods: vec![pod("q", 50)], ..healthy() };
        assert!(found(&facts, Id::ClassNeverPreempts).is_empty());
    }
}

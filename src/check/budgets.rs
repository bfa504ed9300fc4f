//! Budgets that keep Pods for ever, or keep nobody.
//!
//! Invariant: a budget that is only used up for now is no finding.

use super::{BudgetFacts, Facts, Finding, Id, Object, Severity, count};
use crate::model::Pod;
use std::collections::BTreeMap;

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    for one in &facts.budgets {
        let covered = facts.pods.iter().filter(|pod| covers(one, pod)).count();
        findings.extend(fault(one, covered));
    }
    find_overlaps(facts, findings);
}

fn covers(one: &BudgetFacts, pod: &Pod) -> bool {
    !pod.finished() && one.budget.covers(&pod.id.namespace, &pod.labels)
}

fn object(one: &BudgetFacts) -> Object {
    Object::within("PodDisruptionBudget", one.budget.namespace.as_str(), one.budget.name.as_str())
}

/// The first thing that is wrong with a budget over so many Pods; what follows from it is not told.
fn fault(one: &BudgetFacts, covered: usize) -> Option<Finding> {
    let budget = &one.budget;
    let (object, pods) = (object(one), count(covered, "Pod"));
    let (id, severity, message, next_step) = if covered == 0 {
        let message = format!("budget {object} matches no Pod, so it keeps nobody");
        (Id::BudgetMatchesNothing, Severity::Info, message, "mend its selector, or delete it".to_owned())
    } else if let Some(problem) = &one.sync_failed {
        let message = format!(
            "budget {object} cannot be computed and allows nothing, which keeps {pods}; its controller says: {problem}"
        );
        let next_step = "use minAvailable with a number, or give its Pods a controller with a scale";
        (Id::BudgetNotComputed, Severity::Warning, message, next_step.to_owned())
    } else if budget.observed_generation < budget.generation {
        let message = format!(
            "budget {object} has a status behind its spec, which counts as 0 allowed disruptions and keeps {pods}"
        );
        let next_step = "look at kube-controller-manager if this lasts for more than seconds";
        (Id::BudgetBehind, Severity::Warning, message, next_step.to_owned())
    } else if one.expected == 0 && budget.current_healthy > 0 {
        let message = format!(
            "budget {object} counts none of its Pods, for they have no controller with a scale, and so allows nothing, \
             which keeps {pods}"
        );
        let next_step = "use minAvailable with a number, or give its Pods a controller with a scale";
        (Id::BudgetNotComputed, Severity::Warning, message, next_step.to_owned())
    } else if one.expected > 0 && budget.desired_healthy >= one.expected {
        let whom = match one.expected {
            1 => "its only Pod".to_owned(),
            number => format!("all {number} of its Pods"),
        };
        let demand = if one.demand.is_empty() { "its spec" } else { &one.demand };
        let message = format!(
            "budget {object} ({demand}) wants {whom} healthy and never allows an eviction, which keeps {pods}"
        );
        let next_step = "leave room for one disruption, or run more replicas";
        (Id::BudgetNeverAllows, Severity::Warning, message, next_step.to_owned())
    } else {
        return None;
    };
    Some(Finding { id, severity, objects: vec![object], message, next_step })
}

/// Pods under several budgets, one finding for each set of budgets.
fn find_overlaps(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut sets: BTreeMap<Vec<Object>, usize> = BTreeMap::new();
    for pod in facts.pods.iter().filter(|pod| pod.node.is_some()) {
        let mut over: Vec<Object> = facts.budgets.iter().filter(|one| covers(one, pod)).map(object).collect();
        if over.len() > 1 {
            over.sort();
            *sets.entry(over).or_default() += 1;
        }
    }
    for (budgets, pods) in sets {
        let names: Vec<String> = budgets.iter().map(ToString::to_string).collect();
        findings.push(Finding {
            id: Id::OverlappingBudgets,
            severity: Severity::Warning,
            message: format!(
                "budgets {} all cover {}, and the Eviction API refuses every Pod with more than one budget",
                names.join(", "),
                count(pods, "Pod")
            ),
            objects: budgets,
            next_step: "change the selectors so that each Pod has one budget".into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{budget, found, healthy, pod, the_one};
    use super::*;
    use crate::model::Selector;
    use crate::model::labels::Requirement;

    /// Three Pods and this budget over them.
    fn with(budget: BudgetFacts) -> Facts {
        Facts { budgets: vec![budget], pods: vec![pod("a", 1), pod("b", 2), pod("c", 3)], ..healthy() }
    }

    const ALL: [Id; 5] = [
        Id::BudgetNeverAllows,
        Id::BudgetMatchesNothing,
        Id::BudgetBehind,
        Id::BudgetNotComputed,
        Id::OverlappingBudgets,
    ];

    #[test]
    fn a_budget_that_allows_one_is_no_finding() {
        assert!(ALL.iter().all(|id| found(&with(budget("web", 2, 3)), *id).is_empty()));
    }

    #[test]
    fn a_budget_that_is_used_up_for_now_is_no_finding() {
        let mut used = budget("web", 2, 3);
        used.budget.current_healthy = 2;
        used.budget.disruptions_allowed = 0;
        assert!(ALL.iter().all(|id| found(&with(used.clone()), *id).is_empty()));
    }

    #[test]
    fn a_budget_that_wants_everybody_healthy_is_named_with_its_pods() {
        let strict = BudgetFacts { demand: "maxUnavailable 0".into(), ..budget("web", 3, 3) };
        let findings = found(&with(strict), Id::BudgetNeverAllows);
        assert_eq!(findings[0].objects, [Object::within("PodDisruptionBudget", "ns", "web")]);
        let expected = "budget ns/web (maxUnavailable 0) wants all 3 of its Pods healthy and never allows an \
                        eviction, which keeps 3 Pods";
        assert_eq!(findings[0].message, expected);
    }

    #[test]
    fn a_budget_over_nobody_is_a_note() {
        let requirement = Requirement::parse("app".into(), "In", vec!["gone".into()]);
        let mut astray = budget("web", 0, 0);
        astray.budget.selector = Some(Selector::new([requirement]));
        assert_eq!(found(&with(astray), Id::BudgetMatchesNothing)[0].severity, Severity::Info);
    }

    #[test]
    fn finished_pods_are_covered_by_no_budget() {
        let mut facts = with(budget("web", 0, 0));
        facts.pods.iter_mut().for_each(|pod| pod.phase = crate::model::pod::Phase::Succeeded);
        assert_eq!(found(&facts, Id::BudgetMatchesNothing).len(), 1);
    }

    #[test]
    fn a_status_behind_its_spec_is_told_instead_of_what_it_says() {
        let mut behind = budget("web", 3, 3);
        behind.budget.generation = 2;
        let facts = with(behind);
        assert_eq!(found(&facts, Id::BudgetBehind).len(), 1);
        assert!(found(&facts, Id::BudgetNeverAllows).is_empty());
    }

    #[test]
    fn a_budget_that_cannot_be_computed_says_why() {
        let broken = BudgetFacts { sync_failed: Some("no scale".into()), ..budget("web", 0, 0) };
        assert!(found(&with(broken), Id::BudgetNotComputed)[0].message.ends_with("says: no scale"));
    }

    #[test]
    fn a_budget_that_counts_none_of_its_pods_allows_nothing() {
        // As the disruption controller says it of Pods without an owner, unless minAvailable is a number.
        let mut unmanaged = budget("web", 0, 0);
        unmanaged.budget.current_healthy = 3;
        let one = the_one(&with(unmanaged.clone()), Id::BudgetNotComputed);
        assert!(one.message.ends_with("which keeps 3 Pods"), "{}", one.message);
        // Pods that came after the status was written are no proof.
        unmanaged.budget.current_healthy = 0;
        assert!(found(&with(unmanaged), Id::BudgetNotComputed).is_empty());
    }

    #[test]
    fn two_budgets_over_the_same_pods_are_one_finding() {
        let mut facts = with(budget("web", 2, 3));
        facts.budgets.push(budget("all", 1, 3));
        let one = the_one(&facts, Id::OverlappingBudgets);
        assert!(one.message.starts_with("budgets ns/all, ns/web all cover 3 Pods"), "{}", one.message);
        assert_eq!(one.objects.len(), 2);
    }

    #[test]
    fn budgets_of_different_namespaces_do_not_overlap() {
        let mut facts = with(budget("web", 2, 3));
        let mut far = budget("web", 2, 3);
        far.budget.namespace = "other".into();
        facts.budgets.push(far);
        assert!(found(&facts, Id::OverlappingBudgets).is_empty());
    }
}

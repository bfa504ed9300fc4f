//! What makes resize preemption dangerous or useless in a cluster, found by rules over what was read of it.
//!
//! Invariant: a rule finds only what is certain from the facts; what could not be read is said, not guessed.

mod budgets;
mod configuration;
mod control_plane;
mod facts;
#[cfg(test)]
mod fixture;
mod id;
mod nodes;
mod priorities;
mod report;
mod resizes;
mod unread;

pub use control_plane::GATE;
pub use facts::{BudgetFacts, Facts, GateFacts, KubeScheduler, NodeFacts, PriorityClass, Rights};
pub use id::Id;
pub use report::{Finding, Object, Report, Severity};

/// Applies every rule. The worst findings come first, those of one severity in the order of [`Id::ALL`].
pub fn check(facts: &Facts) -> Report {
    let mut findings = Vec::new();
    unread::find(facts, &mut findings);
    control_plane::find(facts, &mut findings);
    nodes::find(facts, &mut findings);
    priorities::find(facts, &mut findings);
    budgets::find(facts, &mut findings);
    resizes::find(facts, &mut findings);
    configuration::find(facts, &mut findings);
    // Stable: findings of one rule stay in the order in which it made them.
    findings.sort_by_key(|finding| (finding.severity, finding.id));
    Report { findings }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The ending that goes with a number of subjects: `1 Pod keeps`, `2 Pods keep`.
fn verb(number: usize, plural: &str) -> String {
    if number == 1 { format!("{plural}s") } else { plural.to_owned() }
}

//! The other Pods of the node, by what they have to do with the resize.
//!
//! Invariant: every Pod of the node but the explained one is in exactly one group or among the victims.

use super::names;
use super::shape::{Group, Neighbour, Victim};
use crate::cluster::{BudgetKey, Cluster, PodId, PodRow};
use crate::model::{PodRef, Str};
use crate::resize::eligible::payer;
use crate::resize::explain::Standing;
use crate::resize::policy::Protection;
use crate::resize::text::protection;

/// Those who go; `forced` are the UIDs of those that are deleted.
pub fn victims(cluster: &Cluster, others: &[(PodId, Standing)], forced: &[Str]) -> Vec<Victim> {
    let chosen = others.iter().filter(|(_, standing)| *standing == Standing::Victim);
    let rows = chosen.filter_map(|(id, _)| cluster.pods.get(*id));
    rows.map(|row| Victim {
        namespace: row.pod.id.namespace.to_string(),
        name: row.pod.id.name.to_string(),
        uid: row.pod.id.uid.to_string(),
        priority: row.pod.priority,
        frees: names::holds(cluster, row),
        grace_period_seconds: row.pod.grace.0 / 1_000_000,
        start_time: row.pod.started.map(names::rfc3339),
        budget: payer(cluster, row).as_ref().map(key),
        deleted: forced.contains(&row.pod.id.uid),
    })
    .collect()
}

/// Those who stay, in the order of what keeps them. `taken` are those who go for another resize first.
pub fn groups(
    cluster: &Cluster,
    others: &[(PodId, Standing)],
    taken: &[(PodRef, Vec<PodRef>)],
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (id, standing) in others {
        let (Some(row), Some(rule)) = (cluster.pods.get(*id), rule(standing)) else { continue };
        let other = taken.iter().find(|(_, victims)| victims.contains(&row.pod.id));
        let (rule, detail) = match other {
            Some((other, _)) => ("GoesForAnother", format!("goes first, for {}", names::path(other))),
            None => (rule, detail(cluster, standing)),
        };
        let pod = neighbour(cluster, row);
        match groups.iter_mut().find(|group| group.rule == rule && group.detail == detail) {
            Some(group) => group.pods.push(pod),
            None => groups.push(Group { rule, detail, pods: vec![pod] }),
        }
    }
    groups
}

fn neighbour(cluster: &Cluster, row: &PodRow) -> Neighbour {
    Neighbour {
        namespace: row.pod.id.namespace.to_string(),
        name: row.pod.id.name.to_string(),
        priority: row.pod.priority,
        holds: names::holds(cluster, row),
    }
}

/// `namespace/name` of a budget.
pub fn key((namespace, name): &BudgetKey) -> String {
    format!("{namespace}/{name}")
}

/// The rule's name in JSON; `None` for who goes.
fn rule(standing: &Standing) -> Option<&'static str> {
    Some(match standing {
        Standing::Victim => return None,
        Standing::Spared(_) => "NotNeeded",
        Standing::Budget(_) => "KeptByBudget",
        Standing::Overlap(_) => "OverlappingBudgets",
        Standing::Protected(Protection::Young(_)) => "TooYoung",
        Standing::Protected(_) => "Protected",
        Standing::Grace => "GraceTooLong",
        Standing::Leaving => "Leaving",
        Standing::Mirror => "MirrorPod",
        Standing::Priority => "SameOrHigherPriority",
    })
}

fn detail(cluster: &Cluster, standing: &Standing) -> String {
    match standing {
        Standing::Victim => String::new(),
        Standing::Spared(None) => "could go, no budget covers it".to_owned(),
        Standing::Spared(Some(budget)) => {
            format!("could go, budget {} allows {}", key(budget), cluster.budgets.left(budget))
        }
        Standing::Budget(budget) => format!("kept by budget {}, which allows 0", key(budget)),
        Standing::Overlap(budgets) => {
            let all: Vec<String> = budgets.iter().map(key).collect();
            format!("several budgets cover it: {}", all.join(", "))
        }
        Standing::Protected(rule) => format!("kept by {}", protection(rule)),
        Standing::Grace => "its grace period ends after the deadline".to_owned(),
        Standing::Leaving => "leaving already".to_owned(),
        Standing::Mirror => "mirrors a static Pod".to_owned(),
        Standing::Priority => "same or higher priority".to_owned(),
    }
}

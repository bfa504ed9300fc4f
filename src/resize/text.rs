//! The sentences that tell people why a Pod is not growing, or how its room is coming.
//!
//! Invariant: no name of a Pod in another namespace is told; a sentence changes only when the facts do. Each names
//! what stands in the way and, after the full stop, what a person can do.

use super::Reason;
use super::kubelet::{Obstacle, View};
use super::policies::Terms;
use super::policy::{Exclusion, Protection};
use super::victims::Limit;
use crate::cluster::{Amounts, BudgetKey, Cluster, NodeId, PodId, PodRow, ResourceId};
use crate::model::{Node, Pod, PodRef, Span, Timestamp};

/// What most sentences are about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) cluster: &'a Cluster,
    /// The growing Pod.
    pub(super) row: &'a PodRow,
    /// Its node.
    pub(super) node: &'a Node,
    /// What is missing.
    pub(super) shortage: &'a Amounts,
}

impl Case<'_> {
    fn short(&self) -> String {
        format!("short of {}", amounts(self.cluster, self.shortage))
    }
}

/// One amount as people write it: `300m`, `2`, `512Mi`.
pub fn amount(id: ResourceId, value: i64) -> String {
    if id == ResourceId::CPU {
        return if value % 1000 == 0 { (value / 1000).to_string() } else { format!("{value}m") };
    }
    let units = [(1_i64 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let bytes = id == ResourceId::MEMORY || id == ResourceId::EPHEMERAL;
    match units.iter().find(|(unit, _)| bytes && value != 0 && value % unit == 0) {
        Some((unit, name)) => format!("{}{name}", value / unit),
        None => value.to_string(),
    }
}

/// `cpu 300m, memory 1Gi`.
pub fn amounts(cluster: &Cluster, list: &Amounts) -> String {
    let one = |(id, value)| format!("{} {}", cluster.resources.name(id), amount(id, value));
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A time of day, `12:05:00 UTC`, to the second that has begun by then.
pub fn clock(at: Timestamp) -> String {
    let seconds = at.0.saturating_add(999_999).div_euclid(1_000_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `1h5m`, `90s` as `1m30s`, `0s`.
pub fn duration(span: Span) -> String {
    let seconds = span.0 / 1_000_000;
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let text: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// More Pods than this are only counted: a sentence stays one.
const NAMED: usize = 10;

/// The Pods: by name where the growing Pod's owner may know them, else by number.
fn named<'a>(row: &PodRow, pods: impl IntoIterator<Item = &'a PodRef>) -> String {
    let (near, far): (Vec<_>, Vec<_>) =
        pods.into_iter().partition(|pod| pod.namespace == row.pod.id.namespace);
    let mut parts: Vec<String> = near.iter().take(NAMED).map(|pod| pod.name.to_string()).collect();
    if near.len() > NAMED {
        parts.push(format!("{} more", near.len() - NAMED));
    }
    if !far.is_empty() {
        parts.push(format!("{} in other namespaces", count(far.len(), "Pod")));
    }
    parts.join(", ")
}

/// Begins the sentences of a resize for which somebody was evicted.
const EVICTING: &str = "evicting ";
/// The same, once they are on their way.
const EVICTED: &str = "waiting for evicted Pods";

/// Whether a sentence of ours says that somebody was evicted for the resize.
pub(super) fn tells_of_victims(reason: &str, message: &str) -> bool {
    reason == Reason::Preempting.as_str() && message.contains(EVICTING)
        || reason == Reason::WaitingForVictims.as_str() && message.starts_with(EVICTED)
}

pub(super) fn preempting(case: &Case<'_>, victims: &[PodRef]) -> String {
    let (who, number) = (named(case.row, victims), count(victims.len(), "Pod"));
    format!(
        "{}; {EVICTING}{number}: {who}. Nothing to do: the kubelet allocates the resize once the room is free",
        case.short()
    )
}

pub(super) fn observing(case: &Case<'_>, victims: &[PodRef]) -> String {
    let (who, number) = (named(case.row, victims), count(victims.len(), "Pod"));
    format!("{}; mode Observe: would evict {number}: {who}. Set mode: Enforce to have it done", case.short())
}

pub(super) fn wait(case: &Case<'_>, victims: &[PodRef], until: Timestamp) -> String {
    let (who, number) = (named(case.row, victims), count(victims.len(), "Pod"));
    format!(
        "{}; until {} room may come by itself (wait), then {number} would be evicted: {who}. Nothing to do",
        case.short(),
        clock(until)
    )
}

pub(super) fn waiting_for_victims(own: &PodRow, leaving: &[&PodRow], late: &[&PodRow]) -> String {
    let ids = |rows: &[&PodRow]| named(own, rows.iter().map(|row| &row.pod.id));
    let what = if leaving.iter().any(|row| row.evicted()) { EVICTED } else { "waiting for Pods" };
    let who = ids(leaving);
    if !late.is_empty() {
        return format!(
            "{what} to leave: {who}; a minute after the grace period still there: {}. Look at its finalizers and at \
             the kubelet of its node",
            ids(late)
        );
    }
    let last = leaving.iter().filter_map(|row| row.pod.deletion).max();
    let by = last.map(|at| format!(", by {}", clock(at))).unwrap_or_default();
    format!("{what} to leave: {who}{by}. Nothing to do: then there is room")
}

pub(super) fn waiting_for_kubelet(node: &str) -> String {
    format!(
        "there is room; the kubelet of node {node} has not tried again yet. Nothing to do: it tries when a Pod there \
         changes, and every 3 minutes"
    )
}

pub(super) fn never(case: &Case<'_>) -> String {
    format!(
        "{}; the Pod's preemptionPolicy is Never, so nobody is evicted for it. Make room on node {}, or give the Pod a \
         PriorityClass that preempts",
        case.short(),
        case.node.name
    )
}

pub(super) fn disabled(node: &Node) -> String {
    let owners: Vec<&str> = node.resize_preemption_disabled_by.iter().map(|owner| owner.as_str()).collect();
    let (name, owners) = (&node.name, owners.join(", "));
    format!(
        "node {name} disables resize preemption (by {owners}). Make room there, or take the owners out of its \
         spec.podPreemptionPolicy.disableResizePreemption"
    )
}

pub(super) fn not_allowed(pod: &Pod, exclusion: Exclusion) -> String {
    let (why, setting) = match exclusion {
        Exclusion::Priority(least) => {
            (format!("its priority {} is below minPriority {least}", pod.priority), "minPriority")
        }
        Exclusion::Namespace => {
            let namespace = &pod.id.namespace;
            (format!("namespace {namespace} does not match namespaceSelector"), "namespaceSelector")
        }
        Exclusion::Labels => ("its labels do not match labelSelector".to_owned(), "labelSelector"),
    };
    format!("this Pod may not have others evicted: {why}. Make room for it, or change preemptors.{setting}")
}

pub(super) fn node_not_ready(name: &str, exists: bool) -> String {
    let what = if exists { "is not Ready" } else { "does not exist" };
    format!(
        "node {name} {what}, so its kubelet would not act. Repair the node, or delete the Pod so that it starts \
         elsewhere"
    )
}

pub(super) fn exceeds(case: &Case<'_>, node: NodeId, over: &Amounts) -> String {
    let (cluster, desired) = (case.cluster, &case.row.charge.desired);
    let allocatable = cluster.nodes.allocatable();
    let one = |(id, _): (ResourceId, i64)| {
        let has = amount(id, allocatable.get(id, node.index()));
        format!("{} {} of {has}", cluster.resources.name(id), amount(id, desired.get(id)))
    };
    let (list, name) = (over.iter().map(one).collect::<Vec<_>>().join(", "), &case.node.name);
    format!(
        "the request alone exceeds node {name}'s allocatable: {list}. Ask for less, or move the Pod to a larger node"
    )
}

pub(super) fn obstacle(obstacle: Obstacle, node: &str, kubelet: &str) -> String {
    let (what, step) = match obstacle {
        Obstacle::NodeAffinity => (
            format!("node {node} no longer matches the Pod's node affinity or selector"),
            "Put the node's labels back, or move the Pod",
        ),
        Obstacle::Taint => (
            format!("node {node} has a NoExecute taint that the Pod does not tolerate"),
            "Remove the taint, or move the Pod",
        ),
        Obstacle::HostPort => {
            (format!("another Pod on node {node} has one of its host ports"), "Move one of the two")
        }
        Obstacle::Refused => (
            format!("the kubelet of node {node} says: {}", kubelet.trim().trim_end_matches('.')),
            "See to what it names",
        ),
    };
    format!("room would not help: {what}. {step}")
}

pub(super) fn insufficient(case: &Case<'_>, held: &Amounts) -> String {
    let priority = case.row.pod.priority;
    let freed: Amounts = case.shortage.iter().map(|(id, _)| (id, held.get(id))).collect();
    let freed = if freed.is_empty() { "nothing of it".to_owned() } else { amounts(case.cluster, &freed) };
    format!(
        "{}; evicting every Pod of priority below {priority} on node {} would free {freed}, which is not enough. Ask for \
         less, or move the Pod",
        case.short(),
        case.node.name
    )
}

/// A rule of the policy, as the configuration has it.
pub fn protection(rule: &Protection) -> String {
    match rule {
        Protection::Namespace(name) => format!("protect.namespaces ({name})"),
        Protection::Labels => "protect.labelSelector".to_owned(),
        Protection::Annotation(key, value) => format!("protect.annotations ({key}={value})"),
        Protection::DaemonSet => "protect.daemonSets".to_owned(),
        Protection::Unmanaged => "protect.unmanaged".to_owned(),
        Protection::Young(until) => format!("minVictimAge (until {})", clock(*until)),
    }
}

pub(super) fn protected(case: &Case<'_>, rules: &[(Protection, usize)]) -> String {
    let one = |(rule, kept): &(Protection, usize)| format!("{} keeps {kept}", protection(rule));
    format!(
        "{}; enough only with Pods that the policy protects: {}. Ask for less, or change the rule",
        case.short(),
        rules.iter().map(one).collect::<Vec<_>>().join(", ")
    )
}

pub(super) fn budgets(case: &Case<'_>, keys: &[BudgetKey], overlap: bool) -> String {
    let left = &case.cluster.budgets;
    let one = |key: &BudgetKey| format!("{}/{} (allows {} now)", key.0, key.1, left.left(key));
    let what = if keys.len() == 1 { "PodDisruptionBudget" } else { "PodDisruptionBudgets" };
    let (but, step) = if overlap {
        (" (the Eviction API refuses a Pod under two budgets)", "Let one budget cover each Pod")
    } else {
        ("", "Wait until it allows more, or relax it")
    };
    let keys = keys.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("{}; enough only with Pods kept by {what} {keys}{but}. {step}", case.short())
}

pub(super) fn grace(case: &Case<'_>, late: &[PodId], terms: &Terms<'_>) -> String {
    let rows: Vec<&PodRow> = late.iter().filter_map(|id| case.cluster.pods.get(*id)).collect();
    let longest = rows.iter().map(|row| row.pod.grace).max().unwrap_or_default();
    let deadline = terms.deadline().map(clock).unwrap_or_default();
    format!(
        "{}; enough only with Pods whose grace period ({} at most) ends after the deadline, {deadline}: {}. Make room, or \
         change deadline or terminationGracePeriodSeconds",
        case.short(),
        duration(longest),
        named(case.row, rows.iter().map(|row| &row.pod.id))
    )
}

pub(super) fn limit(case: &Case<'_>, limit: Limit) -> String {
    let short = case.short();
    match limit {
        Limit::Victims { needed, most } => {
            let needed = count(needed, "Pod");
            format!(
                "{short}; {needed} would have to go and maxVictims is {most}. Ask for less, or raise maxVictims"
            )
        }
        Limit::PerNode { needed, leaving, most } => {
            let (needed, node) = (count(needed, "Pod"), &case.node.name);
            let step = if leaving == 0 { "Ask for less, or raise it" } else { "Wait for those, or raise it" };
            format!(
                "{short}; {needed} would have to go, {leaving} evicted before are leaving node {node} and maxEvictingPerNode is {most}. \
                 {step}"
            )
        }
        Limit::PerMinute { needed, most, again } => {
            let needed = count(needed, "Pod");
            let step = match again {
                Some(at) => format!("Nothing to do: it goes on at {}", clock(at)),
                None => "Ask for less, or raise it".to_owned(),
            };
            format!("{short}; {needed} would have to go and maxEvictionsPerMinute is {most}. {step}")
        }
    }
}

pub(super) fn eviction_failed(refusal: &str, again: Timestamp) -> String {
    let words = refusal.trim().trim_end_matches('.');
    format!("an eviction was refused: {words}. Tried again at {}; see to what refuses it", clock(again))
}

pub(super) fn refused_elsewhere() -> String {
    "the victim is in another namespace; elbowroom's log has the API's words".to_owned()
}

pub(super) fn next_round(node: &str, again: Timestamp) -> String {
    format!(
        "other Pods took the room that was made on node {node}; the next round begins at {}. Keep them off the node, or \
         ask for less",
        clock(again)
    )
}

pub(super) fn evicting_itself(state: &str) -> String {
    let what = state.split(". ").next().unwrap_or(state);
    format!(
        "{what}. The deadline has passed: this Pod is evicted, for its controller to make it anew elsewhere"
    )
}

pub(super) fn own_eviction_refused(state: &str, refusal: Option<&str>, again: Timestamp) -> String {
    let what = state.split(". ").next().unwrap_or(state);
    let words = refusal.map(|words| format!(" was refused: {}", words.trim().trim_end_matches('.')));
    format!(
        "{what}. The deadline has passed and the eviction of this Pod{}; tried again at {}",
        words.unwrap_or_else(|| " is not done yet".to_owned()),
        clock(again)
    )
}

pub(super) fn disagrees(cluster: &Cluster, node: NodeId, view: &View, row: &PodRow, kubelet: &str) -> String {
    let allocatable = cluster.nodes.allocatable();
    let one = |(id, _): (ResourceId, i64)| {
        let others = allocatable.get(id, node.index()) - view.free.get(id) - row.charge.held.get(id);
        format!("{} {}", cluster.resources.name(id), amount(id, others))
    };
    let sums = row.charge.desired.iter().map(one).collect::<Vec<_>>().join(", ");
    let (name, words) = (&cluster.nodes.row(node).node.name, kubelet.trim().trim_end_matches('.'));
    format!(
        "by our sums the others use {sums} and the resize fits; the kubelet of node {name} says: {words}. Nobody is \
         evicted: make more room by hand, or ask for less"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_that_of_utc_rounded_up() {
        assert_eq!(clock(Timestamp::from_seconds(86_400 + 3661)), "01:01:01 UTC");
        assert_eq!(clock(Timestamp(1)), "00:00:01 UTC");
    }

    #[test]
    fn a_duration_is_written_as_people_write_it() {
        assert_eq!(duration(Span::from_seconds(300)), "5m");
        assert_eq!(duration(Span::from_seconds(3690)), "1h1m30s");
        assert_eq!(duration(Span::default()), "0s");
    }
}

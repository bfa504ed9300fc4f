//! What is in the way of a resize, by name, and the next step that a person can take.
//!
//! Invariant: every reason names something and has a step; steps only read, or say what to change.

use super::names;
use super::neighbours::key;
use super::resize::Findings;
use super::shape::Blocker;
use crate::cluster::{Cluster, PodId, PodRow};
use crate::model::Node;
use crate::model::taint::{TaintEffect, tolerated};
use crate::resize::Reason;
use crate::resize::explain::Standing;
use crate::resize::kubelet::Obstacle;
use crate::resize::policy::Exclusion;
use crate::resize::text::{duration, protection};

/// What keeps the Pod from growing.
pub fn blockers(found: &Findings<'_>) -> Vec<Blocker> {
    let node = host(found);
    let on_node = |detail: String| vec![blocker("Node", node.name.to_string(), detail)];
    match found.reason() {
        Reason::WaitingForVictims => leaving(found),
        Reason::WaitingForKubelet if found.wish.is_some() => Vec::new(),
        Reason::WaitingForKubelet | Reason::KubeletDisagrees => {
            vec![blocker("Kubelet", node.name.to_string(), "has to try the resize again".to_owned())]
        }
        Reason::PreemptionPolicyNever => {
            let name = names::path(&found.row.pod.id);
            vec![blocker("Pod", name, "its preemptionPolicy is Never".to_owned())]
        }
        Reason::DisabledByNode => {
            let owners = node.resize_preemption_disabled_by.join(", ");
            on_node(format!("podPreemptionPolicy.disableResizePreemption: {owners}"))
        }
        Reason::NotAllowed => exclusion(found),
        Reason::NodeNotReady => on_node("not Ready".to_owned()),
        Reason::ExceedsNode => on_node("has less in all than the Pod asks for".to_owned()),
        Reason::NotAShortage => obstacle(found),
        Reason::InsufficientVictims => {
            on_node(format!("too few Pods below priority {}", found.row.pod.priority))
        }
        Reason::ProtectedVictims => protections(found),
        Reason::BlockedByPdb => budgets(found),
        Reason::GraceTooLong => late(found),
        Reason::LimitReached => limits(found),
        Reason::Waiting => policy("wait", "is not over, or the next round is put off"),
        Reason::Observing => policy("mode", "is Observe"),
        Reason::EvictionFailed => victims(found, "its eviction was refused"),
        Reason::Preempting => victims(found, "in the way until it is gone"),
    }
}

/// What to do, in the order in which to try it.
pub fn next_steps(found: &Findings<'_>) -> Vec<String> {
    let (pod, node) = (&found.row.pod, &host(found).name);
    let own = format!("kubectl -n {} get pod {}", pod.id.namespace, pod.id.name);
    let one = |step: String| vec![step];
    if let Some(wish) = &found.wish {
        if !wish.refusals.is_empty() {
            return one("plan another request: what is refused is said above".to_owned());
        }
        match found.reason() {
            Reason::Preempting => return one(format!("if these may go, ask for it: {}", wish.command)),
            Reason::WaitingForKubelet => {
                return one(format!("ask for it, nobody has to go: {}", wish.command));
            }
            _ => {}
        }
    }
    match found.reason() {
        Reason::Preempting => one(format!(
            "wait until they are gone: kubectl get pods -A --field-selector spec.nodeName={node}"
        )),
        Reason::WaitingForVictims => leaving(found)
            .into_iter()
            .filter_map(|one| {
                let (namespace, name) = one.name.split_once('/')?;
                Some(format!(
                    "if it stays, look at its finalizers: kubectl -n {namespace} get pod {name} -o yaml"
                ))
            })
            .take(3)
            .collect(),
        Reason::WaitingForKubelet => one(format!(
            "wait: the kubelet of {node} tries again within 3 minutes; after ten, look at its log"
        )),
        Reason::PreemptionPolicyNever => one(format!(
            "free room on {node} by hand, or make the Pod anew with a PriorityClass whose preemptionPolicy is \
             PreemptLowerPriority: {own} -o jsonpath='{{.spec.priorityClassName}}'"
        )),
        Reason::DisabledByNode => one(format!(
            "ask its owners, or take them out: kubectl edit node {node}, spec.podPreemptionPolicy"
        )),
        Reason::NotAllowed => {
            one("widen preemptors in the ResizePreemption args, or free room by hand".to_owned())
        }
        Reason::NodeNotReady => one(format!("mend the node: kubectl describe node {node}")),
        Reason::ExceedsNode => one("ask for less, or have the Pod made anew on a larger node".to_owned()),
        Reason::NotAShortage => one(obstacle_step(found)),
        Reason::InsufficientVictims => one(format!(
            "ask for less, raise the Pod's priority, or have it made anew elsewhere; who is on {node}: \
             kubectl get pods -A --field-selector spec.nodeName={node}"
        )),
        Reason::ProtectedVictims => one(
            "take the protection off one of those Pods or out of the configuration, or move a Pod by hand"
                .to_owned(),
        ),
        Reason::BlockedByPdb => budgets(found)
            .into_iter()
            .filter_map(|one| {
                let (namespace, name) = one.name.split_once('/')?;
                Some(format!("let the budget recover or widen it: kubectl -n {namespace} get pdb {name}"))
            })
            .take(3)
            .collect(),
        Reason::GraceTooLong => {
            one("raise deadline, or give those Pods a shorter terminationGracePeriodSeconds".to_owned())
        }
        Reason::LimitReached => {
            one("wait until evictions have ended, or raise the limit that is named".to_owned())
        }
        Reason::Waiting => one("wait; `wait` in the ResizePreemption args says how long".to_owned()),
        Reason::EvictionFailed => {
            one("mend what refuses: kubectl get validatingwebhookconfigurations; it is tried again by itself"
                .to_owned())
        }
        Reason::KubeletDisagrees => one(format!(
            "compare both figures; free the difference by hand or upgrade the kubelet: kubectl get node {node}"
        )),
        Reason::Observing => one("set mode: Enforce in the ResizePreemption args to have it done".to_owned()),
    }
}

fn host<'a>(found: &Findings<'a>) -> &'a Node {
    static NOWHERE: std::sync::LazyLock<Node> = std::sync::LazyLock::new(Node::default);
    let cluster: &'a Cluster = found.cluster;
    found.row.node.map_or(&NOWHERE, |node| &cluster.nodes.row(node).node)
}

fn blocker(kind: &'static str, name: String, detail: String) -> Blocker {
    Blocker { kind, name, detail }
}

fn policy(name: &str, detail: &str) -> Vec<Blocker> {
    vec![blocker("Policy", name.to_owned(), detail.to_owned())]
}

/// What of `preemptors` leaves the Pod out.
fn exclusion(found: &Findings<'_>) -> Vec<Blocker> {
    let pod = &found.row.pod;
    let labels = found.cluster.namespace_labels(&pod.id.namespace);
    match found.policy.preemptors.excludes(pod, &labels) {
        Some(Exclusion::Priority(least)) => {
            policy("preemptors.minPriority", &format!("is {least}, above the Pod's {}", pod.priority))
        }
        Some(Exclusion::Namespace) => policy("preemptors.namespaceSelector", "leaves its namespace out"),
        Some(Exclusion::Labels) => policy("preemptors.labelSelector", "leaves the Pod out"),
        None => policy("preemptors", "leaves the Pod out"),
    }
}

/// Who would still be there at the deadline.
fn late(found: &Findings<'_>) -> Vec<Blocker> {
    let late = rows(found).filter(|(_, standing)| **standing == Standing::Grace);
    let pods = late.map(|(row, _)| {
        let detail = format!("its grace period of {} ends after the deadline", duration(row.pod.grace));
        blocker("Pod", names::path(&row.pod.id), detail)
    });
    let deadline = found.policy.deadline.map(duration).unwrap_or_default();
    pods.chain(policy("deadline", &format!("is {deadline}"))).collect()
}

/// The limits that the sentence names.
fn limits(found: &Findings<'_>) -> Vec<Blocker> {
    let told = found.told().map(|told| told.message.as_str()).unwrap_or_default();
    let sentence = if found.state.0 == Reason::LimitReached { found.state.1.as_str() } else { told };
    let limits = [
        ("maxVictims", found.policy.max_victims),
        ("maxEvictingPerNode", found.policy.max_evicting_per_node),
        ("maxEvictionsPerMinute", found.policy.max_evictions_per_minute),
    ];
    let named = limits.into_iter().filter(|(name, _)| sentence.contains(name));
    named
        .filter_map(|(name, most)| Some(blocker("Policy", name.to_owned(), format!("is {}", most?))))
        .collect()
}

fn rows<'a>(found: &'a Findings<'_>) -> impl Iterator<Item = (&'a PodRow, &'a Standing)> {
    let row = |(id, standing): &'a (PodId, Standing)| Some((found.cluster.pods.get(*id)?, standing));
    found.picture.others.iter().filter_map(row)
}

fn leaving(found: &Findings<'_>) -> Vec<Blocker> {
    let leaving = rows(found).filter(|(_, standing)| **standing == Standing::Leaving);
    leaving
        .map(|(row, _)| {
            let until = row.pod.deletion.map(|at| format!(", until {} at most", names::rfc3339(at)));
            let detail = format!("on its way out{}", until.unwrap_or_default());
            blocker("Pod", names::path(&row.pod.id), detail)
        })
        .collect()
}

fn victims(found: &Findings<'_>, detail: &str) -> Vec<Blocker> {
    let chosen = rows(found).filter(|(_, standing)| **standing == Standing::Victim);
    chosen.map(|(row, _)| blocker("Pod", names::path(&row.pod.id), detail.to_owned())).collect()
}

fn protections(found: &Findings<'_>) -> Vec<Blocker> {
    let protected = rows(found).filter_map(|(row, standing)| match standing {
        Standing::Protected(rule) => {
            Some(blocker("Policy", protection(rule), format!("keeps {}", names::path(&row.pod.id))))
        }
        _ => None,
    });
    protected.collect()
}

/// Budgets that allow fewer evictions than they cover Pods here that could go, and those that overlap.
fn budgets(found: &Findings<'_>) -> Vec<Blocker> {
    let budgets = &found.cluster.budgets;
    let mut covered: Vec<_> = rows(found)
        .filter_map(|(_, standing)| match standing {
            Standing::Budget(key) | Standing::Spared(Some(key)) => Some(key.clone()),
            _ => None,
        })
        .collect();
    covered.sort();
    let groups = covered.chunk_by(|a, b| a == b).filter_map(|same| Some((same.first()?, same.len())));
    let short =
        groups.filter(|(key, pods)| usize::try_from(budgets.left(key)).is_ok_and(|left| left < *pods));
    let mut found_all: Vec<Blocker> = short
        .map(|(budget, pods)| {
            let detail = format!("allows {} of {} here", budgets.left(budget), names::count(pods, "Pod"));
            blocker("PodDisruptionBudget", key(budget), detail)
        })
        .collect();
    for (row, standing) in rows(found) {
        let Standing::Overlap(all) = standing else { continue };
        let pod = names::path(&row.pod.id);
        found_all.extend(all.iter().map(|budget| {
            blocker("PodDisruptionBudget", key(budget), format!("overlaps with another over {pod}"))
        }));
    }
    found_all
}

fn obstacle(found: &Findings<'_>) -> Vec<Blocker> {
    let node = host(found);
    let name = node.name.to_string();
    match found.picture.obstacle {
        Some(Obstacle::NodeAffinity) => {
            vec![blocker(
                "Node",
                name,
                "its labels no longer match the Pod's node selector or affinity".to_owned(),
            )]
        }
        Some(Obstacle::Taint) => {
            let harsh = node.taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute);
            let open = harsh.filter(|taint| !tolerated(&found.row.pod.placement.tolerations, taint));
            open.map(|taint| blocker("Node", name.clone(), format!("taint {}:NoExecute", taint.key)))
                .collect()
        }
        Some(Obstacle::HostPort) => rows(found)
            .filter_map(|(row, _)| {
                let own = &found.row.pod.ports;
                let port = row.pod.ports.iter().find(|port| own.iter().any(|mine| mine.clashes(port)))?;
                let detail = format!("has host port {}/{}", port.port, port.protocol);
                Some(blocker("Pod", names::path(&row.pod.id), detail))
            })
            .collect(),
        Some(Obstacle::Refused) | None => {
            let words = found.row.pod.resize.as_ref().map(|said| said.message.trim().to_owned());
            vec![blocker("Kubelet", name, words.unwrap_or_default())]
        }
    }
}

fn obstacle_step(found: &Findings<'_>) -> String {
    let node = &host(found).name;
    match found.picture.obstacle {
        Some(Obstacle::NodeAffinity) => {
            format!("give the node its labels back, or move the Pod: kubectl get node {node} --show-labels")
        }
        Some(Obstacle::Taint) => {
            format!("take the taint off, or tolerate it: kubectl describe node {node}")
        }
        Some(Obstacle::HostPort) => "move the Pod that has the host port".to_owned(),
        Some(Obstacle::Refused) | None => {
            format!("clear what the kubelet names: kubectl describe node {node}")
        }
    }
}

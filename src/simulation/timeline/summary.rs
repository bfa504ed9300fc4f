//! How it ended: for each Pod that grew, who went, why those, and how long it took.
//!
//! Invariant: every figure is read off the objects as they were at the moment of the decision.

use super::amount::shown;
use super::pods::{allocated, desired, restarts};
use super::render::{seconds, wrapped};
use super::{WIDTH, pods};
use crate::engine::Decision;
use crate::model::pod::REPORT_CONDITION;
use crate::model::{PodRef, Timestamp};
use crate::simulation::api::Change;
use crate::simulation::objects::{Amounts, Key, PodExt, allocatable, exact};
use crate::simulation::world::{What, World};
use k8s_openapi::api::core::v1::{Node, Pod};
use std::collections::BTreeMap;

/// One Pod's growth.
#[derive(Default)]
struct Growth {
    deferred: Option<Timestamp>,
    allocated: Option<Timestamp>,
    in_force: Option<Timestamp>,
    why: Vec<String>,
    victims: Vec<String>,
    /// The Pod is gone, whoever has its name now.
    gone: bool,
}

pub(super) fn text(world: &World) -> String {
    let mut pods = world.first().pods.clone();
    let mut nodes = world.first().nodes.clone();
    let mut growths: BTreeMap<Key, Growth> = BTreeMap::new();
    let mut gone: Vec<Key> = Vec::new();
    for moment in world.history() {
        match &moment.what {
            What::Decision(Decision::Preempting { pod, node, victims, .. }) => {
                let growth = growths.entry(key(pod)).or_default();
                growth.victims.extend(victims.iter().map(|one| key(one).to_string()));
                growth.why.extend(why(&pods, nodes.get(node.as_str()), pod, victims));
            }
            What::Eviction(pod, Ok(())) => gone.push(pod.clone()),
            What::Change(change) => match change.as_ref() {
                Change::Node(node, _) => {
                    nodes.insert(node.metadata.name.clone().unwrap_or_default(), (**node).clone());
                }
                Change::Pod(pod, before) => {
                    track(&mut growths, pod, before.as_deref(), moment.at);
                    pods.insert(pod.key(), (**pod).clone());
                }
                Change::PodGone(pod) => {
                    pods.remove(&pod.key());
                    growths.entry(pod.key()).and_modify(|growth| growth.gone = true);
                }
                _ => {}
            },
            _ => {}
        }
    }
    let mut out = "How it ended\n------------\n".to_owned();
    for (key, growth) in &growths {
        let Some(pod) = pods.get(key).filter(|_| !growth.gone) else {
            paragraph(&mut out, &format!("{key} is gone."));
            continue;
        };
        for sentence in story(key, pod, growth) {
            paragraph(&mut out, &sentence);
        }
    }
    gone.sort();
    gone.dedup();
    let names: Vec<String> = gone.iter().map(Key::to_string).collect();
    let all = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    paragraph(&mut out, &format!("Evicted in all: {all}."));
    out
}

fn track(growths: &mut BTreeMap<Key, Growth>, pod: &Pod, before: Option<&Pod>, at: Timestamp) {
    let Some(old) = before else { return };
    let pending = |pod: &Pod| pod.condition("PodResizePending").is_some();
    let progress = |pod: &Pod| pod.condition("PodResizeInProgress").is_some();
    if pending(pod) {
        let growth = growths.entry(pod.key()).or_default();
        growth.deferred.get_or_insert(at);
        growth.allocated = None;
    } else if progress(pod) && !progress(old) {
        growths.entry(pod.key()).or_default().allocated = Some(at);
    } else if progress(old) && !progress(pod) {
        growths.entry(pod.key()).or_default().in_force = Some(at);
    }
}

fn story(key: &Key, pod: &Pod, growth: &Growth) -> Vec<String> {
    let mut told = Vec::new();
    let amounts = pods::listed(&allocated(pod));
    match (growth.deferred, growth.allocated) {
        (Some(since), Some(at)) => {
            let force = growth
                .in_force
                .map_or(String::new(), |there| format!(", in force {} s later", seconds(there - at)));
            told.push(format!(
                "{key} has {amounts}: allocated {} s after the kubelet deferred it{force}, restarts {}.",
                seconds(at - since),
                restarts(pod)
            ));
        }
        (None, Some(_)) => told.push(format!("{key} has {amounts}, at once, restarts {}.", restarts(pod))),
        (Some(_), None) => {
            let why = pod.condition(REPORT_CONDITION).map_or_else(
                || "no reason given".to_owned(),
                |one| {
                    let reason = one.reason.clone().unwrap_or_default();
                    one.message.as_ref().map_or(reason.clone(), |message| format!("{reason}: {message}"))
                },
            );
            told.push(format!(
                "{key} keeps {amounts} and still asks for {}. {why}",
                pods::listed(&desired(pod))
            ));
        }
        (None, None) => {}
    }
    if !growth.victims.is_empty() {
        told.push(format!("Evicted for {key}: {}.", growth.victims.join(", ")));
    }
    told.extend(growth.why.iter().cloned());
    told
}

/// Why these victims: what was short, what they free, and what speaks for those that stay.
fn why(
    pods: &BTreeMap<Key, Pod>,
    node: Option<&Node>,
    preemptor: &PodRef,
    victims: &[PodRef],
) -> Vec<String> {
    let (Some(node), Some(growing)) = (node, pods.get(&key(preemptor))) else { return Vec::new() };
    let name = node.metadata.name.as_deref();
    let others: Vec<&Pod> = pods
        .values()
        .filter(|pod| pod.node() == name && pod.uid() != growing.uid() && !pod.finished())
        .collect();
    let (victims, spared): (Vec<&Pod>, Vec<&Pod>) = others
        .iter()
        .filter(|pod| pod.priority() < growing.priority() && !pod.leaving())
        .partition(|pod| victims.iter().any(|victim| victim.uid == pod.uid()));
    let mut told = Vec::new();
    for (resource, asked) in desired(growing) {
        let amount = |list: &Amounts| list.get(&resource).and_then(exact).map_or(0, |q| whole(&resource, q));
        let room = allocatable(node);
        let asked = exact(&asked).map_or(0, |q| whole(&resource, q));
        let held: i64 = others.iter().map(|pod| amount(&allocated(pod))).sum();
        let short = asked + held - amount(&room);
        if short <= 0 {
            continue;
        }
        let parts: Vec<String> = victims
            .iter()
            .map(|pod| match victims.as_slice() {
                [_] => pod.key().to_string(),
                _ => format!("{} ({})", pod.key(), shown(&resource, amount(&allocated(pod)))),
            })
            .collect();
        let freed: i64 = victims.iter().map(|pod| amount(&allocated(pod))).sum();
        let spare = match freed - short {
            0 => "exactly enough".to_owned(),
            more if more > 0 => format!("{} to spare", shown(&resource, more)),
            less => format!("{} come free elsewhere", shown(&resource, -less)),
        };
        told.push(format!(
            "Why: {resource} was short by {}; {} {} {}, {spare}.",
            shown(&resource, short),
            parts.join(" and "),
            if parts.len() == 1 { "frees" } else { "free" },
            shown(&resource, freed)
        ));
    }
    for pod in spared {
        let alike = victims.iter().find(|victim| {
            victim.priority() == pod.priority()
                && allocated(victim) == allocated(pod)
                && started(pod) < started(victim)
        });
        let reason = match alike {
            Some(victim) => format!("like {}, but running for longer", victim.key()),
            None if victims.iter().all(|victim| victim.priority() < pod.priority()) => {
                "its priority is higher".to_owned()
            }
            None => "no better set has it".to_owned(),
        };
        told.push(format!("{} stays: {reason}.", pod.key()));
    }
    told
}

fn whole(resource: &str, amount: crate::model::Quantity) -> i64 {
    if resource == "cpu" { amount.ceil_milli() } else { amount.ceil_units() }
}

fn started(pod: &Pod) -> Option<Timestamp> {
    pod.status.as_ref()?.start_time.as_ref().map(crate::simulation::objects::timestamp)
}

fn key(pod: &PodRef) -> Key {
    Key::new(pod.namespace.as_str(), pod.name.as_str())
}

fn paragraph(out: &mut String, sentence: &str) {
    for row in wrapped(sentence, WIDTH) {
        out.push_str(&row);
        out.push('\n');
    }
}

//! Clusters for tests, written as people say them.
//!
//! Invariant: what a word means does not depend on where it stands; an unknown word fails the test.
//!
//! One line a node: `n1 8c 32Gi zone=z1 dedicated=db:NoSchedule cordoned: a p5 2c, guard p1 1c app=x`. A node has
//! 64Gi of memory, 110 Pod slots and its name as `kubernetes.io/hostname` unless it says otherwise. A Pod has
//! priority 0, is in namespace `default` and runs; `2c->4c` is a resize that its kubelet deferred.
//!
//! | word | node | Pod |
//! | --- | --- | --- |
//! | `2c`, `500m`, `4Gi`, `2gpu` | allocatable | request, and what it holds |
//! | `2c->4c` | | holds 2, wants 4, Deferred |
//! | `3pods` | Pod slots | |
//! | `key=value` | label | label |
//! | `key=value:Effect`, `key:Effect` | taint | |
//! | `cordoned` | unschedulable | |
//! | `p5` | | priority |
//! | `@ns` | | namespace |
//! | `:8080`, `:8080/UDP`, `:10.0.0.5/8080` | | host port |
//! | `tolerates:key`, `tolerates:key=value`, `tolerates:*` | | toleration of every effect |
//! | `on:key=value` | | node selector |
//! | `needs:key=value` | | required node affinity; several are alternatives |
//! | `prefers:10:key=value` | | preferred node affinity with its weight |
//! | `apart:key=value@topology` | | required anti-affinity |
//!
//! Node affinity also says `key!=value`, `key`, `!key`, `key>4`, `key<4`, and `name=n1` for the node's name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{Cluster, PodId};
use crate::model::labels::Requirement;
use crate::model::node_selector::NodeTerm;
use crate::model::placement::PodTerm;
use crate::model::pod::{Condition, HostPort, Phase};
use crate::model::requests::{ContainerResources, Requests};
use crate::model::taint::{Taint, TaintEffect, Toleration};
use crate::model::{Labels, Node, Placement, Pod, Quantity, Selector, Str, Timestamp};
use std::sync::Arc;

/// The cluster of these lines.
pub fn cluster(text: &str) -> Cluster {
    let mut cluster = Cluster::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (head, pods) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        let node = node(head);
        let name = node.name.clone();
        cluster.apply_node(node);
        for words in pods.split(',').map(str::trim).filter(|words| !words.is_empty()) {
            let running = Pod { node: Some(name.clone()), phase: Phase::Running, ready: true, ..pod(words) };
            cluster.apply_pod(running);
        }
    }
    cluster
}

/// Adds a waiting Pod.
pub fn pending(cluster: &mut Cluster, words: &str) -> PodId {
    cluster.apply_pod(pod(words)).0
}

/// Adds a waiting Pod that `change` has completed.
pub fn pending_with(cluster: &mut Cluster, words: &str, change: impl FnOnce(&mut Pod)) -> PodId {
    let mut pod = pod(words);
    change(&mut pod);
    cluster.apply_pod(pod).0
}

/// The node of these words.
pub fn node(words: &str) -> Node {
    let mut words = words.split_whitespace();
    let name = Str::from(words.next().expect("a node has a name"));
    let mut labels: Vec<(Str, Str)> = vec![("kubernetes.io/hostname".into(), name.clone())];
    let mut amounts: Requests =
        vec![("memory".into(), Quantity::from_units(64 << 30)), ("pods".into(), Quantity::from_units(110))];
    let mut node = Node { uid: name.clone(), name, ready: true, ..Node::default() };
    for word in words {
        if word == "cordoned" {
            node.unschedulable = true;
        } else if let Some((taint, effect)) = word.rsplit_once(':') {
            let (key, value) = taint.split_once('=').unwrap_or((taint, ""));
            node.taints.push(Taint { key: key.into(), value: value.into(), effect: self::effect(effect) });
        } else if let Some((key, value)) = word.split_once('=') {
            labels.push((key.into(), value.into()));
        } else {
            let (resource, amount) = amount(word).unwrap_or_else(|| panic!("node: what is {word:?}?"));
            amounts.retain(|(known, _)| *known != resource);
            amounts.push((resource, amount));
        }
    }
    node.labels = labels.into_iter().collect();
    node.allocatable = amounts;
    node
}

/// The Pod of these words, without a node.
pub fn pod(words: &str) -> Pod {
    let mut words = words.split_whitespace();
    let name = Str::from(words.next().expect("a Pod has a name"));
    let mut pod = Pod { generation: 1, ..Pod::default() };
    (pod.id.uid, pod.id.name, pod.id.namespace) = (name.clone(), name, "default".into());
    let mut container = ContainerResources::default();
    let (mut labels, mut ports, mut held): (Vec<(Str, Str)>, _, Requests) =
        (Vec::new(), Vec::new(), Vec::new());
    let mut placement = Placement::default();
    for word in words {
        let priority = word.strip_prefix('p').and_then(|digits| digits.parse::<i32>().ok());
        if let Some(priority) = priority {
            pod.priority = priority;
        } else if let Some(namespace) = word.strip_prefix('@') {
            pod.id.namespace = namespace.into();
        } else if let Some(port) = word.strip_prefix(':') {
            ports.push(host_port(port));
        } else if let Some((kind, demand)) = word.split_once(':') {
            demands(&mut placement, kind, demand);
        } else if let Some((key, value)) = word.split_once('=') {
            labels.push((key.into(), value.into()));
        } else if let Some((before, after)) = word.split_once("->") {
            held.push(amount(before).expect("an amount before the arrow"));
            container.requests.push(amount(after).expect("an amount after the arrow"));
            pod.resize =
                Some(Box::new(Condition { status: true, reason: "Deferred".into(), ..Condition::default() }));
        } else {
            let amount = amount(word).unwrap_or_else(|| panic!("Pod: what is {word:?}?"));
            held.push(amount.clone());
            container.requests.push(amount);
        }
    }
    container.allocated = pod.resize.is_some().then(|| held.clone());
    container.actual = pod.resize.is_some().then_some(held);
    pod.resources.containers.push(container);
    pod.labels = labels.into_iter().collect::<Labels>();
    pod.ports = ports.into();
    pod.placement = Arc::new(placement);
    pod.started = Some(Timestamp::default());
    pod
}

fn demands(placement: &mut Placement, kind: &str, demand: &str) {
    match kind {
        "tolerates" => {
            let (key, value) = demand.split_once('=').unwrap_or((demand, ""));
            let key = if key == "*" { "" } else { key };
            let any_value = !demand.contains('=');
            let one = Toleration { key: key.into(), any_value, value: value.into(), effect: None };
            placement.tolerations.push(one);
        }
        "on" => {
            let (key, value) = demand.split_once('=').expect("a label");
            let others = placement.node_selector.iter().cloned();
            placement.node_selector = others.chain([(key.into(), value.into())]).collect();
        }
        "needs" => placement.required.get_or_insert_default().terms.push(term(demand)),
        "prefers" => {
            let (weight, demand) = demand.split_once(':').expect("a weight");
            placement.preferred.push((weight.parse().expect("a weight"), term(demand)));
        }
        "apart" => {
            let (label, topology) = demand.split_once('@').expect("a topology key");
            let (key, value) = label.split_once('=').expect("a label");
            placement.anti_affinity.push(PodTerm {
                selector: Some(Selector::new([Requirement::parse(key.into(), "In", vec![value.into()])])),
                namespaces: Vec::new(),
                namespace_selector: None,
                topology_key: topology.into(),
            });
        }
        _ => panic!("Pod: what is {kind:?}?"),
    }
}

fn term(demand: &str) -> NodeTerm {
    let parse = |key: &str, operator, values: &[&str]| {
        [Requirement::parse(key.into(), operator, values.iter().map(|value| Str::from(*value)).collect())]
    };
    if let Some(name) = demand.strip_prefix("name=") {
        return NodeTerm::new([], parse("metadata.name", "In", &[name]));
    }
    let expression = if let Some((key, value)) = demand.split_once("!=") {
        parse(key, "NotIn", &[value])
    } else if let Some(key) = demand.strip_prefix('!') {
        parse(key, "DoesNotExist", &[])
    } else if let Some((key, value)) = demand.split_once('=') {
        parse(key, "In", &[value])
    } else if let Some((key, value)) = demand.split_once('>') {
        parse(key, "Gt", &[value])
    } else if let Some((key, value)) = demand.split_once('<') {
        parse(key, "Lt", &[value])
    } else {
        parse(demand, "Exists", &[])
    };
    NodeTerm::new(expression, [])
}

fn amount(word: &str) -> Option<(Str, Quantity)> {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = word.strip_suffix(unit)?.parse::<i64>().ok()?;
    Some(match unit {
        "c" => ("cpu".into(), Quantity::from_units(number)),
        "m" => ("cpu".into(), Quantity::from_milli(number)),
        "Gi" => ("memory".into(), Quantity::from_units(number << 30)),
        "Mi" => ("memory".into(), Quantity::from_units(number << 20)),
        "gpu" => ("example.com/gpu".into(), Quantity::from_units(number)),
        "disk" => ("ephemeral-storage".into(), Quantity::from_units(number)),
        "pods" => ("pods".into(), Quantity::from_units(number)),
        _ => return None,
    })
}

fn host_port(word: &str) -> HostPort {
    let mut port = HostPort { ip: "".into(), protocol: "TCP".into(), port: 0 };
    for part in word.split('/') {
        match part {
            "TCP" | "UDP" | "SCTP" => port.protocol = part.into(),
            _ => match part.parse() {
                Ok(number) => port.port = number,
                Err(_) => port.ip = part.into(),
            },
        }
    }
    port
}

fn effect(name: &str) -> TaintEffect {
    match name {
        "NoSchedule" => TaintEffect::NoSchedule,
        "PreferNoSchedule" => TaintEffect::PreferNoSchedule,
        "NoExecute" => TaintEffect::NoExecute,
        _ => panic!("what is the effect {name:?}?"),
    }
}

//! Pods of the tests: how they are written down, and what is read off them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Pod, PodCondition};
use serde_json::{Value, json};

use super::workers::amount;

/// The priorities of the golden scenarios, each a PriorityClass of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Who makes room.
    Low,
    /// In between.
    Mid,
    /// Who grows.
    High,
    /// High, and never at the cost of others.
    HighNever,
    /// Below Pods without a priority.
    Negative,
    /// Above everything: takes up what a node has too much of.
    Filler,
}

impl Priority {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Low, Self::Mid, Self::High, Self::HighNever, Self::Negative, Self::Filler];

    /// The class's name in this run.
    pub fn class(self, run: &str) -> String {
        format!("elbowroom-e2e-{run}-{self:?}").to_lowercase()
    }

    /// `spec.priority` of its Pods.
    pub fn value(self) -> i32 {
        match self {
            Self::Low => 100,
            Self::Mid => 200,
            Self::High | Self::HighNever => 300,
            Self::Negative => -1,
            Self::Filler => 900_000_000,
        }
    }

    /// Whether its Pods may preempt.
    pub fn preempts(self) -> bool {
        !matches!(self, Self::HighNever | Self::Filler)
    }
}

/// A Pod with one container `c`, before it is created.
#[derive(Debug, Clone)]
pub struct PodSpec {
    /// Name and value of the label `app`.
    pub name: String,
    priority: Priority,
    requests: BTreeMap<&'static str, String>,
    pre_stop: Option<u32>,
    limited: bool,
    command: Option<&'static str>,
    spec: Vec<(String, Value)>,
}

impl PodSpec {
    /// A Pod without requests that elbowroom has to place.
    pub fn new(name: impl Into<String>, priority: Priority) -> Self {
        Self {
            name: name.into(),
            priority,
            requests: BTreeMap::new(),
            pre_stop: None,
            limited: false,
            command: None,
            spec: Vec::new(),
        }
    }

    /// CPU request in milli-CPU.
    pub fn cpu(mut self, milli: i64) -> Self {
        self.requests.insert("cpu", format!("{milli}m"));
        self
    }

    /// Memory request in MiB.
    pub fn memory(mut self, mebibytes: i64) -> Self {
        self.requests.insert("memory", format!("{mebibytes}Mi"));
        self
    }

    /// May use no more than it requests.
    pub fn limited(mut self) -> Self {
        self.limited = true;
        self
    }

    /// Runs this shell command instead of waiting for SIGTERM; only on a node with real containers.
    pub fn running(mut self, command: &'static str) -> Self {
        self.command = Some(command);
        self
    }

    /// Bound from the start: no scheduler sees it pending.
    pub fn on(self, node: &str) -> Self {
        self.with("nodeName", json!(node))
    }

    /// May go to this node only, once a scheduler says so.
    pub fn only(self, node: &str) -> Self {
        self.with("nodeSelector", json!({"kubernetes.io/hostname": node}))
    }

    /// Needs that long to stop, on a node with a kubelet (a simulated one holds it by `World::hold`).
    pub fn leaves_after(mut self, seconds: u32) -> Self {
        self.pre_stop = Some(seconds);
        self.with("terminationGracePeriodSeconds", json!(60))
    }

    /// Sets a field of the Pod's spec.
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.spec.push((field.to_owned(), value));
        self
    }

    /// The object to create.
    ///
    /// # Errors
    /// When a field set by `with` is not of the Pod's schema.
    pub fn object(&self, run: &str, profile: &str) -> anyhow::Result<Pod> {
        let mut container = json!({
            "name": "c", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": self.requests},
        });
        if let Some(seconds) = self.pre_stop {
            container["lifecycle"] = json!({"preStop": {"sleep": {"seconds": seconds}}});
        }
        if self.limited {
            container["resources"]["limits"] = json!(self.requests);
        }
        if let Some(command) = self.command {
            container["command"] = json!(["sh", "-c", command]);
        }
        let mut pod = json!({
            "metadata": {"name": self.name, "labels": {"app": self.name}},
            "spec": {
                "schedulerName": profile, "priorityClassName": self.priority.class(run),
                "containers": [container],
                "terminationGracePeriodSeconds": 5, "automountServiceAccountToken": false,
            },
        });
        for (field, value) in &self.spec {
            pod["spec"][field] = value.clone();
        }
        Ok(serde_json::from_value(pod)?)
    }
}

/// The condition of that type.
pub fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|c| c.type_ == kind)
}

/// Milli-CPU that the kubelet has allocated; 0 before it has seen the Pod.
pub fn allocated_cpu(pod: &Pod) -> i64 {
    allocated(pod, "cpu", 1000)
}

/// MiB that the kubelet has allocated.
pub fn allocated_memory(pod: &Pod) -> i64 {
    allocated(pod, "memory", 1) >> 20
}

fn allocated(pod: &Pod, resource: &str, scale: i64) -> i64 {
    let statuses = pod.status.as_ref().and_then(|s| s.container_statuses.as_deref()).unwrap_or_default();
    let amounts = statuses.iter().filter_map(|s| s.allocated_resources.as_ref());
    amounts.filter_map(|list| amount(list, resource, scale).ok()).sum()
}

/// Milli-CPU that the Pod asks for.
pub fn desired_cpu(pod: &Pod) -> i64 {
    let containers = pod.spec.as_ref().map(|s| s.containers.as_slice()).unwrap_or_default();
    let requests = containers.iter().filter_map(|c| c.resources.as_ref()?.requests.as_ref());
    requests.filter_map(|list| amount(list, "cpu", 1000).ok()).sum()
}

/// The container's ID, without the name of its runtime.
pub fn container_id(pod: &Pod) -> Option<&str> {
    let statuses = pod.status.as_ref()?.container_statuses.as_deref()?;
    statuses.first()?.container_id.as_deref()?.split_once("://").map(|(_, id)| id)
}

/// Where it is bound.
pub fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

/// Whether somebody has asked for its end.
pub fn is_leaving(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// One line for a failure report.
pub fn summary(pod: &Pod) -> String {
    let conditions = pod.status.as_ref().and_then(|s| s.conditions.as_deref()).unwrap_or_default();
    let conditions = conditions.iter().filter(|c| c.status != "True" || c.reason.is_some());
    let conditions: Vec<_> = conditions
        .map(|c| {
            let (reason, message) =
                (c.reason.as_deref().unwrap_or_default(), c.message.as_deref().unwrap_or_default());
            format!("\n      {}={} {reason} {message}", c.type_, c.status)
        })
        .collect();
    format!(
        "{} on {} {}{}: asks {}m, has {}m{}",
        pod.metadata.name.as_deref().unwrap_or_default(),
        node_of(pod).unwrap_or("no node"),
        pod.status.as_ref().and_then(|s| s.phase.as_deref()).unwrap_or_default(),
        if is_leaving(pod) { ", leaving" } else { "" },
        desired_cpu(pod),
        allocated_cpu(pod),
        conditions.concat(),
    )
}

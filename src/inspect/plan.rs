//! A resize that nobody has asked for yet: how it is written into the Pod, and what the API would say to it.
//!
//! Invariant: what the API refuses is said and planned all the same, so that one sees both.

use super::names;
use super::shape::Refusal;
use crate::model::pod::REPORT_CONDITION;
use crate::model::{Node, Pod, Quantity, Timestamp};
use crate::wire::{self, Converter, Unreadable, Wish};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Resource;

/// The resize that is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The container; not needed where there is only one.
    pub container: Option<String>,
    /// What it should ask for.
    pub wish: Wish,
}

/// Why a resize cannot be planned. Each renders as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Senseless {
    /// There is no such container.
    #[error("Pod {pod} has no container {name} that can be resized; it has {has}")]
    NoContainer {
        /// `namespace/name`.
        pod: String,
        /// What was asked for.
        name: String,
        /// Those that there are.
        has: String,
    },
    /// Several containers, and none was named.
    #[error("Pod {pod} has several containers: say which with --container, one of {has}")]
    WhichContainer {
        /// `namespace/name`.
        pod: String,
        /// Those that there are.
        has: String,
    },
}

impl Plan {
    /// The Pod as it would be once the kubelet has deferred the resize, and why the API would refuse it.
    pub fn applied(&self, path: &str, pod: &wire::Pod, now: Timestamp) -> Result<Planned, Senseless> {
        let names: Vec<&str> = pod.resizable().collect();
        let has = || if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let container = match (&self.container, names.as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => (*only).to_owned(),
            (None, _) => return Err(Senseless::WhichContainer { pod: path.to_owned(), has: has() }),
        };
        let mut after = pod.clone();
        if !after.wish(&container, &self.wish) {
            return Err(Senseless::NoContainer { pod: path.to_owned(), name: container, has: has() });
        }
        let since = jiff::Timestamp::from_microsecond(now.0).unwrap_or_default();
        after.defer(Time(since), REPORT_CONDITION);
        let above = after.above_limit(&container);
        let requests = self.wish.requests.clone();
        let mut limits = self.wish.limits.clone();
        for (resource, _) in &requests {
            let limit =
                after.limit(&container, resource).filter(|_| !limits.iter().any(|(one, _)| one == resource));
            limits.extend(limit.map(|limit| (resource.clone(), limit)));
        }
        let sidecar = after.is_sidecar(&container);
        Ok(Planned { container, pod: after, sidecar, requests, limits, above })
    }
}

/// A Pod with its wish.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Which container grows.
    pub container: String,
    /// The Pod as it would be.
    pub pod: wire::Pod,
    sidecar: bool,
    requests: Vec<(String, Quantity)>,
    limits: Vec<(String, Quantity)>,
    above: Option<wire::AboveLimit>,
}

impl Planned {
    /// How to ask for it. Blanks may become line breaks: within the quotes and after a `\\`-less end they do not
    /// matter to the API.
    pub fn command(&self) -> String {
        let (namespace, name) = (self.pod.meta().namespace.as_deref(), self.pod.meta().name.as_deref());
        let list = |amounts: &[(String, Quantity)]| {
            let one = |(name, amount): &(String, Quantity)| format!("\"{name}\": \"{}\"", written(*amount));
            amounts.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let lists = [("requests", list(&self.requests)), ("limits", list(&self.limits))];
        let lists = lists.iter().filter(|(_, list)| !list.is_empty());
        let resources: Vec<String> = lists.map(|(name, list)| format!("\"{name}\": {{{list}}}")).collect();
        format!(
            "kubectl -n {} patch pod {} --subresource resize -p '{{\"spec\": {{\"{}\": [{{\"name\": \"{}\", \
             \"resources\": {{{}}}}}]}}}}'",
            namespace.unwrap_or_default(),
            name.unwrap_or_default(),
            if self.sidecar { "initContainers" } else { "containers" },
            self.container,
            resources.join(", ")
        )
    }

    /// What the API would answer instead of accepting the request (`ValidatePodResize` and the admission plugin
    /// `PodResizeValidator` of Kubernetes 1.37).
    ///
    /// # Errors
    /// A quantity of the Pod that cannot be read.
    pub fn refusals(&self, converter: &mut Converter, before: &Pod) -> Result<Vec<Refusal>, Unreadable> {
        let mut refusals = Vec::new();
        let mut refuse = |message: String| refusals.push(Refusal { code: 422, message });
        if before.mirror {
            refuse("a static Pod cannot be resized: change its manifest on the node".to_owned());
        }
        if let Some(above) = &self.above {
            let id = if above.resource == "cpu" { "--cpu-limit" } else { "--memory-limit" };
            let (request, limit) = (written(above.request), written(above.limit));
            let (container, resource) = (&self.container, &above.resource);
            refuse(format!(
                "container {container} would ask for {resource} {request}, above its limit {limit}: raise it with {id}"
            ));
        }
        let qos = converter.spec_qos(&self.pod)?;
        if qos != before.qos {
            let (old, new) = (names::qos(before.qos), names::qos(qos));
            refuse(format!("the QoS class would change from {old} to {new}, which no resize may do"));
        }
        Ok(refusals)
    }
}

/// Cpu and memory that the Pod would ask for beyond all that its node has.
pub fn exceeding(pod: &str, node: &Node, over: &[String]) -> Option<Refusal> {
    (!over.is_empty()).then(|| Refusal {
        code: 403,
        message: format!(
            "from Kubernetes 1.37 on admission refuses it: {pod} would ask for more than node {} has: {}",
            node.name,
            over.join(", ")
        ),
    })
}

/// A quantity in the units in which people write it.
fn written(amount: Quantity) -> String {
    let nano = amount.nanos();
    let unit = 1_000_000_000_i128;
    for (size, name) in [(1_i128 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")] {
        if nano != 0 && nano % (unit * size) == 0 {
            return format!("{}{name}", nano / (unit * size));
        }
    }
    if nano % unit == 0 { (nano / unit).to_string() } else { format!("{}m", amount.ceil_milli()) }
}

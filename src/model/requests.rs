//! What a Pod asks for and holds, as its object says it, before any arithmetic.
//!
//! Invariant: quantities are exact; rounding happens once per Pod, in the footprint.

use super::{Quantity, Str};

/// Amounts by resource name, in the order of the object.
pub type Requests = Vec<(Str, Quantity)>;

/// One container's part of the resources of a Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerResources {
    /// `spec.…resources.requests`: desired.
    pub requests: Requests,
    /// `status.…allocatedResources`: admitted by the kubelet. `None` when the kubelet has not said.
    pub allocated: Option<Requests>,
    /// `status.…resources.requests`: in force. `None` when the kubelet has not said.
    pub actual: Option<Requests>,
    /// An init container with `restartPolicy: Always`: a sidecar.
    pub sidecar: bool,
}

/// All that a Pod object says of its resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodResources {
    /// Regular containers.
    pub containers: Vec<ContainerResources>,
    /// Init containers in their order, sidecars among them.
    pub init_containers: Vec<ContainerResources>,
    /// `spec.resources.requests`: pod-level desired.
    pub pod_level: Option<Requests>,
    /// `spec.overhead`.
    pub overhead: Requests,
    /// `status.allocatedResources`: the Pod's total, overhead included.
    pub status_allocated: Option<Requests>,
    /// `status.resources.requests`: the Pod's total in force, overhead included.
    pub status_actual: Option<Requests>,
    /// `status.resources` is there but names no requests; `status_actual` is `None` then.
    pub status_bare: bool,
    /// The first `PodResizePending` condition has reason `Infeasible`: desired does not count.
    pub infeasible: bool,
}

impl PodResources {
    /// Whether what is in force is what the spec asks for, as far as the kubelet has said.
    pub fn in_force(&self) -> bool {
        let same = |container: &ContainerResources| {
            let asked =
                |name: &Str| container.requests.iter().find(|(known, _)| known == name).map(|(_, q)| *q);
            let actual = container.actual.as_ref();
            actual.is_none_or(|actual| actual.iter().all(|(name, quantity)| asked(name) == Some(*quantity)))
        };
        self.containers.iter().chain(&self.init_containers).all(same)
    }
}

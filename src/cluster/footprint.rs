//! What a Pod counts for on a node, in each of the readings that decisions need.
//!
//! Invariant: every sum is exact and is rounded once per Pod and resource. The rules are those of Kubernetes 1.37
//! (component-helpers `resource/helpers.go`, KEP-1287, KEP-2837, KEP-753, KEP-5419).

use super::rounding::whole;
use crate::model::requests::{ContainerResources, PodResources, Requests};
use crate::model::{Quantity, Str};

/// What scoring counts for a container that names no cpu request (kube-scheduler `util/pod_resources.go`).
const DEFAULT_CPU_MILLI: i64 = 100;
/// The same for memory: 200 MiB.
const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

/// What one Pod counts for. Lists are sorted by resource name and hold no zero; cpu is milli-CPU, memory and
/// storage are bytes, everything else is whole units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footprint {
    /// What the spec asks for: what a new Pod is filtered with, and what a growing Pod is to get
    /// (kube-scheduler `noderesources/fit.go`, PreFilter).
    pub desired: Vec<(Str, i64)>,
    /// The max of the three totals desired, allocated and actual: what the Pod keeps from new Pods
    /// (kube-scheduler `framework/types.go`, `CalculateResource`). An Infeasible resize does not count.
    pub reserved: Vec<(Str, i64)>,
    /// What the Pod's kubelet counts for it as a neighbour: as `reserved`, with the spec replaced by the allocation
    /// (kubelet `allocation/allocation_manager.go`, `UpdatePodFromAllocation`).
    pub held: Vec<(Str, i64)>,
    /// What `reserved` counts too much, because overhead is in it twice, as on the kubelet.
    pub overcount: Vec<(Str, i64)>,
    /// Milli-CPU that scoring counts for the Pod on its node, with a default for containers that name none.
    pub nonzero_cpu: i64,
    /// Bytes that scoring counts for the Pod on its node, with a default for containers that name none.
    pub nonzero_memory: i64,
    /// Milli-CPU that scoring counts for the Pod while it is new (`noderesources/resource_allocation.go`).
    pub new_nonzero_cpu: i64,
    /// Bytes that scoring counts for the Pod while it is new.
    pub new_nonzero_memory: i64,
}

/// Counts a Pod.
pub fn footprint(pod: &PodResources) -> Footprint {
    let names = names(pod);
    let list = |amount: &dyn Fn(&str) -> Option<Quantity>| -> Vec<(Str, i64)> {
        let rounded = names.iter().map(|name| ((*name).clone(), round(name, amount(name))));
        rounded.filter(|(_, amount)| *amount != 0).collect()
    };
    let reserved = |name: &str, default| Count { pod, name, default, allocation: false }.reserved();
    let desired = |name: &str, default| Count { pod, name, default, allocation: false }.desired();

    // On a node, pod-level requests make the default needless for every resource that the Pod names anywhere.
    let pod_level = pod.pod_level.iter().flatten().any(|(name, _)| has_pod_level(name));
    let scored = |name: &str, default: Quantity| {
        let default = Some(default).filter(|_| !pod_level || reserved(name, None).is_none());
        round(name, reserved(name, default))
    };
    let (cpu, memory) = (Quantity::from_milli(DEFAULT_CPU_MILLI), Quantity::from_units(DEFAULT_MEMORY));
    Footprint {
        desired: list(&|name| desired(name, None)),
        reserved: list(&|name| reserved(name, None)),
        held: list(&|name| Count { pod, name, default: None, allocation: true }.reserved()),
        overcount: list(&|name| Count { pod, name, default: None, allocation: false }.overcount()),
        nonzero_cpu: scored("cpu", cpu),
        nonzero_memory: scored("memory", memory),
        new_nonzero_cpu: round("cpu", desired("cpu", Some(cpu))),
        new_nonzero_memory: round("memory", desired("memory", Some(memory))),
    }
}

/// Every resource that the Pod names and a node can be short of, sorted.
fn names(pod: &PodResources) -> Vec<&Str> {
    let containers = pod.containers.iter().chain(&pod.init_containers);
    let lists = containers.flat_map(|one| {
        [Some(&one.requests), one.allocated.as_ref(), one.actual.as_ref()].into_iter().flatten()
    });
    let totals = [pod.pod_level.as_ref(), pod.status_allocated.as_ref(), pod.status_actual.as_ref()];
    let lists = lists.chain(totals.into_iter().flatten()).chain([&pod.overhead]);
    let mut names: Vec<&Str> = lists.flatten().map(|(name, _)| name).filter(|name| counts(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether kube-scheduler sums this resource (`framework/types.go`, `Resource.Add`): the three built-in ones,
/// hugepages, attachable volumes, and names with a domain. Quota names and bare words are no node resources.
fn counts(name: &str) -> bool {
    match name {
        "cpu" | "memory" | "ephemeral-storage" => true,
        _ if name.starts_with("hugepages-") || name.starts_with("attachable-volumes-") => true,
        _ => name.contains('/') && !name.starts_with("requests."),
    }
}

/// Whether `spec.resources` may set this resource for the whole Pod (component-helpers,
/// `IsSupportedPodLevelResource`).
fn has_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

fn round(name: &str, amount: Option<Quantity>) -> i64 {
    whole(name, amount.unwrap_or_default())
}

fn find(list: &Requests, name: &str) -> Option<Quantity> {
    list.iter().find(|(known, _)| &**known == name).map(|(_, amount)| *amount)
}

fn sum(one: Option<Quantity>, other: Option<Quantity>) -> Option<Quantity> {
    one.into_iter().chain(other).reduce(|one, other| one + other)
}

/// One resource of one Pod. `None` stands for a resource that nothing names, which scoring tells from zero.
struct Count<'a> {
    pod: &'a PodResources,
    name: &'a str,
    /// For containers that do not name the resource.
    default: Option<Quantity>,
    /// Read the spec as the kubelet does, which puts its allocation there.
    allocation: bool,
}

impl Count<'_> {
    /// From the spec alone.
    fn desired(&self) -> Option<Quantity> {
        let total = self.total(|one| Some(&one.requests));
        sum(self.pod_level().or(total), self.overhead())
    }

    /// The max of totals. Overhead is in the Pod's status totals too and so counts twice once they are there;
    /// kube-scheduler and the kubelet both do that, and charging less would bind Pods that the kubelet rejects.
    fn reserved(&self) -> Option<Quantity> {
        let pod = self.pod;
        let spec = |one| Some(self.spec(one)).filter(|_| !pod.infeasible);
        let desired = if pod.infeasible { None } else { self.total(spec) };
        let (allocated, actual) = match (&pod.status_allocated, &pod.status_actual) {
            (Some(allocated), Some(actual)) => (find(allocated, self.name), find(actual, self.name)),
            _ => (
                self.total(|one| one.allocated.as_ref().or_else(|| spec(one))),
                self.total(|one| one.actual.as_ref().or(one.allocated.as_ref()).or_else(|| spec(one))),
            ),
        };
        let containers = desired.max(allocated).max(actual);
        sum(self.reserved_pod_level().or(containers), self.overhead())
    }

    /// How far `reserved` is above the largest total that has the overhead in it once.
    fn overcount(&self) -> Option<Quantity> {
        let pod = self.pod;
        let (Some(allocated), Some(actual)) = (&pod.status_allocated, &pod.status_actual) else {
            return None;
        };
        self.overhead()?;
        let desired = self.desired().filter(|_| !pod.infeasible);
        let once = desired.max(find(allocated, self.name)).max(find(actual, self.name))?;
        Some((self.reserved()? - once).max(Quantity::ZERO))
    }

    /// The amount that pod-level requests put in the place of the containers' total.
    fn reserved_pod_level(&self) -> Option<Quantity> {
        let pod = self.pod;
        // Which resources the status may set is decided by the spec naming any.
        let any = pod.pod_level.iter().flatten().any(|(name, _)| has_pod_level(name));
        if !any || !has_pod_level(self.name) {
            return None;
        }
        if pod.status_actual.is_none() && !pod.status_bare {
            return self.pod_level();
        }
        let status = [&pod.status_actual, &pod.status_allocated].into_iter().flatten();
        let status = status.filter_map(|list| find(list, self.name)).max();
        self.pod_level().filter(|_| !pod.infeasible).max(status)
    }

    fn pod_level(&self) -> Option<Quantity> {
        let desired = self.pod.pod_level.as_ref().and_then(|list| find(list, self.name));
        let desired = desired.filter(|_| has_pod_level(self.name))?;
        let allocated = self.pod.status_allocated.as_ref().filter(|_| self.allocation);
        let allocated = allocated.and_then(|list| find(list, self.name));
        // The status holds overhead, the allocation does not.
        let overhead = self.overhead().unwrap_or_default();
        Some(allocated.map_or(desired, |with| (with - overhead).max(Quantity::ZERO)))
    }

    fn overhead(&self) -> Option<Quantity> {
        find(&self.pod.overhead, self.name)
    }

    fn spec<'b>(&self, one: &'b ContainerResources) -> &'b Requests {
        one.allocated.as_ref().filter(|_| self.allocation).unwrap_or(&one.requests)
    }

    /// The containers' total (KEP-753): what runs together in the end, or the highest peak while starting, where an
    /// init container runs beside the sidecars before it.
    fn total<'b>(
        &'b self,
        list: impl Fn(&'b ContainerResources) -> Option<&'b Requests>,
    ) -> Option<Quantity> {
        let amount = |one| list(one).and_then(|list| find(list, self.name)).or(self.default);
        let mut running = self.pod.containers.iter().map(amount).fold(None, sum);
        let (mut sidecars, mut peak) = (None, None);
        for one in &self.pod.init_containers {
            let beside = sum(sidecars, amount(one));
            peak = peak.max(beside);
            if one.sidecar {
                running = sum(running, amount(one));
                sidecars = beside;
            }
        }
        running.max(peak)
    }
}

#[cfg(test)]
mod tests;

//! Resource lists of containers, Pods and Nodes.
//!
//! Invariant: amounts stay exact, and a list that the object does not have stays absent.

use super::{Converter, Problem};
use crate::model::requests::{ContainerResources, PodResources, Requests};
use crate::wire::amounts::{Amount, Amounts, Resources};
use crate::wire::pod::{Container, ContainerStatus, PodSpec, PodStatus};

impl Converter {
    pub(super) fn amounts(&mut self, wire: &Amounts, path: impl Fn() -> String) -> Result<Requests, Problem> {
        wire.0
            .iter()
            .map(|(resource, amount)| match amount {
                Amount::Exact(quantity) => Ok((self.intern(resource), *quantity)),
                Amount::Unreadable(problem) => {
                    Err(Problem { field: format!("{}.{resource}", path()), problem: problem.clone() })
                }
            })
            .collect()
    }

    fn optional(
        &mut self,
        wire: Option<&Amounts>,
        path: impl Fn() -> String,
    ) -> Result<Option<Requests>, Problem> {
        wire.map(|amounts| self.amounts(amounts, path)).transpose()
    }

    pub(super) fn pod_resources<'a>(
        &mut self,
        spec: &'a PodSpec,
        status: &'a PodStatus,
        infeasible: bool,
    ) -> Result<PodResources, Problem> {
        let requests = |resources: Option<&'a Resources>| resources.and_then(|one| one.requests.as_ref());
        Ok(PodResources {
            containers: self.containers("containers", &spec.containers, &status.container_statuses)?,
            init_containers: self.containers(
                "initContainers",
                &spec.init_containers,
                &status.init_container_statuses,
            )?,
            pod_level: self
                .optional(requests(spec.resources.as_ref()), || "spec.resources.requests".into())?,
            overhead: self.amounts(&spec.overhead, || "spec.overhead".into())?,
            status_allocated: self
                .optional(status.allocated_resources.as_ref(), || "status.allocatedResources".into())?,
            status_actual: self
                .optional(requests(status.resources.as_ref()), || "status.resources.requests".into())?,
            status_bare: status.resources.as_ref().is_some_and(|one| one.requests.is_none()),
            infeasible,
        })
    }

    fn containers(
        &mut self,
        list: &'static str,
        specs: &[Container],
        statuses: &[ContainerStatus],
    ) -> Result<Vec<ContainerResources>, Problem> {
        let mut containers = Vec::with_capacity(specs.len());
        for spec in specs {
            let path = |part: &str| format!("{list} {:?}: {part}", spec.name);
            let status = statuses.iter().find(|status| status.name == spec.name);
            let requests = match &spec.resources.requests {
                Some(amounts) => self.amounts(amounts, || path("resources.requests"))?,
                None => Requests::new(),
            };
            let allocated = status.and_then(|status| status.allocated_resources.as_ref());
            let actual = status.and_then(|status| status.resources.as_ref()?.requests.as_ref());
            containers.push(ContainerResources {
                requests,
                allocated: self.optional(allocated, || path("status.allocatedResources"))?,
                actual: self.optional(actual, || path("status.resources.requests"))?,
                sidecar: list == "initContainers" && spec.restarts_always(),
            });
        }
        Ok(containers)
    }
}

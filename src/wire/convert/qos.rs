//! The QoS class of a Pod whose status does not have it.
//!
//! Invariant: as `pkg/apis/core/v1/helper/qos` computes it; only cpu and memory count.

use super::{Converter, Problem, Unreadable};
use crate::model::Quantity;
use crate::model::pod::Qos;
use crate::wire::amounts::{Amounts, Resources};
use crate::wire::pod::{Pod, PodSpec};
use kube::Resource;

/// cpu and memory of one list; zero where it has none.
type Pair = [Quantity; 2];

impl Converter {
    pub(super) fn qos(&mut self, pod: &Pod) -> Result<Qos, Problem> {
        match pod.status.qos_class.as_deref() {
            Some("Guaranteed") => Ok(Qos::Guaranteed),
            Some("Burstable") => Ok(Qos::Burstable),
            Some("BestEffort") => Ok(Qos::BestEffort),
            _ => self.computed_qos(&pod.spec),
        }
    }

    /// The class that the spec alone makes, whatever the status says.
    ///
    /// # Errors
    /// A quantity that cannot be read.
    pub fn spec_qos(&mut self, pod: &Pod) -> Result<Qos, Unreadable> {
        self.computed_qos(&pod.spec).map_err(|problem| problem.of("Pod", pod.meta()))
    }

    fn computed_qos(&mut self, spec: &PodSpec) -> Result<Qos, Problem> {
        // Pod-level resources, where given, speak for all containers.
        let lists: Vec<&Resources> = match &spec.resources {
            Some(pod_level) => vec![pod_level],
            None => spec.containers.iter().chain(&spec.init_containers).map(|one| &one.resources).collect(),
        };
        let mut limited = true;
        let (mut requests, mut limits) = (Pair::default(), Pair::default());
        for resources in lists {
            let wanted = self.pair(resources.requests.as_ref(), "requests")?;
            let allowed = self.pair(resources.limits.as_ref(), "limits")?;
            limited &= allowed.iter().all(|amount| *amount > Quantity::ZERO);
            requests.iter_mut().zip(wanted).for_each(|(sum, one)| *sum += one);
            limits.iter_mut().zip(allowed).for_each(|(sum, one)| *sum += one);
        }
        Ok(if requests == Pair::default() && limits == Pair::default() {
            Qos::BestEffort
        } else if limited && requests == limits {
            Qos::Guaranteed
        } else {
            Qos::Burstable
        })
    }

    fn pair(&mut self, amounts: Option<&Amounts>, list: &'static str) -> Result<Pair, Problem> {
        let mut pair = Pair::default();
        let Some(amounts) = amounts else { return Ok(pair) };
        for (resource, quantity) in self.amounts(amounts, || format!("resources.{list}"))? {
            let slot = match resource.as_str() {
                "cpu" => &mut pair[0],
                "memory" => &mut pair[1],
                _ => continue,
            };
            *slot = quantity.max(Quantity::ZERO);
        }
        Ok(pair)
    }
}

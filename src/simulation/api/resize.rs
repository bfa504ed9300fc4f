//! The `resize` subresource of a Pod.
//!
//! Invariant: a resize is stored whole or not at all, and a stored one raises the generation by one.

use super::admission::qos;
use super::{Api, Refusal, not_found};
use crate::model::Quantity;
use crate::simulation::objects::{Amounts, Key, PodExt, exact, requests, same_amount};
use k8s_openapi::api::core::v1::{Pod, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;

/// Whose resources change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The Pod's only container.
    #[default]
    OnlyContainer,
    /// The container of this name.
    Container(String),
    /// The Pod as a whole: `spec.resources`.
    Pod,
}

/// New requests of one container, or of the Pod as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resize {
    /// What asks for it.
    pub target: Target,
    /// New requests by resource. A limit that equals the old request goes along with it.
    pub requests: Amounts,
}

impl Api {
    /// Changes what a Pod asks for.
    ///
    /// # Errors
    /// 404; 403 when the node does not have as much (admission plugin `PodResizeValidator`); 422 for a container
    /// that does not exist, a resource other than cpu and memory, a request above its limit, another QoS class.
    pub fn resize_pod(&mut self, key: &Key, resize: &Resize) -> Result<(), Refusal> {
        let mut pod = self.pods.get(key).cloned().ok_or_else(|| not_found("pods", &key.name))?;
        let invalid = |what: String| Refusal::new(422, format!("Pod \"{}\" is invalid: {what}", key.name));
        if let Some(name) = resize.requests.keys().find(|name| !matches!(name.as_str(), "cpu" | "memory")) {
            return Err(invalid(format!("only cpu and memory resources are mutable, not {name}")));
        }
        let old_qos = qos(&pod);
        let resources = resources_of(&mut pod, &resize.target).map_err(invalid)?;
        let before = resources.clone();
        for (name, amount) in &resize.requests {
            let asked = resources.requests.get_or_insert_default();
            let old = asked.insert(name.clone(), amount.clone());
            let Some(limit) = resources.limits.as_mut().and_then(|limits| limits.get_mut(name)) else {
                continue;
            };
            if old.is_some() && same_amount(old.as_ref(), Some(limit)) {
                *limit = amount.clone();
            } else if exact(limit) < exact(amount) {
                let text = format!("must be less than or equal to {name} limit of {}", limit.0);
                return Err(invalid(format!("requests: Invalid value: \"{}\": {text}", amount.0)));
            }
        }
        if before == *resources {
            return Ok(());
        }
        if qos(&pod) != old_qos {
            return Err(invalid("Pod QOS Class may not change as a result of resizing".to_owned()));
        }
        self.check_capacity(&pod)?;
        pod.metadata.generation = Some(pod.generation() + 1);
        self.store_pod(pod);
        Ok(())
    }

    /// The desired total, overhead included, must not exceed what the node has at all.
    fn check_capacity(&self, pod: &Pod) -> Result<(), Refusal> {
        let Some(node) = pod.node().and_then(|name| self.nodes.get(name)) else { return Ok(()) };
        let allocatable = crate::simulation::objects::allocatable(node);
        for name in ["cpu", "memory"] {
            let Some(room) = allocatable.get(name).and_then(exact) else { continue };
            let overhead =
                pod.spec.as_ref().and_then(|spec| spec.overhead.as_ref()?.get(name)).and_then(exact);
            let regular = pod.spec.iter().flat_map(|spec| &spec.containers);
            let sidecars = pod.spec.iter().flat_map(|spec| spec.init_containers.iter().flatten());
            let sidecars = sidecars.filter(|one| one.restart_policy.as_deref() == Some("Always"));
            let whole = pod
                .spec
                .as_ref()
                .and_then(|spec| requests(spec.resources.as_ref()).get(name).and_then(exact));
            let sum = || {
                let all = regular.chain(sidecars);
                all.filter_map(|one| requests(one.resources.as_ref()).get(name).and_then(exact)).sum()
            };
            let asked: Quantity = [whole.unwrap_or_else(sum)].into_iter().chain(overhead).sum();
            if asked > room {
                let text = format!(
                    "Node \"{}\" allocatable {name} {room} is less than the requested {asked}",
                    pod.node().unwrap_or_default()
                );
                return Err(Refusal::new(403, format!("pods \"{}\" is forbidden: {text}", pod.key().name)));
            }
        }
        Ok(())
    }
}

fn resources_of<'a>(pod: &'a mut Pod, target: &Target) -> Result<&'a mut ResourceRequirements, String> {
    let spec = pod.spec_mut();
    if *target == Target::Pod {
        let none = "it has no resources of its own, only those of its containers";
        return spec.resources.as_mut().ok_or_else(|| none.to_owned());
    }
    let sidecars = spec.init_containers.iter_mut().flatten();
    let mut all: Vec<_> = spec.containers.iter_mut().chain(sidecars).collect();
    let at = match target {
        Target::Container(name) => all
            .iter()
            .position(|one| one.name == *name)
            .ok_or_else(|| format!("it has no container \"{name}\""))?,
        _ if all.len() == 1 => 0,
        _ => return Err("it has several containers, so the resize must name one".to_owned()),
    };
    Ok(all.swap_remove(at).resources.get_or_insert_default())
}

impl Resize {
    /// The resize of a Pod's only container.
    pub fn of(requests: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let requests =
            requests.into_iter().map(|(name, amount)| (name.to_owned(), ApiQuantity(amount.to_owned())));
        Self { target: Target::OnlyContainer, requests: requests.collect() }
    }
}

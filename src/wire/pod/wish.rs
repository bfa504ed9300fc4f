//! A resize that nobody has asked for yet, written into a Pod as the API and its kubelet would.
//!
//! Invariant: what the Pod holds stays what it was; only what it asks for changes.

use super::{Container, ContainerStatus, Pod, PodCondition};
use crate::model::Quantity;
use crate::wire::amounts::{Amount, Amounts};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// What one container should ask for; what is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Requests by resource name.
    pub requests: Vec<(String, Quantity)>,
    /// Limits by resource name. A limit that is not named and equals its request moves with it.
    pub limits: Vec<(String, Quantity)>,
}

/// A request above its limit, which the API refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AboveLimit {
    /// The resource.
    pub resource: String,
    /// What is asked for.
    pub request: Quantity,
    /// The most that is allowed.
    pub limit: Quantity,
}

impl Pod {
    /// The containers that can be resized while they run, by name: regular ones, then sidecars.
    pub fn resizable(&self) -> impl Iterator<Item = &str> {
        let sidecars = self.spec.init_containers.iter().filter(|one| one.restarts_always());
        self.spec.containers.iter().chain(sidecars).map(|one| one.name.as_str())
    }

    /// Asks for it as the resize subresource would: a new generation, the old amounts still allocated. False if
    /// there is no such container.
    pub fn wish(&mut self, container: &str, wish: &Wish) -> bool {
        let spec = &mut self.spec;
        let sidecars = spec.init_containers.iter_mut().filter(|one| one.restarts_always());
        let (regular, sidecar) = (&mut spec.containers, sidecars);
        let mut found = regular.iter_mut().map(|one| (one, false)).chain(sidecar.map(|one| (one, true)));
        let Some((spec, is_sidecar)) = found.find(|(one, _)| one.name == container) else { return false };
        let before = spec.resources.requests.clone().unwrap_or_default();
        spec.ask(wish);
        let list = if is_sidecar {
            &mut self.status.init_container_statuses
        } else {
            &mut self.status.container_statuses
        };
        if !list.iter().any(|status| status.name == container) {
            list.push(ContainerStatus { name: container.to_owned(), ..ContainerStatus::default() });
        }
        for status in list.iter_mut().filter(|status| status.name == container) {
            status.allocated_resources.get_or_insert_with(|| before.clone());
        }
        let generation = self.metadata.generation.unwrap_or_default().saturating_add(1);
        self.metadata.generation = Some(generation);
        true
    }

    /// Says that the kubelet deferred what the Pod asks for now, and that nobody has said anything about it.
    pub fn defer(&mut self, since: Time, ours: &str) {
        const PENDING: &str = "PodResizePending";
        self.status.conditions.retain(|one| one.kind != PENDING && one.kind != ours);
        self.status.observed_generation = self.metadata.generation;
        self.status.conditions.push(PodCondition {
            kind: PENDING.to_owned(),
            status: "True".to_owned(),
            reason: "Deferred".to_owned(),
            message: String::new(),
            observed_generation: self.metadata.generation,
            last_transition_time: Some(since),
        });
    }

    /// The limit of a container, if it has one that can be read.
    pub fn limit(&self, container: &str, resource: &str) -> Option<Quantity> {
        let mut all = self.spec.containers.iter().chain(&self.spec.init_containers);
        all.find(|one| one.name == container)?.resources.limits.as_ref()?.exact(resource)
    }

    /// Whether the container is a sidecar.
    pub fn is_sidecar(&self, container: &str) -> bool {
        self.spec.init_containers.iter().any(|one| one.name == container && one.restarts_always())
    }

    /// The first request of the container that is above its limit.
    pub fn above_limit(&self, container: &str) -> Option<AboveLimit> {
        let mut all = self.spec.containers.iter().chain(&self.spec.init_containers);
        let resources = &all.find(|one| one.name == container)?.resources;
        let (requests, limits) = (resources.requests.as_ref()?, resources.limits.as_ref()?);
        requests.0.iter().find_map(|(resource, _)| {
            let (request, limit) = (requests.exact(resource)?, limits.exact(resource)?);
            (request > limit).then(|| AboveLimit { resource: resource.clone(), request, limit })
        })
    }
}

impl Container {
    fn ask(&mut self, wish: &Wish) {
        let requests = self.resources.requests.get_or_insert_with(Amounts::default);
        for (resource, amount) in &wish.requests {
            let before = requests.exact(resource);
            let tied = self.resources.limits.as_mut().filter(|limits| {
                before.is_some() && limits.exact(resource) == before && !named(&wish.limits, resource)
            });
            if let Some(limits) = tied {
                limits.set(resource, *amount);
            }
            requests.set(resource, *amount);
        }
        for (resource, amount) in &wish.limits {
            self.resources.limits.get_or_insert_with(Amounts::default).set(resource, *amount);
        }
    }
}

fn named(list: &[(String, Quantity)], resource: &str) -> bool {
    list.iter().any(|(known, _)| known == resource)
}

impl Amounts {
    fn exact(&self, resource: &str) -> Option<Quantity> {
        self.0.iter().find(|(known, _)| known == resource).and_then(|(_, amount)| match amount {
            Amount::Exact(quantity) => Some(*quantity),
            Amount::Unreadable(_) => None,
        })
    }

    fn set(&mut self, resource: &str, quantity: Quantity) {
        let amount = Amount::Exact(quantity);
        match self.0.iter_mut().find(|(known, _)| known == resource) {
            Some((_, old)) => *old = amount,
            None => self.0.push((resource.to_owned(), amount)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::Converter;
    use serde_json::json;

    fn pod(resources: serde_json::Value) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": "cart", "namespace": "shop", "uid": "1", "generation": 4},
            "spec": {"containers": [{"name": "app", "resources": resources}]},
        }))
        .unwrap()
    }

    fn cpu(amount: &str) -> Wish {
        let requests = vec![("cpu".to_owned(), Quantity::parse(amount).unwrap())];
        Wish { requests, ..Wish::default() }
    }

    #[test]
    fn the_old_amounts_stay_allocated() {
        let mut pod = pod(json!({"requests": {"cpu": "400m", "memory": "1Gi"}}));
        assert!(pod.wish("app", &cpu("700m")));
        let fact = Converter::new([]).pod(&pod).unwrap();
        let container = &fact.resources.containers[0];
        assert_eq!(container.requests[0].1, Quantity::from_milli(700));
        assert_eq!(container.allocated.as_ref().unwrap()[0].1, Quantity::from_milli(400));
        assert_eq!(fact.generation, 5);
    }

    #[test]
    fn what_the_kubelet_has_allocated_counts_before_the_spec() {
        let mut pod = pod(json!({"requests": {"cpu": "700m"}}));
        pod.status.container_statuses = serde_json::from_value(json!([
            {"name": "app", "allocatedResources": {"cpu": "300m"}}
        ]))
        .unwrap();
        assert!(pod.wish("app", &cpu("900m")));
        let fact = Converter::new([]).pod(&pod).unwrap();
        assert_eq!(fact.resources.containers[0].allocated.as_ref().unwrap()[0].1, Quantity::from_milli(300));
    }

    #[test]
    fn a_limit_that_equals_its_request_moves_with_it() {
        let mut pod = pod(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}));
        assert!(pod.wish("app", &cpu("2")));
        assert_eq!(pod.above_limit("app"), None);
    }

    #[test]
    fn a_limit_of_its_own_stays_and_may_be_passed() {
        let mut pod = pod(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1500m"}}));
        assert!(pod.wish("app", &cpu("2")));
        let above = pod.above_limit("app").unwrap();
        assert_eq!((above.resource.as_str(), above.limit), ("cpu", Quantity::from_milli(1500)));
    }

    #[test]
    fn a_container_that_is_not_there_is_said_to_be_missing() {
        assert!(!pod(json!({})).wish("db", &cpu("1")));
    }

    #[test]
    fn a_deferred_wish_is_judged_to_be_of_this_generation() {
        let mut pod = pod(json!({"requests": {"cpu": "1"}}));
        assert!(pod.wish("app", &cpu("2")));
        pod.defer(Time("2026-12-01T04:00:00Z".parse().unwrap()), "ours");
        let fact = Converter::new([]).pod(&pod).unwrap();
        assert!(crate::model::Pod::deferred(&fact));
        assert_eq!(fact.resize.unwrap().observed_generation, Some(fact.generation));
    }
}

//! Creating a Pod: defaults of the API and what admission fills in.
//!
//! Invariant: a stored Pod has UID, generation, priority, preemption policy, grace period and QoS class.

use super::{Api, Refusal};
use crate::model::Timestamp;
use crate::simulation::objects::{Amounts, Key, PodExt, exact, time};
use k8s_openapi::api::core::v1::{Container, Namespace, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The scheduler of Pods that name none. A cluster's API server says `default-scheduler`; here elbowroom is the
/// only scheduler there is.
pub const SCHEDULER: &str = "elbowroom";

impl Api {
    /// Creates a Pod.
    ///
    /// # Errors
    /// 409 when the name is taken; 403 for a priority class that is unknown or says another priority.
    pub fn create_pod(&mut self, now: Timestamp, mut pod: Pod) -> Result<Key, Refusal> {
        let namespace = pod.metadata.namespace.get_or_insert_with(|| "default".to_owned()).clone();
        let key = pod.key();
        if self.pods.contains_key(&key) {
            return Err(Refusal::new(409, format!("pods \"{}\" already exists", key.name)));
        }
        if !self.namespaces.contains_key(&namespace) {
            let metadata = ObjectMeta { name: Some(namespace), ..ObjectMeta::default() };
            self.store_namespace(Namespace { metadata, ..Namespace::default() });
        }
        self.resolve_priority(&mut pod)?;
        if pod.metadata.uid.is_none() {
            pod.metadata.uid = Some(self.uid());
        }
        pod.metadata.generation.get_or_insert(1);
        pod.metadata.creation_timestamp.get_or_insert_with(|| time(now));
        let spec = pod.spec_mut();
        spec.scheduler_name.get_or_insert_with(|| SCHEDULER.to_owned());
        spec.termination_grace_period_seconds.get_or_insert(30);
        spec.restart_policy.get_or_insert_with(|| "Always".to_owned());
        for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten()) {
            default_requests(container);
        }
        let qos = qos(&pod);
        let status = pod.status_mut();
        status.phase.get_or_insert_with(|| "Pending".to_owned());
        status.qos_class.get_or_insert_with(|| qos.to_owned());
        self.store_pod(pod);
        Ok(key)
    }

    /// What the admission plugin `Priority` does. A priority without a class is taken as it is written.
    fn resolve_priority(&self, pod: &mut Pod) -> Result<(), Refusal> {
        let value =
            |class: &PriorityClass| (class.value.unwrap_or_default(), class.preemption_policy.clone());
        let spec = pod.spec_mut();
        let class = match &spec.priority_class_name {
            Some(name) => match (name.as_str(), self.classes.get(name)) {
                ("system-node-critical", _) => Some((2_000_001_000, None)),
                ("system-cluster-critical", _) => Some((2_000_000_000, None)),
                (_, Some(class)) => Some(value(class)),
                (_, None) => {
                    return Err(Refusal::new(403, format!("no PriorityClass with name {name} was found")));
                }
            },
            None if spec.priority.is_none() => {
                self.classes.values().find(|class| class.global_default == Some(true)).map(value)
            }
            None => None,
        };
        if let Some((value, policy)) = class {
            if spec.priority.is_some_and(|given| given != value) {
                let text = "the integer value of priority must not be provided in pod spec; \
                            priority admission controller computed another one from the class";
                return Err(Refusal::new(403, text));
            }
            spec.priority = Some(value);
            spec.preemption_policy = spec.preemption_policy.take().or(policy);
        }
        spec.priority.get_or_insert(0);
        spec.preemption_policy.get_or_insert_with(|| "PreemptLowerPriority".to_owned());
        Ok(())
    }
}

/// A limit without a request is a request too.
fn default_requests(container: &mut Container) {
    let Some(resources) = container.resources.as_mut() else { return };
    let Some(limits) = resources.limits.clone() else { return };
    let requests = resources.requests.get_or_insert_default();
    for (name, amount) in limits {
        requests.entry(name).or_insert(amount);
    }
}

/// The QoS class (`pkg/apis/core/v1/helper/qos`): cpu and memory alone count, zero amounts do not.
pub fn qos(pod: &Pod) -> &'static str {
    let given = |amounts: Option<&Amounts>, name: &str| {
        amounts.and_then(|list| list.get(name)).and_then(exact).filter(|amount| *amount != Default::default())
    };
    let (mut any, mut guaranteed) = (false, true);
    for container in pod.containers() {
        let resources = container.resources.as_ref();
        let requests = resources.and_then(|one| one.requests.as_ref());
        let limits = resources.and_then(|one| one.limits.as_ref());
        for name in ["cpu", "memory"] {
            let (request, limit) = (given(requests, name), given(limits, name));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

//! A Pod as a fact.
//!
//! Invariant: defaults are those of the API; admission has written the priority, so none is 0.

use super::{Converter, Problem, Unreadable, name, timestamp};
use crate::model::pod::{Condition, Controller, Phase};
use crate::model::pod::{REPORT_CONDITION, SCHEDULED_CONDITION};
use crate::model::{Labels, Pod, PodRef, Span};
use crate::wire::pod::{self as wire, PodCondition};
use kube::core::ObjectMeta;

/// The annotation of a mirror of a static Pod.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The condition by which a kubelet says that a resize waits.
const RESIZE_CONDITION: &str = "PodResizePending";
/// `terminationGracePeriodSeconds` where a Pod has none.
const DEFAULT_GRACE_SECONDS: i64 = 30;

impl Converter {
    /// The Pod as a fact.
    ///
    /// # Errors
    /// It has no name, or a quantity that cannot be read.
    pub fn pod(&mut self, pod: &wire::Pod) -> Result<Pod, Unreadable> {
        self.pod_fact(pod).map_err(|problem| problem.of("Pod", &pod.metadata))
    }

    fn pod_fact(&mut self, pod: &wire::Pod) -> Result<Pod, Problem> {
        let (metadata, spec, status) = (&pod.metadata, &pod.spec, &pod.status);
        let find = |kind: &str| status.conditions.iter().find(|one| one.kind == kind);
        let resize = find(RESIZE_CONDITION);
        let infeasible = resize.is_some_and(|condition| condition.reason == "Infeasible");
        let grace = metadata.deletion_grace_period_seconds.or(spec.termination_grace_period_seconds);
        Ok(Pod {
            id: self.pod_ref(metadata)?,
            generation: metadata.generation.unwrap_or_default(),
            created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
            deletion: metadata.deletion_timestamp.as_ref().map(timestamp),
            labels: self.labels(metadata.labels.as_ref()),
            annotations: self.annotations(metadata),
            controller: self.controller(metadata),
            mirror: metadata.annotations.as_ref().is_some_and(|all| all.contains_key(MIRROR)),
            scheduler: self.intern(spec.scheduler_name.as_deref().unwrap_or("default-scheduler")),
            gang: self.given(spec.scheduling_group.as_ref().and_then(|group| group.pod_group_name.as_ref())),
            node: self.given(spec.node_name.as_ref()),
            priority: spec.priority.unwrap_or_default(),
            never_preempts: spec.preemption_policy.as_deref() == Some("Never"),
            grace: Span::from_seconds(grace.unwrap_or(DEFAULT_GRACE_SECONDS).max(0)),
            gated: !spec.scheduling_gates.is_empty(),
            ports: self.ports(spec),
            placement: self.placement(spec),
            resources: self.pod_resources(spec, status, infeasible)?,
            phase: phase(status.phase.as_deref()),
            ready: find("Ready").is_some_and(|condition| condition.status == "True"),
            qos: self.qos(pod)?,
            disrupted: find("DisruptionTarget").is_some_and(|condition| condition.status == "True"),
            started: status.start_time.as_ref().map(timestamp),
            observed_generation: status.observed_generation,
            nominated: self.given(status.nominated_node_name.as_ref()),
            scheduled: find(SCHEDULED_CONDITION).map(|one| self.condition(one)),
            resize: resize.map(|one| self.condition(one)),
            report: find(REPORT_CONDITION).map(|one| self.condition(one)),
        })
    }

    fn pod_ref(&mut self, metadata: &ObjectMeta) -> Result<PodRef, Problem> {
        Ok(PodRef {
            namespace: self.intern(metadata.namespace.as_deref().unwrap_or_default()),
            name: name(metadata)?,
            uid: metadata.uid.as_deref().unwrap_or_default().into(),
        })
    }

    fn annotations(&mut self, metadata: &ObjectMeta) -> Labels {
        let Some(all) = &metadata.annotations else { return self.labels(None) };
        let kept = all.iter().filter(|(key, _)| self.annotations.contains(key));
        let texts = &mut self.texts;
        kept.map(|(key, value)| (texts.intern(key), texts.intern(value))).collect()
    }

    fn controller(&mut self, metadata: &ObjectMeta) -> Option<Controller> {
        let owner =
            metadata.owner_references.as_ref()?.iter().find(|owner| owner.controller == Some(true))?;
        Some(Controller { kind: self.intern(&owner.kind), uid: self.intern(&owner.uid) })
    }

    fn condition(&mut self, wire: &PodCondition) -> Box<Condition> {
        Box::new(Condition {
            status: wire.status == "True",
            reason: self.intern(&wire.reason),
            message: self.intern(&wire.message),
            observed_generation: wire.observed_generation,
            since: wire.last_transition_time.as_ref().map(timestamp),
        })
    }
}

fn phase(phase: Option<&str>) -> Phase {
    match phase {
        Some("Running" | "Unknown") => Phase::Running,
        Some("Succeeded") => Phase::Succeeded,
        Some("Failed") => Phase::Failed,
        _ => Phase::Pending,
    }
}

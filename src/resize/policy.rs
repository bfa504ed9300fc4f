//! What an operator allows: who may be evicted for whom, and how far.
//!
//! Invariant: the defaults are those of a cluster that has said nothing; each is the careful choice.

use crate::model::labels::{Labels, Selector};
use crate::model::{Pod, Span, Str, Timestamp};

/// Whether decisions are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Evict victims.
    #[default]
    Enforce,
    /// Decide and report; evict nobody.
    Observe,
    /// Leave Deferred resizes alone.
    Off,
}

/// Whose Deferred resizes are looked after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Pods whose `spec.schedulerName` is the profile's.
    #[default]
    OwnPods,
    /// Every Pod.
    AllPods,
}

/// What a PodDisruptionBudget means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PdbPolicy {
    /// It always holds: evictions go through the Eviction API only.
    #[default]
    Strict,
    /// What no budget allows is deleted all the same, as kube-scheduler does.
    BestEffort,
}

/// What happens when the deadline has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// Nothing; the resize stays Deferred.
    #[default]
    None,
    /// The growing Pod itself is evicted, so that its controller makes it anew where there is room.
    EvictSelf,
}

/// The rules for Deferred resizes of one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResizePolicy {
    /// Whether decisions are carried out.
    pub mode: Mode,
    /// Whose resizes are looked after.
    pub scope: Scope,
    /// What a budget means.
    pub pdb_policy: PdbPolicy,
    /// How long natural exits or an autoscaler come first.
    pub wait: Span,
    /// No victim whose grace period ends later than this after the resize was deferred.
    pub deadline: Option<Span>,
    /// What happens then.
    pub fallback: Fallback,
    /// Pods younger than this are no victims.
    pub min_victim_age: Span,
    /// Most victims for one resize.
    pub max_victims: Option<u32>,
    /// Most victims that may be leaving one node at a time.
    pub max_evicting_per_node: Option<u32>,
    /// Most evictions a minute.
    pub max_evictions_per_minute: Option<u32>,
    /// Who is never a victim.
    pub protect: Protect,
    /// Who may have others evicted.
    pub preemptors: Preemptors,
}

/// Pods that are never victims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protect {
    /// In these namespaces.
    pub namespaces: Vec<Str>,
    /// With labels that match; `None` protects nobody.
    pub label_selector: Option<Selector>,
    /// With any of these annotations, value and all.
    pub annotations: Vec<(Str, Str)>,
    /// Owned by a DaemonSet: it would put them back at once.
    pub daemon_sets: bool,
    /// Without a controller: nobody would make them again.
    pub unmanaged: bool,
}

impl Default for Protect {
    fn default() -> Self {
        Self {
            namespaces: vec!["kube-system".into()],
            label_selector: None,
            annotations: vec![
                ("cluster-autoscaler.kubernetes.io/safe-to-evict".into(), "false".into()),
                ("karpenter.sh/do-not-disrupt".into(), "true".into()),
            ],
            daemon_sets: true,
            unmanaged: false,
        }
    }
}

/// The rule that keeps a Pod from being a victim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// `protect.namespaces` has its namespace.
    Namespace(Str),
    /// `protect.labelSelector` matches it.
    Labels,
    /// `protect.annotations` has this `key=value`.
    Annotation(Str, Str),
    /// `protect.daemonSets`.
    DaemonSet,
    /// `protect.unmanaged`: it has no controller.
    Unmanaged,
    /// `minVictimAge`: it is old enough at this time.
    Young(Timestamp),
}

impl Protect {
    /// The first rule that keeps the Pod, if any does.
    pub fn rule(&self, pod: &Pod) -> Option<Protection> {
        let owner = pod.controller.as_ref();
        let annotated = |(key, value): &&(Str, Str)| pod.annotations.get(key) == Some(value);
        if self.namespaces.contains(&pod.id.namespace) {
            Some(Protection::Namespace(pod.id.namespace.clone()))
        } else if self.label_selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels)) {
            Some(Protection::Labels)
        } else if let Some((key, value)) = self.annotations.iter().find(annotated) {
            Some(Protection::Annotation(key.clone(), value.clone()))
        } else if self.daemon_sets && owner.is_some_and(|owner| owner.kind == "DaemonSet") {
            Some(Protection::DaemonSet)
        } else if self.unmanaged && owner.is_none() {
            Some(Protection::Unmanaged)
        } else {
            None
        }
    }

    /// The annotation keys that decide; a Pod's other annotations need not be kept.
    pub fn annotation_keys(&self) -> impl Iterator<Item = &Str> {
        self.annotations.iter().map(|(key, _)| key)
    }
}

/// Pods that may have others evicted; what is `None` asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preemptors {
    /// With at least this priority.
    pub min_priority: Option<i32>,
    /// In namespaces whose labels match.
    pub namespace_selector: Option<Selector>,
    /// With labels that match.
    pub label_selector: Option<Selector>,
}

/// What of `preemptors` leaves a Pod out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// Its priority is below `minPriority`, which is this.
    Priority(i32),
    /// `namespaceSelector` does not match its namespace's labels.
    Namespace,
    /// `labelSelector` does not match its labels.
    Labels,
}

impl Preemptors {
    /// What keeps this Pod from having others evicted, if anything does.
    pub fn excludes(&self, pod: &Pod, namespace_labels: &Labels) -> Option<Exclusion> {
        let misses = |selector: &Option<Selector>, labels: &Labels| {
            selector.as_ref().is_some_and(|selector| !selector.matches(labels))
        };
        match self.min_priority {
            Some(least) if pod.priority < least => Some(Exclusion::Priority(least)),
            _ if misses(&self.namespace_selector, namespace_labels) => Some(Exclusion::Namespace),
            _ if misses(&self.label_selector, &pod.labels) => Some(Exclusion::Labels),
            _ => None,
        }
    }
}

impl ResizePolicy {
    /// The rule that keeps a Pod from being a victim now, `minVictimAge` included. One that has not started
    /// is as young as can be.
    pub fn protects(&self, pod: &Pod, now: Timestamp) -> Option<Protection> {
        let old_enough = pod.started.unwrap_or(now) + self.min_victim_age;
        self.protect.rule(pod).or_else(|| (old_enough > now).then_some(Protection::Young(old_enough)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::labels::Requirement;
    use crate::model::pod::{Controller, PodRef};

    fn owned_by(kind: &str) -> Pod {
        let controller = Controller { kind: kind.into(), uid: "owner".into() };
        let id = PodRef { namespace: "shop".into(), name: "cart".into(), uid: "1".into() };
        Pod { id, controller: Some(controller), ..Pod::default() }
    }

    fn labels(key: &str, value: &str) -> Labels {
        [(Str::from(key), Str::from(value))].into_iter().collect()
    }

    #[test]
    fn an_ordinary_pod_is_not_protected() {
        assert_eq!(Protect::default().rule(&owned_by("ReplicaSet")), None);
    }

    #[test]
    fn the_system_namespace_is_protected() {
        let mut pod = owned_by("ReplicaSet");
        pod.id.namespace = "kube-system".into();
        assert_eq!(Protect::default().rule(&pod), Some(Protection::Namespace("kube-system".into())));
    }

    #[test]
    fn daemon_pods_are_protected_unless_the_policy_says_otherwise() {
        assert_eq!(Protect::default().rule(&owned_by("DaemonSet")), Some(Protection::DaemonSet));
        let lax = Protect { daemon_sets: false, ..Protect::default() };
        assert_eq!(lax.rule(&owned_by("DaemonSet")), None);
    }

    #[test]
    fn an_annotation_protects_only_with_its_value() {
        let key = "karpenter.sh/do-not-disrupt";
        let annotated = |value| Pod { annotations: labels(key, value), ..owned_by("ReplicaSet") };
        let rule = Protection::Annotation(key.into(), "true".into());
        assert_eq!(Protect::default().rule(&annotated("true")), Some(rule));
        assert_eq!(Protect::default().rule(&annotated("false")), None);
    }

    #[test]
    fn pods_without_a_controller_are_protected_on_request() {
        let mut pod = owned_by("ReplicaSet");
        pod.controller = None;
        assert_eq!(Protect::default().rule(&pod), None);
        let strict = Protect { unmanaged: true, ..Protect::default() };
        assert_eq!(strict.rule(&pod), Some(Protection::Unmanaged));
    }

    #[test]
    fn labels_protect_through_the_selector() {
        let requirement = Requirement::parse("tier".into(), "In", vec!["db".into()]);
        let protect = Protect { label_selector: Some(Selector::new([requirement])), ..Protect::default() };
        let tier = |value| Pod { labels: labels("tier", value), ..owned_by("StatefulSet") };
        assert_eq!(protect.rule(&tier("db")), Some(Protection::Labels));
        assert_eq!(protect.rule(&tier("web")), None);
    }

    #[test]
    fn a_pod_is_protected_until_it_is_old_enough() {
        let policy = ResizePolicy { min_victim_age: Span::from_seconds(60), ..ResizePolicy::default() };
        let pod = Pod { started: Some(Timestamp::from_seconds(100)), ..owned_by("ReplicaSet") };
        let grown = Timestamp::from_seconds(160);
        assert_eq!(policy.protects(&pod, Timestamp::from_seconds(159)), Some(Protection::Young(grown)));
        assert_eq!(policy.protects(&pod, grown), None);
    }

    #[test]
    fn a_pod_that_has_not_started_is_young() {
        let policy = ResizePolicy { min_victim_age: Span::from_seconds(60), ..ResizePolicy::default() };
        let now = Timestamp::from_seconds(100);
        let rule = policy.protects(&owned_by("ReplicaSet"), now);
        assert_eq!(rule, Some(Protection::Young(Timestamp::from_seconds(160))));
        assert_eq!(ResizePolicy::default().protects(&owned_by("ReplicaSet"), now), None);
    }

    #[test]
    fn whoever_may_preempt_meets_every_demand() {
        let selector = |key: &str| Some(Selector::new([Requirement::parse(key.into(), "Exists", vec![])]));
        let preemptors = Preemptors {
            min_priority: Some(10),
            namespace_selector: selector("grows"),
            label_selector: selector("tier"),
        };
        let pod = Pod { priority: 10, labels: labels("tier", "db"), ..owned_by("StatefulSet") };
        assert_eq!(preemptors.excludes(&pod, &labels("grows", "yes")), None);
        assert_eq!(preemptors.excludes(&pod, &Labels::default()), Some(Exclusion::Namespace));
        let lower = Pod { priority: 9, ..pod.clone() };
        assert_eq!(preemptors.excludes(&lower, &labels("grows", "yes")), Some(Exclusion::Priority(10)));
        let other = Pod { labels: Labels::default(), ..pod };
        assert_eq!(preemptors.excludes(&other, &labels("grows", "yes")), Some(Exclusion::Labels));
    }
}

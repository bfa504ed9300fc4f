//! What an operator allows: who may be evicted for whom, and how far.
//!
//! Invariant: the defaults are those of a cluster that has said nothing; each is the careful choice.

use crate::model::labels::{Labels, Selector};
use crate::model::{Pod, Span, Str};

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

impl Protect {
    /// Whether the Pod is never a victim.
    pub fn covers(&self, pod: &Pod) -> bool {
        let owner = pod.controller.as_ref();
        self.namespaces.contains(&pod.id.namespace)
            || self.label_selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels))
            || self.annotated(&pod.annotations)
            || self.daemon_sets && owner.is_some_and(|owner| owner.kind == "DaemonSet")
            || self.unmanaged && owner.is_none()
    }

    fn annotated(&self, annotations: &Labels) -> bool {
        self.annotations.iter().any(|(key, value)| annotations.get(key) == Some(value))
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
        assert!(!Protect::default().covers(&owned_by("ReplicaSet")));
    }

    #[test]
    fn the_system_namespace_is_protected() {
        let mut pod = owned_by("ReplicaSet");
        pod.id.namespace = "kube-system".into();
        assert!(Protect::default().covers(&pod));
    }

    #[test]
    fn daemon_pods_are_protected_unless_the_policy_says_otherwise() {
        assert!(Protect::default().covers(&owned_by("DaemonSet")));
        let lax = Protect { daemon_sets: false, ..Protect::default() };
        assert!(!lax.covers(&owned_by("DaemonSet")));
    }

    #[test]
    fn an_annotation_protects_only_with_its_value() {
        let key = "karpenter.sh/do-not-disrupt";
        let annotated = |value| Pod { annotations: labels(key, value), ..owned_by("ReplicaSet") };
        assert!(Protect::default().covers(&annotated("true")));
        assert!(!Protect::default().covers(&annotated("false")));
    }

    #[test]
    fn pods_without_a_controller_are_protected_on_request() {
        let mut pod = owned_by("ReplicaSet");
        pod.controller = None;
        assert!(!Protect::default().covers(&pod));
        assert!(Protect { unmanaged: true, ..Protect::default() }.covers(&pod));
    }

    #[test]
    fn labels_protect_through_the_selector() {
        let requirement = Requirement::parse("tier".into(), "In", vec!["db".into()]);
        let protect = Protect { label_selector: Some(Selector::new([requirement])), ..Protect::default() };
        assert!(protect.covers(&Pod { labels: labels("tier", "db"), ..owned_by("StatefulSet") }));
        assert!(!protect.covers(&Pod { labels: labels("tier", "web"), ..owned_by("ReplicaSet") }));
    }
}

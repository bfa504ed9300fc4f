//! Where a Pod may run: the parts of its spec that a scheduler and a kubelet check against a node.
//!
//! Invariant: what is not supported yet is named here, so that no Pod is bound for want of a plugin.

use super::Str;
use super::labels::{Labels, Selector};
use super::node_selector::{NodeSelector, NodeTerm};
use super::taint::Toleration;

/// Demands on the node. Equal for most Pods of a controller, so shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placement {
    /// `spec.nodeSelector`: every pair must be a label of the node.
    pub node_selector: Labels,
    /// Required node affinity; `None` when the Pod has none.
    pub required: Option<NodeSelector>,
    /// Preferred node affinity: weight and term.
    pub preferred: Vec<(i32, NodeTerm)>,
    /// Tolerations.
    pub tolerations: Vec<Toleration>,
    /// Required pod anti-affinity, which binds other Pods too.
    pub anti_affinity: Vec<PodTerm>,
    /// What the Pod demands that no plugin here checks yet; such a Pod is not bound.
    pub unsupported: Vec<Unsupported>,
    /// What the Pod would like and no plugin here scores yet; ignored.
    pub ignored: Vec<Ignored>,
}

impl Placement {
    /// Whether `nodeSelector` and required node affinity accept the node.
    pub fn accepts(&self, name: &str, labels: &Labels) -> bool {
        self.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.required.as_ref().is_none_or(|required| required.matches(name, labels))
    }
}

/// One required anti-affinity term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodTerm {
    /// Which Pods; `None` (no selector given) matches none.
    pub selector: Option<Selector>,
    /// Namespaces listed; the Pod's own where neither list nor selector is given.
    pub namespaces: Vec<Str>,
    /// Namespaces by label; `{}` means all.
    pub namespace_selector: Option<Selector>,
    /// The node label whose equal values make one domain.
    pub topology_key: Str,
}

/// A demand that is not supported yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unsupported {
    /// A PersistentVolumeClaim or an ephemeral volume, by volume name.
    Claim(Str),
    /// An inline CSI volume, by volume name.
    InlineCsi(Str),
    /// A network disk that only one node may use (GCE PD, EBS, iSCSI, RBD), by volume name.
    ExclusiveDisk(Str),
    /// A topology spread constraint with `DoNotSchedule`, by topology key.
    HardSpread(Str),
    /// Required pod affinity, by topology key.
    PodAffinity(Str),
    /// Required pod anti-affinity of the Pod itself, by topology key.
    PodAntiAffinity(Str),
    /// A resource claim (DRA), by name.
    ResourceClaim(Str),
    /// Membership in a scheduling group that must start together.
    Gang,
}

/// A preference that is not scored yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ignored {
    /// A topology spread constraint with `ScheduleAnyway`.
    SoftSpread,
    /// Preferred pod affinity or anti-affinity.
    PreferredPodAffinity,
}

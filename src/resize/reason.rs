//! Why a Deferred resize is where it is.
//!
//! Invariant: the metric label, the condition reason and the event reason are rendered here alone.

/// One state of one Deferred resize, as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Victims are being evicted.
    Preempting,
    /// What was evicted, or leaves anyway, will be enough.
    WaitingForVictims,
    /// There is room; the kubelet has not looked again yet.
    WaitingForKubelet,
    /// The Pod's `preemptionPolicy` is Never.
    PreemptionPolicyNever,
    /// The node's `podPreemptionPolicy` forbids it.
    DisabledByNode,
    /// The policy's `preemptors` leave this Pod out.
    NotAllowed,
    /// The node is not Ready, so its kubelet would not act.
    NodeNotReady,
    /// The request alone is more than the node has.
    ExceedsNode,
    /// Something other than room keeps the kubelet from allocating it.
    NotAShortage,
    /// Even all lower-priority Pods together are not enough.
    InsufficientVictims,
    /// Enough only with Pods that the policy protects.
    ProtectedVictims,
    /// Enough only with Pods that a PodDisruptionBudget keeps.
    BlockedByPdb,
    /// Enough only with Pods whose grace period outlasts the deadline.
    GraceTooLong,
    /// Enough only beyond a limit of the policy.
    LimitReached,
    /// The policy's `wait` is not over.
    Waiting,
    /// The API refused an eviction; it is tried again.
    EvictionFailed,
    /// The kubelet names a shortage although by our sums the resize fits.
    KubeletDisagrees,
    /// Observe mode: what would be done is only said.
    Observing,
}

impl Reason {
    /// All reasons, for metrics and documentation.
    pub const ALL: [Self; 18] = [
        Self::Preempting,
        Self::WaitingForVictims,
        Self::WaitingForKubelet,
        Self::PreemptionPolicyNever,
        Self::DisabledByNode,
        Self::NotAllowed,
        Self::NodeNotReady,
        Self::ExceedsNode,
        Self::NotAShortage,
        Self::InsufficientVictims,
        Self::ProtectedVictims,
        Self::BlockedByPdb,
        Self::GraceTooLong,
        Self::LimitReached,
        Self::Waiting,
        Self::EvictionFailed,
        Self::KubeletDisagrees,
        Self::Observing,
    ];

    /// The condition's reason and the metric's label value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preempting => "Preempting",
            Self::WaitingForVictims => "WaitingForVictims",
            Self::WaitingForKubelet => "WaitingForKubelet",
            Self::PreemptionPolicyNever => "PreemptionPolicyNever",
            Self::DisabledByNode => "DisabledByNode",
            Self::NotAllowed => "NotAllowed",
            Self::NodeNotReady => "NodeNotReady",
            Self::ExceedsNode => "ExceedsNode",
            Self::NotAShortage => "NotAShortage",
            Self::InsufficientVictims => "InsufficientVictims",
            Self::ProtectedVictims => "ProtectedVictims",
            Self::BlockedByPdb => "BlockedByPDB",
            Self::GraceTooLong => "GraceTooLong",
            Self::LimitReached => "LimitReached",
            Self::Waiting => "Waiting",
            Self::EvictionFailed => "EvictionFailed",
            Self::KubeletDisagrees => "KubeletDisagrees",
            Self::Observing => "Observing",
        }
    }

    /// The condition's status: whether room is on its way.
    pub const fn hopeful(self) -> bool {
        matches!(self, Self::Preempting | Self::WaitingForVictims | Self::WaitingForKubelet)
    }

    /// The event that announces this state on the growing Pod.
    pub const fn event(self) -> ResizeEvent {
        match self {
            Self::Preempting => ResizeEvent::Preempting,
            one if one.waits() => ResizeEvent::Waiting,
            _ => ResizeEvent::Blocked,
        }
    }

    /// Whether only time is missing.
    pub const fn waits(self) -> bool {
        matches!(self, Self::WaitingForVictims | Self::WaitingForKubelet | Self::Waiting)
    }
}

/// The events on a growing Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResizeEvent {
    /// Normal: victims are being evicted.
    Preempting,
    /// Warning: it stays Deferred, and why.
    Blocked,
    /// Normal: only time is missing, and nothing was said before.
    Waiting,
    /// Normal: allocated, after evictions.
    Preempted,
}

impl ResizeEvent {
    /// The event's reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preempting => "ResizePreempting",
            Self::Blocked => "ResizePreemptionBlocked",
            Self::Waiting => "ResizeWaiting",
            Self::Preempted => "ResizePreempted",
        }
    }

    /// Whether the event has type Warning.
    pub const fn warning(self) -> bool {
        matches!(self, Self::Blocked)
    }
}

//! The names of the rules.
//!
//! Invariant: a name, once released, keeps its meaning: scripts filter by it.

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// A right without which `run` does not start.
    MissingRight,
    /// A server whose kubelets cannot resize in place.
    OldApiServer,
    /// kube-scheduler evicts for Deferred resizes too.
    TwoActors,
    /// kube-scheduler serves the same `schedulerName`.
    SchedulerNameTaken,
    /// The API server has the gate on; kube-scheduler's flags could not be seen.
    TwoActorsPossible,
    /// An object that decisions do not see.
    UnreadableObject,
    /// Only the system's PriorityClasses exist.
    NoPriorityClasses,
    /// All Pods have one priority.
    EqualPriorities,
    /// Pods without a class outrank Pods with one.
    GlobalDefaultOutranks,
    /// A kubelet that cannot resize in place.
    OldKubelet,
    /// A node whose kubelet would not act.
    NodeNotReady,
    /// A budget that never allows an eviction of healthy Pods.
    BudgetNeverAllows,
    /// Pods under several budgets.
    OverlappingBudgets,
    /// A budget whose controller cannot compute it.
    BudgetNotComputed,
    /// A budget whose status is behind its spec.
    BudgetBehind,
    /// Room is kept for a resize that cannot be had.
    ResizeHoldsRoom,
    /// No profile of the configuration acts.
    PreemptionOff,
    /// `preemptors` leave everybody out.
    NobodyMayPreempt,
    /// A field of the configuration has no effect.
    WithoutEffect,
    /// A profile has no Pod.
    ProfileUnused,
    /// A resize that the kubelet will never grant.
    ResizeInfeasible,
    /// Deferred Pods of somebody else.
    ResizeNotServed,
    /// A node whose owner forbids resize preemption.
    NodeDisablesPreemption,
    /// Pods of a class never have others evicted.
    ClassNeverPreempts,
    /// A budget over no Pod.
    BudgetMatchesNothing,
    /// A server newer than those tested.
    NewApiServer,
    /// Something could not be read, so its rules were left out.
    NotChecked,
}

impl Id {
    /// All rules.
    pub const ALL: [Self; 27] = [
        Self::MissingRight,
        Self::OldApiServer,
        Self::TwoActors,
        Self::SchedulerNameTaken,
        Self::TwoActorsPossible,
        Self::UnreadableObject,
        Self::NoPriorityClasses,
        Self::EqualPriorities,
        Self::GlobalDefaultOutranks,
        Self::OldKubelet,
        Self::NodeNotReady,
        Self::BudgetNeverAllows,
        Self::OverlappingBudgets,
        Self::BudgetNotComputed,
        Self::BudgetBehind,
        Self::ResizeHoldsRoom,
        Self::PreemptionOff,
        Self::NobodyMayPreempt,
        Self::WithoutEffect,
        Self::ProfileUnused,
        Self::ResizeInfeasible,
        Self::ResizeNotServed,
        Self::NodeDisablesPreemption,
        Self::ClassNeverPreempts,
        Self::BudgetMatchesNothing,
        Self::NewApiServer,
        Self::NotChecked,
    ];

    /// The name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingRight => "missing-right",
            Self::OldApiServer => "old-api-server",
            Self::TwoActors => "two-actors",
            Self::SchedulerNameTaken => "scheduler-name-taken",
            Self::TwoActorsPossible => "two-actors-possible",
            Self::UnreadableObject => "unreadable-object",
            Self::NoPriorityClasses => "no-priority-classes",
            Self::EqualPriorities => "equal-priorities",
            Self::GlobalDefaultOutranks => "global-default-outranks",
            Self::OldKubelet => "old-kubelet",
            Self::NodeNotReady => "node-not-ready",
            Self::BudgetNeverAllows => "budget-never-allows",
            Self::OverlappingBudgets => "overlapping-budgets",
            Self::BudgetNotComputed => "budget-not-computed",
            Self::BudgetBehind => "budget-behind",
            Self::ResizeHoldsRoom => "resize-holds-room",
            Self::PreemptionOff => "preemption-off",
            Self::NobodyMayPreempt => "nobody-may-preempt",
            Self::WithoutEffect => "without-effect",
            Self::ProfileUnused => "profile-unused",
            Self::ResizeInfeasible => "resize-infeasible",
            Self::ResizeNotServed => "resize-not-served",
            Self::NodeDisablesPreemption => "node-disables-preemption",
            Self::ClassNeverPreempts => "class-never-preempts",
            Self::BudgetMatchesNothing => "budget-matches-nothing",
            Self::NewApiServer => "new-api-server",
            Self::NotChecked => "not-checked",
        }
    }
}

//! Which policy a Pod's resizes fall under.
//!
//! Invariant: a Pod's own profile comes first; the one profile with scope AllPods takes those that have none.

use super::ResizePolicy;
use super::policy::{Mode, Scope};
use crate::model::{Pod, Span, Str, Timestamp};
use std::collections::BTreeMap;

/// The policies of all profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    by_profile: BTreeMap<Str, ResizePolicy>,
    all_pods: Option<Str>,
}

impl Policies {
    /// One policy for each profile, by its name. Of several with scope AllPods the first by name counts.
    pub fn new(policies: impl IntoIterator<Item = (Str, ResizePolicy)>) -> Self {
        let by_profile: BTreeMap<Str, ResizePolicy> = policies.into_iter().collect();
        let all_pods = by_profile.iter().find(|(_, policy)| policy.scope == Scope::AllPods);
        Self { all_pods: all_pods.map(|(name, _)| name.clone()), by_profile }
    }

    /// The profile's policy.
    pub fn named(&self, profile: &str) -> Option<&ResizePolicy> {
        self.by_profile.get(profile)
    }

    /// The profile that a Pod's resizes belong to, and its policy, whatever its mode.
    pub fn of(&self, pod: &Pod) -> Option<(&Str, &ResizePolicy)> {
        let own = self.by_profile.get_key_value(&pod.scheduler);
        own.or_else(|| self.by_profile.get_key_value(self.all_pods.as_ref()?))
    }

    /// The profile that looks after a Pod's resizes now: none where its mode is Off.
    pub fn in_charge(&self, pod: &Pod) -> Option<(&Str, &ResizePolicy)> {
        self.of(pod).filter(|(_, policy)| policy.mode != Mode::Off)
    }
}

/// What counts for one Deferred resize at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The policy.
    pub policy: &'a ResizePolicy,
    /// From when `wait` and `deadline` count.
    pub counted_from: Timestamp,
    /// Now.
    pub now: Timestamp,
    /// What is left of `maxEvictionsPerMinute`, if there is such a limit.
    pub pace: Option<Pace>,
}

/// What is left of `maxEvictionsPerMinute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Evictions that may begin now.
    pub left: u32,
    /// When one more may; now, if none was used.
    pub again: Timestamp,
}

impl Terms<'_> {
    /// When the `wait` is over.
    pub fn acts_from(&self) -> Timestamp {
        self.counted_from + self.policy.wait
    }

    /// The deadline, if there is one.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.policy.deadline.map(|deadline| self.counted_from + deadline)
    }

    /// Whether a Pod with this grace period may still be there after the deadline.
    pub fn outlasts(&self, grace: Span) -> bool {
        self.deadline().is_some_and(|deadline| self.now + grace > deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_scheduler(name: &str) -> Pod {
        Pod { scheduler: name.into(), ..Pod::default() }
    }

    fn profile(name: &str, mode: Mode, scope: Scope) -> (Str, ResizePolicy) {
        (name.into(), ResizePolicy { mode, scope, ..ResizePolicy::default() })
    }

    fn charged(policies: &Policies, scheduler: &str) -> Option<String> {
        policies.in_charge(&of_scheduler(scheduler)).map(|(name, _)| name.to_string())
    }

    #[test]
    fn without_all_pods_only_own_pods_are_looked_after() {
        let policies = Policies::new([profile("mine", Mode::Enforce, Scope::OwnPods)]);
        assert_eq!(charged(&policies, "mine"), Some("mine".into()));
        assert_eq!(charged(&policies, "default-scheduler"), None);
    }

    #[test]
    fn all_pods_takes_those_without_a_profile_of_their_own() {
        let all = profile("helper", Mode::Enforce, Scope::AllPods);
        let policies = Policies::new([profile("mine", Mode::Off, Scope::OwnPods), all]);
        assert_eq!(charged(&policies, "default-scheduler"), Some("helper".into()));
        assert_eq!(charged(&policies, "mine"), None, "its own profile is off");
    }

    #[test]
    fn a_grace_period_may_end_just_at_the_deadline() {
        let policy = ResizePolicy { deadline: Some(Span::from_seconds(60)), ..ResizePolicy::default() };
        let (counted_from, now) = (Timestamp::from_seconds(100), Timestamp::from_seconds(130));
        let terms = Terms { policy: &policy, counted_from, now, pace: None };
        assert!(!terms.outlasts(Span::from_seconds(30)));
        assert!(terms.outlasts(Span::from_seconds(31)));
    }
}

//! Under which profile a Pod is explained, and whether a running elbowroom would look after it at all.
//!
//! Invariant: the Pod's own profile comes first; one that nobody looks after is explained all the same.

use super::shape;
use crate::config::{Config, Profile};
use crate::model::{Pod, Str};
use crate::resize::ResizePolicy;
use crate::resize::policy::{Mode, Scope};

/// The name under which the explained Pod runs in the engine that explains it. No schedulerName can be this.
pub const PROFILE: &str = "(explained)";

/// The rules for one Pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The policy as the profile has it.
    pub policy: ResizePolicy,
    /// What is shown of it.
    pub shown: shape::Rules,
}

impl Rules {
    /// Finds the rules for `pod`.
    pub fn of(config: &Config, pod: &Pod) -> Self {
        let own = config.profiles.iter().find(|profile| profile.scheduler_name == pod.scheduler);
        let helper = config.profiles.iter().find(|profile| profile.resize.scope == Scope::AllPods);
        let stranger = own.or(helper).is_none();
        let Some(profile) = own.or(helper).or(config.profiles.first()) else {
            return Self::from(&Profile::default(), Some(not_ours(&pod.scheduler)));
        };
        let because = if stranger {
            Some(not_ours(&pod.scheduler))
        } else if profile.resize.mode == Mode::Off {
            Some(format!("profile {} has mode Off", profile.scheduler_name))
        } else {
            None
        };
        Self::from(profile, because)
    }

    fn from(profile: &Profile, because: Option<String>) -> Self {
        let policy = profile.resize.clone();
        let shown = shape::Rules {
            profile: profile.scheduler_name.to_string(),
            mode: match policy.mode {
                Mode::Enforce => "Enforce",
                Mode::Observe => "Observe",
                Mode::Off => "Off",
            },
            looked_after: because.is_none(),
            because,
        };
        Self { policy, shown }
    }

    /// The policy to judge by: where nobody looks after the Pod, as if somebody did.
    pub fn judged_by(&self) -> ResizePolicy {
        let mode = if self.policy.mode == Mode::Off { Mode::Enforce } else { self.policy.mode };
        ResizePolicy { mode, scope: Scope::OwnPods, ..self.policy.clone() }
    }

    /// The same without waiting and without holding back: whom it comes to in the end.
    pub fn in_the_end(&self) -> ResizePolicy {
        ResizePolicy { mode: Mode::Enforce, wait: Default::default(), ..self.judged_by() }
    }
}

fn not_ours(scheduler: &Str) -> String {
    format!("no profile serves schedulerName {scheduler}, and none has scope AllPods")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str, mode: Mode, scope: Scope) -> Profile {
        let resize = ResizePolicy { mode, scope, ..ResizePolicy::default() };
        Profile { scheduler_name: name.into(), bind: true, resize }
    }

    fn rules(profiles: Vec<Profile>, scheduler: &str) -> shape::Rules {
        let config = Config { profiles, ..Config::default() };
        Rules::of(&config, &Pod { scheduler: scheduler.into(), ..Pod::default() }).shown
    }

    #[test]
    fn the_pods_own_profile_comes_first() {
        let all = profile("helper", Mode::Enforce, Scope::AllPods);
        let own = profile("mine", Mode::Observe, Scope::OwnPods);
        let found = rules(vec![all, own], "mine");
        assert_eq!((found.profile.as_str(), found.mode, found.looked_after), ("mine", "Observe", true));
    }

    #[test]
    fn scope_all_pods_takes_whoever_has_no_profile() {
        let all = profile("helper", Mode::Enforce, Scope::AllPods);
        assert!(rules(vec![all], "default-scheduler").looked_after);
    }

    #[test]
    fn a_stranger_is_explained_and_said_to_be_one() {
        let found = rules(vec![profile("mine", Mode::Enforce, Scope::OwnPods)], "default-scheduler");
        assert_eq!((found.profile.as_str(), found.looked_after), ("mine", false));
        assert!(found.because.is_some_and(|why| why.contains("default-scheduler")));
    }

    #[test]
    fn mode_off_looks_after_nobody_and_is_judged_as_if_it_did() {
        let config =
            Config { profiles: vec![profile("mine", Mode::Off, Scope::OwnPods)], ..Config::default() };
        let rules = Rules::of(&config, &Pod { scheduler: "mine".into(), ..Pod::default() });
        assert!(!rules.shown.looked_after);
        assert_eq!(rules.judged_by().mode, Mode::Enforce);
    }
}

//! Settings that have no effect in this cluster, or that leave nothing to do.
//!
//! Invariant: what a file may not say at all is refused when it is read; here is only what is allowed and odd.

use super::{Facts, Finding, Id, Object, Severity};
use crate::engine::Profile;
use crate::model::Pod;
use crate::resize::policy::{Mode, Scope};

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    findings.extend(facts.warnings.iter().map(|warning| Finding {
        id: Id::WithoutEffect,
        severity: Severity::Warning,
        objects: vec![Object::named("File", warning.split(": ").next().unwrap_or(warning))],
        message: warning.clone(),
        next_step: "take the field out, or do not count on it".into(),
    }));
    let profiles = &facts.settings.profiles;
    if profiles.iter().all(|one| one.resize.mode == Mode::Off) {
        findings.push(Finding {
            id: Id::PreemptionOff,
            severity: Severity::Warning,
            objects: profiles.iter().map(object).collect(),
            message: "every profile has mode Off, so Deferred resizes are left alone".into(),
            next_step: "set mode Observe or Enforce".into(),
        });
    }
    for profile in profiles {
        find_unused(facts, profile, findings);
        find_nobody(facts, profile, findings);
    }
}

fn object(profile: &Profile) -> Object {
    Object::named("Profile", profile.name.as_str())
}

fn serves(profile: &Profile, pod: &Pod) -> bool {
    profile.resize.scope == Scope::AllPods || profile.name == pod.scheduler
}

fn find_unused(facts: &Facts, profile: &Profile, findings: &mut Vec<Finding>) {
    if facts.pods.iter().any(|pod| serves(profile, pod)) {
        return;
    }
    findings.push(Finding {
        id: Id::ProfileUnused,
        severity: Severity::Info,
        objects: vec![object(profile)],
        message: format!("no Pod has schedulerName {}, so this profile has nothing to do", profile.name),
        next_step: format!(
            "set spec.schedulerName: {} on what should grow, or use scope AllPods",
            profile.name
        ),
    });
}

fn find_nobody(facts: &Facts, profile: &Profile, findings: &mut Vec<Finding>) {
    let Some(least) = profile.resize.preemptors.min_priority else { return };
    let Some(classes) = &facts.classes else { return };
    let reaches = |value: i32| value >= least;
    let by_pod = facts.pods.iter().filter(|pod| serves(profile, pod)).any(|pod| reaches(pod.priority));
    if profile.resize.mode == Mode::Off || by_pod || classes.iter().any(|one| reaches(one.value)) {
        return;
    }
    findings.push(Finding {
        id: Id::NobodyMayPreempt,
        severity: Severity::Warning,
        objects: vec![object(profile)],
        message: format!(
            "preemptors.minPriority {least} of profile {} is above every PriorityClass and every Pod that it serves",
            profile.name
        ),
        next_step: "lower minPriority to the class of what should grow".into(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{class, found, healthy, profile};
    use super::*;

    #[test]
    fn a_field_without_effect_is_told_with_its_place() {
        let warning = "scheduler.yaml:4:3: leaderElection is not there yet".to_owned();
        let findings = found(&Facts { warnings: vec![warning], ..healthy() }, Id::WithoutEffect);
        assert_eq!(findings[0].objects, [Object::named("File", "scheduler.yaml:4:3")]);
    }

    #[test]
    fn all_profiles_off_is_a_warning_and_one_off_is_not() {
        let mut facts = healthy();
        facts.settings.profiles.push(profile("other"));
        facts.settings.profiles[0].resize.mode = Mode::Off;
        assert!(found(&facts, Id::PreemptionOff).is_empty());
        facts.settings.profiles[1].resize.mode = Mode::Off;
        assert_eq!(found(&facts, Id::PreemptionOff)[0].objects.len(), 2);
    }

    #[test]
    fn a_profile_without_pods_is_a_note_unless_it_serves_all() {
        let mut facts = healthy();
        facts.settings.profiles = vec![profile("nobody")];
        assert_eq!(found(&facts, Id::ProfileUnused)[0].severity, Severity::Info);
        facts.settings.profiles[0].resize.scope = Scope::AllPods;
        assert!(found(&facts, Id::ProfileUnused).is_empty());
    }

    #[test]
    fn a_least_priority_above_everybody_leaves_nobody() {
        let mut facts = healthy();
        facts.classes = Some(vec![class("web", 1000)]);
        facts.settings.profiles[0].resize.preemptors.min_priority = Some(1001);
        assert_eq!(found(&facts, Id::NobodyMayPreempt).len(), 1);
        facts.settings.profiles[0].resize.preemptors.min_priority = Some(1000);
        assert!(found(&facts, Id::NobodyMayPreempt).is_empty());
    }
}

//! The API server's version, and whether kube-scheduler acts where elbowroom does.
//!
//! Invariant: that kube-scheduler evicts is said for certain only when its own flags say so.

use super::nodes::FIRST_MINOR;
use super::{Facts, Finding, Id, KubeScheduler, Object, Severity};
use crate::resize::policy::{Mode, Scope};

/// The gate with which kube-scheduler evicts for Deferred resizes; alpha and off by default in 1.37.
pub const GATE: &str = "InPlacePodVerticalScalingSchedulerPreemption";
/// The newest minor version that the tests run against.
const NEWEST_MINOR: u32 = 37;
/// kube-scheduler's own name.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    find_version(facts, findings);
    find_gate(facts, findings);
    find_same_name(facts, findings);
}

/// The minor version of `v1.37.2`, `v1.33.1-gke.100` and the like; `None` for what is no 1.x.
pub(super) fn minor(version: &str) -> Option<u32> {
    let rest = version.strip_prefix('v').unwrap_or(version).strip_prefix("1.")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn find_version(facts: &Facts, findings: &mut Vec<Finding>) {
    let Some(version) = &facts.server else { return };
    let Some(minor) = minor(version) else { return };
    let (id, severity, message, next_step) = if minor < FIRST_MINOR {
        let message = format!("the API server is {version}; resizes in place come with 1.{FIRST_MINOR}");
        (
            Id::OldApiServer,
            Severity::Error,
            message,
            format!("upgrade the cluster to 1.{FIRST_MINOR} or later"),
        )
    } else if minor > NEWEST_MINOR {
        let message = format!("the API server is {version}; elbowroom is tested up to 1.{NEWEST_MINOR}");
        (Id::NewApiServer, Severity::Info, message, "begin with mode Observe".to_owned())
    } else {
        return;
    };
    findings.push(Finding { id, severity, objects: vec![api_server(version)], message, next_step });
}

fn api_server(version: &str) -> Object {
    Object::named("APIServer", version)
}

/// What the flags say of the gate; `None` when they do not name it.
fn gate_in(words: &[String]) -> Option<bool> {
    // A shell may start it: then one argument holds the whole line.
    let mut words = words.iter().flat_map(|word| word.split_whitespace()).peekable();
    let (mut named, mut all_alpha) = (None, None);
    while let Some(word) = words.next() {
        let word = word.trim_matches(['"', '\'']);
        let list = match word.strip_prefix("--feature-gates") {
            Some("") => words.peek().copied().unwrap_or_default(),
            Some(rest) => rest.strip_prefix('=').unwrap_or_default(),
            None => continue,
        };
        for pair in list.trim_matches(['"', '\'']).split(',') {
            match pair.split_once('=') {
                Some((name, value)) if name == GATE => named = Some(on(value)),
                Some(("AllAlpha", value)) => all_alpha = Some(on(value)),
                _ => {}
            }
        }
    }
    named.or(all_alpha)
}

/// A boolean as Go reads it.
fn on(value: &str) -> bool {
    matches!(value, "1" | "t" | "T" | "true" | "True" | "TRUE")
}

fn find_gate(facts: &Facts, findings: &mut Vec<Finding>) {
    let acts = |mode| facts.settings.profiles.iter().any(|one| one.resize.mode == mode);
    if !acts(Mode::Enforce) && !acts(Mode::Observe) {
        return;
    }
    let gate = &facts.gate;
    let with: Vec<&KubeScheduler> =
        gate.schedulers.iter().filter(|one| gate_in(&one.words) == Some(true)).collect();
    let off = format!("start kube-scheduler with --feature-gates={GATE}=false, or leave resizes to it alone");
    if !with.is_empty() {
        let same = facts.settings.profiles.iter().find(|one| {
            one.resize.mode == Mode::Enforce
                && (one.resize.scope == Scope::AllPods || one.name == *DEFAULT_SCHEDULER)
        });
        let (severity, both) = match same {
            Some(one) => (Severity::Error, format!("profile {} evicts for the same Pods", one.name)),
            None => (Severity::Warning, "each may take the room that the other made on a node".to_owned()),
        };
        findings.push(Finding {
            id: Id::TwoActors,
            severity,
            objects: with.iter().map(|one| Object::within("Pod", "kube-system", &one.pod)).collect(),
            message: format!(
                "kube-scheduler runs with {GATE} on, so it evicts for Deferred resizes too; {both}"
            ),
            next_step: off,
        });
    } else if gate.schedulers.is_empty() && gate.api_server == Some(true) {
        findings.push(Finding {
            id: Id::TwoActorsPossible,
            severity: Severity::Warning,
            objects: vec![Object::named("FeatureGate", GATE)],
            message: format!(
                "the API server runs with {GATE} on, and no kube-scheduler is in sight; with the gate on it evicts \
                 for Deferred resizes too"
            ),
            next_step: off,
        });
    } else if gate.schedulers.is_empty() && gate.api_server.is_none() {
        findings.push(Finding {
            id: Id::NotChecked,
            severity: Severity::Info,
            objects: vec![Object::named("FeatureGate", GATE)],
            message: format!(
                "not checked: whether kube-scheduler runs with {GATE} on, for neither its Pod nor the API server's \
                 metrics could be read"
            ),
            next_step: "ask whoever runs the control plane; it is off by default".into(),
        });
    }
}

/// With a configuration of its own it may serve other names, so nothing is certain then.
fn find_same_name(facts: &Facts, findings: &mut Vec<Finding>) {
    if !facts.settings.profiles.iter().any(|one| one.bind && one.name == *DEFAULT_SCHEDULER) {
        return;
    }
    let configured = |one: &&KubeScheduler| one.words.iter().any(|word| word.contains("--config"));
    let plain = facts.gate.schedulers.iter().filter(|one| !configured(one));
    let objects: Vec<Object> = plain.map(|one| Object::within("Pod", "kube-system", &one.pod)).collect();
    if objects.is_empty() {
        return;
    }
    findings.push(Finding {
        id: Id::SchedulerNameTaken,
        severity: Severity::Error,
        objects,
        message: format!("kube-scheduler serves {DEFAULT_SCHEDULER} too; both would bind the same Pods"),
        next_step: "stop kube-scheduler, or serve another schedulerName".into(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{found, healthy, profile};
    use super::*;
    use crate::check::GateFacts;

    fn scheduler(words: &[&str]) -> GateFacts {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        GateFacts {
            schedulers: vec![KubeScheduler { pod: "kube-scheduler-a".into(), words }],
            api_server: None,
        }
    }

    fn with(gate: GateFacts) -> Facts {
        Facts { gate, ..healthy() }
    }

    fn flag(value: &str) -> String {
        format!("--feature-gates={GATE}={value}")
    }

    #[test]
    fn versions_are_read_as_vendors_write_them() {
        for (text, expected) in
            [("v1.37.2", Some(37)), ("v1.33.1-gke.100", Some(33)), ("1.34+", Some(34)), ("v2.0.0", None)]
        {
            assert_eq!(minor(text), expected, "{text}");
        }
    }

    #[test]
    fn a_server_before_resizes_is_an_error() {
        let facts = Facts { server: Some("v1.32.9".into()), ..healthy() };
        assert_eq!(found(&facts, Id::OldApiServer)[0].severity, Severity::Error);
    }

    #[test]
    fn a_server_newer_than_tested_is_a_note() {
        let facts = Facts { server: Some("v1.38.0".into()), ..healthy() };
        assert_eq!(found(&facts, Id::NewApiServer)[0].severity, Severity::Info);
    }

    #[test]
    fn servers_that_are_tested_are_no_finding() {
        for version in ["v1.33.0", "v1.37.9"] {
            let facts = Facts { server: Some(version.into()), ..healthy() };
            assert!(found(&facts, Id::OldApiServer).is_empty());
            assert!(found(&facts, Id::NewApiServer).is_empty());
        }
    }

    #[test]
    fn the_gate_is_found_in_the_flags_however_they_are_written() {
        let words = |line: &[&str]| line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (on, off) = (flag("true"), flag("false"));
        let pair = format!("A=false,{GATE}=true");
        let shell = format!("exec /usr/local/bin/kube-scheduler --v=2 \"{on}\" 1>>/var/log/x");
        assert_eq!(gate_in(&words(&["kube-scheduler", &on])), Some(true));
        assert_eq!(gate_in(&words(&["kube-scheduler", &off])), Some(false));
        assert_eq!(gate_in(&words(&["kube-scheduler", "--feature-gates", &pair])), Some(true));
        assert_eq!(gate_in(&words(&["/bin/sh", "-c", &shell])), Some(true));
        assert_eq!(gate_in(&words(&["kube-scheduler", "--feature-gates=AllAlpha=true"])), Some(true));
        assert_eq!(gate_in(&words(&["kube-scheduler", "--feature-gates=AllAlpha=true", &off])), Some(false));
        assert_eq!(gate_in(&words(&["kube-scheduler", "--leader-elect=true"])), None);
    }

    #[test]
    fn two_actors_beside_each_other_are_a_warning() {
        let findings = found(&with(scheduler(&["kube-scheduler", &flag("true")])), Id::TwoActors);
        assert_eq!(findings[0].severity, Severity::Warning);
        assert_eq!(findings[0].objects, [Object::within("Pod", "kube-system", "kube-scheduler-a")]);
    }

    #[test]
    fn two_actors_for_the_same_pods_are_an_error() {
        let mut facts = with(scheduler(&["kube-scheduler", &flag("true")]));
        facts.settings.profiles[0].resize.scope = Scope::AllPods;
        assert_eq!(found(&facts, Id::TwoActors)[0].severity, Severity::Error);
        facts.settings.profiles = vec![profile(DEFAULT_SCHEDULER)];
        assert_eq!(found(&facts, Id::TwoActors)[0].severity, Severity::Error);
    }

    #[test]
    fn who_only_observes_is_no_second_actor_for_the_same_pods() {
        let mut facts = with(scheduler(&["kube-scheduler", &flag("true")]));
        facts.settings.profiles[0].resize.scope = Scope::AllPods;
        facts.settings.profiles[0].resize.mode = Mode::Observe;
        assert_eq!(found(&facts, Id::TwoActors)[0].severity, Severity::Warning);
    }

    #[test]
    fn a_gate_that_is_off_or_not_named_is_no_finding() {
        for words in [&["kube-scheduler", &flag("false")][..], &["kube-scheduler"]] {
            let mut facts = with(scheduler(words));
            // The API server needs the gate for the policy of nodes alone.
            facts.gate.api_server = Some(true);
            for id in [Id::TwoActors, Id::TwoActorsPossible, Id::NotChecked] {
                assert!(found(&facts, id).is_empty(), "{words:?}");
            }
        }
    }

    #[test]
    fn the_api_server_alone_makes_it_possible() {
        let gate = GateFacts { api_server: Some(true), ..GateFacts::default() };
        assert_eq!(found(&with(gate), Id::TwoActorsPossible)[0].severity, Severity::Warning);
    }

    #[test]
    fn a_control_plane_out_of_sight_is_said() {
        let findings = found(&with(GateFacts::default()), Id::NotChecked);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Info));
    }

    #[test]
    fn nobody_acts_twice_when_preemption_is_off() {
        let mut facts = with(scheduler(&["kube-scheduler", &flag("true")]));
        facts.settings.profiles[0].resize.mode = Mode::Off;
        assert!(found(&facts, Id::TwoActors).is_empty());
    }

    #[test]
    fn a_replacement_beside_the_one_it_replaces_is_an_error() {
        let mut facts = with(scheduler(&["kube-scheduler"]));
        assert!(found(&facts, Id::SchedulerNameTaken).is_empty());
        facts.settings.profiles = vec![profile(DEFAULT_SCHEDULER)];
        assert_eq!(found(&facts, Id::SchedulerNameTaken)[0].severity, Severity::Error);
    }

    #[test]
    fn a_kube_scheduler_with_a_configuration_of_its_own_may_serve_others() {
        let mut facts = with(scheduler(&["kube-scheduler", "--config=/etc/scheduler.yaml"]));
        facts.settings.profiles = vec![profile(DEFAULT_SCHEDULER)];
        assert!(found(&facts, Id::SchedulerNameTaken).is_empty());
    }
}

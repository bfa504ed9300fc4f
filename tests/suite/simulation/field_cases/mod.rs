//! Faults that people met in the field, each as a scenario file and what must come of it.
//! `docs/field-cases.md` lists them.
//!
//! Invariant: a name begins with the number of its case, and a check is on reasons and facts, not on
//! sentences.

mod budgets;
mod counted;
mod crossing;
mod forbidden;
mod kinds;
mod leaving;
mod victims;

use super::{Played, read};
use elbowroom::engine::{Profile, Settings};
use elbowroom::model::Span;
use elbowroom::model::pod::REPORT_CONDITION;
use elbowroom::resize::policy::ResizePolicy;
use elbowroom::simulation::api::Change;
use elbowroom::simulation::objects::{Key, PodExt};
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{EPOCH, Faults, What, engine};
use k8s_openapi::api::core::v1::Pod;

fn file(case: &str) -> String {
    format!("tests/scenarios/{case}.yaml")
}

/// A case about to begin.
fn stage(case: &str) -> Played {
    stage_with(&read(&file(case)), ResizePolicy::default())
}

fn stage_with(scenario: &Scenario, resize: ResizePolicy) -> Played {
    let profile = Profile { name: "elbowroom".into(), bind: true, resize };
    let settings = Settings { profiles: vec![profile], ..Settings::default() };
    Played(scenario.stage(engine(settings), Faults::default()))
}

/// A case played to its end.
fn play(case: &str) -> Played {
    finish(&read(&file(case)))
}

fn finish(scenario: &Scenario) -> Played {
    super::play(scenario, Faults::default(), Span::default())
}

/// The same with one thing in the file changed.
fn variant(case: &str, from: &str, to: &str) -> Scenario {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file(case));
    let text = std::fs::read_to_string(path).expect(case);
    assert_eq!(text.matches(from).count(), 1, "{case}: {from}");
    Scenario::parse(case, &text.replace(from, to)).unwrap_or_else(|error| panic!("{error}"))
}

impl Played {
    /// Lets time pass until so many seconds after the beginning.
    fn until(&mut self, seconds: i64) {
        self.0.run(Span::from_seconds(seconds)).expect("it comes to rest");
    }

    /// Every answer to an eviction: when, in seconds, of whom, and whether it was granted.
    fn calls(&self) -> Vec<(f64, &str, bool)> {
        let asked = self.0.history().iter().filter_map(|moment| match &moment.what {
            What::Eviction(pod, answer) => {
                Some(((moment.at - EPOCH).0 as f64 / 1e6, pod.name.as_str(), answer.is_ok()))
            }
            _ => None,
        });
        asked.collect()
    }

    /// Exactly one eviction was ever asked for, of this Pod, and it was granted; when, in seconds.
    fn only_call(&self, pod: &str) -> f64 {
        let calls = self.calls();
        let [(at, name, true)] = calls[..] else { panic!("one granted eviction of {pod}, but: {calls:?}") };
        assert_eq!(name, pod);
        at
    }

    /// Events about a Pod that do not come from its kubelet, by reason.
    fn told(&self, pod: &str, reason: &str) -> usize {
        let key = Key::new("default", pod);
        let all = self.0.api().events.iter().filter(|event| event.pod == key && event.from != "kubelet");
        all.filter(|event| event.reason == reason).count()
    }

    /// The note of the one event of this reason.
    fn note(&self, pod: &str, reason: &str) -> &str {
        let key = Key::new("default", pod);
        let mut all = self.0.api().events.iter().filter(|e| e.pod == key && e.reason == reason);
        let note = all.next().map(|event| event.note.as_str());
        assert!(all.next().is_none(), "{reason} is said more than once");
        note.unwrap_or_else(|| panic!("no event {reason} about {pod}"))
    }

    /// Every form that a Pod of this name has had, in order.
    fn forms(&self, name: &str) -> impl Iterator<Item = &Pod> {
        let key = Key::new("default", name);
        self.0.history().iter().filter_map(move |moment| match &moment.what {
            What::Change(change) => match &**change {
                Change::Pod(pod, _) if pod.key() == key => Some(&**pod),
                _ => None,
            },
            _ => None,
        })
    }

    /// How often a Pod was bound to a node.
    fn binds(&self) -> usize {
        let bound = |change: &Change| match change {
            Change::Pod(pod, Some(before)) => before.node().is_none() && pod.node().is_some(),
            _ => false,
        };
        let moments = self.0.history().iter();
        moments.filter(|moment| matches!(&moment.what, What::Change(change) if bound(change))).count()
    }

    /// How often our condition on a Pod was written.
    fn patches(&self, name: &str) -> usize {
        let mut forms: Vec<_> =
            self.forms(name).map(|pod| pod.condition(REPORT_CONDITION).cloned()).collect();
        forms.dedup();
        forms.iter().flatten().count()
    }
}

//! The engine in a simulated cluster.

mod autoscaler;
mod faults;
mod field_cases;
mod golden;
mod properties;
mod scenarios;

use elbowroom::engine::Settings;
use elbowroom::model::Span;
use elbowroom::model::pod::REPORT_CONDITION;
use elbowroom::simulation::api::Recorded;
use elbowroom::simulation::objects::{Key, PodExt};
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{Faults, What, World, engine};
use k8s_openapi::api::core::v1::Pod;

/// A scenario that has played to its end.
struct Played(World);

/// Reads a scenario file of this repository.
fn read(file: &str) -> Scenario {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(path).expect(file);
    Scenario::parse(file, &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays a scenario, longer than it says if `until` is later.
fn play(scenario: &Scenario, faults: Faults, until: Span) -> Played {
    let mut world = scenario.stage(engine(Settings::default()), faults);
    world.run(until.max(scenario.until)).unwrap_or_else(|problem| panic!("{}: {problem}", scenario.name));
    Played(world)
}

impl Played {
    /// Pods that the API let go, in order of their names.
    fn evicted(&self) -> Vec<String> {
        let moments = self.0.history().iter();
        let mut names: Vec<String> = moments
            .filter_map(|moment| match &moment.what {
                What::Eviction(pod, Ok(())) => Some(pod.to_string()),
                _ => None,
            })
            .collect();
        names.sort();
        // An eviction whose answer was lost may be asked for again.
        names.dedup();
        names
    }

    fn find(&self, name: &str) -> Option<&Pod> {
        self.0.api().pods.get(&Key::new("default", name))
    }

    fn pod(&self, name: &str) -> &Pod {
        self.find(name).unwrap_or_else(|| panic!("Pod {name} is gone"))
    }

    /// What the kubelet has allocated.
    fn allocated(&self, name: &str, resource: &str) -> String {
        let status = self.pod(name).status.as_ref().expect("a status");
        status.allocated_resources.as_ref().expect("allocated")[resource].0.clone()
    }

    /// Why the Pod's resize is where it is; empty when it has no such condition.
    fn reason(&self, name: &str) -> String {
        let condition = self.pod(name).condition(REPORT_CONDITION);
        condition.and_then(|one| one.reason.clone()).unwrap_or_default()
    }

    fn node(&self, name: &str) -> Option<&str> {
        self.pod(name).node()
    }

    fn events(&self, name: &str) -> Vec<&str> {
        let of = |event: &&Recorded| event.pod == Key::new("default", name);
        self.0.api().events.iter().filter(of).map(|event| event.reason.as_str()).collect()
    }
}

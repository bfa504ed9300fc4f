//! A cluster on virtual time: a simulated API server, kubelets and a disruption controller around the real engine.
//!
//! Invariant: nothing here waits, reads a clock or draws from outside; one scenario and one seed give one history.

pub mod api;
pub mod facts;
pub mod kubelet;
pub mod objects;
pub mod random;
pub mod scenario;
pub mod timeline;
pub mod world;

use crate::engine::Settings;
use anyhow::{Result, anyhow};
use scenario::Scenario;
use world::Faults;

/// Plays a scenario without faults and returns its timeline.
///
/// # Errors
/// A scenario that makes no sense (`file:line:column: …`), or a scheduler that never comes to rest.
pub fn play(file: &str, text: &str, settings: Settings) -> Result<String> {
    let scenario = Scenario::parse(file, text)?;
    let mut world = scenario.stage(world::engine(settings), Faults::default());
    world.run(scenario.until).map_err(|problem| anyhow!("{file}: {problem}"))?;
    let mut resources = scenario.resized();
    if resources.is_empty() {
        resources.push("cpu".to_owned());
    }
    Ok(timeline::text(&scenario.name, &world, &resources))
}

//! What happened, for people: one line for each thing, and a summary for each Pod that grew.
//!
//! Invariant: plain text that depends on the history alone; no line is longer than [`WIDTH`].

mod amount;
mod lines;
mod pods;
mod render;
mod summary;

use super::world::World;

/// No line is longer than this.
pub const WIDTH: usize = 99;

/// The timeline of a world as far as it has played. `resources` are those whose room is shown.
pub fn text(title: &str, world: &World, resources: &[String]) -> String {
    let lines = lines::lines(world, resources);
    let mut out = render::head(title, world, resources);
    out.push_str(&render::table(&lines));
    out.push('\n');
    out.push_str(&summary::text(world));
    out
}

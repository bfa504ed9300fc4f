//! Scenario files: a first document that says what happens when, then plain Kubernetes manifests.
//!
//! Invariant: a file is understood completely or refused with the place of what was not; nothing in it is
//! ignored.
//!
//! ```yaml
//! apiVersion: elbowroom.dev/v1alpha1
//! kind: Scenario
//! metadata: {name: a growing Pod}
//! until: 2m
//! steps:
//! - at: 5s
//!   resize: {pod: web, cpu: "6"}
//! - at: 10s
//!   delete: {pod: batch}
//! ---
//! apiVersion: v1
//! kind: Node
//! # ...
//! ```
//!
//! Steps are `resize {pod, namespace, container, podLevel, cpu, memory}`, `report {pod, namespace, status,
//! withdraw}`, `create {…a manifest…}`, `delete {pod, namespace}`, `node {name, allocatable, ready, cordon,
//! labels, taints, disableResizePreemption, delete}`, `budget {name, namespace, disruptionsAllowed,
//! minAvailable, maxUnavailable, delete}` or `restart: elbowroom`. Time 0s is 2026-01-01T00:00:00Z. A Pod
//! whose manifest names its node runs there from the beginning; its `status` may say what differs from its
//! spec.

mod annotations;
mod known;
mod located;
mod manifest;
mod step;
#[cfg(test)]
mod tests;

use known::Known;

use super::world::{Action, Faults, Object, Start, World};
use crate::config::fields::Fields;
use crate::config::tree::{Fault, Node, Position};
use crate::model::Span;

/// What the first document must say.
const API_VERSION: &str = "elbowroom.dev/v1alpha1";

/// How long a scenario plays when it does not say.
const UNTIL: Span = Span::from_seconds(120);

/// A scenario, checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// `metadata.name`, else the name of the file.
    pub name: String,
    /// How long it plays.
    pub until: Span,
    /// What is there at the beginning.
    pub objects: Vec<Object>,
    /// What happens, in order of time.
    pub steps: Vec<(Span, Action)>,
}

/// What is wrong with a scenario file: `file:line:column: what was wrong, expected …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {message}", .at.line, .at.column)]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// The place in it.
    pub at: Position,
    /// What is wrong and what was expected, in one line.
    pub message: String,
}

impl Scenario {
    /// Reads a scenario from the text of a file.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        read(file, text).map_err(|Fault { at, message }| ScenarioError { file: file.to_owned(), at, message })
    }

    /// The world in which it plays, about to begin.
    pub fn stage(&self, start: Start, faults: Faults) -> World {
        let mut world = World::new(self.objects.clone(), start, faults);
        for (at, action) in &self.steps {
            world.plan(*at, action.clone());
        }
        world
    }

    /// Resources that some step resizes, in order of their names.
    pub fn resized(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (_, action) in &self.steps {
            if let Action::Resize(_, resize) = action {
                names.extend(resize.requests.keys().cloned());
            }
        }
        names.sort();
        names.dedup();
        names
    }
}

fn read(file: &str, text: &str) -> Result<Scenario, Fault> {
    let documents = Node::parse_all(text)?;
    let mut documents = documents.iter().filter(|document| !document.is_null());
    let Some(head) = documents.next() else {
        let text = format!("nothing here, expected a document of kind Scenario, {API_VERSION}");
        return Err(Fault::new(Position::START, text));
    };
    let fields = Fields::read("scenario", head, &["apiVersion", "kind", "metadata", "until", "steps"])?;
    for (name, wanted) in [("apiVersion", API_VERSION), ("kind", "Scenario")] {
        let found = fields.text(name)?;
        if found != Some(wanted) {
            let found = found.map_or("nothing".to_owned(), |text| format!("`{text}`"));
            return Err(Fault::new(
                fields.place(name),
                format!("{name}: found {found}, expected `{wanted}`"),
            ));
        }
    }
    let name = match fields.get("metadata") {
        Some(metadata) => Fields::read("metadata", metadata, &["name"])?.text("name")?,
        None => None,
    };

    let mut known = Known::default();
    let mut read = Vec::new();
    for document in documents {
        let object = manifest::read(document)?;
        known.learn(&object, document)?;
        read.push((object, document));
    }
    for (object, document) in &read {
        known.refer(object, document)?;
    }
    let mut timed = Vec::new();
    for step in fields.list("steps")? {
        timed.push((step::time(step)?, step));
    }
    timed.sort_by_key(|(at, _)| *at);
    let mut steps = Vec::new();
    for (at, step) in timed {
        steps.push((at, step::read(step, &mut known)?));
    }
    let last = steps.last().map_or(Span::default(), |(at, _)| *at);
    let until = fields.duration("until")?.unwrap_or(Span(UNTIL.0.max(last.0)));
    if until < last {
        let text = format!("until: the last step is at {} s, expected no earlier end", last.0 / 1_000_000);
        return Err(Fault::new(fields.place("until"), text));
    }
    let objects = read.into_iter().map(|(object, _)| object).collect();
    Ok(Scenario { name: name.unwrap_or(file).to_owned(), until, objects, steps })
}

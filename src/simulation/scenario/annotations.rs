//! Annotations that speak to the simulation.
//!
//! Invariant: under our prefix there is only what the simulation heeds, with a value that it understands.

use super::manifest::place;
use crate::config::duration;
use crate::config::tree::{Fault, Node};
use crate::simulation::kubelet::{CPU_MANAGER, EXIT_AFTER, KUBELET, START_AFTER};
use crate::simulation::world::{COMES_BACK, WAYS_BACK};
use std::collections::BTreeMap;

const PREFIX: &str = "simulation.elbowroom.dev/";

/// What an annotation may say.
enum Values {
    Duration,
    OneOf(&'static [&'static str]),
}

const OF_PODS: [(&str, Values); 3] = [
    (EXIT_AFTER, Values::Duration),
    (START_AFTER, Values::Duration),
    (COMES_BACK, Values::OneOf(&WAYS_BACK)),
];

const OF_NODES: [(&str, Values); 2] =
    [(KUBELET, Values::OneOf(&["passive"])), (CPU_MANAGER, Values::OneOf(&["static"]))];

/// Checks the annotations of a Pod.
pub(super) fn check_pod(given: Option<&BTreeMap<String, String>>, document: &Node) -> Result<(), Fault> {
    check("Pod", given, &OF_PODS, document)
}

/// Checks the annotations of a Node.
pub(super) fn check_node(given: Option<&BTreeMap<String, String>>, document: &Node) -> Result<(), Fault> {
    check("Node", given, &OF_NODES, document)
}

fn check(
    kind: &str,
    given: Option<&BTreeMap<String, String>>,
    known: &[(&str, Values)],
    document: &Node,
) -> Result<(), Fault> {
    let quoted = |list: &[&str]| list.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or ");
    for (key, value) in given.into_iter().flatten().filter(|(key, _)| key.starts_with(PREFIX)) {
        let at = || place(document, &["metadata", "annotations", key]);
        let Some((_, values)) = known.iter().find(|(name, _)| name == key) else {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let text = format!("unknown annotation `{key}` of a {kind}, expected {}", quoted(&names));
            return Err(Fault::new(at(), text));
        };
        let expected = match values {
            Values::Duration if duration::parse(value).is_none() => "a duration such as `30s`".to_owned(),
            Values::OneOf(words) if !words.contains(&value.as_str()) => quoted(words),
            _ => continue,
        };
        return Err(Fault::new(at(), format!("{key}: found `{value}`, expected {expected}")));
    }
    Ok(())
}

//! The plugins of kube-scheduler that a file may name, and the args that each has by default.
//!
//! Invariant: only what leaves the default plugins, weights and args as they are is accepted; so a file written
//! by `kube-scheduler --write-config-to` is, and one that asks for other placement is refused by name.

use super::fields::{Fields, expected, listed};
use super::file::API_VERSION;
use super::tree::{Entry, Fault, Node, Position, Value};

/// The default plugins with the weights of their scores, zero where they do not score
/// (`pkg/scheduler/apis/config/v1/default_plugins.go`; none is written for VolumeBinding, which makes it 1).
const DEFAULT_PLUGINS: [(&str, i64); 20] = [
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeName", 0),
    ("NodeUnschedulable", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 1),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
    ("NodeDeclaredFeatures", 0),
];

const POINTS: [&str; 16] = [
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "multiPoint",
    "placementGenerate",
    "placementScore",
    "podGroupPostFilter",
];

/// Every plugin's default args, in the file's own words.
const DEFAULT_ARGS: &str = include_str!("default_args.yaml");

/// Our own group, in which `DefaultPreemptionArgs` has one field more.
pub const OWN_API_VERSION: &str = "elbowroom.dev/v1alpha1";

/// Accepts `plugins` where it changes nothing.
///
/// # Errors
/// Unknown points or plugins, anything disabled, a weight that is not the default one.
pub fn check_sets(node: &Node) -> Result<(), Fault> {
    let sets = Fields::read("plugins", node, &POINTS)?;
    for point in POINTS {
        let set = sets.below(point, &["enabled", "disabled"])?;
        for item in set.list("enabled")? {
            check_enabled(point, item)?;
        }
        if let [first, ..] = set.list("disabled")? {
            let plugin = Fields::read("disabled", first, &["name", "weight"])?;
            let name = plugin.required_text("name")?;
            let message = format!("plugins.{point}: disabling `{name}` is not supported yet");
            return Err(Fault::new(first.at, message));
        }
    }
    Ok(())
}

fn check_enabled(point: &str, item: &Node) -> Result<(), Fault> {
    let plugin = Fields::read("enabled", item, &["name", "weight"])?;
    let name = plugin.required_text("name")?;
    let at = plugin.get("name").map_or(item.at, |node| node.at);
    let Some((_, default)) = DEFAULT_PLUGINS.iter().find(|(known, _)| *known == name) else {
        return Err(unknown(at, name));
    };
    // Upstream replaces the default entry by this one; a weight left out then counts as 1.
    let weight = plugin.integer("weight", 0..=i64::from(i32::MAX))?.unwrap_or(0).max(1);
    let scored = *default > 0 && matches!(point, "multiPoint" | "score");
    if scored && weight != *default {
        let message = format!(
            "plugins.{point}: a weight of {weight} for `{name}` is not supported yet, expected {default}"
        );
        return Err(Fault::new(plugin.place("weight"), message));
    }
    Ok(())
}

/// Accepts the args of a plugin where they are its default ones.
///
/// # Errors
/// An unknown plugin, an unknown field, or a value that is not the default one.
pub fn check_args(plugin: &str, at: Position, args: Option<&Node>) -> Result<(), Fault> {
    let defaults = Node::parse(DEFAULT_ARGS)?;
    let Some(default) = entries(&defaults).iter().find(|entry| entry.key == plugin) else {
        let named = DEFAULT_PLUGINS.iter().any(|(known, _)| *known == plugin);
        return match (named, args) {
            (true, None) => Ok(()),
            (true, Some(args)) => Err(Fault::new(args.at, format!("`{plugin}` takes no args"))),
            (false, _) => Err(unknown(at, plugin)),
        };
    };
    let Some(args) = args else { return Ok(()) };
    let own = plugin == "DefaultPreemption";
    let mut known = vec!["apiVersion", "kind"];
    known.extend(entries(&default.value).iter().map(|entry| entry.key.as_str()));
    let fields = Fields::read("args", args, &known)?;
    let versions: &[&str] = if own { &[API_VERSION, OWN_API_VERSION] } else { &[API_VERSION] };
    fields.type_meta(versions, &format!("{plugin}Args"))?;
    if fields.get("pdbPolicy").is_some() && fields.text("apiVersion")? != Some(OWN_API_VERSION) {
        let message = format!("pdbPolicy: expected `apiVersion: {OWN_API_VERSION}` beside it");
        return Err(Fault::new(fields.place("pdbPolicy"), message));
    }
    for entry in fields.iter().filter(|entry| entry.key != "apiVersion" && entry.key != "kind") {
        if let Some(default) = entries(&default.value).iter().find(|known| known.key == entry.key) {
            same(&entry.key, &entry.value, &default.value)?;
        }
    }
    Ok(())
}

/// Whether a value, where it says something, says what the default says.
fn same(path: &str, given: &Node, default: &Node) -> Result<(), Fault> {
    let refused = || {
        let message = format!("{path}: {given} is not supported yet, expected {}", shown(default));
        Err(Fault::new(given.at, message))
    };
    match (&given.value, &default.value) {
        (Value::Null, _) => Ok(()),
        (Value::List(items), Value::Null) if items.is_empty() => Ok(()),
        (Value::Map(given_entries), Value::Map(known)) => {
            let names: Vec<&str> = known.iter().map(|entry| entry.key.as_str()).collect();
            Fields::read(path, given, &names)?;
            for entry in given_entries {
                if let Some(default) = known.iter().find(|known| known.key == entry.key) {
                    same(&format!("{path}.{}", entry.key), &entry.value, &default.value)?;
                }
            }
            Ok(())
        }
        (Value::List(items), Value::List(known)) if items.is_empty() || items.len() == known.len() => {
            items.iter().zip(known).try_for_each(|(item, default)| same(path, item, default))
        }
        (Value::Integer(given), Value::Integer(known)) if given == known => Ok(()),
        (Value::Bool(given), Value::Bool(known)) if given == known => Ok(()),
        (Value::Text(given), Value::Text(known)) if given == known => Ok(()),
        (_, Value::Map(_)) => Err(expected(path, "a mapping", given)),
        _ => refused(),
    }
}

/// The default as an error names it.
fn shown(default: &Node) -> String {
    match &default.value {
        Value::Null => "it left out".to_owned(),
        Value::List(_) => "the default list".to_owned(),
        _ => default.to_string(),
    }
}

fn entries(node: &Node) -> &[Entry] {
    match &node.value {
        Value::Map(entries) => entries,
        _ => &[],
    }
}

fn unknown(at: Position, name: &str) -> Fault {
    let mut names: Vec<&str> = DEFAULT_PLUGINS.iter().map(|(name, _)| *name).collect();
    names.push("ResizePreemption");
    Fault::new(at, format!("unknown plugin `{name}`, expected one of {}", listed(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_args_are_their_own_defaults() {
        let defaults = Node::parse(DEFAULT_ARGS).unwrap_or_else(|fault| unreachable!("{fault:?}"));
        assert_eq!(entries(&defaults).len(), 8);
        for entry in entries(&defaults) {
            let named = DEFAULT_PLUGINS.iter().any(|(name, _)| *name == entry.key);
            assert!(named, "{} is no default plugin", entry.key);
            assert_eq!(same(&entry.key, &entry.value, &entry.value), Ok(()));
        }
    }
}

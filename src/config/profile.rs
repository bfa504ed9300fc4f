//! One profile: its name, its plugins and their args.
//!
//! Invariant: a profile that would place Pods by other rules than the default ones is refused, never half
//! obeyed.

use super::fields::{Fields, text};
use super::tree::{Fault, Node};
use super::{Profile, file, plugins, resize_args};

/// The name under which our own args stand among the plugins.
const RESIZE_PREEMPTION: &str = "ResizePreemption";

/// Reads a profile; the node is the name's, where one is given.
///
/// # Errors
/// Unknown fields, or plugins and args other than the default ones.
pub fn read<'a>(node: &'a Node, notes: &mut Vec<Fault>) -> Result<(Option<&'a Node>, Profile), Fault> {
    let known = ["schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"];
    let fields = Fields::read("profiles", node, &known)?;
    file::percentage(&fields, notes)?;
    if let Some(chosen) = fields.get("plugins") {
        plugins::check_sets(chosen)?;
    }

    let mut profile = Profile::default();
    let name = fields.get("schedulerName");
    if let Some(name) = name {
        profile.scheduler_name = text("schedulerName", name)?.into();
        if profile.scheduler_name.is_empty() {
            return Err(Fault::new(name.at, "schedulerName: expected a name, found an empty string"));
        }
    }

    let mut seen: Vec<&str> = Vec::new();
    for item in fields.list("pluginConfig")? {
        let entry = Fields::read("pluginConfig", item, &["name", "args"])?;
        let plugin = entry.required_text("name")?;
        let at = entry.get("name").map_or(item.at, |name| name.at);
        if seen.contains(&plugin) {
            return Err(Fault::new(
                at,
                format!("pluginConfig: expected one entry a plugin, found `{plugin}` again"),
            ));
        }
        seen.push(plugin);
        if plugin == RESIZE_PREEMPTION {
            if let Some(args) = entry.get("args") {
                (profile.bind, profile.resize) = resize_args::read(args)?;
            }
        } else {
            plugins::check_args(plugin, at, entry.get("args"))?;
        }
    }
    Ok((name, profile))
}

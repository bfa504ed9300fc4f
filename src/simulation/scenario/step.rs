//! One step of a scenario: a time and one thing to do.
//!
//! Invariant: exactly one thing a step, about an object that is there by then.

use super::known::Known;
use super::manifest;
use crate::config::fields::Fields;
use crate::config::tree::{Fault, Node, Value};
use crate::model::{Quantity, Span};
use crate::simulation::api::{Report, Resize, Target};
use crate::simulation::objects::{Amounts, Key};
use crate::simulation::world::{Action, BudgetChange, NodeChange};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

const VERBS: [&str; 7] = ["resize", "report", "create", "delete", "node", "budget", "restart"];

fn fields(step: &Node) -> Result<Fields<'_>, Fault> {
    let known: Vec<&str> = ["at"].into_iter().chain(VERBS).collect();
    Fields::read("step", step, &known)
}

/// When a step is due.
pub(super) fn time(step: &Node) -> Result<Span, Fault> {
    let fields = fields(step)?;
    let missing = || Fault::new(step.at, "at: found nothing, expected a duration such as `5s`");
    fields.duration("at")?.ok_or_else(missing)
}

/// What a step does.
pub(super) fn read(step: &Node, known: &mut Known) -> Result<Action, Fault> {
    let fields = fields(step)?;
    let given: Vec<&str> = VERBS.into_iter().filter(|verb| fields.get(verb).is_some()).collect();
    let [verb] = given.as_slice() else {
        let found = if given.is_empty() { "nothing".to_owned() } else { given.join(" and ") };
        let text = format!("found {found} to do, expected exactly one of {}", VERBS.join(", "));
        return Err(Fault::new(step.at, text));
    };
    let Some(node) = fields.get(verb) else { return Err(Fault::new(step.at, "nothing to do")) };
    match *verb {
        "resize" => resize(node, known),
        "report" => report(node, known),
        "create" => {
            let object = manifest::read(node)?;
            known.learn(&object, node)?;
            known.refer(&object, node)?;
            Ok(Action::Create(object))
        }
        "delete" => {
            let fields = Fields::read("delete", node, &["pod", "namespace"])?;
            let key = pod(&fields, known)?;
            known.forget("Pod", &key);
            Ok(Action::Delete(key))
        }
        "node" => change_node(node, known),
        "restart" => match &node.value {
            Value::Text(text) if text == "elbowroom" => Ok(Action::Restart),
            _ => Err(expected("restart", "`elbowroom`", node)),
        },
        _ => change_budget(node, known),
    }
}

fn pod(fields: &Fields<'_>, known: &Known) -> Result<Key, Fault> {
    let name = fields.required_text("pod")?;
    let key = Key::new(fields.text("namespace")?.unwrap_or("default"), name);
    known.expect("Pod", &key, fields.place("pod"))?;
    Ok(key)
}

fn resize(node: &Node, known: &Known) -> Result<Action, Fault> {
    let names = ["pod", "namespace", "container", "podLevel", "cpu", "memory"];
    let fields = Fields::read("resize", node, &names)?;
    let key = pod(&fields, known)?;
    let containers = known.containers(&key);
    let container = fields.text("container")?;
    let whole = fields.flag("podLevel")? == Some(true);
    let listed = containers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match container {
        Some(_) if whole => {
            let text = "container and podLevel are both given, expected one of them";
            return Err(Fault::new(fields.place("podLevel"), text));
        }
        Some(name) if !containers.iter().any(|one| one == name) => {
            let text = format!("container: Pod `{key}` has no container `{name}`, expected one of {listed}");
            return Err(Fault::new(fields.place("container"), text));
        }
        None if containers.len() != 1 && !whole => {
            let text = format!("container: Pod `{key}` has several containers, expected one of {listed}");
            return Err(Fault::new(node.at, text));
        }
        _ => {}
    }
    let mut requests = Amounts::new();
    for name in ["cpu", "memory"] {
        if let Some(value) = fields.get(name) {
            requests.insert(name.to_owned(), quantity(name, value)?);
        }
    }
    if requests.is_empty() {
        return Err(Fault::new(node.at, "resize: found no amount, expected cpu or memory"));
    }
    let target = match container {
        Some(name) => Target::Container(name.to_owned()),
        None if whole => Target::Pod,
        None => Target::OnlyContainer,
    };
    Ok(Action::Resize(key, Resize { target, requests }))
}

fn report(node: &Node, known: &Known) -> Result<Action, Fault> {
    let fields = Fields::read("report", node, &["pod", "namespace", "status", "withdraw"])?;
    let key = pod(&fields, known)?;
    let mut report = Report::default();
    if let Some(status) = fields.get("status") {
        report.status = super::located::read(status)?;
    }
    for item in fields.list("withdraw")? {
        match &item.value {
            Value::Text(text) => report.withdrawn.push(text.clone()),
            _ => return Err(expected("withdraw", "the type of a condition", item)),
        }
    }
    if report == Report::default() {
        return Err(Fault::new(node.at, "report: found nothing to say, expected status or withdraw"));
    }
    Ok(Action::Report(key, Box::new(report)))
}

fn change_node(node: &Node, known: &mut Known) -> Result<Action, Fault> {
    let names =
        ["name", "allocatable", "ready", "cordon", "labels", "taints", "disableResizePreemption", "delete"];
    let fields = Fields::read("node", node, &names)?;
    let name = fields.required_text("name")?;
    known.expect("Node", &Key::new("", name), fields.place("name"))?;
    if fields.flag("delete")? == Some(true) {
        only_deleted(&fields, &["name", "delete"])?;
        known.forget("Node", &Key::new("", name));
        return Ok(Action::DeleteNode(name.to_owned()));
    }
    let mut change =
        NodeChange { ready: fields.flag("ready")?, cordon: fields.flag("cordon")?, ..NodeChange::default() };
    for entry in map(&fields, "allocatable")? {
        change.allocatable.insert(entry.key.clone(), quantity(&entry.key, &entry.value)?);
    }
    for entry in map(&fields, "labels")? {
        let value = match &entry.value.value {
            Value::Text(text) => Some(text.clone()),
            Value::Null => None,
            _ => return Err(expected(&entry.key, "a string, or null to remove the label", &entry.value)),
        };
        change.labels.insert(entry.key.clone(), value);
    }
    if fields.get("taints").is_some() {
        let taints = fields.list("taints")?.iter().map(super::located::read);
        change.taints = Some(taints.collect::<Result<_, _>>()?);
    }
    if fields.get("disableResizePreemption").is_some() {
        let mut owners = Vec::new();
        for item in fields.list("disableResizePreemption")? {
            match &item.value {
                Value::Text(text) => owners.push(text.clone()),
                _ => return Err(expected("disableResizePreemption", "the name of an owner", item)),
            }
        }
        change.disable_resize_preemption = Some(owners);
    }
    if change == NodeChange::default() {
        return Err(Fault::new(
            node.at,
            format!("node: found no change, expected one of {}", names.join(", ")),
        ));
    }
    Ok(Action::Node(name.to_owned(), Box::new(change)))
}

fn change_budget(node: &Node, known: &mut Known) -> Result<Action, Fault> {
    let names = ["name", "namespace", "disruptionsAllowed", "minAvailable", "maxUnavailable", "delete"];
    let fields = Fields::read("budget", node, &names)?;
    let name = fields.required_text("name")?;
    let key = Key::new(fields.text("namespace")?.unwrap_or("default"), name);
    known.expect("PodDisruptionBudget", &key, fields.place("name"))?;
    if fields.flag("delete")? == Some(true) {
        only_deleted(&fields, &["name", "namespace", "delete"])?;
        known.forget("PodDisruptionBudget", &key);
        return Ok(Action::DeleteBudget(key));
    }
    let bounds = 0..=i64::from(i32::MAX);
    let allowed = fields.integer("disruptionsAllowed", bounds)?;
    let given = |name: &str| fields.get(name).map(|node| share(name, node)).transpose();
    let change = BudgetChange {
        disruptions_allowed: allowed.and_then(|number| i32::try_from(number).ok()),
        min_available: given("minAvailable")?,
        max_unavailable: given("maxUnavailable")?,
    };
    if change.min_available.is_some() && change.max_unavailable.is_some() {
        let text = "minAvailable and maxUnavailable are both given, expected one of them";
        return Err(Fault::new(fields.place("maxUnavailable"), text));
    }
    if change == BudgetChange::default() {
        let text = format!("budget: found no change, expected one of {}", names.join(", "));
        return Err(Fault::new(node.at, text));
    }
    Ok(Action::Budget(key, change))
}

/// What is deleted is not changed as well.
fn only_deleted(fields: &Fields<'_>, allowed: &[&str]) -> Result<(), Fault> {
    match fields.iter().find(|entry| !allowed.contains(&entry.key.as_str())) {
        None => Ok(()),
        Some(entry) => {
            let text = format!("{}: found a change beside `delete`, expected one of them", entry.key);
            Err(Fault::new(entry.at, text))
        }
    }
}

fn map<'a>(fields: &Fields<'a>, name: &str) -> Result<&'a [crate::config::tree::Entry], Fault> {
    match fields.get(name) {
        None => Ok(&[]),
        Some(node) => match &node.value {
            Value::Map(entries) => Ok(entries),
            _ => Err(expected(name, "a mapping", node)),
        },
    }
}

fn quantity(name: &str, node: &Node) -> Result<ApiQuantity, Fault> {
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        _ => return Err(expected(name, "a quantity such as `500m` or `1Gi`", node)),
    };
    match Quantity::parse(&text) {
        Ok(amount) if amount >= Quantity::ZERO => Ok(ApiQuantity(text)),
        _ => Err(expected(name, "a quantity such as `500m` or `1Gi`", node)),
    }
}

/// A number of Pods or a percentage.
pub(super) fn share(name: &str, node: &Node) -> Result<IntOrString, Fault> {
    let percent = |text: &str| text.strip_suffix('%').is_some_and(|n| n.parse::<u16>().is_ok());
    match &node.value {
        Value::Integer(number) => match i32::try_from(*number) {
            Ok(number) if number >= 0 => Ok(IntOrString::Int(number)),
            _ => Err(expected(name, "a number of Pods or a percentage such as `50%`", node)),
        },
        Value::Text(text) if percent(text) => Ok(IntOrString::String(text.clone())),
        _ => Err(expected(name, "a number of Pods or a percentage such as `50%`", node)),
    }
}

fn expected(name: &str, what: &str, node: &Node) -> Fault {
    Fault::new(node.at, format!("{name}: expected {what}, found {node}"))
}

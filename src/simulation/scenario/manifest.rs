//! One manifest of a scenario file: one of the kinds that the simulation knows, checked.
//!
//! Invariant: what comes out of here is accepted by the simulated API server, names apart.

use super::step::share;
use super::{annotations, located};
use crate::config::tree::{Fault, Node, Position, Value};
use crate::model::Quantity;
use crate::simulation::objects::{PodExt, exact, requests};
use crate::simulation::world::Object;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;

const KINDS: &str = "`v1 Pod`, `v1 Node`, `v1 Namespace`, `policy/v1 PodDisruptionBudget`, \
                     `scheduling.k8s.io/v1 PriorityClass`";

/// Reads a manifest.
///
/// # Errors
/// Another kind, a field that is unknown or makes no sense.
pub(super) fn read(document: &Node) -> Result<Object, Fault> {
    if !matches!(document.value, Value::Map(_)) {
        return Err(Fault::new(document.at, format!("found {document}, expected a Kubernetes manifest")));
    }
    let text = |name: &str| match find(document, &[name]).map(|node| &node.value) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let object = match (text("apiVersion"), text("kind")) {
        ("v1", "Pod") => Object::Pod(Box::new(located::read(document)?)),
        ("v1", "Node") => Object::Node(Box::new(located::read(document)?)),
        ("v1", "Namespace") => Object::Namespace(Box::new(located::read(document)?)),
        ("policy/v1", "PodDisruptionBudget") => Object::Budget(Box::new(located::read(document)?)),
        ("scheduling.k8s.io/v1", "PriorityClass") => Object::Class(Box::new(located::read(document)?)),
        (version, kind) => {
            let found = format!("kind: found `{version} {kind}`, expected one of {KINDS}");
            return Err(Fault::new(place(document, &["kind"]), found));
        }
    };
    let key = object.id().1;
    for (field, name) in [("name", &key.name), ("namespace", &key.namespace)] {
        if field == "name" && name.is_empty() {
            let at = place(document, &["metadata", field]);
            return Err(Fault::new(at, "metadata.name: found nothing, expected a name"));
        }
        if !name.is_empty() && !is_name(name) {
            let at = place(document, &["metadata", field]);
            let expected = "lower-case letters, digits, `-` and `.`, with a letter or digit at both ends";
            return Err(Fault::new(at, format!("metadata.{field}: found `{name}`, expected {expected}")));
        }
    }
    match &object {
        Object::Pod(pod) => check_pod(pod, document)?,
        Object::Node(node) => {
            annotations::check_node(node.metadata.annotations.as_ref(), document)?;
            let status = node.status.as_ref();
            if status.is_none_or(|status| status.allocatable.is_none() && status.capacity.is_none()) {
                let text =
                    "status.allocatable: found nothing, expected what the node has, such as {cpu: \"8\"}";
                return Err(Fault::new(place(document, &["status"]), text));
            }
        }
        Object::Budget(budget) => check_budget(budget, document)?,
        Object::Namespace(_) | Object::Class(_) => {}
    }
    Ok(object)
}

/// Whether the API takes this as a name (RFC 1123, subdomain).
fn is_name(text: &str) -> bool {
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().copied().is_some_and(plain)
            && bytes.last().copied().is_some_and(plain)
            && bytes.iter().all(|c| plain(*c) || *c == b'-')
    };
    text.len() <= 253 && text.split('.').all(part)
}

fn check_budget(budget: &PodDisruptionBudget, document: &Node) -> Result<(), Fault> {
    let Some(spec) = &budget.spec else { return Ok(()) };
    if spec.min_available.is_some() && spec.max_unavailable.is_some() {
        let text = "minAvailable and maxUnavailable are both given, expected one of them";
        return Err(Fault::new(place(document, &["spec", "maxUnavailable"]), text));
    }
    for name in ["minAvailable", "maxUnavailable"] {
        if let Some(node) = find(document, &["spec", name]) {
            share(name, node)?;
        }
    }
    let expressions = spec.selector.iter().flat_map(|selector| selector.match_expressions.iter().flatten());
    for one in expressions {
        let known = ["In", "NotIn", "Exists", "DoesNotExist"].contains(&one.operator.as_str());
        let values = one.values.as_ref().is_some_and(|values| !values.is_empty());
        if !known || values != one.operator.ends_with("In") {
            let at = place(document, &["spec", "selector", "matchExpressions"]);
            let text = format!(
                "spec.selector: found operator `{}` {} values, expected `In` or `NotIn` with some, or `Exists` or \
                 `DoesNotExist` without",
                one.operator,
                if values { "with" } else { "without" }
            );
            return Err(Fault::new(at, text));
        }
    }
    Ok(())
}

fn check_pod(pod: &Pod, document: &Node) -> Result<(), Fault> {
    let mut names: Vec<&str> = pod.containers().map(|one| one.name.as_str()).collect();
    if pod.spec.as_ref().is_none_or(|spec| spec.containers.is_empty()) {
        let at = place(document, &["spec", "containers"]);
        return Err(Fault::new(at, "spec.containers: found none, expected at least one container"));
    }
    names.sort_unstable();
    if let Some([name, _]) = names.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
        let text = format!("container `{name}` is there twice, expected different names");
        return Err(Fault::new(place(document, &["spec", "containers"]), text));
    }
    for container in pod.containers() {
        let limits = container.resources.as_ref().and_then(|one| one.limits.clone()).unwrap_or_default();
        for (name, request) in requests(container.resources.as_ref()) {
            if exact(&request).is_some_and(|amount| amount < Quantity::ZERO) {
                let text = format!(
                    "container `{}` requests {name} {}, expected no less than 0",
                    container.name, request.0
                );
                return Err(Fault::new(place(document, &["spec", "containers"]), text));
            }
            let limit = limits.get(&name);
            if limit.is_some_and(|limit| exact(&request) > exact(limit)) {
                let text = format!(
                    "container `{}` requests {name} {}, expected no more than its limit {}",
                    container.name,
                    request.0,
                    limit.map_or("", |limit| limit.0.as_str())
                );
                return Err(Fault::new(place(document, &["spec", "containers"]), text));
            }
        }
    }
    annotations::check_pod(pod.metadata.annotations.as_ref(), document)
}

/// The value at a path.
pub(super) fn find<'a>(node: &'a Node, path: &[&str]) -> Option<&'a Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    let Value::Map(entries) = &node.value else { return None };
    find(&entries.iter().find(|entry| entry.key == *first)?.value, rest)
}

/// Where a path stands, or the nearest part of it that is there.
pub(super) fn place(node: &Node, path: &[&str]) -> Position {
    (0..=path.len())
        .rev()
        .find_map(|length| find(node, path.get(..length)?))
        .map_or(node.at, |found| found.at)
}

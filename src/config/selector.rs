//! A `metav1.LabelSelector` in the file.
//!
//! Invariant: a selector that the API would refuse is an error here, so what is read always means something.

use super::fields::{Fields, expected, text};
use super::tree::{Fault, Node, Value};
use crate::model::labels::{Requirement, Selector};

const OPERATORS: [(&str, &str); 4] =
    [("In", "In"), ("NotIn", "NotIn"), ("Exists", "Exists"), ("DoesNotExist", "DoesNotExist")];

/// Reads the selector under `name`; `None` when it is left out.
///
/// # Errors
/// Unknown fields or operators, values where there may be none, or none where there must be some.
pub fn read(fields: &Fields<'_>, name: &str) -> Result<Option<Selector>, Fault> {
    let Some(node) = fields.get(name) else { return Ok(None) };
    let selector = Fields::read(name, node, &["matchLabels", "matchExpressions"])?;
    let mut requirements = Vec::new();
    if let Some(labels) = selector.get("matchLabels") {
        let Value::Map(entries) = &labels.value else {
            return Err(expected("matchLabels", "a mapping", labels));
        };
        for entry in entries {
            let value = text("matchLabels", &entry.value)?;
            requirements.push(Requirement::parse(entry.key.as_str().into(), "In", vec![value.into()]));
        }
    }
    for item in selector.list("matchExpressions")? {
        requirements.push(Some(expression(item)?));
    }
    Ok(Some(Selector::new(requirements)))
}

fn expression(item: &Node) -> Result<Requirement, Fault> {
    let fields = Fields::read("matchExpressions", item, &["key", "operator", "values"])?;
    let key = fields.required_text("key")?;
    let Some(operator) = fields.choice("operator", &OPERATORS)? else {
        return Err(Fault::new(item.at, "operator: expected one, found nothing"));
    };
    let values: Result<Vec<_>, Fault> =
        fields.list("values")?.iter().map(|value| text("values", value).map(Into::into)).collect();
    let takes_values = matches!(operator, "In" | "NotIn");
    Requirement::parse(key.into(), operator, values?).ok_or_else(|| {
        let what = if takes_values { "some" } else { "none" };
        Fault::new(fields.place("values"), format!("values: expected {what} with operator `{operator}`"))
    })
}

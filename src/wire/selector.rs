//! Label selectors and node selector terms on the wire.
//!
//! Invariant: `Gt` and `Lt` are read for nodes only; in a label selector they make it match nothing, as in
//! apimachinery's `LabelSelectorAsSelector`.

use super::convert::Converter;
use super::lenient::or_default;
use crate::model::labels::{Operator, Requirement, Selector};
use crate::model::node_selector::{NodeSelector, NodeTerm};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LabelSelector {
    #[serde(deserialize_with = "or_default")]
    match_labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    match_expressions: Vec<Expression>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Expression {
    key: String,
    operator: String,
    #[serde(deserialize_with = "or_default")]
    values: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Terms {
    #[serde(deserialize_with = "or_default")]
    node_selector_terms: Vec<Term>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Term {
    #[serde(deserialize_with = "or_default")]
    match_expressions: Vec<Expression>,
    #[serde(deserialize_with = "or_default")]
    match_fields: Vec<Expression>,
}

impl Converter {
    pub(super) fn selector(&mut self, wire: &LabelSelector) -> Selector {
        let mut requirements = Vec::with_capacity(wire.match_labels.len() + wire.match_expressions.len());
        for (key, value) in &wire.match_labels {
            let operator = Operator::In(vec![self.intern(value)]);
            requirements.push(Some(Requirement { key: self.intern(key), operator }));
        }
        for expression in &wire.match_expressions {
            let for_nodes = matches!(expression.operator.as_str(), "Gt" | "Lt");
            requirements.push(if for_nodes { None } else { self.requirement(expression) });
        }
        Selector::new(requirements)
    }

    pub(super) fn node_selector(&mut self, wire: &Terms) -> NodeSelector {
        NodeSelector { terms: wire.node_selector_terms.iter().map(|term| self.node_term(term)).collect() }
    }

    pub(super) fn node_term(&mut self, wire: &Term) -> NodeTerm {
        let expressions: Vec<_> = wire.match_expressions.iter().map(|one| self.requirement(one)).collect();
        let fields: Vec<_> = wire.match_fields.iter().map(|one| self.requirement(one)).collect();
        NodeTerm::new(expressions, fields)
    }

    fn requirement(&mut self, wire: &Expression) -> Option<Requirement> {
        let values = wire.values.iter().map(|value| self.intern(value)).collect();
        Requirement::parse(self.intern(&wire.key), &wire.operator, values)
    }
}

//! What a Pod demands or prefers of a node's labels and name.
//!
//! Invariant: terms are alternatives; a term that is empty or cannot be parsed matches no node
//! (component-helpers `nodeaffinity`).

use super::Str;
use super::labels::{Labels, Operator, Requirement};

/// One `nodeSelectorTerm`: everything in it must hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeTerm {
    expressions: Vec<Requirement>,
    fields: Vec<Requirement>,
    valid: bool,
}

impl NodeTerm {
    /// The only node field that can be matched.
    const NAME: &'static str = "metadata.name";

    /// A term of label expressions and field requirements, `None` standing for one that did not parse.
    pub fn new(
        expressions: impl IntoIterator<Item = Option<Requirement>>,
        fields: impl IntoIterator<Item = Option<Requirement>>,
    ) -> Self {
        let expressions: Option<Vec<_>> = expressions.into_iter().collect();
        let fields: Option<Vec<_>> = fields.into_iter().collect();
        let (Some(expressions), Some(fields)) = (expressions, fields) else {
            return Self { expressions: Vec::new(), fields: Vec::new(), valid: false };
        };
        let one_name = |field: &Requirement| {
            field.key == Self::NAME
                && matches!(&field.operator, Operator::In(v) | Operator::NotIn(v) if v.len() == 1)
        };
        let valid = fields.iter().all(one_name) && !(expressions.is_empty() && fields.is_empty());
        Self { expressions, fields, valid }
    }

    /// Whether a node of this name and these labels satisfies the term.
    pub fn matches(&self, name: &str, labels: &Labels) -> bool {
        self.valid
            && self.fields.iter().all(|field| field.admits(Some(name)))
            && self.expressions.iter().all(|one| one.admits(labels.get(&one.key).map(Str::as_str)))
    }

    /// The one node name the term allows, when it names one by `matchFields … In`.
    pub fn only_name(&self) -> Option<&Str> {
        self.fields.iter().find_map(|field| match &field.operator {
            Operator::In(values) => values.first(),
            _ => None,
        })
    }

    /// Whether the term names two different nodes, so that none can satisfy it.
    pub fn names_conflict(&self) -> bool {
        let mut names = self.fields.iter().filter_map(|field| match &field.operator {
            Operator::In(values) => values.first(),
            _ => None,
        });
        let first = names.next();
        names.any(|other| Some(other) != first)
    }
}

/// Required node affinity: at least one term must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeSelector {
    /// The alternatives; none at all matches no node.
    pub terms: Vec<NodeTerm>,
}

impl NodeSelector {
    /// Whether some term matches the node.
    pub fn matches(&self, name: &str, labels: &Labels) -> bool {
        self.terms.iter().any(|term| term.matches(name, labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement(key: &str, operator: &str, value: &str) -> Option<Requirement> {
        Requirement::parse(key.into(), operator, vec![value.into()])
    }

    #[test]
    fn an_empty_term_matches_nothing_and_leaves_the_others_alone() {
        let named = NodeTerm::new([], [requirement("metadata.name", "In", "n2")]);
        let selector = NodeSelector { terms: vec![NodeTerm::new([], []), named] };
        assert!(selector.matches("n2", &Labels::default()));
        assert!(!selector.matches("n1", &Labels::default()));
    }

    #[test]
    fn a_term_with_a_bad_value_matches_nothing() {
        let bad = NodeTerm::new([requirement("gen", "Gt", "ten")], []);
        let labels = [(Str::from("gen"), Str::from("11"))].into_iter().collect();
        assert!(!bad.matches("n1", &labels));
    }

    #[test]
    fn two_names_in_one_term_conflict() {
        let fields = [requirement("metadata.name", "In", "a"), requirement("metadata.name", "In", "b")];
        assert!(NodeTerm::new([], fields).names_conflict());
    }
}

//! NodeAffinity: `nodeSelector`, required and preferred node affinity.
//!
//! Invariant: terms that name nodes by `metadata.name` narrow the nodes before the filters run, which is what keeps
//! DaemonSet Pods cheap (kube-scheduler `plugins/nodeaffinity`).

use crate::model::node_selector::NodeSelector;
use crate::model::{Node, Placement, Str};

/// The reason counted for a node.
pub const REASON: &str = "node(s) didn't match Pod's node affinity/selector";

/// The message when no term can be met by any node.
pub const CONFLICT: &str = "pod affinity terms conflict";

/// What its score counts for.
pub const WEIGHT: i64 = 2;

/// The nodes that a Pod's required terms leave.
#[derive(Debug, PartialEq)]
pub enum Named<'a> {
    /// Some term names no node, so all are possible.
    Any,
    /// Only these, in the order of the terms, each once.
    Only(Vec<&'a Str>),
    /// Every term names nodes that exclude each other.
    Conflict,
}

/// What the required terms say of node names: an intersection inside a term, a union over the terms.
pub fn named(required: Option<&NodeSelector>) -> Named<'_> {
    let Some(selector) = required.filter(|one| !one.terms.is_empty()) else { return Named::Any };
    let mut names: Vec<&Str> = Vec::new();
    for term in &selector.terms {
        match term.only_name() {
            None => return Named::Any,
            Some(_) if term.names_conflict() => {}
            Some(name) if names.contains(&name) => {}
            Some(name) => names.push(name),
        }
    }
    if names.is_empty() { Named::Conflict } else { Named::Only(names) }
}

/// The filter and the score, made for one Pod.
#[derive(Debug)]
pub struct NodeAffinity<'a> {
    placement: &'a Placement,
}

impl<'a> NodeAffinity<'a> {
    /// The filter; `None` when the Pod demands nothing of node labels or names.
    pub fn filter(placement: &'a Placement) -> Option<Self> {
        let demands = placement.required.is_some() || !placement.node_selector.is_empty();
        demands.then_some(Self { placement })
    }

    /// The score; `None` when the Pod prefers nothing.
    pub fn score(placement: &'a Placement) -> Option<Self> {
        (!placement.preferred.is_empty()).then_some(Self { placement })
    }

    /// Whether the node meets what is required.
    pub fn admits(&self, node: &Node) -> bool {
        self.placement.accepts(&node.name, &node.labels)
    }

    /// The weights of the preferred terms that the node meets, summed, before normalising.
    pub fn raw_score(&self, node: &Node) -> i64 {
        let met = self.placement.preferred.iter().filter(|(_, term)| term.matches(&node.name, &node.labels));
        met.map(|(weight, _)| i64::from(*weight)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::labels::Requirement;
    use crate::model::node_selector::NodeTerm;

    fn field(operator: &str, name: &str) -> Option<Requirement> {
        Requirement::parse("metadata.name".into(), operator, vec![name.into()])
    }

    fn selector(terms: impl IntoIterator<Item = NodeTerm>) -> NodeSelector {
        NodeSelector { terms: terms.into_iter().collect() }
    }

    #[test]
    fn a_term_without_a_name_leaves_all_nodes() {
        let zone = Requirement::parse("zone".into(), "In", vec!["z1".into()]);
        let terms = selector([NodeTerm::new([], [field("In", "n1")]), NodeTerm::new([zone], [])]);
        assert_eq!(named(Some(&terms)), Named::Any);
        assert_eq!(named(None), Named::Any);
    }

    #[test]
    fn a_name_that_is_only_excluded_names_no_node() {
        assert_eq!(named(Some(&selector([NodeTerm::new([], [field("NotIn", "n1")])]))), Named::Any);
    }

    #[test]
    fn names_of_several_terms_add_up() {
        let term = |name| NodeTerm::new([], [field("In", name)]);
        let terms = selector([term("n2"), term("n1"), term("n2")]);
        assert_eq!(named(Some(&terms)), Named::Only(vec![&"n2".into(), &"n1".into()]));
    }

    #[test]
    fn a_conflict_in_one_term_leaves_the_others() {
        let torn = || NodeTerm::new([], [field("In", "n1"), field("In", "n2")]);
        assert_eq!(named(Some(&selector([torn()]))), Named::Conflict);
        let mended = selector([torn(), NodeTerm::new([], [field("In", "n3")])]);
        assert_eq!(named(Some(&mended)), Named::Only(vec![&"n3".into()]));
    }
}

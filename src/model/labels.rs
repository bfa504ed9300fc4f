//! Labels and the selectors that match them.
//!
//! Invariant: a selector that cannot be parsed matches nothing; it never widens what is chosen.

use super::Str;
use std::sync::Arc;

/// The labels of one object, sorted by key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Labels(Arc<[(Str, Str)]>);

impl Default for Labels {
    fn default() -> Self {
        Self(Arc::from([]))
    }
}

impl FromIterator<(Str, Str)> for Labels {
    fn from_iter<I: IntoIterator<Item = (Str, Str)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        pairs.dedup_by(|later, earlier| later.0 == earlier.0);
        Self(pairs.into())
    }
}

impl Labels {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Str> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// All pairs, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = &(Str, Str)> {
        self.0.iter()
    }

    /// Whether there is no label at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How a requirement compares. `Gt` and `Lt` exist for node labels only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The label exists and has one of the values.
    In(Vec<Str>),
    /// The label is missing or has none of the values.
    NotIn(Vec<Str>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The label is an integer greater than this.
    Gt(i64),
    /// The label is an integer less than this.
    Lt(i64),
}

/// One condition on one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// Label key, or a field path for node fields.
    pub key: Str,
    /// The comparison.
    pub operator: Operator,
}

impl Requirement {
    /// Builds a requirement from the API's three fields; `None` when the API's own parser would refuse it
    /// (apimachinery `labels.NewRequirement`): an unknown operator, `In` without values, `Gt` of no integer.
    pub fn parse(key: Str, operator: &str, values: Vec<Str>) -> Option<Self> {
        let integer = |values: &[Str]| match values {
            [one] => one.parse::<i64>().ok(),
            _ => None,
        };
        let operator = match operator {
            "In" if !values.is_empty() => Operator::In(values),
            "NotIn" if !values.is_empty() => Operator::NotIn(values),
            "Exists" if values.is_empty() => Operator::Exists,
            "DoesNotExist" if values.is_empty() => Operator::DoesNotExist,
            "Gt" => Operator::Gt(integer(&values)?),
            "Lt" => Operator::Lt(integer(&values)?),
            _ => return None,
        };
        Some(Self { key, operator })
    }

    /// Whether a label with this value (or a missing one) meets the requirement.
    pub fn admits(&self, value: Option<&str>) -> bool {
        let integer = || value.and_then(|text| text.parse::<i64>().ok());
        match &self.operator {
            Operator::In(values) => value.is_some_and(|v| values.iter().any(|one| one == v)),
            Operator::NotIn(values) => value.is_none_or(|v| values.iter().all(|one| one != v)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt(bound) => integer().is_some_and(|v| v > *bound),
            Operator::Lt(bound) => integer().is_some_and(|v| v < *bound),
        }
    }
}

/// A `metav1.LabelSelector`: all requirements must hold. Without requirements it matches everything;
/// a missing selector (`Option::None` where it is used) matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selector {
    /// `matchLabels` and `matchExpressions` together; `None` when one could not be parsed.
    requirements: Option<Vec<Requirement>>,
}

impl Selector {
    /// The selector of these requirements; any `None` among them makes it match nothing.
    pub fn new(requirements: impl IntoIterator<Item = Option<Requirement>>) -> Self {
        Self { requirements: requirements.into_iter().collect() }
    }

    /// The selector `{}`.
    pub fn everything() -> Self {
        Self { requirements: Some(Vec::new()) }
    }

    /// Whether it is `{}`.
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether the labels meet every requirement.
    pub fn matches(&self, labels: &Labels) -> bool {
        let Some(requirements) = &self.requirements else { return false };
        requirements.iter().all(|one| one.admits(labels.get(&one.key).map(Str::as_str)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(k, v)| (Str::from(*k), Str::from(*v))).collect()
    }

    fn admits(operator: &str, values: &[&str], value: Option<&str>) -> bool {
        let values = values.iter().map(|v| Str::from(*v)).collect();
        Requirement::parse("key".into(), operator, values).unwrap().admits(value)
    }

    #[test]
    fn not_in_accepts_a_missing_label() {
        assert!(admits("NotIn", &["hdd"], None));
        assert!(admits("NotIn", &["hdd"], Some("ssd")));
        assert!(!admits("NotIn", &["hdd"], Some("hdd")));
    }

    #[test]
    fn gt_ignores_labels_that_are_no_number() {
        assert!(admits("Gt", &["4"], Some("5")));
        assert!(!admits("Gt", &["4"], Some("v7")));
        assert!(!admits("Gt", &["4"], None));
    }

    #[test]
    fn a_requirement_that_the_api_would_refuse_is_refused() {
        assert_eq!(Requirement::parse("k".into(), "Gt", vec!["ten".into()]), None);
        assert_eq!(Requirement::parse("k".into(), "In", vec![]), None);
        assert_eq!(Requirement::parse("k".into(), "Near", vec![]), None);
    }

    #[test]
    fn a_selector_with_a_bad_requirement_matches_nothing() {
        assert!(!Selector::new([None]).matches(&labels(&[("app", "web")])));
        assert!(!Selector::new([None]).matches(&Labels::default()));
    }

    #[test]
    fn an_empty_selector_matches_everything() {
        assert!(Selector::everything().matches(&Labels::default()));
        assert!(Selector::new([]).matches(&labels(&[("app", "web")])));
    }
}

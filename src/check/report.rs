//! What a check comes to.
//!
//! Invariant: a finding says what was found and what a person can do; both are one sentence.

use super::Id;
use std::fmt;

/// How bad a finding is, from worst on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// elbowroom would not work, or could do harm.
    Error,
    /// It works, and some Pods get no room or lose it for a cause that nobody may have meant.
    Warning,
    /// Good to know.
    Info,
}

impl Severity {
    /// All severities, worst first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Info];

    /// The name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Something in the cluster, or in the configuration, that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// `Pod`, `Node`, …; `Right`, `FeatureGate`, `APIServer`, `Profile`, `File`, `Object` and `Check` are no API objects.
    pub kind: &'static str,
    /// Empty for what is in none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Object {
    /// Something without a namespace.
    pub fn named(kind: &'static str, name: impl Into<String>) -> Self {
        Self { kind, namespace: String::new(), name: name.into() }
    }

    /// Something in a namespace.
    pub fn within(kind: &'static str, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        write!(f, "{}{slash}{}", self.namespace, self.name)
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub id: Id,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about, all of one kind; none when it is about the cluster as a whole.
    pub objects: Vec<Object>,
    /// What was found.
    pub message: String,
    /// What to do.
    pub next_step: String,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The worst first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// How many findings are of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether nothing is worse than a warning, or, when strict, than info.
    pub fn good(&self, strict: bool) -> bool {
        self.count(Severity::Error) == 0 && !(strict && self.count(Severity::Warning) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(severity: Severity) -> Report {
        let objects = vec![Object::named("Node", "n1")];
        let (message, next_step) = (String::new(), String::new());
        Report { findings: vec![Finding { id: Id::OldKubelet, severity, objects, message, next_step }] }
    }

    #[test]
    fn a_warning_is_bad_only_when_strict() {
        assert!(found(Severity::Warning).good(false));
        assert!(!found(Severity::Warning).good(true));
    }

    #[test]
    fn an_error_is_always_bad_and_an_info_never() {
        assert!(!found(Severity::Error).good(false));
        assert!(found(Severity::Info).good(true));
        assert!(Report::default().good(true));
    }

    #[test]
    fn an_object_is_written_with_its_namespace() {
        assert_eq!(Object::within("Pod", "shop", "cart").to_string(), "shop/cart");
        assert_eq!(Object::named("Node", "n1").to_string(), "n1");
    }
}

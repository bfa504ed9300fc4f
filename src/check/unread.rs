//! What could not be read or understood, and what may not be done.
//!
//! Invariant: rules that were left out for it are named.

use super::{Facts, Finding, Id, Object, Severity};

pub(super) fn find(facts: &Facts, findings: &mut Vec<Finding>) {
    if let Some(rights) = facts.rights.as_ref().filter(|rights| !rights.missing.is_empty()) {
        findings.push(Finding {
            id: Id::MissingRight,
            severity: Severity::Error,
            objects: rights.missing.iter().map(|right| Object::named("Right", right)).collect(),
            message: format!(
                "{} may not: {}; elbowroom does not start without that",
                rights.of,
                rights.missing.join(", ")
            ),
            next_step: "apply deploy/2-rights.yaml, or grant it to the account that elbowroom runs as".into(),
        });
    }
    findings.extend(facts.unreadable.iter().map(|problem| Finding {
        id: Id::UnreadableObject,
        severity: Severity::Warning,
        objects: vec![Object::named("Object", problem.split(": ").next().unwrap_or(problem))],
        message: format!("no decision sees this object as it is: {problem}"),
        next_step: "mend what is named, or report it if the API accepts it".into(),
    }));
    findings.extend(facts.unread.iter().map(|problem| Finding {
        id: Id::NotChecked,
        severity: Severity::Info,
        objects: vec![Object::named("Check", problem.split(": ").next().unwrap_or(problem))],
        message: format!("not checked, for it could not be read: {problem}"),
        next_step: "run the check as a user who may read it, or add it to the files".into(),
    }));
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{found, healthy, the_one};
    use super::*;
    use crate::check::Rights;

    #[test]
    fn missing_rights_are_an_error_that_says_whose_they_are() {
        let missing = vec!["create pods/eviction".to_owned(), "list nodes".to_owned()];
        let facts = Facts { rights: Some(Rights { of: "jane".into(), missing }), ..healthy() };
        let one = the_one(&facts, Id::MissingRight);
        assert_eq!((one.severity, one.objects.len()), (Severity::Error, 2));
        let expected =
            "jane may not: create pods/eviction, list nodes; elbowroom does not start without that";
        assert_eq!(one.message, expected);
    }

    #[test]
    fn whoever_may_everything_lacks_nothing() {
        let facts = Facts { rights: Some(Rights { of: "jane".into(), missing: vec![] }), ..healthy() };
        assert!(found(&facts, Id::MissingRight).is_empty());
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let facts = Facts { unreadable: vec!["Pod ns/p: no quantity: two".into()], ..healthy() };
        let findings = found(&facts, Id::UnreadableObject);
        assert_eq!(findings[0].objects, [Object::named("Object", "Pod ns/p")]);
        assert!(findings[0].message.ends_with("Pod ns/p: no quantity: two"));
    }

    #[test]
    fn what_cannot_be_read_is_said_and_is_no_fault() {
        let facts = Facts { unread: vec!["PriorityClasses: forbidden".into()], ..healthy() };
        let findings = found(&facts, Id::NotChecked);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Info));
    }
}

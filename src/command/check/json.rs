//! A report for scripts, as JSON or YAML; `docs/check.md` has its fields.
//!
//! Invariant: fields are added, never renamed or taken away, within one apiVersion.

use super::facts::Seen;
use crate::check::{Object, Report, Severity};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    api_version: &'static str,
    kind: &'static str,
    cluster: Cluster<'a>,
    rights_of: Option<&'a str>,
    summary: Summary,
    findings: Vec<Found<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cluster<'a> {
    server: &'a str,
    version: Option<&'a str>,
    nodes: usize,
    pods: usize,
    budgets: usize,
    priority_classes: Option<usize>,
}

#[derive(Serialize)]
struct Summary {
    error: usize,
    warning: usize,
    info: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'a> {
    id: &'static str,
    severity: &'static str,
    objects: Vec<About<'a>>,
    message: &'a str,
    next_step: &'a str,
}

#[derive(Serialize)]
struct About<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    name: &'a str,
}

impl<'a> About<'a> {
    fn of(object: &'a Object) -> Self {
        Self { kind: object.kind, namespace: &object.namespace, name: &object.name }
    }
}

/// The whole report, indented.
///
/// # Errors
/// None that a report can cause.
pub fn render(seen: &Seen, report: &Report) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&page(seen, report))
}

/// The same as YAML.
///
/// # Errors
/// None that a report can cause.
pub fn yaml(seen: &Seen, report: &Report) -> anyhow::Result<String> {
    Ok(serde_yaml::to_string(&page(seen, report))?)
}

fn page<'a>(seen: &'a Seen, report: &'a Report) -> Page<'a> {
    let facts = &seen.facts;
    let findings = report.findings.iter().map(|finding| Found {
        id: finding.id.as_str(),
        severity: finding.severity.as_str(),
        objects: finding.objects.iter().map(About::of).collect(),
        message: &finding.message,
        next_step: &finding.next_step,
    });
    Page {
        api_version: "elbowroom.dev/v1alpha1",
        kind: "CheckReport",
        cluster: Cluster {
            server: &seen.source,
            version: facts.server.as_deref(),
            nodes: facts.nodes.len(),
            pods: facts.pods.len(),
            budgets: facts.budgets.len(),
            priority_classes: facts.classes.as_ref().map(Vec::len),
        },
        rights_of: facts.rights.as_ref().map(|rights| rights.of.as_str()),
        summary: Summary {
            error: report.count(Severity::Error),
            warning: report.count(Severity::Warning),
            info: report.count(Severity::Info),
        },
        findings: findings.collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::check::{Facts, Finding, Id, Rights};
    use serde_json::{Value, json};

    #[test]
    fn the_shape_is_the_one_that_is_documented() {
        let rights = Some(Rights { of: "jane".into(), missing: vec![] });
        let facts = Facts { server: Some("v1.37.2".into()), rights, ..Facts::default() };
        let finding = Finding {
            id: Id::BudgetBehind,
            severity: Severity::Warning,
            objects: vec![
                Object::within("PodDisruptionBudget", "shop", "web"),
                Object::named("PodDisruptionBudget", "all"),
            ],
            message: "found".into(),
            next_step: "mend".into(),
        };
        let seen = Seen { source: "https://api".into(), facts };
        let report = Report { findings: vec![finding] };
        let text = render(&seen, &report).unwrap();
        let kind = "PodDisruptionBudget";
        let expected = json!({
            "apiVersion": "elbowroom.dev/v1alpha1",
            "kind": "CheckReport",
            "cluster": {
                "server": "https://api", "version": "v1.37.2", "nodes": 0, "pods": 0, "budgets": 0,
                "priorityClasses": null,
            },
            "rightsOf": "jane",
            "summary": {"error": 0, "warning": 1, "info": 0},
            "findings": [{
                "id": "budget-behind",
                "severity": "warning",
                "objects": [{"kind": kind, "namespace": "shop", "name": "web"}, {"kind": kind, "name": "all"}],
                "message": "found",
                "nextStep": "mend",
            }],
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let text = yaml(&seen, &report).unwrap();
        assert_eq!(serde_yaml::from_str::<Value>(&text).unwrap(), expected);
    }
}

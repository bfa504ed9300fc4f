//! A report for people.
//!
//! Invariant: one rule never fills the screen; what is left out is counted.

use super::facts::Seen;
use crate::check::{Finding, Object, Report, Severity};
use std::fmt::Write;

/// Findings of one rule that are shown.
const SHOWN: usize = 5;
/// Names in a heading.
const NAMES: usize = 4;
/// Columns of a line, long words aside.
const WIDTH: usize = 100;

/// The whole page.
pub fn render(seen: &Seen, report: &Report) -> String {
    let facts = &seen.facts;
    let mut page = String::new();
    let version = facts.server.as_deref().unwrap_or("version unknown");
    let _ = writeln!(page, "{} ({version})", seen.source);
    let counts = [
        count(facts.nodes.len(), "node"),
        count(facts.pods.len(), "Pod"),
        count(facts.budgets.len(), "budget"),
        match facts.classes.as_ref().map(Vec::len) {
            None => "priority classes unknown".to_owned(),
            Some(1) => "1 priority class".to_owned(),
            Some(number) => format!("{number} priority classes"),
        },
    ];
    let _ = writeln!(page, "{}", counts.join(", "));
    if let Some(rights) = &facts.rights {
        let account = rights.of.starts_with("system:serviceaccount:");
        let hint = if account { "" } else { "; --as asks for those of another account" };
        let _ = writeln!(page, "rights of {}{hint}", rights.of);
    }
    for severity in Severity::ALL {
        let found: Vec<&Finding> =
            report.findings.iter().filter(|finding| finding.severity == severity).collect();
        if !found.is_empty() {
            let _ = writeln!(page, "\n{}", severity.as_str().to_uppercase());
        }
        for rule in found.chunk_by(|a, b| a.id == b.id) {
            for finding in rule.iter().take(SHOWN) {
                let _ = writeln!(page, "  {}{}", finding.id.as_str(), names(&finding.objects));
                page.push_str(&wrapped("    ", &finding.message));
                page.push_str(&wrapped("    -> ", &finding.next_step));
            }
            if let Some(more) = rule.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                let id = rule.first().map_or("", |finding| finding.id.as_str());
                let _ = writeln!(page, "  {id}: {more} more; -o json names all");
            }
        }
    }
    let told = |severity: Severity, noun| count(report.count(severity), noun);
    let counts =
        [told(Severity::Error, "error"), told(Severity::Warning, "warning"), told(Severity::Info, "note")];
    let _ = writeln!(page, "\n{}", counts.join(", "));
    page
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The words in lines that stand below each other after the lead.
fn wrapped(lead: &str, text: &str) -> String {
    let mut lines = String::from(lead);
    let mut column = lead.len();
    for (at, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if at > 0 && column + 1 + length > WIDTH {
            let _ = write!(lines, "\n{:1$}", "", lead.len());
            column = lead.len();
        } else if at > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines.push('\n');
    lines
}

/// `  Node n1, n2 and 3 more`.
fn names(objects: &[Object]) -> String {
    let Some(first) = objects.first() else { return String::new() };
    let shown: Vec<String> = objects.iter().take(NAMES).map(ToString::to_string).collect();
    let more = match objects.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("  {} {}{more}", first.kind, shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Facts, Id, Rights};

    fn finding(id: Id, severity: Severity, objects: &[&str]) -> Finding {
        let objects = objects.iter().map(|name| Object::named("Node", *name)).collect();
        Finding { id, severity, objects, message: "found.".into(), next_step: "mend it".into() }
    }

    fn page(findings: Vec<Finding>) -> String {
        let rights = Some(Rights { of: "jane".into(), missing: vec![] });
        let facts =
            Facts { server: Some("v1.37.2".into()), rights, classes: Some(vec![]), ..Facts::default() };
        render(&Seen { source: "https://api".into(), facts }, &Report { findings })
    }

    #[test]
    fn a_healthy_cluster_is_a_few_lines() {
        let expected = "https://api (v1.37.2)\n0 nodes, 0 Pods, 0 budgets, 0 priority classes\nrights of jane; \
                        --as asks for those of another account\n\n0 errors, 0 warnings, 0 notes\n";
        assert_eq!(page(vec![]), expected);
    }

    #[test]
    fn findings_stand_under_their_severity_with_what_to_do() {
        let text = page(vec![
            finding(Id::MissingRight, Severity::Error, &["x"]),
            finding(Id::NodeNotReady, Severity::Warning, &["a", "b", "c", "d", "e", "f"]),
        ]);
        assert!(text.contains("\nERROR\n  missing-right  Node x\n    found.\n    -> mend it\n"), "{text}");
        assert!(text.contains("\nWARNING\n  node-not-ready  Node a, b, c, d and 2 more\n"), "{text}");
        assert!(text.ends_with("\n1 error, 1 warning, 0 notes\n"), "{text}");
    }

    #[test]
    fn a_long_sentence_is_broken_between_words_and_stays_below_its_lead() {
        let text = wrapped("    -> ", &"word ".repeat(30));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("    -> word word") && lines[0].len() <= WIDTH, "{text}");
        assert!(lines[1].starts_with("       word word"), "{text}");
        assert_eq!(text.split_whitespace().count(), 31);
    }

    #[test]
    fn one_rule_does_not_fill_the_screen() {
        let many = (0..9).map(|_| finding(Id::BudgetBehind, Severity::Warning, &["x"])).collect();
        let text = page(many);
        assert_eq!(text.matches("-> mend it").count(), SHOWN);
        assert!(text.contains("  budget-behind: 4 more; -o json names all\n"), "{text}");
    }
}

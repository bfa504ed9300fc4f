//! What the documentation says of names, fields and layers, against the code.
//!
//! Invariant: a reason, metric, field or layer that is added or taken away here is so there too.

use elbowroom::check::Id;
use elbowroom::config::Config;
use elbowroom::engine::{QueueName, Settings};
use elbowroom::model::Span;
use elbowroom::resize::{Outcome, Reason, ResizePolicy};
use elbowroom::serve::Metrics;
use elbowroom::serve::labels::{AttemptResult, EvictionResult, Operation};
use elbowroom::simulation::play;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cells of every table row that begins with a name in backquotes.
pub fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| line.starts_with("| `")).map(cells)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// The names in backquotes.
pub fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_reason_is_explained_with_its_status() {
    let text = read("docs/operations.md");
    let told: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix("### `")).collect();
    let status = |reason: &Reason| if reason.hopeful() { "True" } else { "False" };
    let headings: Vec<String> =
        Reason::ALL.iter().map(|reason| format!("{}` ({})", reason.as_str(), status(reason))).collect();
    assert_eq!(told, headings.iter().map(String::as_str).collect());
}

/// Names of all families, each with something in it.
fn families() -> BTreeSet<String> {
    let metrics = Metrics::new().unwrap();
    metrics.attempt(AttemptResult::Scheduled, "elbowroom", Span::default());
    metrics.placed(1, Span::default());
    metrics.queued(QueueName::Active, "UnscheduledPodAdd");
    metrics.evicted(Operation::InPlaceResize, EvictionResult::Evicted);
    metrics.resize_ended(Outcome::Allocated, true, Span::default());
    metrics.claimed("cpu", 1);
    metrics.claimed_unattainable("cpu", 1);
    metrics.overcount("cpu", 1);
    metrics.unreadable("Pod");
    metrics.reloaded(true);
    let text = String::from_utf8(metrics.render().unwrap()).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    names.filter(|name| !name.starts_with("process_")).map(str::to_owned).collect()
}

#[test]
fn every_metric_is_listed_and_no_other() {
    let text = read("docs/operations.md");
    let names = rows(&text).filter_map(|row| quoted(row.first()?).first().map(|name| (*name).to_owned()));
    let ours = |name: &String| name.starts_with("scheduler_") || name.starts_with("elbowroom_");
    assert_eq!(names.filter(ours).collect::<BTreeSet<_>>(), families());
}

#[test]
fn every_finding_of_check_is_listed_and_no_other() {
    let text = read("docs/check.md");
    let table = text.split("## Findings").nth(1).and_then(|rest| rest.split("## JSON").next()).unwrap();
    let told: BTreeSet<&str> = rows(table).filter_map(|row| quoted(row.first()?).first().copied()).collect();
    assert_eq!(told, Id::ALL.map(Id::as_str).into_iter().collect());
}

fn with_arg(field: &str) -> String {
    format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n\
         - schedulerName: a\n  pluginConfig:\n  - name: ResizePreemption\n    args: {{{field}}}\n"
    )
}

#[test]
fn every_rule_for_resizes_is_listed_and_accepted() {
    let text = read("docs/configuration.md");
    let section = text.split("## `ResizePreemption`").nth(1).and_then(|rest| rest.split("\n## ").next());
    let listed: Vec<&str> =
        rows(section.unwrap()).filter_map(|row| quoted(row.first()?).first().copied()).collect();
    let fields = [
        ("mode", "mode: Observe"),
        ("scope", "scope: AllPods"),
        ("bind", "bind: false"),
        ("pdbPolicy", "pdbPolicy: BestEffort"),
        ("wait", "wait: 30s"),
        ("deadline", "deadline: 5m"),
        ("fallback", "deadline: 5m, fallback: EvictSelf"),
        ("minVictimAge", "minVictimAge: 1m"),
        ("maxVictims", "maxVictims: 3"),
        ("maxEvictingPerNode", "maxEvictingPerNode: 3"),
        ("maxEvictionsPerMinute", "maxEvictionsPerMinute: 3"),
        ("protect.namespaces", "protect: {namespaces: [db]}"),
        ("protect.labelSelector", "protect: {labelSelector: {matchLabels: {tier: db}}}"),
        ("protect.annotations", "protect: {annotations: [keep=yes]}"),
        ("protect.daemonSets", "protect: {daemonSets: false}"),
        ("protect.unmanaged", "protect: {unmanaged: true}"),
        ("preemptors.minPriority", "preemptors: {minPriority: 1}"),
        ("preemptors.namespaceSelector", "preemptors: {namespaceSelector: {matchLabels: {may: grow}}}"),
        ("preemptors.labelSelector", "preemptors: {labelSelector: {matchLabels: {may: grow}}}"),
    ];
    assert_eq!(listed, fields.map(|(name, _)| name));
    for (name, field) in fields {
        let (config, _) = Config::parse("elbowroom.yaml", &with_arg(field)).unwrap();
        let profile = &config.profiles[0];
        assert!(!profile.bind || profile.resize != ResizePolicy::default(), "{name} changes nothing");
    }
}

#[test]
fn the_example_of_the_readme_is_the_default_configuration() {
    let text = read("README.md");
    let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples: Vec<&str> =
        blocks.filter(|block| block.contains("kind: KubeSchedulerConfiguration")).collect();
    let [example] = examples.as_slice() else { panic!("{} examples in README.md", examples.len()) };
    let (config, warnings) = Config::parse("README.md", example).unwrap();
    assert_eq!(config, Config::default());
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn the_example_of_the_scenarios_page_plays() {
    let text = read("docs/scenarios.md");
    let example = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let timeline = play("docs/scenarios.md", example, Settings::default()).unwrap();
    assert!(timeline.ends_with("Evicted in all: batch.\n"), "{timeline}");
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let mut astray = Vec::new();
    for page in pages(root()) {
        let text = fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for target in targets.filter(|target| !target.is_empty() && !target.contains("://")) {
            if !page.parent().unwrap_or_else(|| root()).join(target).exists() {
                astray.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(astray.is_empty(), "{}", astray.join("\n"));
}

#[test]
fn kubectl_shows_a_page_for_each_reason_with_a_next_step() {
    for reason in Reason::ALL {
        let file = format!("tests/golden/describe/{}.txt", reason.as_str());
        let page = read(&file);
        let status = if reason.hopeful() { "True" } else { "False" };
        let says = |line: &str| {
            line.trim_start().starts_with("elbowroom.dev/PodResizePreemption") && line.ends_with(status)
        };
        assert!(page.lines().any(says), "{file}: the condition is not {status}");
        // The facts end with a full stop; what follows is what a person can do.
        let event = page.lines().last().unwrap_or_default();
        let step = event.rsplit_once(". ").or_else(|| event.rsplit_once("; see to ")).map(|(_, step)| step);
        assert!(step.is_some_and(|step| !step.is_empty()), "{file}: no next step in: {event}");
        let names = ["n1", "batch", "web", "min", "max", "deadline", "mode", "protect"];
        assert!(names.iter().any(|name| event.contains(name)), "{file}: names nothing: {event}");
    }
}

//! The metrics of resizes, by the names, labels and values that dashboards and alerts are written against.

use elbowroom::model::Span;
use elbowroom::resize::{Outcome, Reason};
use elbowroom::serve::Metrics;
use elbowroom::serve::labels::{EvictionResult, Operation};

const OPERATIONS: &[&str] = &["in_place_resize", "scheduling"];
const RESULTS: &[&str] = &["evicted", "pdb", "stale_pdb", "throttled", "gone", "conflict", "error"];
const OUTCOMES: &[&str] = &["allocated", "reverted", "infeasible", "deleted"];
const REASONS: &[&str] = &[
    "Preempting",
    "WaitingForVictims",
    "WaitingForKubelet",
    "PreemptionPolicyNever",
    "DisabledByNode",
    "NotAllowed",
    "NodeNotReady",
    "ExceedsNode",
    "NotAShortage",
    "InsufficientVictims",
    "ProtectedVictims",
    "BlockedByPDB",
    "GraceTooLong",
    "LimitReached",
    "Waiting",
    "EvictionFailed",
    "KubeletDisagrees",
    "Observing",
];

/// A label and the values that it has.
type Label = (&'static str, &'static [&'static str]);

const UNITS: &[&str] = &["bytes", "cores", "integer"];
const RESOURCES: &[&str] = &["cpu", "example.com/gpu", "memory"];

/// The page after everything has happened that can happen to a resize.
fn page() -> String {
    let metrics = Metrics::new().unwrap();
    for operation in Operation::ALL {
        EvictionResult::ALL.into_iter().for_each(|result| metrics.evicted(operation, result));
    }
    for reason in Reason::ALL {
        metrics.deferred(reason, 1);
        metrics.resize_decided(reason);
    }
    for outcome in [Outcome::Allocated, Outcome::Reverted, Outcome::Infeasible, Outcome::Deleted] {
        for preempted in [true, false] {
            metrics.resize_ended(outcome, preempted, Span::from_seconds(1));
        }
    }
    metrics.resize_actuated(Span::from_seconds(1));
    metrics.resize_victims(1);
    for resource in ["cpu", "memory", "example.com/gpu"] {
        metrics.claimed(resource, 1000);
        metrics.claimed_unattainable(resource, 1000);
    }
    metrics.unattainable_nodes(1);
    String::from_utf8(metrics.render().unwrap()).unwrap()
}

/// The values that the label has in the samples of the family, sorted.
fn values(page: &str, family: &str, label: &str) -> Vec<String> {
    let samples = page.lines().filter_map(|line| line.strip_prefix(family)?.strip_prefix('{'));
    let value = |sample: &str| {
        let pairs = sample.split('}').next()?;
        let pair = pairs.split("\",").find_map(|pair| pair.strip_prefix(label)?.strip_prefix("=\""));
        Some(pair?.trim_end_matches('"').to_owned())
    };
    let mut values: Vec<String> = samples.filter_map(value).collect();
    values.sort();
    values.dedup();
    values
}

#[test]
fn every_family_of_resizes_has_its_type_its_labels_and_their_values() {
    let page = page();
    let families: [(&str, &str, &str, &[Label]); 10] = [
        ("scheduler_preemptions_total", "counter", "", &[("operation", OPERATIONS)]),
        ("scheduler_evictions_total", "counter", "", &[("operation", OPERATIONS), ("result", RESULTS)]),
        ("scheduler_resize_deferred_pods", "gauge", "", &[("reason", REASONS)]),
        (
            "scheduler_resize_deferred_duration_seconds",
            "histogram",
            "_count",
            &[("outcome", OUTCOMES), ("preempted", &["true", "false"])],
        ),
        ("scheduler_resize_actuation_duration_seconds", "histogram", "_count", &[]),
        ("scheduler_resize_preemption_attempts_total", "counter", "", &[("result", REASONS)]),
        ("scheduler_resize_preemption_victims", "histogram", "_count", &[]),
        ("scheduler_resize_claimed", "gauge", "", &[("resource", RESOURCES), ("unit", UNITS)]),
        ("scheduler_resize_claimed_unattainable", "gauge", "", &[("resource", RESOURCES), ("unit", UNITS)]),
        ("scheduler_resize_unattainable_nodes", "gauge", "", &[]),
    ];
    for (family, kind, ending, labels) in families {
        assert!(page.contains(&format!("# TYPE {family} {kind}\n")), "{family} is no {kind}");
        let sample = format!("{family}{ending}");
        assert!(page.lines().any(|line| line.starts_with(&sample)), "{sample} has no sample");
        for (label, expected) in labels {
            let mut expected: Vec<&str> = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(values(&page, &sample, label), expected, "{label} of {family}");
        }
    }
}

#[test]
fn time_deferred_is_told_by_how_it_ended_and_whether_anybody_went() {
    let page = page();
    for outcome in OUTCOMES {
        for preempted in ["true", "false"] {
            let labels = format!("outcome=\"{outcome}\",preempted=\"{preempted}\"");
            let line = format!("scheduler_resize_deferred_duration_seconds_sum{{{labels}}} 1\n");
            assert!(page.contains(&line), "{line}");
        }
    }
}

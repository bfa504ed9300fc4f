//! What is refused, word for word, and what is read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::Scenario;
use crate::model::Span;

const HEAD: &str = "apiVersion: elbowroom.dev/v1alpha1\nkind: Scenario\n";
const NODE: &str = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 8}}\n";
const POD: &str = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  nodeName: n1\n  \
                   containers: [{name: main, image: nginx}]\n";

fn refused(text: &str, expected: &str) {
    let error = Scenario::parse("s.yaml", text).expect_err("a refusal").to_string();
    assert_eq!(error, expected);
    assert!(!error.contains('\n'));
}

fn step(step: &str, expected: &str) {
    refused(&format!("{HEAD}steps:\n- {step}\n{NODE}{POD}"), expected);
}

#[test]
fn a_scenario_is_read() {
    let text = format!(
        "{HEAD}metadata: {{name: growth}}\nuntil: 3m\nsteps:\n\
                        - {{at: 9s, delete: {{pod: web}}}}\n- {{at: 5s, resize: {{pod: web, cpu: 6}}}}\n{NODE}{POD}"
    );
    let scenario = Scenario::parse("s.yaml", &text).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.until), ("growth", Span::from_seconds(180)));
    assert_eq!(scenario.objects.len(), 2);
    let times: Vec<_> = scenario.steps.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [Span::from_seconds(5), Span::from_seconds(9)]);
    assert_eq!(scenario.resized(), ["cpu"]);
}

#[test]
fn an_empty_file_is_refused() {
    refused("", "s.yaml:1:1: nothing here, expected a document of kind Scenario, elbowroom.dev/v1alpha1");
}

#[test]
fn a_file_that_begins_with_something_else_is_refused() {
    refused(
        "apiVersion: v1\nkind: Pod\n",
        "s.yaml:1:1: apiVersion: found `v1`, expected `elbowroom.dev/v1alpha1`",
    );
}

#[test]
fn an_unknown_kind_is_refused() {
    let expected = "s.yaml:5:7: kind: found `apps/v1 Deployment`, expected one of `v1 Pod`, `v1 Node`, \
                    `v1 Namespace`, `policy/v1 PodDisruptionBudget`, `scheduling.k8s.io/v1 PriorityClass`";
    refused(&format!("{HEAD}---\napiVersion: apps/v1\nkind: Deployment\n"), expected);
}

#[test]
fn a_name_that_is_there_already_is_refused() {
    refused(
        &format!("{HEAD}{NODE}{NODE}"),
        "s.yaml:11:18: Node `n1` is there already, expected another name",
    );
}

#[test]
fn a_node_that_nobody_described_is_refused() {
    refused(
        &format!("{HEAD}{POD}"),
        "s.yaml:8:13: no Node `n1`, expected a manifest of kind Node in this file",
    );
}

#[test]
fn an_unknown_field_of_a_manifest_is_refused() {
    let pod = POD.replace("nodeName", "nodename");
    refused(&format!("{HEAD}{NODE}{pod}"), "s.yaml:13:3: unknown field `nodename`, expected `nodeName`");
}

#[test]
fn a_step_about_a_pod_that_is_not_there_is_refused() {
    step("{at: 5s, resize: {pod: wbe, cpu: 6}}", "s.yaml:4:21: no Pod `wbe`, expected one of `web`");
}

#[test]
fn a_bad_duration_is_refused() {
    step(
        "{at: soon, delete: {pod: web}}",
        "s.yaml:4:8: at: expected a duration such as `30s` or `1h30m`, found `soon`",
    );
}

#[test]
fn a_bad_quantity_is_refused() {
    let expected = "s.yaml:4:36: cpu: expected a quantity such as `500m` or `1Gi`, found `six`";
    step("{at: 5s, resize: {pod: web, cpu: six}}", expected);
}

#[test]
fn a_negative_quantity_is_refused() {
    step(
        "{at: 1s, resize: {pod: web, cpu: \"-1\"}}",
        "s.yaml:4:36: cpu: expected a quantity such as `500m` or `1Gi`, found `-1`",
    );
    let pod = POD.replace("image: nginx", "image: nginx, resources: {requests: {cpu: \"-1\"}}");
    refused(
        &format!("{HEAD}{NODE}{pod}"),
        "s.yaml:14:15: container `main` requests cpu -1, expected no less than 0",
    );
}

/// A budget over everything with this in its spec.
fn budget(spec: &str) -> String {
    format!(
        "{HEAD}{NODE}---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: all}}\n\
         spec: {{{spec}}}\n"
    )
}

#[test]
fn a_budget_that_makes_no_sense_is_refused() {
    refused(
        &budget("minAvailable: 101x, selector: {}"),
        "s.yaml:12:22: minAvailable: expected a number of Pods or a percentage such as `50%`, found `101x`",
    );
    refused(
        &budget("selector: {matchExpressions: [{key: app, operator: Near}]}"),
        "s.yaml:12:37: spec.selector: found operator `Near` without values, expected `In` or `NotIn` with some, or \
         `Exists` or `DoesNotExist` without",
    );
}

#[test]
fn a_step_does_exactly_one_thing() {
    let verbs = "exactly one of resize, report, create, delete, node, budget, restart";
    step("{at: 5s}", &format!("s.yaml:4:3: found nothing to do, expected {verbs}"));
    step(
        "{at: 5s, delete: {pod: web}, restart: elbowroom}",
        &format!("s.yaml:4:3: found delete and restart to do, expected {verbs}"),
    );
}

#[test]
fn a_container_that_the_pod_does_not_have_is_refused() {
    let expected = "s.yaml:4:31: container: Pod `web` has no container `side`, expected one of `main`";
    step("{at: 5s, resize: {pod: web, container: side, cpu: 1}}", expected);
}

#[test]
fn an_end_before_the_last_step_is_refused() {
    let text = format!("{HEAD}until: 3s\nsteps:\n- {{at: 5s, delete: {{pod: web}}}}\n{NODE}{POD}");
    refused(&text, "s.yaml:3:1: until: the last step is at 5 s, expected no earlier end");
}

#[test]
fn text_that_is_no_yaml_is_refused_with_its_place() {
    let error = Scenario::parse("s.yaml", &format!("{HEAD}steps: [\n")).expect_err("a refusal").to_string();
    assert!(error.starts_with("s.yaml:"), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn a_name_that_no_api_server_takes_is_refused() {
    refused(
        &format!("{HEAD}{NODE}{}", POD.replace("{name: web}", "{name: Web_1}")),
        "s.yaml:11:18: metadata.name: found `Web_1`, expected lower-case letters, digits, `-` and `.`, with a letter or \
         digit at both ends",
    );
}

#[test]
fn an_annotation_that_speaks_to_nobody_is_refused() {
    let annotated = |annotation: &str| {
        let pod = POD.replace("{name: web}", &format!("{{name: web, annotations: {{{annotation}}}}}"));
        format!("{HEAD}{NODE}{pod}")
    };
    refused(
        &annotated("simulation.elbowroom.dev/exit: 3s"),
        "s.yaml:11:68: unknown annotation `simulation.elbowroom.dev/exit` of a Pod, expected \
         `simulation.elbowroom.dev/exit-after` or `simulation.elbowroom.dev/start-after` or \
         `simulation.elbowroom.dev/comes-back`",
    );
    refused(
        &annotated("simulation.elbowroom.dev/comes-back: later"),
        "s.yaml:11:74: simulation.elbowroom.dev/comes-back: found `later`, expected `pending` or `bound`",
    );
    refused(
        &annotated("simulation.elbowroom.dev/start-after: soon"),
        "s.yaml:11:75: simulation.elbowroom.dev/start-after: found `soon`, expected a duration such as `30s`",
    );
    assert!(Scenario::parse("s.yaml", &annotated("example.com/anything: goes")).is_ok());
}

#[test]
fn a_step_about_a_pod_that_an_earlier_step_deleted_is_refused() {
    let again = "{at: 5s, delete: {pod: web}}\n- {at: 6s, resize: {pod: web, cpu: 1}}";
    step(again, "s.yaml:5:21: Pod `web` is deleted by an earlier step, expected one that is there");
    let web =
        "apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: i}]}";
    let steps = format!(
        "{HEAD}steps:\n- {{at: 5s, delete: {{pod: web}}}}\n- {{at: 40s, create: {{{web}}}}}\n\
         - {{at: 50s, resize: {{pod: web, cpu: 1}}}}\n{NODE}{POD}"
    );
    assert!(Scenario::parse("s.yaml", &steps).is_ok(), "another Pod may have its name");
}

#[test]
fn a_node_is_not_deleted_and_changed_in_one_step() {
    step(
        "{at: 5s, node: {name: n1, delete: true, ready: true}}",
        "s.yaml:4:43: ready: found a change beside `delete`, expected one of them",
    );
}

#[test]
fn a_resize_is_of_a_container_or_of_the_pod() {
    step(
        "{at: 5s, resize: {pod: web, container: main, podLevel: true, cpu: 1}}",
        "s.yaml:4:48: container and podLevel are both given, expected one of them",
    );
}

#[test]
fn a_report_says_something() {
    step(
        "{at: 5s, report: {pod: web}}",
        "s.yaml:4:20: report: found nothing to say, expected status or withdraw",
    );
}

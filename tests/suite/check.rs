//! `elbowroom check` on dumps, as it is called.

use std::io::Write;
use std::process::{Command, Output};

/// Checks a dump of these objects.
fn check(objects: &str, more: &[&str]) -> (Option<i32>, String) {
    let mut dump = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    dump.write_all(objects.as_bytes()).unwrap();
    let path = dump.path().to_str().unwrap();
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_elbowroom"))
        .args(["check", "-f", path])
        .args(more)
        .output()
        .unwrap();
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (status.code(), String::from_utf8(stdout).unwrap().replace(path, "dump.yaml"))
}

fn class(name: &str, value: i32, more: &str) -> String {
    format!(
        "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n{more}"
    )
}

fn pod(name: &str, priority: i32) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop, uid: {name}, labels: {{app: \
         {name}}}}}\nspec: {{nodeName: n1, priority: {priority}, schedulerName: elbowroom, containers: [{{name: c}}]}}\n\
         status: {{phase: Running}}\n"
    )
}

fn budget(name: &str, app: &str, unavailable: i32) -> String {
    format!(
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}, namespace: shop, generation: \
         1}}\nspec: {{maxUnavailable: {unavailable}, selector: {{matchLabels: {{app: {app}}}}}}}\nstatus: \
         {{observedGeneration: 1, expectedPods: 1, currentHealthy: 1, desiredHealthy: {}, disruptionsAllowed: \
         {unavailable}}}\n",
        1 - unavailable
    )
}

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: n1}\nstatus: {allocatable: {cpu: 4, pods: \
                    110}, conditions: [{type: Ready, status: \"True\"}], nodeInfo: {kubeletVersion: v1.37.2}}\n";

/// One node, two Pods of different classes, and a budget that allows one eviction.
fn healthy() -> String {
    let classes = class("batch", 10, "") + &class("web", 1000, "");
    NODE.to_owned() + &classes + &pod("job", 10) + &pod("cart", 1000) + &budget("cart", "cart", 1)
}

#[test]
fn a_healthy_dump_is_one_screen_and_good() {
    let (code, text) = check(&healthy(), &["--strict"]);
    insta::assert_snapshot!(text);
    assert_eq!(code, Some(0));
}

#[test]
fn a_warning_is_told_by_name_and_fails_only_a_strict_check() {
    let dump = healthy() + &budget("strict", "job", 0) + &class("standard", 500, "globalDefault: true\n");
    let (code, text) = check(&dump, &[]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(text);
    assert_eq!(check(&dump, &["--strict"]).0, Some(1));
}

#[test]
fn json_and_yaml_say_the_same() {
    let dump = healthy() + &budget("strict", "job", 0);
    let json: serde_json::Value = serde_json::from_str(&check(&dump, &["-o", "json"]).1).unwrap();
    let yaml: serde_json::Value = serde_yaml::from_str(&check(&dump, &["-o", "yaml"]).1).unwrap();
    assert_eq!(json, yaml);
    assert_eq!(json["cluster"]["server"], "dump.yaml");
    assert_eq!(json["findings"][0]["id"], "budget-never-allows");
    assert_eq!(json["summary"]["warning"], 1);
}

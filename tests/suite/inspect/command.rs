//! The two commands as they are called: exit codes, refusals, and the name of the plugin.

use super::dump;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_elbowroom");
    let command = Command::new(program).args(arguments).env("KUBECONFIG", "/no/such/file").output();
    command.expect("the program starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn path(name: &str) -> String {
    dump(name).to_str().expect("text").to_owned()
}

#[test]
fn a_dump_is_explained_without_a_cluster() {
    let output = run(&["explain", "-f", &path("blocked-by-pdb"), "shop/cart-0"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("PodDisruptionBudget shop/web"), "{text}");
}

#[test]
fn several_files_and_standard_input_are_read_together() {
    let whole = std::fs::read_to_string(dump("blocked-by-pdb")).expect("a dump");
    let (nodes, pods) = whole.split_once("- apiVersion: v1\n  kind: Pod\n").expect("Pods at the end");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(nodes.as_bytes()).expect("written");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n{pods}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_elbowroom"))
        .args(["explain", "cart-0", "-o", "json", "-f", file.path().to_str().expect("text"), "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("piped").write_all(list.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["resize"]["state"]["reason"], "BlockedByPDB");
    assert_eq!(
        (answer["apiVersion"].as_str(), answer["kind"].as_str()),
        (Some("elbowroom.dev/v1alpha1"), Some("Explanation"))
    );
}

#[test]
fn what_cannot_be_answered_is_one_line_and_exits_with_1() {
    let mut pods_only = tempfile::NamedTempFile::new().expect("a file");
    pods_only.write_all(b"kind: Pod\nmetadata: {name: cart-0}\n").expect("written");
    let pods_only = pods_only.path().to_str().expect("text").to_owned();
    for (arguments, line) in [
        (vec!["explain", "nobody", "-f", &path("plain")], "error: no Pod nobody was found\n".to_owned()),
        (
            vec!["explain", "cart-0", "-f", "no/such/file.yaml"],
            "error: no/such/file.yaml: No such file or directory (os error 2)\n".to_owned(),
        ),
        (
            vec!["explain", "cart-0", "-f", &pods_only],
            format!(
                "error: {pods_only}: expected Nodes beside the Pods, found none: add `kubectl get nodes -o yaml`\n"
            ),
        ),
        (
            vec!["plan", "resize", "cart-0", "--cpu", "1", "-c", "db", "-f", &path("plain")],
            "error: Pod shop/cart-0 has no container db that can be resized; it has app\n".to_owned(),
        ),
    ] {
        let output = run(&arguments);
        assert_eq!((output.status.code(), told(&output)), (Some(1), line), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_command_line_that_makes_no_sense_exits_with_2() {
    let plain = path("plain");
    for (arguments, words) in [
        (vec!["explain"], "<POD>"),
        (vec!["explain", "a/b/c"], "expected NAME or NAMESPACE/NAME"),
        (vec!["explain", "shop/cart-0", "-n", "bakery", "-f", &plain], "-n bakery contradicts POD"),
        (vec!["explain", "cart-0", "-f", &plain, "--kubeconfig", "x"], "cannot be used with"),
        (vec!["explain", "cart-0", "-f", &plain, "-o", "xml"], "invalid value 'xml'"),
        (vec!["plan", "resize", "cart-0", "-f", &plain], "--cpu <QUANTITY>"),
        (vec!["plan", "resize", "cart-0", "-f", &plain, "--cpu", "lots"], "invalid value 'lots'"),
        (vec!["plan", "resize", "cart-0", "-f", &plain, "--cpu", "-1"], "expected nothing below 0"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains(words), "{arguments:?}: {}", told(&output));
    }
}

#[test]
fn as_a_plugin_it_speaks_of_kubectl() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("kubectl-elbowroom");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_elbowroom"), &link).expect("a link");
    let output = Command::new(&link).args(["explain", "--help"]).output().expect("the plugin starts");
    let help = String::from_utf8_lossy(&output.stdout);
    assert!(help.contains("Usage: kubectl elbowroom explain"), "{help}");
    let output = Command::new(&link).args(["plan", "resize"]).output().expect("the plugin starts");
    assert!(told(&output).contains("Usage: kubectl elbowroom plan resize"), "{}", told(&output));
}

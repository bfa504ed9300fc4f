//! The program as it is called: exit codes, and one line for each refusal.

use std::io::Write;
use std::process::{Command, Output};

fn elbowroom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_elbowroom"))
        .args(arguments)
        .env_remove("ELBOWROOM_LOG")
        .output()
        .expect("the program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("stderr is text")
}

#[test]
fn help_and_version_are_no_failure() {
    assert_eq!(elbowroom(&["--help"]).status.code(), Some(0));
    let version = elbowroom(&["--version"]);
    assert_eq!(version.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&version.stdout),
        concat!("elbowroom ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_command_line_that_makes_no_sense_exits_with_2() {
    for arguments in [
        &[][..],
        &["fly"],
        &["run", "--http-address", "here"],
        &["run", "--log-format", "xml"],
        &["run", "--log-level", "elbowroom=loud"],
        &["demo", "--story", "z"],
        &["simulate"],
        &["check", "-o", "xml"],
        &["check", "cluster"],
    ] {
        let output = elbowroom(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_bad_configuration_file_is_one_line_and_exits_with_1() {
    let mut file = std::env::temp_dir();
    file.push(format!("elbowroom-bad-{}.yaml", std::process::id()));
    let text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofile: []\n";
    std::fs::File::create(&file).and_then(|mut open| open.write_all(text.as_bytes())).expect("a file");
    let path = file.to_str().expect("a path");

    let output = elbowroom(&["run", "--config", path]);
    std::fs::remove_file(&file).expect("the file goes");
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(
        told.starts_with(&format!("error: {path}:3:1: unknown field `profile`, expected one of `api")),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn what_cannot_be_checked_is_one_line_and_exits_with_2() {
    let output = elbowroom(&["check", "--config", "no/such/file.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "error: no/such/file.yaml: No such file or directory (os error 2)\n");
    assert!(output.stdout.is_empty());

    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let cluster = format!("{{name: c, cluster: {{server: 'http://127.0.0.1:{port}'}}}}");
    let context = "{name: c, context: {cluster: c, user: u}}";
    let text = format!(
        "{{apiVersion: v1, kind: Config, current-context: c, clusters: [{cluster}], contexts: [{context}], \
         users: [{{name: u, user: {{}}}}]}}"
    );
    file.write_all(text.as_bytes()).expect("written");
    let output = elbowroom(&["check", "--kubeconfig", file.path().to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(
        told.starts_with(&format!("error: cannot reach the API server at http://127.0.0.1:{port}")),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn a_missing_configuration_file_is_one_line_and_exits_with_1() {
    let output = elbowroom(&["run", "--config", "no/such/file.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "error: no/such/file.yaml: No such file or directory (os error 2)\n");
}

#[test]
fn a_broken_kubeconfig_is_refused_without_its_secrets() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(b"users:\n- {name: a, user: {token: hush}}\nclusters: [{\n").expect("written");
    let path = file.path().to_str().expect("text");
    let output = elbowroom(&["run", "--http-address", "127.0.0.1:0", "--kubeconfig", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot use the kubeconfig"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("hush"), "{}", stderr(&output));
}

#[test]
fn amounts_beyond_all_bounds_do_not_stop_a_simulation() {
    let pod = |name| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{nodeName: n1, containers: [{{name: c, image: i, \
             resources: {{requests: {{cpu: 9E}}}}}}]}}\n"
        )
    };
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let head = "apiVersion: elbowroom.dev/v1alpha1\nkind: Scenario\n---\napiVersion: v1\nkind: Node\n\
                metadata: {name: n1}\nstatus: {allocatable: {cpu: 9E, pods: \"9\"}}\n";
    file.write_all(format!("{head}{}{}", pod("a"), pod("b")).as_bytes()).expect("written");
    let output = elbowroom(&["simulate", file.path().to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

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
fn a_missing_configuration_file_is_one_line_and_exits_with_1() {
    let output = elbowroom(&["run", "--config", "no/such/file.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "error: no/such/file.yaml: No such file or directory (os error 2)\n");
}

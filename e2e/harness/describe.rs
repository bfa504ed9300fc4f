//! `kubectl describe pod`, cut down to what is the same in every run.
//!
//! Invariant: nothing of what a person reads about a resize is changed but names of this run and times.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;

use super::control_plane::program;
use super::world::World;

/// The sections that are kept.
const KEPT: [&str; 4] = ["Name", "Node", "Conditions", "Events"];

impl World {
    /// What `kubectl describe pod` prints about a Pod: its name, its node, what its conditions and events say of
    /// resizes. `suffix`
    /// is what the names of this test's objects end in.
    ///
    /// # Errors
    /// When kubectl fails.
    pub async fn kubectl_describe(&self, pod: &str, suffix: &str) -> Result<String> {
        let admin = serde_json::to_string(&self.suite.control_plane.kubeconfig)?;
        // One file a call: a file that is written anew is empty for a moment.
        let kubeconfig = self.file(&format!("admin{suffix}"), &admin)?;
        let mut command = Command::new(program("kubectl")?);
        command.arg("--kubeconfig").arg(kubeconfig).args(["--namespace", &self.namespace]);
        command.args(["describe", "pod", pod]).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.context("kubectl")?;
        ensure!(output.status.success(), "kubectl: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        let text = text.replace(&self.profile, "elbowroom").replace(&format!("{}-", self.namespace), "");
        let text = text.replace(&self.namespace, "default").replace(suffix, "");
        // What is tried again is told again; how often is a matter of time.
        let mut lines: Vec<_> = without_times(&sections(&text)).lines().map(str::to_owned).collect();
        lines.dedup();
        Ok(lines.join("\n") + "\n")
    }
}

/// The kept sections. A section begins at the margin.
fn sections(text: &str) -> String {
    let (mut kept, mut section) = (String::new(), "");
    for line in text.lines() {
        if !line.starts_with(' ') {
            section = line.split(':').next().unwrap_or_default();
        }
        if KEPT.contains(&section) {
            kept += &match section {
                // The others are none of our business, and change when nobody looks.
                "Conditions"
                    if line.starts_with("  ") && !line.contains("Resize") && !line.contains("Type") =>
                {
                    continue;
                }
                "Events" => event(line),
                // What follows the node's name is an address.
                "Node" => line.split('/').next().unwrap_or_default().to_owned(),
                _ => line.trim_end().to_owned(),
            };
            kept.push('\n');
        }
    }
    kept
}

/// A line of the table of events without its age; the columns are as wide as their longest cell in one run.
fn event(line: &str) -> String {
    let Some(cells) = line.strip_prefix("  ") else { return line.trim_end().to_owned() };
    let cells: Vec<_> = cells.splitn_columns().collect();
    match cells[..] {
        [kind, reason, _, from, message] => format!("  {kind:<8} {reason:<24} {from:<10} {message}"),
        _ => line.trim_end().to_owned(),
    }
}

trait Columns {
    /// Cells that are two blanks or more apart, five at most.
    fn splitn_columns(&self) -> impl Iterator<Item = &str>;
}

impl Columns for str {
    fn splitn_columns(&self) -> impl Iterator<Item = &str> {
        let mut rest = Some(self.trim_end());
        let mut count = 0;
        std::iter::from_fn(move || {
            let text = rest?;
            count += 1;
            match text.split_once("  ").filter(|_| count < 5) {
                Some((cell, after)) => {
                    rest = Some(after.trim_start());
                    Some(cell)
                }
                None => {
                    rest = None;
                    Some(text)
                }
            }
        })
    }
}

/// `12:34:56 UTC` becomes `HH:MM:SS UTC`.
fn without_times(text: &str) -> String {
    let mut parts = text.split(" UTC").map(str::to_owned).collect::<Vec<_>>();
    let last = parts.pop().unwrap_or_default();
    for part in &mut parts {
        let cut = part.len().saturating_sub("12:34:56".len());
        if part.get(cut..).is_some_and(|time| time.chars().all(|c| c == ':' || c.is_ascii_digit())) {
            part.replace_range(cut.., "HH:MM:SS");
        }
        *part += " UTC";
    }
    parts.concat() + &last
}

/// Compares with the golden file, or writes it when `E2E_UPDATE` is set.
///
/// # Errors
/// With the lines that differ.
pub fn golden(name: &str, found: &str) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("E2E_UPDATE").is_some() {
        return std::fs::write(&path, found).with_context(|| path.display().to_string());
    }
    let expected = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let only = |mark: char, of: &str, other: &str| -> String {
        let other: Vec<_> = other.lines().collect();
        of.lines().filter(|line| !other.contains(line)).map(|line| format!("{mark} {line}\n")).collect()
    };
    let difference = only('-', &expected, found) + &only('+', found, &expected);
    ensure!(
        expected == found,
        "tests/golden/{name} (E2E_UPDATE=1 writes it anew):\n{}",
        if difference.is_empty() { "the same lines in another order" } else { &difference }
    );
    Ok(())
}

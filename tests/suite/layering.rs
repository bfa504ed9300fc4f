//! The arrows between layers, as `docs/architecture.md` draws them.

use crate::documentation::{quoted, read, rows};
use std::fs;
use std::path::{Path, PathBuf};

/// A layer, and the layers and crates that its files may name besides itself.
struct Layer {
    name: &'static str,
    layers: &'static [&'static str],
    crates: &'static [&'static str],
}

const PURE: &[&str] = &["rustc_hash", "smallvec", "thiserror"];

const LAYERS: &[Layer] = &[
    Layer { name: "model", layers: &[], crates: PURE },
    Layer { name: "cluster", layers: &["model"], crates: PURE },
    Layer { name: "scheduling", layers: &["model", "cluster"], crates: PURE },
    Layer { name: "resize", layers: &["model", "cluster"], crates: PURE },
    Layer { name: "engine", layers: &["model", "cluster", "scheduling", "resize"], crates: PURE },
    Layer { name: "check", layers: &["model", "resize", "engine"], crates: PURE },
    Layer {
        name: "config",
        layers: &["model", "resize", "engine"],
        crates: &["anyhow", "rustc_hash", "serde", "serde_yaml", "thiserror"],
    },
    Layer {
        name: "wire",
        layers: &["model"],
        crates: &["jiff", "k8s_openapi", "kube", "rustc_hash", "serde", "serde_json", "thiserror"],
    },
    Layer {
        name: "serve",
        layers: &["model", "resize", "engine"],
        crates: &["anyhow", "axum", "prometheus", "tokio", "tracing"],
    },
    Layer {
        name: "simulation",
        layers: &["model", "cluster", "resize", "engine", "wire", "config"],
        crates: &[
            "anyhow",
            "jiff",
            "k8s_openapi",
            "rustc_hash",
            "serde",
            "serde_json",
            "serde_yaml",
            "thiserror",
        ],
    },
    Layer {
        name: "inspect",
        layers: &["model", "cluster", "scheduling", "resize", "engine", "config", "wire"],
        crates: &["jiff", "k8s_openapi", "kube", "serde", "serde_json", "serde_yaml", "thiserror"],
    },
];

/// Crates that a layer would have to be granted.
const KNOWN_CRATES: &[&str] = &[
    "anyhow",
    "axum",
    "clap",
    "futures",
    "http",
    "jiff",
    "k8s_openapi",
    "kube",
    "prometheus",
    "rustc_hash",
    "rustls",
    "serde",
    "serde_json",
    "serde_yaml",
    "smallvec",
    "thiserror",
    "tokio",
    "tower",
    "tracing",
    "tracing_subscriber",
];

/// What reaches outside, or differs from run to run, and so has no place in a pure layer.
const IMPURE: &[&str] = &[
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::collections::{HashMap",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "std::time",
    "Instant::now",
    "SystemTime::now",
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file without comments and unit tests, line by line.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).expect("a readable file");
    let lines = text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    lines.map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default().to_owned())).collect()
}

fn is_test_file(path: &Path) -> bool {
    ["tests", "oracle", "testing", "fixture"]
        .iter()
        .any(|name| path.file_stem().is_some_and(|stem| stem == *name))
}

fn faults(layer: &Layer) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for path in files(&source.join(layer.name)).iter().filter(|path| !is_test_file(path)) {
        for (at, line) in code(path) {
            let place = format!("{}:{at}", path.strip_prefix(&source).unwrap_or(path).display());
            for target in line.split("crate::").skip(1) {
                let name =
                    target.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                if name != layer.name && !layer.layers.contains(&name) && !name.is_empty() {
                    faults.push(format!("{place}: {} must not know {name}", layer.name));
                }
            }
            for krate in KNOWN_CRATES.iter().filter(|krate| !layer.crates.contains(krate)) {
                if line.contains(&format!("{krate}::")) && !line.contains(&format!("::{krate}::")) {
                    faults.push(format!("{place}: {} must not use the crate {krate}", layer.name));
                }
            }
            for impure in IMPURE.iter().filter(|_| layer.crates == PURE) {
                if line.contains(impure) {
                    faults.push(format!("{place}: {} is pure, {impure} is not", layer.name));
                }
            }
        }
    }
    faults
}

#[test]
fn no_layer_knows_more_than_it_should() {
    let faults: Vec<String> = LAYERS.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_architecture_page_has_the_same_table() {
    let page = read("docs/architecture.md");
    let told: Vec<_> = rows(&page).filter(|row| row.len() == 4).collect();
    for layer in LAYERS {
        let row = told.iter().find(|row| quoted(row[0]) == [layer.name]);
        let row = row.unwrap_or_else(|| panic!("{} is not in docs/architecture.md", layer.name));
        assert_eq!(quoted(row[2]), layer.layers, "{}", layer.name);
        let crates = if layer.crates == PURE { vec!["pure"] } else { layer.crates.to_vec() };
        assert_eq!(row[3].split(", ").collect::<Vec<_>>(), crates, "{}", layer.name);
    }
}

#[test]
fn every_layer_of_the_table_has_its_folder() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for layer in LAYERS {
        assert!(!files(&source.join(layer.name)).is_empty(), "src/{} holds no code", layer.name);
    }
}

#[test]
fn no_file_is_longer_than_600_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in ["src", "tests", "e2e", "benches"].iter().flat_map(|folder| files(&root.join(folder))) {
        let lines = fs::read_to_string(&path).expect("a readable file").lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
}

//! One case of the comparison: a scenario file as `elbowroom simulate` reads it, to be played in real time.
//!
//! Invariant: a file that cannot be played whole on an API server is not played, and says why.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use elbowroom::engine::Settings;
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{Faults, What, engine};
use k8s_openapi::api::core::v1::Pod;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What annotations begin with that tell simulated kubelets what a real one would find out.
const SIMULATION: &str = "simulation.elbowroom.dev/";
/// How long a Pod's containers take to end.
pub const EXIT_AFTER: &str = "simulation.elbowroom.dev/exit-after";
/// On a Node, `passive`: nobody judges a resize there.
pub const KUBELET: &str = "simulation.elbowroom.dev/kubelet";

/// A case, read and ready to be played.
pub struct Case {
    /// The name of the file, such as `g2` or `c37`.
    pub id: String,
    /// What it is about, in a few words.
    pub title: String,
    /// What is there at the beginning.
    pub manifests: Vec<Value>,
    /// What happens then, in order of time.
    pub steps: Vec<Step>,
    /// Who is evicted in the simulation, sorted.
    pub simulated: Vec<String>,
}

/// Something that happens.
#[derive(Debug, Deserialize)]
pub struct Step {
    at: String,
    /// What.
    #[serde(flatten)]
    pub what: Verb,
}

/// The steps that can be done on an API server.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// New requests of a container.
    Resize(Resize),
    /// A new object.
    Create(Value),
    /// A Pod's owner deletes it.
    Delete(Named),
    /// Changes of a Node.
    Node(NodeChange),
    /// Changes of a budget.
    Budget(BudgetChange),
    /// The scheduler ends and starts again.
    Restart(Whom),
}

/// Who starts again: whoever plays.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Whom {
    /// As the files call the scheduler.
    Elbowroom,
}

/// New requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// Whose.
    pub pod: String,
    /// Of which container; the only one if there is no name.
    pub container: Option<String>,
    /// CPU as the file writes it.
    pub cpu: Option<Value>,
    /// Memory as the file writes it.
    pub memory: Option<Value>,
}

/// A Pod.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its name.
    pub pod: String,
}

/// What changes about a Node; what is missing stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodeChange {
    /// Which.
    pub name: String,
    /// Sizes.
    pub allocatable: Option<Map<String, Value>>,
    /// Condition Ready.
    pub ready: Option<bool>,
    /// `spec.unschedulable`.
    pub cordon: Option<bool>,
    /// Labels, null to remove one.
    pub labels: Option<Map<String, Value>>,
    /// All taints anew.
    pub taints: Option<Value>,
    /// Owners of the switch.
    pub disable_resize_preemption: Option<Vec<String>>,
}

/// What changes about a budget; what is missing stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BudgetChange {
    /// Which.
    pub name: String,
    /// What it is to allow.
    pub disruptions_allowed: Option<i64>,
    /// `spec.minAvailable`.
    pub min_available: Option<Value>,
    /// `spec.maxUnavailable`.
    pub max_unavailable: Option<Value>,
}

#[derive(Deserialize)]
struct Head {
    metadata: Option<Title>,
    #[serde(default)]
    steps: Vec<Value>,
}

#[derive(Deserialize)]
struct Title {
    name: String,
}

impl Step {
    /// When it is due, from the beginning.
    ///
    /// # Errors
    /// When that is no duration.
    pub fn at(&self) -> Result<Duration> {
        duration(&self.at)
    }
}

/// All scenario files, the golden ones first.
///
/// # Errors
/// When the directory cannot be read.
pub fn files() -> Result<Vec<PathBuf>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    // Field cases are a c and a number.
    files.sort_by_key(|path| {
        let id = id(path);
        (id.len() > 2 && id.starts_with('c'), id)
    });
    Ok(files)
}

/// What a file is called on the command line and in the table.
pub fn id(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Case {
    /// Reads a file.
    ///
    /// # Errors
    /// What in it cannot be played on an API server, in a few words.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut documents: Vec<Value> = serde_yaml::from_multiple(&text)?;
        documents.retain(|document| !document.is_null());
        ensure!(!documents.is_empty(), "empty");
        let head: Head = serde_json::from_value(documents.remove(0))?;
        for step in head.steps.iter().filter_map(Value::as_object) {
            ensure!(!step.contains_key("report"), "has a kubelet say what the stand-in for it does not");
        }
        let steps = head.steps.into_iter().map(serde_json::from_value).collect::<Result<Vec<Step>, _>>()?;
        let mut timed = steps.into_iter().map(|s| Ok((s.at()?, s))).collect::<Result<Vec<_>>>()?;
        timed.sort_by_key(|(at, _)| *at);
        let steps: Vec<_> = timed.into_iter().map(|(_, step)| step).collect();
        let created = steps.iter().filter_map(|step| match &step.what {
            Verb::Create(manifest) => Some(manifest),
            _ => None,
        });
        documents.iter().chain(created).try_for_each(playable)?;
        let id = id(path);
        let title = head.metadata.map_or_else(|| id.clone(), |title| title.name);
        // The table has a column for the name.
        let title = title.split_once(": ").map_or(title.as_str(), |(_, rest)| rest).to_owned();
        Ok(Self { simulated: simulate(&id, &text)?, id, title, manifests: documents, steps })
    }
}

/// What the simulated API server and kubelets cannot be given by hand.
fn playable(manifest: &Value) -> Result<()> {
    let has = |path: &str| manifest.pointer(path).is_some();
    let namespace = manifest.pointer("/metadata/namespace").and_then(Value::as_str);
    let kind = manifest["kind"].as_str().unwrap_or_default();
    ensure!(namespace.is_none_or(|name| name == "default"), "has a second namespace");
    ensure!(kind != "Namespace", "has a second namespace");
    ensure!(!has("/metadata/ownerReferences"), "has Pods of a controller that is not there");
    ensure!(!has("/metadata/finalizers"), "has finalizers that nobody takes away");
    ensure!(!has("/spec/resources"), "resizes the Pod as a whole");
    ensure!(!has("/spec/initContainers"), "has init containers");
    let annotations = manifest.pointer("/metadata/annotations").and_then(Value::as_object);
    for (key, value) in annotations.into_iter().flatten() {
        ensure!(key != "kubernetes.io/config.mirror", "has a mirror Pod, which needs a kubelet");
        let known = key == EXIT_AFTER || (key == KUBELET && value == "passive");
        ensure!(known || !key.starts_with(SIMULATION), "needs {key}: {value}");
    }
    if kind == "Pod" {
        let pod: Pod = serde_json::from_value(manifest.clone())?;
        let ports = pod.spec.iter().flat_map(|spec| &spec.containers).any(|c| c.ports.is_some());
        ensure!(!ports, "has host ports, which the stand-in for the kubelet does not check");
    }
    Ok(())
}

/// The same file without a cluster: who is evicted.
fn simulate(id: &str, text: &str) -> Result<Vec<String>> {
    let scenario = Scenario::parse(id, text)?;
    let mut world = scenario.stage(engine(Settings::default()), Faults::default());
    world.run(scenario.until).map_err(|problem| anyhow::anyhow!("{problem}"))?;
    let evicted = world.history().iter().filter_map(|moment| match &moment.what {
        What::Eviction(key, Ok(())) => Some(key.name.clone()),
        _ => None,
    });
    let mut evicted: Vec<_> = evicted.collect();
    evicted.sort();
    Ok(evicted)
}

/// A duration as scenario files write it: `1h2m3s`, `500ms`.
///
/// # Errors
/// When it is none.
pub fn duration(text: &str) -> Result<Duration> {
    let parsed = elbowroom::config::duration::parse(text);
    let micros = parsed.and_then(|span| u64::try_from(span.0).ok());
    micros.map(Duration::from_micros).with_context(|| format!("`{text}` is no duration"))
}

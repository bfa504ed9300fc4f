//! The top level of the file.
//!
//! Invariant: bounds and defaults are upstream's (`defaults.go` and `validation.go` under
//! `pkg/scheduler/apis/config`), except for the scheduler name, which is ours when none is given.

use super::fields::Fields;
use super::profile;
use super::tree::{Fault, Node};
use super::{ClientConnection, Config, DEFAULT_SCHEDULER_NAME, Profile};
use crate::model::Span;
use crate::resize::policy::{Mode, Scope};

/// The group and version of a kube-scheduler's file.
pub const API_VERSION: &str = "kubescheduler.config.k8s.io/v1";

const KIND: &str = "KubeSchedulerConfiguration";

const FIELDS: [&str; 13] = [
    "apiVersion",
    "kind",
    "profiles",
    "clientConnection",
    "leaderElection",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "parallelism",
    "percentageOfNodesToScore",
    "extenders",
    "delayCacheUntilActive",
    "enableProfiling",
    "enableContentionProfiling",
];

/// Reads the document, with notes on what has no effect.
///
/// # Errors
/// See [`Config::parse`].
pub fn read(root: &Node) -> Result<(Config, Vec<Fault>), Fault> {
    if root.is_null() {
        return Err(Fault::new(root.at, format!("expected a {KIND}, found nothing")));
    }
    let file = Fields::read(KIND, root, &FIELDS)?;
    for name in ["apiVersion", "kind"] {
        if file.text(name)?.is_none() {
            let wanted = if name == "kind" { KIND } else { API_VERSION };
            return Err(Fault::new(root.at, format!("{name}: expected `{wanted}`, found nothing")));
        }
    }
    file.type_meta(&[API_VERSION], KIND)?;

    let mut notes = Vec::new();
    let (initial_backoff, max_backoff) = backoff(&file)?;
    let config = Config {
        client: client(&file, &mut notes)?,
        initial_backoff,
        max_backoff,
        profiles: profiles(&file, &mut notes)?,
    };
    leader_election(&file, &mut notes)?;
    serving(&file, &mut notes)?;
    if let [first, ..] = file.list("extenders")? {
        return Err(Fault::new(first.at, "extenders are not supported yet: they decide where Pods may go"));
    }
    Ok((config, notes))
}

fn backoff(file: &Fields<'_>) -> Result<(Span, Span), Fault> {
    let default = Config::default();
    let seconds = |name| Ok(file.integer(name, 1..=i64::MAX)?.map(Span::from_seconds));
    let initial = seconds("podInitialBackoffSeconds")?.unwrap_or(default.initial_backoff);
    let max = seconds("podMaxBackoffSeconds")?.unwrap_or(default.max_backoff);
    if max < initial {
        let given = ["podMaxBackoffSeconds", "podInitialBackoffSeconds"]
            .into_iter()
            .find(|name| file.get(name).is_some());
        let seconds = max.0 / 1_000_000;
        let message =
            format!("podMaxBackoffSeconds: expected at least podInitialBackoffSeconds, found `{seconds}`");
        return Err(Fault::new(file.place(given.unwrap_or_default()), message));
    }
    Ok((initial, max))
}

fn client(file: &Fields<'_>, notes: &mut Vec<Fault>) -> Result<ClientConnection, Fault> {
    const NAME: &str = "clientConnection";
    let known = ["kubeconfig", "qps", "burst", "contentType", "acceptContentTypes"];
    let client = file.below(NAME, &known)?;
    // As in client-go: zero asks for the default, a negative rate lifts the limit.
    let qps = client.number("qps")?.filter(|qps| *qps > 0.0);
    let burst = client.integer("burst", 0..=i64::from(i32::MAX))?.filter(|burst| *burst > 0);
    if let Some(name) = ["qps", "burst"].into_iter().find(|name| client.get(name).is_some()) {
        let message =
            "clientConnection.qps and burst are not enforced: each kind of call has its own bound instead";
        notes.push(Fault::new(client.place(name), message));
    }
    for name in ["contentType", "acceptContentTypes"] {
        let text = client.text(name)?.unwrap_or_default();
        if !text.is_empty() && text != "application/json" {
            notes.push(Fault::new(
                client.place(name),
                format!("{NAME}.{name}: only `application/json` is spoken"),
            ));
        }
    }
    let kubeconfig = client.text("kubeconfig")?.filter(|path| !path.is_empty()).map(str::to_owned);
    Ok(ClientConnection { kubeconfig, qps, burst: burst.and_then(|burst| u32::try_from(burst).ok()) })
}

fn leader_election(file: &Fields<'_>, notes: &mut Vec<Fault>) -> Result<(), Fault> {
    let known = [
        "leaderElect",
        "leaseDuration",
        "renewDeadline",
        "retryPeriod",
        "resourceLock",
        "resourceName",
        "resourceNamespace",
    ];
    let election = file.below("leaderElection", &known)?;
    for name in ["leaseDuration", "renewDeadline", "retryPeriod"] {
        election.duration(name)?;
    }
    for name in ["resourceName", "resourceNamespace"] {
        election.text(name)?;
    }
    election.choice("resourceLock", &[("leases", ())])?;
    if election.flag("leaderElect")? == Some(true) {
        let message =
            "leaderElection.leaderElect: there is no leader election yet; run one replica at a time";
        notes.push(Fault::new(election.place("leaderElect"), message));
    }
    Ok(())
}

/// What only changes speed or serving.
fn serving(file: &Fields<'_>, notes: &mut Vec<Fault>) -> Result<(), Fault> {
    if file.integer("parallelism", 1..=i64::from(i32::MAX))?.is_some_and(|workers| workers != 16) {
        let message = "parallelism has no effect: one thread decides";
        notes.push(Fault::new(file.place("parallelism"), message));
    }
    percentage(file, notes)?;
    let flags = [
        ("delayCacheUntilActive", "the caches fill at once"),
        ("enableProfiling", "there is no profiling endpoint"),
        ("enableContentionProfiling", "there is no profiling endpoint"),
    ];
    for (name, instead) in flags {
        if file.flag(name)? == Some(true) {
            notes.push(Fault::new(file.place(name), format!("{name} has no effect: {instead}")));
        }
    }
    Ok(())
}

/// `percentageOfNodesToScore`, at the top or in a profile: 0 and 100 are what happens anyway.
pub fn percentage(fields: &Fields<'_>, notes: &mut Vec<Fault>) -> Result<(), Fault> {
    const NAME: &str = "percentageOfNodesToScore";
    if fields.integer(NAME, 0..=100)?.is_some_and(|share| share != 0 && share != 100) {
        let message = "percentageOfNodesToScore has no effect: every node is looked at";
        notes.push(Fault::new(fields.place(NAME), message));
    }
    Ok(())
}

fn profiles(file: &Fields<'_>, notes: &mut Vec<Fault>) -> Result<Vec<Profile>, Fault> {
    let nodes = file.list("profiles")?;
    let mut profiles: Vec<Profile> = Vec::with_capacity(nodes.len().max(1));
    for node in nodes {
        let (name, profile) = profile::read(node, notes)?;
        if name.is_none() && nodes.len() > 1 {
            let message = "schedulerName: expected a name in each of several profiles, found nothing";
            return Err(Fault::new(node.at, message));
        }
        let at = name.map_or(node.at, |name| name.at);
        if name.is_none() {
            notes.push(Fault::new(at, unnamed()));
        }
        if profiles.iter().any(|known| known.scheduler_name == profile.scheduler_name) {
            let message = format!(
                "schedulerName: expected a name of its own, found `{}` again",
                profile.scheduler_name
            );
            return Err(Fault::new(at, message));
        }
        let all_pods = |profile: &Profile| profile.resize.scope == Scope::AllPods;
        if let Some(other) = profiles.iter().find(|known| all_pods(known) && all_pods(&profile)) {
            let message = format!(
                "scope: expected `AllPods` in one profile only, found it in `{}` and `{}`",
                other.scheduler_name, profile.scheduler_name
            );
            return Err(Fault::new(at, message));
        }
        if !profile.bind && profile.resize.mode == Mode::Off {
            let message = format!("profile `{}` neither binds nor resizes", profile.scheduler_name);
            notes.push(Fault::new(node.at, message));
        }
        profiles.push(profile);
    }
    if profiles.is_empty() {
        notes.push(Fault::new(file.place("profiles"), unnamed()));
        profiles.push(Profile::default());
    }
    Ok(profiles)
}

fn unnamed() -> String {
    format!("no schedulerName is given: serving Pods with schedulerName `{DEFAULT_SCHEDULER_NAME}`")
}

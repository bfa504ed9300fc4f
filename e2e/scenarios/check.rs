//! `elbowroom check` against a real API server: what it finds, by name, and its exit codes.
//!
//! Other tests leave their own faults in the cluster meanwhile, so each looks for its own.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::harness::{PodSpec, Priority, World, run_to_end};

use Priority::{High, Low};

/// What `check -o json` says in the test's configuration.
struct Checked {
    code: i32,
    report: Value,
}

impl Checked {
    /// The findings of one rule about an object of this name, or of any.
    fn found(&self, id: &str, name: &str) -> Vec<&Value> {
        let of_rule = self.findings().filter(|finding| finding["id"] == id);
        let about = |finding: &&Value| {
            let objects = finding["objects"].as_array().map(Vec::as_slice).unwrap_or_default();
            name.is_empty() || objects.iter().any(|object| object["name"] == name)
        };
        of_rule.filter(about).collect()
    }

    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.report["findings"].as_array().map(Vec::as_slice).unwrap_or_default().iter()
    }

    /// The only finding of one rule about an object of this name.
    fn one(&self, id: &str, name: &str) -> Result<&Value> {
        match self.found(id, name)[..] {
            [finding] => Ok(finding),
            _ => anyhow::bail!("not one finding {id} about {name}:\n{:#}", self.report),
        }
    }
}

/// A kubeconfig that may do everything.
fn administrator(world: &World) -> Result<String> {
    Ok(serde_json::to_string(&world.suite.control_plane.kubeconfig)?)
}

async fn run(world: &World, kubeconfig: &str, more: &[&str]) -> Result<(i32, String)> {
    let config = world.file("check.yaml", &world.config())?;
    let kubeconfig = world.file("check.kubeconfig", kubeconfig)?;
    let text = |path: &std::path::Path| path.to_str().map(str::to_owned).context("a path that is not UTF-8");
    let (config, kubeconfig) = (text(&config)?, text(&kubeconfig)?);
    let mut arguments = vec!["check", "--config", &config, "--kubeconfig", &kubeconfig];
    arguments.extend(more);
    run_to_end(&world.suite.binary, &arguments).await
}

async fn check(world: &World, kubeconfig: &str, more: &[&str]) -> Result<Checked> {
    let (code, output) = run(world, kubeconfig, &[&["-o", "json"], more].concat()).await?;
    let report: Value = serde_json::from_str(&output).with_context(|| output.clone())?;
    ensure!(report["kind"] == "CheckReport" && report["apiVersion"] == "elbowroom.dev/v1alpha1", "{output}");
    Ok(Checked { code, report })
}

/// With what `deploy/` grants it can be run, nothing is an error, and what that account may not read is said.
pub async fn deployed_rights_are_enough_and_nothing_is_an_error(world: &World) -> Result<()> {
    let kubeconfig = world.suite.kubeconfig(None, None)?;
    let checked = check(world, &kubeconfig, &[]).await?;
    ensure!(checked.code == 0, "exit code {}:\n{:#}", checked.code, checked.report);
    ensure!(checked.report["summary"]["error"] == 0, "errors:\n{:#}", checked.report);
    ensure!(
        checked.report["rightsOf"] == "system:serviceaccount:elbowroom:elbowroom",
        "{:#}",
        checked.report
    );
    checked.one("not-checked", "PriorityClasses")?;

    let (code, text) = run(world, &kubeconfig, &[]).await?;
    ensure!(code == 0, "exit code {code}:\n{text}");
    ensure!(text.contains("\nrights of system:serviceaccount:elbowroom:elbowroom\n"), "{text}");
    ensure!(text.lines().last().is_some_and(|line| line.starts_with("0 errors, ")), "{text}");
    Ok(())
}

/// One right is missing: the account itself finds it, and so does an administrator who asks for it; his own rights
/// are all there.
pub async fn missing_right_is_found_by_its_account_and_by_an_administrator(world: &World) -> Result<()> {
    let mut rules = world.suite.deployed.rules();
    rules.retain(|rule| rule.resources.as_deref() != Some(&["pods/eviction".to_owned()]));
    let kubeconfig = world.account("no-eviction", rules).await?;
    let user = format!("system:serviceaccount:{}:no-eviction", world.namespace);
    let administrator = administrator(world)?;
    for checked in
        [check(world, &kubeconfig, &[]).await?, check(world, &administrator, &["--as", &user]).await?]
    {
        ensure!(checked.code == 1, "exit code {}:\n{:#}", checked.code, checked.report);
        let missing = checked.one("missing-right", "create pods/eviction")?;
        ensure!(missing["severity"] == "error", "{missing:#}");
        ensure!(missing["objects"].as_array().is_some_and(|rights| rights.len() == 1), "{missing:#}");
        let message = missing["message"].as_str().unwrap_or_default();
        ensure!(message.starts_with(&user), "it does not say whose right: {message}");
    }
    let checked = check(world, &administrator, &[]).await?;
    ensure!(checked.found("missing-right", "").is_empty(), "{:#}", checked.report);
    Ok(())
}

/// The control plane of the tests has the gate on in its API server, and no kube-scheduler that could be seen.
/// That is a warning, which counts when it is asked to.
pub async fn gate_of_the_control_plane_is_found(world: &World) -> Result<()> {
    let administrator = administrator(world)?;
    let checked = check(world, &administrator, &[]).await?;
    ensure!(checked.code == 0, "exit code {}:\n{:#}", checked.code, checked.report);
    let unknown = checked.found("not-checked", "InPlacePodVerticalScalingSchedulerPreemption");
    ensure!(unknown.is_empty(), "an administrator may read the metrics: {unknown:#?}");
    if world.suite.control_plane.is_ours() {
        let gate = "InPlacePodVerticalScalingSchedulerPreemption";
        let finding = checked.one("two-actors-possible", gate)?;
        ensure!(finding["severity"] == "warning", "{finding:#}");
        let strict = check(world, &administrator, &["--strict"]).await?;
        ensure!(strict.code == 1, "exit code {} with --strict:\n{:#}", strict.code, strict.report);
    }
    Ok(())
}

/// A budget that wants both of its Pods, and another over one of them.
pub async fn budgets_that_cannot_be_met_are_named_with_their_pods(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    for name in ["a", "b", "c", "d"] {
        world.run(PodSpec::new(name, Low).cpu(100).on(&node)).await?;
    }
    world.budget("strict", &["a", "b"], 2, 0).await?;
    world.budget("second", &["b", "c"], 1, 1).await?;
    world.budget("fine", &["d"], 0, 1).await?;
    let checked = check(world, &administrator(world)?, &[]).await?;
    let never = checked.one("budget-never-allows", "strict")?;
    let name = format!("{}/strict", world.namespace);
    ensure!(
        never["message"].as_str().is_some_and(|text| {
            text.starts_with(&format!("budget {name} (minAvailable 2) wants all 2"))
                && text.ends_with("keeps 2 Pods")
        }),
        "{never:#}"
    );
    ensure!(never["objects"][0]["namespace"] == world.namespace, "{never:#}");
    let overlap = checked.one("overlapping-budgets", "second")?;
    let expected = format!("budgets {}/second, {name} all cover 1 Pod,", world.namespace);
    ensure!(overlap["message"].as_str().is_some_and(|text| text.starts_with(&expected)), "{overlap:#}");
    let fine: Vec<_> =
        ["budget-never-allows", "budget-behind", "overlapping-budgets", "budget-matches-nothing"]
            .iter()
            .flat_map(|id| checked.found(id, "fine"))
            .collect();
    ensure!(fine.is_empty(), "{fine:#?}");
    Ok(())
}

/// P high 400 → 600 beside Q high 500 on 1000m: nobody is lower, so 200m are kept in vain, until P takes it back.
pub async fn resize_that_cannot_be_had_is_named_with_the_room_it_keeps(world: &World) -> Result<()> {
    let node = world.node("n1", 1000).await?;
    world.run(PodSpec::new("p", High).cpu(400).on(&node)).await?;
    world.run(PodSpec::new("q", High).cpu(500).on(&node)).await?;
    world.resize_deferred("p", 600).await?;
    let administrator = administrator(world)?;
    let checked = check(world, &administrator, &[]).await?;
    let held = mine(&checked, world, "resize-holds-room");
    let [held] = held[..] else { anyhow::bail!("not one finding:\n{:#}", checked.report) };
    let expected = format!(
        "node {node} keeps cpu 200m for the resize of {}/p, which cannot be had (InsufficientVictims): ",
        world.namespace
    );
    ensure!(held["message"].as_str().is_some_and(|text| text.starts_with(&expected)), "{held:#}");
    world.victims(&[]).await?;

    world.resize("p", 400).await?;
    world.allocated("p", 400).await?;
    let checked = check(world, &administrator, &[]).await?;
    ensure!(mine(&checked, world, "resize-holds-room").is_empty(), "{:#}", checked.report);
    Ok(())
}

/// The findings of one rule in the test's namespace.
fn mine<'a>(checked: &'a Checked, world: &World, id: &str) -> Vec<&'a Value> {
    let mut found = checked.found(id, "");
    found.retain(|finding| finding["objects"][0]["namespace"] == world.namespace);
    found
}

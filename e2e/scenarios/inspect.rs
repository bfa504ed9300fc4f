//! `explain` and `plan resize` against the real API server: what they say, and that they write nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::harness::{PodSpec, Priority, Proxy, World, say, token};

use Priority::{High, Low};

/// As golden scenario G: 300m; v low 200 under a budget that allows nothing; P high 100 → 300.
pub async fn explain_names_the_budget_and_writes_nothing(world: &World) -> Result<()> {
    let node = world.node("n1", 300).await?;
    world.run(PodSpec::new("v", Low).cpu(200).on(&node)).await?;
    world.budget("keep", &["v"], 1, 0).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    world.resize_deferred("p", 300).await?;
    let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
    let kubeconfig = world.suite.kubeconfig(None, Some(&proxy.address))?;
    let kubeconfig = world.file("explain-kubeconfig", &kubeconfig)?;
    let before = versions(world, &node).await?;

    let told = answer(world, &["explain", "p", "-n", &world.namespace], &kubeconfig).await?;
    ensure!(told.lines().count() <= 40, "more than one screen:\n{told}");
    let told = unbroken(&told);
    for words in ["BlockedByPDB", "/keep: allows 0 of 1 Pod here", "get pdb keep", "Next step"] {
        ensure!(told.contains(words), "{words} is not in\n{told}");
    }

    let json = ["explain", "p", "-n", &world.namespace, "-o", "json"];
    let live: Value = serde_json::from_str(&answer(world, &json, &kubeconfig).await?)?;
    ensure!(live["resize"]["state"]["reason"] == "BlockedByPDB", "{live:#}");
    ensure!(live["policy"]["lookedAfter"] == true, "{live:#}");
    ensure!(live["resize"]["room"][0]["short"] == "200m", "{live:#}");

    let address = format!("{}/p", world.namespace);
    let plan = ["plan", "resize", &address, "--cpu", "250m", "-o", "json"];
    let plan: Value = serde_json::from_str(&answer(world, &plan, &kubeconfig).await?)?;
    ensure!(plan["resize"]["planned"] == true && plan["pod"]["asks"]["cpu"] == "250m", "{plan:#}");
    let plan = ["plan", "resize", &address, "--cpu", "100m"];
    let told = answer(world, &plan, &kubeconfig).await?;
    ensure!(told.contains("the resize fits now, nobody would go"), "{told}");

    ensure!(versions(world, &node).await? == before, "something was written");
    ensure!(proxy.writes().is_empty(), "writes: {:?}", proxy.writes());
    same_from_a_dump(world, &live).await
}

/// The same answer from `kubectl get … -o yaml`.
async fn same_from_a_dump(world: &World, live: &Value) -> Result<()> {
    let kubeconfig = world.file("kubectl-kubeconfig", &world.suite.kubeconfig(None, None)?)?;
    let mut kubectl = Command::new("kubectl");
    kubectl.args(["get", "pods,nodes,pdb,ns", "-A", "-o", "yaml"]).arg("--kubeconfig").arg(&kubeconfig);
    let dump = match kubectl.output().await {
        Ok(dump) => dump,
        Err(error) => {
            say(&format!("inspect: no kubectl ({error}): the same answer from a dump is not checked"));
            return Ok(());
        }
    };
    ensure!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    let file = world.file("dump.yaml", &String::from_utf8(dump.stdout)?)?;
    let file = file.to_str().context("not text")?;
    let (code, out, told) =
        call(world, &["explain", "p", "-n", &world.namespace, "-o", "json", "-f", file], None).await?;
    ensure!(code == 0, "{told}");
    let mut dumped: Value = serde_json::from_str(&out)?;
    let mut live = live.clone();
    // For how long the resize is Deferred depends on when one asks.
    for answer in [&mut dumped, &mut live] {
        answer["summary"] = Value::Null;
    }
    ensure!(dumped == live, "from the dump:\n{dumped:#}\nfrom the cluster:\n{live:#}");
    Ok(())
}

/// A Pod that fits nowhere, and one that waits for nothing.
pub async fn explain_tells_of_pods_that_do_not_grow(world: &World) -> Result<()> {
    let node = world.node("n1", 300).await?;
    world.run(PodSpec::new("idle", Low).cpu(100).on(&node)).await?;
    world.pod(PodSpec::new("big", High).cpu(500).only(&node)).await?;
    let kubeconfig = world.file("explain-kubeconfig", &world.suite.kubeconfig(None, None)?)?;
    let told = answer(world, &["explain", "idle", "-n", &world.namespace], &kubeconfig).await?;
    ensure!(told.lines().count() == 1 && told.contains("no resize of it is pending"), "{told}");
    let told = answer(world, &["explain", "big", "-n", &world.namespace], &kubeconfig).await?;
    ensure!(told.contains("no node takes it") && told.contains("Insufficient cpu"), "{told}");
    ensure!(unbroken(&told).contains("cpu: asks for 500m, 200m is free"), "{told}");
    let (code, _, told) =
        call(world, &["explain", "nobody", "-n", &world.namespace], Some(&kubeconfig)).await?;
    ensure!(code == 1 && told == format!("error: no Pod {}/nobody was found\n", world.namespace), "{told}");
    Ok(())
}

/// Whoever may read the Pods of one namespace hears in one line which right is missing.
pub async fn a_user_of_one_namespace_hears_which_right_is_missing(world: &World) -> Result<()> {
    let node = world.node("n1", 300).await?;
    world.run(PodSpec::new("p", High).cpu(100).on(&node)).await?;
    let token = token(&world.suite.client, &world.namespace, "default").await?;
    let kubeconfig = world.file("user-kubeconfig", &world.suite.kubeconfig(Some(&token), None)?)?;
    let explain = ["explain", "p", "-n", &world.namespace];
    let missing = |right: String| format!("error: missing right: {right}: ");
    let (code, _, told) = call(world, &explain, Some(&kubeconfig)).await?;
    let right = format!("get pods in namespace {}", world.namespace);
    ensure!(code == 1 && told.starts_with(&missing(right)) && told.lines().count() == 1, "{told}");

    let role = json!({"metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]});
    let binding = json!({"metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": world.namespace}]});
    let params = PostParams::default();
    world.api::<Role>().create(&params, &serde_json::from_value(role)?).await?;
    world.api::<RoleBinding>().create(&params, &serde_json::from_value(binding)?).await?;
    let right = missing("list pods in all namespaces".to_owned());
    for _ in 0..50 {
        let (code, _, told) = call(world, &explain, Some(&kubeconfig)).await?;
        if code == 1 && told.starts_with(&right) && told.lines().count() == 1 {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let (_, _, told) = call(world, &explain, Some(&kubeconfig)).await?;
    anyhow::bail!("the right is not named: {told}")
}

/// The text without its line breaks: the names of a test's nodes are long.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What it prints, with this test's configuration.
async fn answer(world: &World, arguments: &[&str], kubeconfig: &Path) -> Result<String> {
    let (code, out, told) = call(world, arguments, Some(kubeconfig)).await?;
    ensure!(code == 0, "{arguments:?} exits with {code}: {told}");
    Ok(out)
}

async fn call(world: &World, arguments: &[&str], kubeconfig: Option<&Path>) -> Result<(i32, String, String)> {
    let config = world.file("config.yaml", &world.config())?;
    let mut command = Command::new(&world.suite.binary);
    command.args(arguments).arg("--config").arg(config).stdin(Stdio::null());
    if let Some(kubeconfig) = kubeconfig {
        command.arg("--kubeconfig").arg(kubeconfig);
    }
    let output = command.output().await?;
    let (out, told) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    Ok((output.status.code().context("it was killed")?, out, told))
}

/// Resource versions of all that could be written. A Node's changes with every heartbeat, so its parts are
/// taken instead.
async fn versions(world: &World, node: &str) -> Result<BTreeMap<String, String>> {
    let all = ListParams::default();
    let mut versions = BTreeMap::new();
    for pod in world.api::<Pod>().list(&all).await? {
        let metadata = pod.metadata;
        versions.insert(metadata.name.unwrap_or_default(), metadata.resource_version.unwrap_or_default());
    }
    for budget in world.api::<PodDisruptionBudget>().list(&all).await? {
        let metadata = budget.metadata;
        let name = format!("budget {}", metadata.name.unwrap_or_default());
        versions.insert(name, metadata.resource_version.unwrap_or_default());
    }
    let nodes: Api<Node> = world.all();
    let spec = nodes.get(node).await?.spec;
    versions.insert(format!("node {node}"), serde_json::to_string(&spec)?);
    Ok(versions)
}

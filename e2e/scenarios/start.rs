//! How elbowroom starts, answers and ends: what is wrong is said in one clear line, with an exit code.

use anyhow::{Context as _, Result, ensure};

use crate::harness::{Rule, World, run_to_end};

/// The pages that a deployment depends on are there, and SIGTERM ends it cleanly.
pub async fn pages_are_served_and_sigterm_ends_it(world: &World) -> Result<()> {
    let scheduler = world.scheduler().await?;
    for page in ["/healthz", "/readyz"] {
        let (code, body) = scheduler.get(page).await?;
        ensure!(code == 200, "{page} answers {code}: {body}");
    }
    let (code, page) = scheduler.get("/metrics").await?;
    ensure!(code == 200, "/metrics answers {code}");
    for name in [
        "scheduler_preemptions_total",
        "scheduler_evictions_total",
        "scheduler_resize_deferred_pods",
        "scheduler_resize_preemption_attempts_total",
        "scheduler_schedule_attempts_total",
        "scheduler_pending_pods",
    ] {
        ensure!(page.contains(&format!("# TYPE {name} ")), "/metrics has no {name}");
    }
    scheduler.stop().await
}

/// An account without any right: each missing one is named, by verb and resource.
pub async fn missing_rights_are_named_one_by_one(world: &World) -> Result<()> {
    let output = start_with(world, "without", Vec::new()).await?;
    for rule in world.suite.deployed.rules() {
        for resource in rule.resources.unwrap_or_default() {
            for verb in &rule.verbs {
                let named = output.contains(&format!("{verb} {resource}"));
                ensure!(named, "the right to {verb} {resource} is missing and not named:\n{output}");
            }
        }
    }
    Ok(())
}

/// One right is missing: that one is named, with its verb, and no other.
pub async fn one_missing_right_is_named_alone(world: &World) -> Result<()> {
    let mut rules = world.suite.deployed.rules();
    rules.retain(|rule| rule.resources.as_deref() != Some(&["pods/eviction".to_owned()]));
    let output = start_with(world, "no-eviction", rules).await?;
    ensure!(output.contains("create pods/eviction"), "the missing right is not named:\n{output}");
    for there in ["pods/binding", "poddisruptionbudgets", "pods/status", "nodes"] {
        ensure!(!output.contains(there), "{there} is named, but not missing:\n{output}");
    }
    Ok(())
}

/// Starts elbowroom as an account with these rules, and returns what it said before it gave up.
async fn start_with(world: &World, account: &str, rules: Vec<Rule>) -> Result<String> {
    let kubeconfig = world.account(account, rules).await?;
    let (code, output) = start(world, &world.config(), &kubeconfig).await?;
    ensure!(code > 0, "it ended with {code}:\n{output}");
    Ok(output)
}

/// Nobody listens there.
pub async fn unreachable_api_server_is_one_line(world: &World) -> Result<()> {
    let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let kubeconfig = world.suite.kubeconfig(None, Some(&format!("https://{address}")))?;
    refused(world, &world.config(), &kubeconfig, &address).await
}

/// A kubeconfig that is none.
pub async fn bad_kubeconfig_is_one_line(world: &World) -> Result<()> {
    refused(world, &world.config(), "clusters: 7\n", "kubeconfig").await
}

/// Configuration that means nothing, or that would be ignored.
pub async fn bad_configuration_is_one_line(world: &World) -> Result<()> {
    let kubeconfig = world.suite.kubeconfig(None, None)?;
    let good = world.config();
    let unknown_field = format!("{good}parralelism: 16\n");
    refused(world, &unknown_field, &kubeconfig, "parralelism").await?;
    let other_kind = good.replace("KubeSchedulerConfiguration", "KubeletConfiguration");
    refused(world, &other_kind, &kubeconfig, "KubeletConfiguration").await?;
    let bad_mode = "  pluginConfig:\n  - name: ResizePreemption\n    args: {apiVersion: elbowroom.dev/v1alpha1, \
                    kind: ResizePreemptionArgs, mode: Sometimes}\n";
    refused(world, &format!("{good}{bad_mode}"), &kubeconfig, "Sometimes").await?;
    refused(world, "profiles: [\n", &kubeconfig, "config.yaml").await
}

/// Leader election is asked for and not there yet: it says so and goes on.
pub async fn leader_election_is_warned_about(world: &World) -> Result<()> {
    let config = world.config().replace("leaderElect: false", "leaderElect: true");
    let mut scheduler = world.spawn_scheduler_with(&config)?;
    scheduler.ready().await?;
    let output = scheduler.output();
    let warned = output.lines().any(|line| line.contains("WARN") && line.contains("leaderElect"));
    ensure!(warned, "no warning about leaderElect:\n{output}");
    scheduler.stop().await
}

async fn start(world: &World, config: &str, kubeconfig: &str) -> Result<(i32, String)> {
    let config = world.file("config.yaml", config)?;
    let kubeconfig = world.file("kubeconfig", kubeconfig)?;
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned).context("a path that is not UTF-8");
    let (config, kubeconfig) = (path(&config)?, path(&kubeconfig)?);
    let arguments =
        ["run", "--config", &config, "--kubeconfig", &kubeconfig, "--http-address", "127.0.0.1:0"];
    run_to_end(&world.suite.binary, &arguments).await
}

/// It ends by itself with an error code, and one line names what is wrong.
async fn refused(world: &World, config: &str, kubeconfig: &str, named: &str) -> Result<()> {
    let (code, output) = start(world, config, kubeconfig).await?;
    ensure!(code > 0, "it ended with {code}:\n{output}");
    let errors: Vec<_> = output.lines().filter(|line| line.starts_with("error: ")).collect();
    ensure!(
        matches!(errors[..], [line] if line.contains(named)),
        "not one line of error that names {named}:\n{output}"
    );
    ensure!(!output.contains("panicked"), "it panicked:\n{output}");
    Ok(())
}

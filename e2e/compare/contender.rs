//! Who plays: elbowroom or kube-scheduler, each as a process with the rights that it comes with.
//!
//! Invariant: both get the same configuration file.

use anyhow::Result;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::PostParams;
use serde_json::json;
use tokio::process::Command;

use crate::harness::{Scheduler, World, free_port, program, token};

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// kube-scheduler with the gate on.
    KubeScheduler,
    /// The program under test.
    Elbowroom,
}

/// The gate, off as it comes.
const GATE: &str = "InPlacePodVerticalScalingSchedulerPreemption=true";
/// What kube-scheduler may do, by the roles that each API server makes for it.
const ROLES: [&str; 2] = ["system:kube-scheduler", "system:volume-scheduler"];

impl Contender {
    /// Both, in the order of the table.
    pub const BOTH: [Self; 2] = [Self::KubeScheduler, Self::Elbowroom];

    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::KubeScheduler => "kube-scheduler",
            Self::Elbowroom => "elbowroom",
        }
    }

    /// Gives it the account that it needs in this world.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn admit(self, world: &World) -> Result<()> {
        if self == Self::Elbowroom {
            return Ok(());
        }
        let create = PostParams::default();
        let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": self.name()}}))?;
        world.api().create(&create, &account).await?;
        for role in ROLES {
            let name = format!("{}-{}", world.namespace, role.trim_start_matches("system:"));
            let binding: ClusterRoleBinding = serde_json::from_value(json!({
                "metadata": {"name": name, "labels": world.suite.labels()},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": self.name(), "namespace": world.namespace}],
            }))?;
            world.remember(format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}"));
            world.all().create(&create, &binding).await?;
        }
        Ok(())
    }

    /// Starts it and waits until its caches are full.
    ///
    /// # Errors
    /// When it does not become ready.
    pub async fn start(self, world: &World) -> Result<Scheduler> {
        if self == Self::Elbowroom {
            return world.scheduler().await;
        }
        let program = program("kube-scheduler")?;
        let token = token(&world.suite.client, &world.namespace, self.name()).await?;
        let kubeconfig = world.file("kubeconfig", &world.suite.kubeconfig(Some(&token), None)?)?;
        let config = world.config();
        // With a configuration file the flags for the connection do not count.
        let connection = format!("clientConnection: {{kubeconfig: {}}}\n", kubeconfig.display());
        let config = world.file("config.yaml", &format!("{config}{connection}"))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command.arg("--config").arg(config).arg("--secure-port").arg(port.to_string());
        command.args(["--bind-address", "127.0.0.1", "--feature-gates", GATE, "-v", "2"]);
        let mut scheduler = Scheduler::spawn(command, port, world.log())?;
        let mut config = kube::Config::new(format!("https://127.0.0.1:{port}").parse()?);
        // Its certificate is one that it has made for itself.
        config.accept_invalid_certs = true;
        config.default_retry = false;
        let client = kube::Client::try_from(config)?;
        let is_ready = || async {
            let request = axum::http::Request::get("/readyz").body(Vec::new());
            match request {
                Ok(request) => client.request_text(request).await.is_ok(),
                Err(_) => false,
            }
        };
        scheduler.ready_when(is_ready).await?;
        Ok(scheduler)
    }
}

//! The cluster under the tests: the one in `KUBECONFIG`, or one of our own that lives as long as this
//! process.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use kube::config::Kubeconfig;

/// Hollow kubelets of our own control plane; a test takes one at a time.
const HOLLOW_NODES: usize = 3;
/// Ports that one control plane takes: five components and three a node from the tenth on.
const PORTS: u16 = 10 + 3 * HOLLOW_NODES as u16;

/// Where the cluster is, and the scripts that brought it up if it is ours.
pub struct ControlPlane {
    /// Access that is allowed to do everything.
    pub kubeconfig: Kubeconfig,
    own: Option<Own>,
}

struct Own {
    directory: tempfile::TempDir,
    port: u16,
}

impl ControlPlane {
    /// Takes the cluster in `KUBECONFIG`, or builds (once per version) and starts one.
    ///
    /// # Errors
    /// With the script's last words when it does not come up.
    pub fn start() -> Result<Self> {
        if let Some(kubeconfig) = Kubeconfig::from_env().context("KUBECONFIG")? {
            return Ok(Self { kubeconfig, own: None });
        }
        ensure_success(script("build"), "build the control plane")?;
        let own = Own {
            directory: tempfile::Builder::new().prefix("elbowroom-e2e-").tempdir()?,
            port: free_ports(PORTS)?,
        };
        let owner = std::process::id().to_string();
        let nodes = HOLLOW_NODES.to_string();
        own.cluster(&["up", "--audit", "--nodes", &nodes, "--owner", &owner])?;
        let kubeconfig = Kubeconfig::read_from(own.directory.path().join("kubeconfig"))?;
        Ok(Self { kubeconfig, own: Some(own) })
    }

    /// Where it writes down who has written what; `None` for a cluster that is not ours.
    pub fn audit_log(&self) -> Option<PathBuf> {
        Some(self.own.as_ref()?.directory.path().join("audit.log"))
    }

    /// Whether parts of it may be stopped.
    pub fn is_ours(&self) -> bool {
        self.own.is_some()
    }

    /// Kills the API server as a crash would.
    ///
    /// # Errors
    /// When the control plane is not ours or the script fails.
    pub fn stop_api_server(&self) -> Result<()> {
        self.own.as_ref().context("not our control plane")?.cluster(&["stop", "apiserver"])
    }

    /// Starts it again on the same etcd, and returns when it is ready.
    ///
    /// # Errors
    /// When the control plane is not ours or the script fails.
    pub fn start_api_server(&self) -> Result<()> {
        let own = self.own.as_ref().context("not our control plane")?;
        own.cluster(&["start", "apiserver"])?;
        // Left alone, the controllers would come back after up to a minute, and the tests' namespaces with
        // them.
        own.cluster(&["stop", "controllers"])?;
        own.cluster(&["start", "controllers"])
    }

    /// Takes our own control plane down; its logs stay when something failed.
    ///
    /// # Errors
    /// When the script fails.
    pub fn stop(&self, keep_logs: bool) -> Result<()> {
        let Some(own) = &self.own else { return Ok(()) };
        own.cluster(&["down"])?;
        if keep_logs {
            let kept = std::env::temp_dir().join("elbowroom-e2e-logs");
            let _ = std::fs::remove_dir_all(&kept);
            std::fs::create_dir_all(&kept)?;
            for entry in std::fs::read_dir(own.directory.path())? {
                let path = entry?.path();
                if let (Some("log"), Some(name)) =
                    (path.extension().and_then(|e| e.to_str()), path.file_name())
                {
                    std::fs::copy(&path, kept.join(name))?;
                }
            }
            super::say(&format!("the control plane's logs are in {}", kept.display()));
        }
        Ok(())
    }
}

impl Own {
    fn cluster(&self, arguments: &[&str]) -> Result<()> {
        let mut command = script("cluster");
        command.args(arguments).env("CP_DIR", self.directory.path()).env("CP_PORT", self.port.to_string());
        ensure_success(command, &format!("cluster {}", arguments.join(" ")))
    }
}

fn script(name: &str) -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/control-plane").join(name))
}

/// One of the programs that `control-plane/build` makes.
///
/// # Errors
/// When it cannot be built.
pub fn program(name: &str) -> Result<PathBuf> {
    // The script says where the programs are; once the control plane is up there is nothing to build.
    let output = script("build").output().context("control-plane/build")?;
    ensure!(output.status.success(), "control-plane/build: {}", String::from_utf8_lossy(&output.stderr));
    let program = Path::new(String::from_utf8(output.stdout)?.trim()).join(name);
    ensure!(program.is_file(), "there is no program {}", program.display());
    Ok(program)
}

fn ensure_success(mut command: Command, what: &str) -> Result<()> {
    // stderr goes to the person who waits: the first build takes minutes.
    let status =
        command.stdin(Stdio::null()).stdout(Stdio::null()).status().with_context(|| what.to_owned())?;
    ensure!(status.success(), "could not {what}: {status}");
    Ok(())
}

/// The first of `count` neighbouring ports that nobody listens on now.
fn free_ports(count: u16) -> Result<u16> {
    let mut first = 20_000 + (std::process::id() % 400) as u16 * 50;
    for _ in 0..50 {
        if (first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return Ok(first);
        }
        first = if first > 40_000 { 20_000 } else { first + 50 };
    }
    bail!("no block of {count} free ports found")
}

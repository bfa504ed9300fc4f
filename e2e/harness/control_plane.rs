//! The cluster under the tests: the one in `KUBECONFIG`, or one of our own that goes away with this process,
//! and with it whatever was added to it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use kube::config::Kubeconfig;

/// Hollow kubelets of our own control plane; a test takes one at a time.
const HOLLOW_NODES: usize = 3;
/// Ports that one control plane takes: five components, three a node from the tenth on, and two for a real
/// node.
const PORTS: u16 = 12 + 3 * HOLLOW_NODES as u16;

/// The name of the one with kube-scheduler.
const STOCK: &str = "stock";

/// Where the cluster is, and the scripts that brought it up if it is ours.
pub struct ControlPlane {
    /// Access that is allowed to do everything.
    pub kubeconfig: Kubeconfig,
    own: Option<Own>,
}

struct Own {
    /// Distinguishes the logs that are kept of it.
    name: &'static str,
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
        let shared = Self::start_own("shared", &["--nodes", &HOLLOW_NODES.to_string()])?;
        if shared.lacks_for_real_node()?.is_none() {
            // Now, and not when a test waits for it: the first time it takes minutes.
            let mut build = script("build");
            build.arg("kubelet");
            ensure_success(build, "build the kubelet")?;
        }
        Ok(shared)
    }

    /// Starts one more, with kube-scheduler as it comes, every alpha gate off, and no kubelet.
    ///
    /// # Errors
    /// With the script's last words when it does not come up.
    pub fn start_stock() -> Result<Self> {
        Self::start_own(STOCK, &["--scheduler", "--no-gate"])
    }

    fn start_own(name: &'static str, options: &[&str]) -> Result<Self> {
        ensure_success(script("build"), "build the control plane")?;
        let directory = tempfile::Builder::new().prefix("elbowroom-e2e-").tempdir()?;
        let own = Own { name, directory, port: free_ports(PORTS)? };
        let owner = std::process::id().to_string();
        own.cluster(&[&["up", "--audit", "--owner", &owner], options].concat())?;
        let kubeconfig = Kubeconfig::read_from(own.directory.path().join("kubeconfig"))?;
        Ok(Self { kubeconfig, own: Some(own) })
    }

    /// What there is no real node for, in one line; `None` where `start_real_node` can be tried.
    ///
    /// # Errors
    /// When the script cannot be run.
    pub fn lacks_for_real_node(&self) -> Result<Option<String>> {
        if self.own.is_none() {
            return Ok(Some("the cluster in KUBECONFIG gets no node from us".to_owned()));
        }
        let output = script("real-node").arg("missing").output().context("real-node missing")?;
        let lacks = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((!output.status.success()).then(|| format!("this machine lacks {lacks}")))
    }

    /// Starts a kubelet on containerd in our own control plane, and returns the name of its node. It goes away
    /// with the control plane.
    ///
    /// # Errors
    /// With the script's last words when it does not come up.
    pub fn start_real_node(&self) -> Result<&'static str> {
        let own = self.own.as_ref().context("not our control plane")?;
        own.real_node(&["up", "--owner", &std::process::id().to_string()])?;
        Ok("real-node")
    }

    /// Where one of its components writes its log.
    ///
    /// # Errors
    /// When it is not our control plane.
    pub fn log(&self, component: &str) -> Result<PathBuf> {
        let own = self.own.as_ref().context("not our control plane")?;
        Ok(own.directory.path().join(format!("{component}.log")))
    }

    /// Where it writes down who has written what; `None` for a cluster that is not ours.
    pub fn audit_log(&self) -> Option<PathBuf> {
        Some(self.own.as_ref()?.directory.path().join("audit.log"))
    }

    /// Whether it is one without kubelets, in which kube-scheduler runs.
    pub fn is_stock(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.name == STOCK)
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
        let ended = own.down();
        if keep_logs {
            let kept = std::env::temp_dir().join("elbowroom-e2e-logs").join(own.name);
            let _ = std::fs::remove_dir_all(&kept);
            std::fs::create_dir_all(&kept)?;
            for directory in [own.directory.path(), &own.real_node_directory()] {
                copy_logs(directory, &kept)?;
            }
            super::say(&format!("the control plane's logs are in {}", kept.display()));
        }
        ended
    }
}

/// A directory that is not there has no logs.
fn copy_logs(from: &Path, to: &Path) -> Result<()> {
    for entry in std::fs::read_dir(from).into_iter().flatten() {
        let path = entry?.path();
        if let (Some("log"), Some(name)) = (path.extension().and_then(|e| e.to_str()), path.file_name()) {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Whatever fails on the way: with the directory gone, nobody else could tell which processes were ours.
impl Drop for Own {
    fn drop(&mut self) {
        if let Err(error) = self.down() {
            super::say(&format!("e2e: {error:#}"));
        }
    }
}

impl Own {
    /// Ends every process; nothing happens where none is left.
    fn down(&self) -> Result<()> {
        let real_node = if self.real_node_directory().is_dir() { self.real_node(&["down"]) } else { Ok(()) };
        real_node.and(self.cluster(&["down"]))
    }

    fn cluster(&self, arguments: &[&str]) -> Result<()> {
        let mut command = script("cluster");
        command.args(arguments).env("CP_DIR", self.directory.path()).env("CP_PORT", self.port.to_string());
        ensure_success(command, &format!("cluster {}", arguments.join(" ")))
    }

    fn real_node(&self, arguments: &[&str]) -> Result<()> {
        let mut command = script("real-node");
        // Its two ports are the last ones of the block.
        command.args(arguments).env("RN_PORT", (self.port + PORTS - 2).to_string());
        command.env("RN_DIR", self.real_node_directory());
        command.env("KUBECONFIG", self.directory.path().join("kubeconfig"));
        ensure_success(command, &format!("real-node {}", arguments.join(" ")))
    }

    fn real_node_directory(&self) -> PathBuf {
        self.directory.path().join("real-node")
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

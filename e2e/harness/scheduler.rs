//! elbowroom as a process of its own: started as its users start it, stopped by SIGTERM or killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A running scheduler. It dies with this value.
pub struct Scheduler {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Scheduler {
    /// `run --config … --kubeconfig …`, with its output in `log`. Returns at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(binary: &Path, config: &Path, kubeconfig: &Path, log: PathBuf) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(binary);
        command.arg("run").arg("--config").arg(config).arg("--kubeconfig").arg(kubeconfig);
        command.args(["--http-address", &format!("127.0.0.1:{port}")]);
        Self::spawn(command, port, log)
    }

    /// Another scheduler, which serves on that port.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(mut command: Command, port: u16, log: PathBuf) -> Result<Self> {
        let output = File::create(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).kill_on_drop(true);
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        let child = command.spawn().context(program)?;
        Ok(Self { child, port, log })
    }

    /// The process.
    ///
    /// # Errors
    /// When it has ended.
    pub fn pid(&self) -> Result<Pid> {
        let id = self.child.id().context("the scheduler has ended")?;
        Pid::from_raw(i32::try_from(id)?).context("no such process")
    }

    /// Waits for `/readyz`: all caches are full.
    ///
    /// # Errors
    /// When it ends instead, or takes too long.
    pub async fn ready(&mut self) -> Result<()> {
        let port = self.port;
        self.ready_when(|| async move { matches!(get(port, "/readyz").await, Ok((200, _))) }).await
    }

    /// The same for a scheduler that is asked in another way.
    ///
    /// # Errors
    /// When it ends instead, or takes too long.
    pub async fn ready_when<F: Future<Output = bool>>(&mut self, is_ready: impl Fn() -> F) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            if is_ready().await {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the scheduler ended before it was ready: {status}\n{}", self.output());
            }
            ensure!(Instant::now() < end, "the scheduler is not ready after 30 s\n{}", self.output());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Status code and body of a page that it serves.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn get(&self, path: &str) -> Result<(u16, String)> {
        get(self.port, path).await
    }

    /// The value of a sample in `/metrics`, written as it stands there, or 0 when there is none.
    ///
    /// # Errors
    /// When the page cannot be read.
    pub async fn metric(&self, sample: &str) -> Result<f64> {
        let (code, page) = self.get("/metrics").await?;
        ensure!(code == 200, "/metrics answers {code}");
        let value = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok());
        Ok(value.unwrap_or(0.0))
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// With its exit and its last words when it does not.
    pub fn still_runs(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("the scheduler ended by itself: {status}\n{}", self.output()),
        }
    }

    /// Ends it as a rollout would, and checks that it had nothing to complain about.
    ///
    /// # Errors
    /// When its exit code is not 0, it takes longer than 10 s, or its log holds an error.
    pub async fn stop(mut self) -> Result<()> {
        self.terminate().await?;
        let log = self.output();
        let errors: Vec<_> = log.lines().filter(|line| is_error(line)).collect();
        ensure!(errors.is_empty(), "errors in the scheduler's log:\n{}", errors.join("\n"));
        Ok(())
    }

    /// The same for a scheduler that has had reason to complain.
    ///
    /// # Errors
    /// When its exit code is not 0 or it takes longer than 10 s.
    pub async fn terminate(&mut self) -> Result<()> {
        self.still_runs()?;
        kill_process(self.pid()?, Signal::TERM)?;
        let status = tokio::time::timeout(Duration::from_secs(10), self.child.wait()).await;
        let status = status.context("the scheduler does not end on SIGTERM")??;
        ensure!(status.success(), "the scheduler ends with {status} on SIGTERM");
        Ok(())
    }

    /// SIGKILL, unless it was killed already.
    ///
    /// # Errors
    /// When it had ended by itself before.
    pub async fn kill(mut self) -> Result<()> {
        self.child.start_kill()?;
        self.killed().await
    }

    /// Waits for its end by SIGKILL.
    ///
    /// # Errors
    /// When it ends in another way.
    pub async fn killed(&mut self) -> Result<()> {
        use std::os::unix::process::ExitStatusExt as _;
        let status: ExitStatus = self.child.wait().await?;
        ensure!(status.signal() == Some(9), "the scheduler ended by itself: {status}\n{}", self.output());
        Ok(())
    }

    /// What it has printed.
    pub fn output(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

async fn get(port: u16, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    // HTTP/1.0: the answer is not chunked and ends with the connection.
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    tokio::time::timeout(Duration::from_secs(5), stream.read_to_string(&mut answer)).await??;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status code")?;
    Ok((code, body.to_owned()))
}

/// A port that nobody listens on now.
///
/// # Errors
/// When there is none.
pub fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn is_error(line: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "ERROR")
        || line.contains("panicked at")
}

/// Runs the program with these arguments until it ends by itself; returns its exit code and all it printed.
///
/// # Errors
/// When it is still there after 60 s.
pub async fn run_to_end(binary: &Path, arguments: &[&str]) -> Result<(i32, String)> {
    let mut command = Command::new(binary);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    // Only what is named on the command line counts.
    command.env_remove("KUBECONFIG");
    let ended = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
    let output = ended.context("still running after 60 s")??;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
}

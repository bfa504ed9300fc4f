//! `elbowroom run`: the scheduler itself, against a cluster.
//!
//! Invariant: the configuration is read and complained about before anything is connected to.

use super::logging;
use crate::config::{Config, Warning};
use crate::driver;
use anyhow::{Context, Result};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use tracing::{info, warn};

/// Schedule Pods in a cluster and make room for those that grow.
///
/// Without --kubeconfig, and none in the configuration file, the service account is used inside a cluster,
/// and elsewhere $KUBECONFIG or ~/.kube/config.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1); without it, Pods with schedulerName
    /// `elbowroom` are served.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// How to reach the cluster; counts before clientConnection.kubeconfig of the configuration file.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Where /metrics, /healthz and /readyz are served.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10261")]
    http_address: SocketAddr,

    #[command(flatten)]
    logging: logging::LogArguments,
}

impl Arguments {
    /// The configuration that file and flags come to.
    fn configuration(&self) -> Result<(Config, Vec<Warning>)> {
        let (mut config, warnings) = match &self.config {
            Some(path) => Config::read(path)?,
            None => (Config::default(), Vec::new()),
        };
        if let Some(path) = &self.kubeconfig {
            let path = path.to_str().context("--kubeconfig: the path is not UTF-8")?;
            config.client.kubeconfig = Some(path.to_owned());
        }
        Ok((config, warnings))
    }
}

/// Runs until told to stop.
///
/// # Errors
/// A bad configuration, a cluster that cannot be reached or that refuses what is needed, a taken address.
pub fn execute(arguments: Arguments) -> Result<()> {
    let (config, warnings) = arguments.configuration()?;
    arguments.logging.start()?;
    for warning in warnings {
        warn!("{warning}");
    }
    for profile in &config.profiles {
        let (mode, bind) = (profile.resize.mode, profile.bind);
        info!(schedulerName = %profile.scheduler_name, bind, resizePreemption = ?mode, "Serving profile");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(driver::run(config, arguments.config, arguments.http_address))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(line: &str) -> Arguments {
        Line::try_parse_from(line.split(' ')).unwrap().arguments
    }

    #[test]
    fn without_a_file_elbowroom_is_served() {
        let (config, warnings) = parse("run").configuration().unwrap();
        assert_eq!((config, warnings), (Config::default(), vec![]));
    }

    #[test]
    fn only_this_machine_may_ask_by_default() {
        assert_eq!(parse("run").http_address, "127.0.0.1:10261".parse().unwrap());
    }

    #[test]
    fn the_flag_counts_before_the_file() {
        let arguments =
            parse("run --config tests/config/kube-scheduler-defaults.yaml --kubeconfig /tmp/kubeconfig");
        let (config, _) = arguments.configuration().unwrap();
        assert_eq!(config.client.kubeconfig.as_deref(), Some("/tmp/kubeconfig"));
    }

    #[test]
    fn the_kubeconfig_of_the_file_counts_without_the_flag() {
        let arguments = parse("run --config tests/config/kube-scheduler-defaults.yaml");
        let (config, _) = arguments.configuration().unwrap();
        assert_eq!(config.client.kubeconfig.as_deref(), Some("/etc/kubernetes/scheduler.conf"));
    }
}

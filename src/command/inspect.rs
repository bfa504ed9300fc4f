//! What `explain` and `plan resize` share: where the facts come from, and how the answer is printed.
//!
//! Invariant: the API is only read; with files it is not even asked.

use crate::config::{ClientConnection, Config};
use crate::driver::Reader;
use crate::inspect::shape::Explanation;
use crate::inspect::{Objects, Question, inspect, text};
use crate::model::Timestamp;
use crate::wire;
use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use kube::Resource;
use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Which Pod, from where, and in which form.
#[derive(Debug, Args)]
pub(super) struct InspectArguments {
    /// The Pod's name, or NAMESPACE/NAME.
    #[arg(value_name = "POD", value_parser = address)]
    pod: Address,

    /// The Pod's namespace; without it that of the kubeconfig's context, or with -f the only Pod of that name.
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// A dump of `kubectl get pods,nodes,pdb,ns -A -o yaml` (or json) instead of a cluster; `-` is standard
    /// input. Several dumps count together: give it again.
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// A KubeSchedulerConfiguration with the policy to apply; without it the default policy for Pods with
    /// schedulerName `elbowroom`.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// How to reach the cluster; without it the service account inside a cluster, else $KUBECONFIG or
    /// ~/.kube/config.
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    context: Option<String>,

    /// How the answer is printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people, on one screen.
    Text,
    /// For programs, documented in docs/explain.md.
    Json,
    /// The same as YAML.
    Yaml,
}

/// `NAME` or `NAMESPACE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    namespace: Option<String>,
    name: String,
}

fn address(text: &str) -> Result<Address, String> {
    let wrong = || "expected NAME or NAMESPACE/NAME".to_owned();
    let (namespace, name) = match text.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, text),
    };
    if name.is_empty() || name.contains('/') || namespace.is_some_and(str::is_empty) {
        return Err(wrong());
    }
    Ok(Address { namespace: namespace.map(str::to_owned), name: name.to_owned() })
}

/// A command line that contradicts itself: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(pub(super) String);

impl InspectArguments {
    /// Answers the question about the Pod; `plan` is the resize that is only considered.
    ///
    /// # Errors
    /// A bad configuration, dumps or a cluster that cannot be read, a Pod that is not there.
    pub(super) fn execute(&self, plan: Option<crate::inspect::Plan>, out: &mut impl Write) -> Result<()> {
        let config = match &self.config {
            Some(path) => Config::read(path)?.0,
            None => Config::default(),
        };
        let mut question = Question { namespace: self.namespace()?, name: self.pod.name.clone(), plan };
        let objects = if self.files.is_empty() {
            let connection = self.connection(&config)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.context("cannot start")?.block_on(self.fetch(&connection, &mut question))?
        } else {
            read_files(&self.files)?
        };
        let explanation = inspect(objects, &question, &config, now())?;
        print(&explanation, self.output, out)
    }

    fn namespace(&self) -> Result<Option<String>> {
        match (&self.namespace, &self.pod.namespace) {
            (Some(flag), Some(own)) if flag != own => {
                Err(Usage(format!("-n {flag} contradicts POD, which names namespace {own}")).into())
            }
            (flag, own) => Ok(flag.clone().or_else(|| own.clone())),
        }
    }

    fn connection(&self, config: &Config) -> Result<ClientConnection> {
        let mut connection = config.client.clone();
        if let Some(path) = &self.kubeconfig {
            let path = path.to_str().context("--kubeconfig: the path is not UTF-8")?;
            connection.kubeconfig = Some(path.to_owned());
        }
        Ok(connection)
    }

    /// Reads no more than the answer needs: for a Pod on a node, that node and who is on it.
    async fn fetch(&self, connection: &ClientConnection, question: &mut Question) -> Result<Objects> {
        let reader = Reader::new(connection, self.context.as_deref()).await?;
        let namespace = question.namespace.get_or_insert_with(|| reader.namespace().to_owned()).clone();
        let pod = reader.pod(&namespace, &question.name).await?;
        let pod = pod.ok_or_else(|| anyhow!("no Pod {namespace}/{} was found", question.name))?;
        let mut objects = Objects::default();
        match pod.node_name() {
            Some(node) => {
                objects.pods = reader.pods_on(node).await?;
                objects.nodes = reader.node(node).await?;
            }
            None => {
                objects.pods = reader.pods().await?;
                objects.nodes = reader.nodes().await?;
            }
        }
        objects.budgets = reader.budgets().await?;
        match reader.namespaces().await {
            Ok(all) => objects.namespaces = all,
            Err(problem) => objects.notes.push(format!("labels of namespaces are not known: {problem:#}")),
        }
        // As it was read first: the lists may be newer, and need not have it if it has finished.
        objects.pods.retain(|other: &wire::Pod| other.meta().uid != pod.meta().uid);
        objects.pods.push(pod);
        Ok(objects)
    }
}

/// The objects of all files; `-` is standard input.
///
/// # Errors
/// A file that cannot be read, or makes no sense; no Node in any of them.
pub(super) fn read_files(files: &[PathBuf]) -> Result<Objects> {
    let mut objects = Objects::default();
    let mut names = Vec::new();
    for path in files {
        let (name, text) = if path.as_os_str() == "-" {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("standard input")?;
            ("standard input".to_owned(), text)
        } else {
            let name = path.display().to_string();
            let text = fs::read_to_string(path).with_context(|| name.clone())?;
            (name, text)
        };
        objects.read(&name, &text)?;
        names.push(name);
    }
    objects.complete(&names.join(", "))?;
    Ok(objects)
}

pub(super) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

fn print(explanation: &Explanation, output: Output, out: &mut impl Write) -> Result<()> {
    match output {
        Output::Text => out.write_all(text(explanation).as_bytes())?,
        Output::Json => {
            serde_json::to_writer_pretty(&mut *out, explanation).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Output::Yaml => out.write_all(serde_yaml::to_string(explanation)?.as_bytes())?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_pod_is_named_alone_or_with_its_namespace() {
        assert_eq!(address("cart").unwrap(), Address { namespace: None, name: "cart".into() });
        assert_eq!(
            address("shop/cart").unwrap(),
            Address { namespace: Some("shop".into()), name: "cart".into() }
        );
        for wrong in ["", "/", "shop/", "/cart", "a/b/c"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}

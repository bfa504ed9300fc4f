//! Clients of the API server.
//!
//! Invariant: writes are never retried below the engine. kube retries 429, 503 and 504 of any verb by
//! default, so that an eviction that a budget forbids would hang for minutes instead of saying so.

use super::calls::root;
use crate::config::ClientConnection;
use anyhow::{Context, Result, anyhow, bail};
use http::{HeaderValue, header};
use k8s_openapi::apimachinery::pkg::version::Info;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig, KubeconfigError};
use std::time::Duration;
use tracing::{info, warn};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the first answer may take.
const START_TIMEOUT: Duration = Duration::from_secs(8);
/// The first minor version whose kubelets report Deferred resizes by condition.
const FIRST_MINOR: u32 = 33;

/// One client for reads and watches, one for writes. Each has its own connections, as many as it has calls.
#[derive(Clone)]
pub(super) struct Clients {
    pub(super) reads: Client,
    pub(super) writes: Client,
    url: String,
}

impl Clients {
    /// Clients for the kubeconfig that is named; else for the service account of a Pod; else for
    /// `$KUBECONFIG` or `~/.kube/config`. A kubeconfig's `proxy-url` counts, else `HTTPS_PROXY` and
    /// `NO_PROXY`.
    pub(super) async fn new(connection: &ClientConnection) -> Result<Self> {
        Ok(Self::in_context(connection, None).await?.0)
    }

    /// The same in the kubeconfig's context of that name, and the namespace that the context is about.
    pub(super) async fn in_context(
        connection: &ClientConnection,
        context: Option<&str>,
    ) -> Result<(Self, String)> {
        let mut config = read_config(connection.kubeconfig.as_deref(), context).await?;
        let namespace = config.default_namespace.clone();
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        let agent = HeaderValue::from_static(concat!("elbowroom/", env!("CARGO_PKG_VERSION")));
        config.headers.push((header::USER_AGENT, agent));
        let url = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = |config: Config| {
            let at = || format!("cannot connect to the API server at {url}");
            Client::try_from(config).with_context(at)
        };
        let reads = client(config.clone())?;
        config.default_retry = false;
        let writes = client(config)?;
        Ok((Self { reads, writes, url }, namespace))
    }

    /// The same client for both, for tests.
    #[cfg(test)]
    pub(super) fn of(client: Client) -> Self {
        Self { reads: client.clone(), writes: client, url: String::new() }
    }

    /// Where the API server is.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Asks for the version, to learn whether anybody answers.
    pub(super) async fn version(&self) -> Result<Info> {
        let url = &self.url;
        match tokio::time::timeout(START_TIMEOUT, self.writes.apiserver_version()).await {
            Ok(Ok(version)) => Ok(version),
            Ok(Err(error)) => {
                refuse_strangers(&error)?;
                bail!("cannot reach the API server at {url}: {}", root(&error))
            }
            Err(_) => bail!("cannot reach the API server at {url}: no answer within {START_TIMEOUT:?}"),
        }
    }

    /// Says whom we reached, and warns when its kubelets are too old.
    pub(super) async fn greet(&self) -> Result<()> {
        let version = self.version().await?;
        info!(server = self.url, version = version.git_version, "Connected");
        let digits = |text: &str| text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
        if digits(&version.major) == Some(1)
            && digits(&version.minor).is_some_and(|minor| minor < FIRST_MINOR)
        {
            warn!(
                version = version.git_version,
                "Kubelets report Deferred resizes from 1.{FIRST_MINOR} on; without them no Pod gets room"
            );
        }
        Ok(())
    }
}

async fn read_config(path: Option<&str>, context: Option<&str>) -> Result<Config> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    if let Some(path) = path {
        let named = || format!("cannot use the kubeconfig {path}");
        let kubeconfig = Kubeconfig::read_from(path).map_err(without_excerpt).with_context(named)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        return config.map_err(without_excerpt).with_context(named);
    }
    if context.is_none() && std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Config::incluster().context("cannot use the service account of this Pod");
    }
    let config = Config::from_kubeconfig(&options).await;
    if let Some(context) = context {
        return config.map_err(without_excerpt).with_context(|| format!("cannot use the context {context}"));
    }
    config.map_err(without_excerpt).context(
        "no cluster: neither --kubeconfig, a service account, $KUBECONFIG nor ~/.kube/config can be used",
    )
}

/// The YAML parser shows the lines around a mistake. In a kubeconfig those hold tokens and keys.
fn without_excerpt(error: KubeconfigError) -> anyhow::Error {
    anyhow!(error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// Fails with one line when the server does not know us.
pub(super) fn refuse_strangers(error: &kube::Error) -> Result<()> {
    match error {
        kube::Error::Api(status) if status.code == 401 => {
            bail!("the API server does not accept our credentials: {}", root(error))
        }
        _ => Ok(()),
    }
}

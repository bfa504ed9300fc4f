//! One run of the tests: the cluster, what all of them share in it, and proof that nothing is left there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::config::KubeConfigOptions;
use tokio::sync::{OnceCell, RwLock};

use super::access::{self, Deployed};
use super::control_plane::ControlPlane;
use super::pods::Priority;
use super::workers::Workers;
use super::world::World;

/// Every object of a run that is not in a namespace carries this label, with the run as its value.
pub const RUN_LABEL: &str = "e2e.elbowroom.dev/run";

/// One test.
pub struct Scenario {
    /// What the filter on the command line matches.
    pub name: &'static str,
    /// What it cannot do without.
    pub needs: Needs,
    /// When it is given up.
    pub minutes: u64,
    /// What happens.
    pub body: for<'a> fn(&'a World) -> BoxFuture<'a, Result<()>>,
}

/// What a test needs of the cluster. Where that is not to be had, it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Any cluster with a kubelet.
    Cluster,
    /// An API server that it may stop, while no other test runs.
    Outage,
    /// A kubelet with real containers.
    RealNode,
    /// A control plane of its own in which kube-scheduler runs, its gate off.
    StockScheduler,
}

/// What all tests of a run share.
pub struct Suite {
    /// May do everything; does not try again by itself.
    pub client: kube::Client,
    /// Distinguishes this run from others in the same cluster.
    pub run: String,
    /// The program under test.
    pub binary: PathBuf,
    /// The nodes with a kubelet.
    pub workers: Workers,
    /// The node with real containers, once the first test has asked for it.
    real: OnceCell<Workers>,
    lacks_for_real_node: Option<String>,
    /// The rights that a scheduler has.
    pub deployed: Deployed,
    /// The cluster.
    pub control_plane: ControlPlane,
    token: String,
    /// Held for reading by each test, for writing by one that disturbs all others.
    quiet: RwLock<()>,
}

impl Suite {
    /// Brings up or finds the cluster and puts the shared objects there.
    ///
    /// # Errors
    /// When there is no program to test or the cluster does not answer as it should.
    pub async fn start() -> Result<Self> {
        let binary =
            std::env::var_os("ELBOWROOM_BIN").map_or(env!("CARGO_BIN_EXE_elbowroom").into(), PathBuf::from);
        if !binary.is_file() {
            bail!("there is no program at {}", binary.display());
        }
        // Two rustls providers may be linked in; this one is meant.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let control_plane = tokio::task::spawn_blocking(ControlPlane::start).await??;
        let suite = Self::over(control_plane, binary).await?;
        let version = suite.client.apiserver_version().await?.git_version;
        super::say(&format!("e2e: Kubernetes {version}, program {}", suite.binary.display()));
        if let Some(lacks) = &suite.lacks_for_real_node {
            super::say(&format!("e2e: the tests on a real node are skipped: {lacks}"));
        }
        if suite.lacks(Needs::StockScheduler) {
            super::say("e2e: the test beside kube-scheduler is skipped: it needs a control plane of its own");
        }
        Ok(suite)
    }

    async fn over(control_plane: ControlPlane, binary: PathBuf) -> Result<Self> {
        let admin = control_plane.kubeconfig.clone();
        let mut config = kube::Config::from_custom_kubeconfig(admin, &KubeConfigOptions::default()).await?;
        config.default_retry = false;
        let client = kube::Client::try_from(config)?;
        client.apiserver_version().await.context("the cluster does not answer")?;
        let deployed = Deployed::apply(&client).await?;
        let token = access::token(&client, "elbowroom", "elbowroom").await?;
        let workers =
            if control_plane.is_stock() { Workers::of(Vec::new()) } else { Workers::find(&client).await? };
        let lacks_for_real_node = control_plane.lacks_for_real_node()?;
        let run =
            format!("{:06x}", (seconds_since_1970() ^ (u64::from(std::process::id()) << 8)) & 0xff_ffff);
        let suite = Self {
            client,
            run,
            binary,
            workers,
            real: OnceCell::new(),
            lacks_for_real_node,
            deployed,
            control_plane,
            token,
            quiet: RwLock::new(()),
        };
        suite.create_priority_classes().await?;
        Ok(suite)
    }

    /// Whether there is not what a test needs.
    pub fn lacks(&self, needs: Needs) -> bool {
        match needs {
            Needs::Cluster => false,
            Needs::Outage | Needs::StockScheduler => !self.control_plane.is_ours(),
            Needs::RealNode => self.lacks_for_real_node.is_some(),
        }
    }

    /// The node with real containers; brought up when it is asked for first.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn real_node(self: &Arc<Self>) -> Result<&Workers> {
        let suite = self.clone();
        let start = || async move {
            let up = tokio::task::spawn_blocking(move || suite.control_plane.start_real_node());
            Ok(Workers::of(vec![up.await??.to_owned()]))
        };
        self.real.get_or_try_init(start).await
    }

    /// Labels for cluster-wide objects of this run.
    pub fn labels(&self) -> std::collections::BTreeMap<String, String> {
        [(RUN_LABEL.to_owned(), self.run.clone())].into()
    }

    /// A kubeconfig file's content with the rights of `deploy/`; `server` puts a proxy in between.
    ///
    /// # Errors
    /// When the admin's kubeconfig cannot be read.
    pub fn kubeconfig(&self, token: Option<&str>, server: Option<&str>) -> Result<String> {
        access::kubeconfig(&self.control_plane.kubeconfig, token.unwrap_or(&self.token), server)
    }

    /// Runs one test in a world of its own and cleans up, whatever happened.
    ///
    /// # Errors
    /// With why it failed, the Pods as they were, and the scheduler's log.
    pub async fn run(self: &Arc<Self>, scenario: &Scenario) -> Result<()> {
        let (_shared, _alone);
        match scenario.needs {
            Needs::Outage => _alone = self.quiet.write().await,
            Needs::StockScheduler => return self.run_beside_stock(scenario).await,
            Needs::Cluster | Needs::RealNode => _shared = self.quiet.read().await,
        }
        self.run_here(scenario).await
    }

    /// Another cluster for this test alone: nothing of ours is to be seen in it but one scheduler.
    async fn run_beside_stock(&self, scenario: &Scenario) -> Result<()> {
        let control_plane = tokio::task::spawn_blocking(ControlPlane::start_stock).await??;
        let suite = Arc::new(Self::over(control_plane, self.binary.clone()).await?);
        let outcome = suite.run_here(scenario).await;
        let left = suite.finish(outcome.is_err()).await;
        outcome.and(left)
    }

    async fn run_here(self: &Arc<Self>, scenario: &Scenario) -> Result<()> {
        let world = World::create(self.clone(), scenario.name).await.context("set the test up")?;
        let limit = Duration::from_secs(60 * scenario.minutes);
        let outcome = match tokio::time::timeout(limit, (scenario.body)(&world)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("not finished after {limit:?}")),
        };
        let outcome = match outcome {
            Ok(()) => Ok(()),
            Err(error) => Err(anyhow::anyhow!("{error:#}\n\n{}", world.describe())),
        };
        let cleaned = world.destroy().await.context("clean up");
        outcome.and(cleaned)
    }

    /// Removes what the tests shared, checks that nothing is left, and takes our own control plane down.
    ///
    /// # Errors
    /// Names what a test left behind.
    pub async fn finish(&self, failed: bool) -> Result<()> {
        let gone = match failed {
            true => self.sweep().await.and(self.remove_shared().await),
            false => self.remove_shared().await,
        };
        self.control_plane.stop(failed || gone.is_err())?;
        gone
    }

    /// What a test that broke off may have left. After a good run there must be nothing to sweep.
    async fn sweep(&self) -> Result<()> {
        let mine = ListParams::default().labels(&format!("{RUN_LABEL}={}", self.run));
        let now = DeleteParams::default();
        for namespace in Api::<Namespace>::all(self.client.clone()).list_metadata(&mine).await?.items {
            let Some(name) = namespace.metadata.name else { continue };
            let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
            let pods: Api<Pod> = Api::namespaced(self.client.clone(), &name);
            pods.delete_collection(&at_once, &ListParams::default()).await?;
            // It may be on its way already.
            let _ = Api::<Namespace>::all(self.client.clone()).delete(&name, &now).await;
        }
        Api::<Node>::all(self.client.clone()).delete_collection(&now, &mine).await?;
        Api::<RuntimeClass>::all(self.client.clone()).delete_collection(&now, &mine).await?;
        Api::<ClusterRole>::all(self.client.clone()).delete_collection(&now, &mine).await?;
        Api::<ClusterRoleBinding>::all(self.client.clone()).delete_collection(&now, &mine).await?;
        Ok(())
    }

    async fn remove_shared(&self) -> Result<()> {
        let mine = ListParams::default().labels(&format!("{RUN_LABEL}={}", self.run));
        Api::<PriorityClass>::all(self.client.clone())
            .delete_collection(&DeleteParams::default(), &mine)
            .await?;
        self.deployed.remove(&self.client).await?;
        let started = Instant::now();
        loop {
            let left = self.left_behind(&mine).await?;
            if left.is_empty() {
                return Ok(());
            }
            if started.elapsed() > Duration::from_secs(90) {
                bail!("left behind: {}", left.join(", "));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    async fn left_behind(&self, mine: &ListParams) -> Result<Vec<String>> {
        let mut left = Vec::new();
        names::<Namespace>(&self.client, mine, &mut left).await?;
        names::<Node>(&self.client, mine, &mut left).await?;
        names::<PriorityClass>(&self.client, mine, &mut left).await?;
        names::<RuntimeClass>(&self.client, mine, &mut left).await?;
        names::<ClusterRole>(&self.client, mine, &mut left).await?;
        names::<ClusterRoleBinding>(&self.client, mine, &mut left).await?;
        left.extend(self.workers.left_behind(&self.client, &self.run).await?);
        Ok(left)
    }

    async fn create_priority_classes(&self) -> Result<()> {
        let classes: Api<PriorityClass> = Api::all(self.client.clone());
        for priority in Priority::ALL {
            let class = PriorityClass {
                metadata: ObjectMeta {
                    name: Some(priority.class(&self.run)),
                    labels: Some(self.labels()),
                    ..ObjectMeta::default()
                },
                value: Some(priority.value()),
                preemption_policy: (!priority.preempts()).then(|| "Never".to_owned()),
                ..PriorityClass::default()
            };
            classes.create(&PostParams::default(), &class).await?;
        }
        Ok(())
    }
}

async fn names<K>(client: &kube::Client, mine: &ListParams, into: &mut Vec<String>) -> Result<()>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::ClusterResourceScope>
        + Clone
        + serde::de::DeserializeOwned
        + std::fmt::Debug,
{
    let found = Api::<K>::all(client.clone()).list_metadata(mine).await?;
    into.extend(
        found
            .items
            .into_iter()
            .filter_map(|o| o.metadata.name)
            .map(|name| format!("{} {name}", K::kind(&()))),
    );
    Ok(())
}

fn seconds_since_1970() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

//! What kube-scheduler has tried, read off its log: nothing in the API says how often it looked at a Pod.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::observe::lock;
use super::world::PATIENCE;

/// How often it found no node for a Pod. Follows the log until dropped.
pub struct Attempts {
    in_vain: Arc<Mutex<BTreeMap<String, usize>>>,
    task: JoinHandle<()>,
}

impl Drop for Attempts {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Attempts {
    /// Reads from the beginning of the log.
    ///
    /// # Errors
    /// When there is no log.
    pub fn follow(log: &Path) -> Result<Self> {
        let mut file = File::open(log).with_context(|| log.display().to_string())?;
        let in_vain = Arc::<Mutex<BTreeMap<String, usize>>>::default();
        let into = in_vain.clone();
        let task = tokio::spawn(async move {
            let mut rest = String::new();
            // A log that cannot be read any more looks like one that does not grow.
            while file.read_to_string(&mut rest).is_ok() {
                let complete = rest.rfind('\n').map_or(0, |end| end + 1);
                for pod in rest[..complete].lines().filter_map(unschedulable) {
                    *lock(&into).entry(pod.to_owned()).or_default() += 1;
                }
                rest.drain(..complete);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        Ok(Self { in_vain, task })
    }

    /// So far, for the Pod `namespace/name`.
    pub fn of(&self, pod: &str) -> usize {
        lock(&self.in_vain).get(pod).copied().unwrap_or(0)
    }

    /// Waits until there are more than that.
    ///
    /// # Errors
    /// When it does not try again.
    pub async fn more_than(&self, before: usize, pod: &str) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while self.of(pod) <= before {
            ensure!(Instant::now() < end, "kube-scheduler did not try {pod} again, after {before} times");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

/// The Pod of such a line.
fn unschedulable(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("\"Unable to schedule pod; no fit; waiting\" pod=\"")?;
    rest.split_once('"').map(|(pod, _)| pod)
}

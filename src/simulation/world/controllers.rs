//! Controllers of workloads, as far as scenarios need them: a Pod that is taken away comes back under a new
//! name.
//!
//! Invariant: one Pod comes for one that went, and only where its manifest says so.

use super::{Task, What, World};
use crate::model::Span;
use crate::simulation::objects::{Key, PodExt};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// On a Pod: its controller makes it anew. `pending`: for a scheduler to place. `bound`: and another
/// scheduler, which heeds no claims, has put it on the same node before anybody else can look.
pub const COMES_BACK: &str = "simulation.elbowroom.dev/comes-back";
/// The values of [`COMES_BACK`].
pub const WAYS_BACK: [&str; 2] = ["pending", "bound"];

/// How long a controller takes to react.
const REACTION: Span = Span::from_millis(20);

impl World {
    /// A Pod begins to leave, or is gone without that.
    pub(super) fn controllers_see(&mut self, pod: &Pod, gone: bool) {
        // ReplicaSets do not wait for the end of a Pod that is leaving; DaemonSets and other schedulers do.
        let owners = pod.metadata.owner_references.iter().flatten();
        let daemon = owners.into_iter().any(|owner| owner.kind == "DaemonSet");
        match pod.annotation(COMES_BACK) {
            Some("bound") if gone => self.come_back(successor(pod)),
            Some("pending") if gone == (daemon || !pod.leaving()) => {
                self.push(self.now + REACTION, Task::ComeBack(Box::new(successor(pod))));
            }
            _ => {}
        }
    }

    pub(super) fn come_back(&mut self, pod: Pod) {
        let name = pod.key();
        if let Err(refusal) = self.api.create_pod(self.now, pod) {
            self.note(What::Refused(format!("Pod {name} made anew"), refusal));
        }
    }
}

/// What a controller would make of its template: the Pod as it was created, under the next name.
fn successor(pod: &Pod) -> Pod {
    let old = &pod.metadata;
    let metadata = ObjectMeta {
        name: Some(next_name(&pod.key())),
        namespace: old.namespace.clone(),
        labels: old.labels.clone(),
        annotations: old.annotations.clone(),
        owner_references: old.owner_references.clone(),
        ..ObjectMeta::default()
    };
    let mut spec = pod.spec.clone().unwrap_or_default();
    if pod.annotation(COMES_BACK) != Some("bound") {
        spec.node_name = None;
    }
    Pod { metadata, spec: Some(spec), status: None }
}

/// `web`, `web-r1`, `web-r2` and so on.
fn next_name(key: &Key) -> String {
    let parts = key.name.rsplit_once("-r").and_then(|(base, count)| Some((base, count.parse::<u32>().ok()?)));
    let (base, count) = parts.unwrap_or((&key.name, 0));
    format!("{base}-r{}", count.saturating_add(1))
}

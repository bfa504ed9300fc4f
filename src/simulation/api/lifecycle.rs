//! Deleting and binding Pods, and one condition of a Pod's status.
//!
//! Invariant: a Pod that has a kubelet is removed by it, never by the delete call.

use super::{Api, Refusal, not_found};
use crate::model::{Span, Timestamp};
use crate::simulation::objects::{Key, PodExt, condition, time, timestamp};
use k8s_openapi::api::core::v1::PodCondition;

impl Api {
    /// Deletes a Pod with its own grace period, or with another one. A later call can only shorten it.
    ///
    /// # Errors
    /// 404; 409 for another UID.
    pub fn delete_pod(
        &mut self,
        now: Timestamp,
        key: &Key,
        uid: Option<&str>,
        grace: Option<Span>,
    ) -> Result<(), Refusal> {
        let mut pod = self.pods.get(key).cloned().ok_or_else(|| not_found("pods", &key.name))?;
        if let Some(wanted) = uid.filter(|uid| *uid != pod.uid()) {
            return Err(uid_conflict(key, wanted, pod.uid()));
        }
        let grace = grace.unwrap_or_else(|| pod.grace());
        if pod.node().is_none() || pod.finished() || grace == Span::default() {
            self.remove_pod(key);
            return Ok(());
        }
        let ends = now + grace;
        if pod.metadata.deletion_timestamp.as_ref().is_some_and(|old| timestamp(old) <= ends) {
            return Ok(());
        }
        pod.metadata.generation = Some(pod.generation() + 1);
        pod.metadata.deletion_timestamp = Some(time(ends));
        pod.metadata.deletion_grace_period_seconds = Some(grace.0 / 1_000_000);
        self.store_pod(pod);
        Ok(())
    }

    /// Binds a Pod (`pkg/registry/core/pod/storage`, `assignPod`). The node need not exist.
    ///
    /// # Errors
    /// 404; 409 for another UID, a Pod that is bound already, is being deleted or is gated.
    pub fn bind_pod(&mut self, now: Timestamp, key: &Key, uid: &str, node: &str) -> Result<(), Refusal> {
        let mut pod = self.pods.get(key).cloned().ok_or_else(|| not_found("pods", &key.name))?;
        let conflict = |what: String| {
            Err(Refusal::new(
                409,
                format!("Operation cannot be fulfilled on pods/binding \"{}\": {what}", key.name),
            ))
        };
        if pod.uid() != uid {
            return Err(uid_conflict(key, uid, pod.uid()));
        }
        if pod.leaving() {
            return conflict(format!("pod {} is being deleted, cannot be assigned to a host", key.name));
        }
        if let Some(node) = pod.node() {
            return conflict(format!("pod {} is already assigned to node \"{node}\"", key.name));
        }
        if pod.spec.iter().any(|spec| spec.scheduling_gates.iter().flatten().next().is_some()) {
            return conflict(format!("pod {} has non-empty .spec.schedulingGates", key.name));
        }
        pod.spec_mut().node_name = Some(node.to_owned());
        let generation = pod.generation();
        let scheduled =
            PodCondition { observed_generation: Some(generation), ..condition("PodScheduled", true, "", "") };
        pod.set_condition(now, scheduled);
        self.store_pod(pod);
        Ok(())
    }

    /// Writes or removes one condition of a Pod's status; the UID says which Pod is meant.
    ///
    /// # Errors
    /// 404; 409 when another Pod has the name.
    pub fn patch_condition(
        &mut self,
        now: Timestamp,
        key: &Key,
        uid: &str,
        kind: &str,
        value: Option<PodCondition>,
    ) -> Result<(), Refusal> {
        let mut pod = self.pods.get(key).cloned().ok_or_else(|| not_found("pods", &key.name))?;
        if pod.uid() != uid {
            return Err(uid_conflict(key, uid, pod.uid()));
        }
        match value {
            Some(value) => pod.set_condition(now, value),
            None => pod.remove_condition(kind),
        };
        self.store_pod(pod);
        Ok(())
    }
}

pub(super) fn uid_conflict(key: &Key, wanted: &str, found: &str) -> Refusal {
    let text = format!(
        "Operation cannot be fulfilled on Pod \"{}\": the UID in the precondition ({wanted}) does not match the \
         UID in record ({found})",
        key.name
    );
    Refusal::new(409, text)
}

//! Decisions as log lines and metrics.
//!
//! Invariant: one line for each decision; what changes the world is `info`, what people must look after
//! `warn`, what happens to every Pod `debug`.

use crate::engine::{Decision, EvictAnswer};
use crate::model::{PodRef, Span};
use crate::resize::Reason;
use crate::serve::Metrics;
use crate::serve::labels::{AttemptResult, Operation};
use std::fmt;
use tracing::{debug, info, warn};

/// `namespace/name`, as kube-scheduler logs Pods.
struct Named<'a>(&'a PodRef);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.namespace, self.0.name)
    }
}

/// Several, separated by commas.
struct All<'a>(&'a [PodRef]);

impl fmt::Display for All<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pod) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { "," }, Named(pod))?;
        }
        Ok(())
    }
}

/// Logs one decision and counts it; `thought` is how long the step took that made it.
pub(super) fn report(decision: &Decision, thought: Span, metrics: &Metrics) {
    match decision {
        Decision::Assumed { pod, node } => debug!(pod = %Named(pod), %node, "Binding pod"),
        Decision::Scheduled { pod, node, profile, attempts, waited, took } => {
            debug!(pod = %Named(pod), %node, attempts, "Bound pod");
            metrics.attempt(AttemptResult::Scheduled, profile, *took);
            metrics.placed(*attempts, *waited);
        }
        Decision::Unschedulable { pod, profile, message } => {
            debug!(pod = %Named(pod), why = message, "Unable to schedule pod");
            metrics.attempt(AttemptResult::Unschedulable, profile, thought);
        }
        Decision::BindFailed { pod, node, profile, message, took } => {
            warn!(pod = %Named(pod), %node, why = message, "Binding failed; the pod is tried again");
            metrics.attempt(AttemptResult::Error, profile, *took);
        }
        Decision::PreferencesIgnored { pod, what } => {
            info!(pod = %Named(pod), preferences = ?what, "Ignoring preferences that are not supported yet");
        }
        Decision::Queued { queue, event } => metrics.queued(*queue, event),
        resize => report_resize(resize, metrics),
    }
}

fn report_resize(decision: &Decision, metrics: &Metrics) {
    match decision {
        Decision::Preempting { pod, node, victims, exact } => {
            let victim_pods = All(victims);
            info!(
                pod = %Named(pod), %node, preemptedPods = %victim_pods, exact,
                "Preempting pods for in-place resize"
            );
            metrics.resize_victims(victims.len());
        }
        Decision::Evicted { preemptor, victim, node, answer } => {
            report_eviction(preemptor, victim, node, answer);
            metrics.evicted(Operation::InPlaceResize, answer.into());
        }
        Decision::Resize { pod, node, reason, message } => {
            let (pod, label) = (Named(pod), reason.as_str());
            match reason {
                // Told by `Decision::Preempting` already, with its victims.
                Reason::Preempting => debug!(%pod, %node, reason = label, why = message, "Deferred resize"),
                _ => info!(%pod, %node, reason = label, why = message, "Deferred resize"),
            }
            metrics.resize_decided(*reason);
        }
        Decision::ResizeEnded { pod, outcome, preempted, waited } => {
            let seconds = waited.as_seconds_f64();
            info!(pod = %Named(pod), ?outcome, preempted, seconds, "Resize is no longer deferred");
            metrics.resize_ended(*outcome, *preempted, *waited);
        }
        Decision::ResizeActuated { pod, waited } => {
            debug!(pod = %Named(pod), seconds = waited.as_seconds_f64(), "Resize is in force");
            metrics.resize_actuated(*waited);
        }
        Decision::VictimOverdue { pod, victim, node } => {
            let victim = Named(victim);
            warn!(pod = %Named(pod), %victim, %node, "Victim is still there a minute after its grace period");
        }
        Decision::Assumed { .. }
        | Decision::Scheduled { .. }
        | Decision::Unschedulable { .. }
        | Decision::BindFailed { .. }
        | Decision::PreferencesIgnored { .. }
        | Decision::Queued { .. } => {}
    }
}

fn report_eviction(preemptor: &PodRef, victim: &PodRef, node: &str, answer: &EvictAnswer) {
    let (pod, preemptor) = (Named(victim), Named(preemptor));
    match answer {
        EvictAnswer::Evicted => info!(%pod, %preemptor, node, "Evicted pod"),
        EvictAnswer::Gone => info!(%pod, %preemptor, node, "Pod to evict is gone already"),
        EvictAnswer::Budget(message) => {
            info!(%pod, %preemptor, node, why = message, "A budget forbids the eviction")
        }
        EvictAnswer::StaleBudget(message)
        | EvictAnswer::Throttled(message)
        | EvictAnswer::Conflict(message) => {
            info!(%pod, %preemptor, node, why = message, "Eviction has to wait");
        }
        EvictAnswer::Error(message) => warn!(%pod, %preemptor, node, why = message, "Eviction failed"),
        EvictAnswer::Unknown(message) => {
            warn!(%pod, %preemptor, node, why = message, "Eviction got no answer; looking again");
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn told(decision: &Decision) -> (serde_json::Value, String) {
        let (lines, metrics) = (Lines::default(), Metrics::new().unwrap());
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || report(decision, Span::from_millis(2), &metrics));
        let line = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap_or_default();
        (line, String::from_utf8(metrics.render().unwrap()).unwrap())
    }

    fn pod(name: &str) -> PodRef {
        PodRef { namespace: "ns".into(), name: name.into(), uid: name.into() }
    }

    #[test]
    fn a_preemption_is_one_line_with_its_fields() {
        let (line, metrics) = told(&Decision::Preempting {
            pod: pod("web"),
            node: "n1".into(),
            victims: vec![pod("a"), pod("b")],
            exact: true,
        });
        assert_eq!(line["message"], "Preempting pods for in-place resize");
        assert_eq!((&line["pod"], &line["node"]), (&"ns/web".into(), &"n1".into()));
        assert_eq!(line["preemptedPods"], "ns/a,ns/b");
        assert!(metrics.contains("scheduler_resize_preemption_victims_sum 2\n"));
    }

    #[test]
    fn a_refused_eviction_counts_by_its_result() {
        let answer = EvictAnswer::Budget("web needs 2".into());
        let (line, metrics) =
            told(&Decision::Evicted { preemptor: pod("web"), victim: pod("a"), node: "n1".into(), answer });
        assert_eq!((&line["pod"], &line["preemptor"]), (&"ns/a".into(), &"ns/web".into()));
        let counted = "scheduler_evictions_total{operation=\"in_place_resize\",result=\"pdb\"} 1\n";
        assert!(metrics.contains(counted));
    }

    #[test]
    fn a_resize_that_ended_counts_by_its_outcome() {
        use crate::resize::Outcome;
        for (outcome, label) in [
            (Outcome::Allocated, "allocated"),
            (Outcome::Reverted, "reverted"),
            (Outcome::Infeasible, "infeasible"),
            (Outcome::Deleted, "deleted"),
        ] {
            let waited = Span::from_seconds(4);
            let (line, metrics) =
                told(&Decision::ResizeEnded { pod: pod("web"), outcome, preempted: true, waited });
            assert_eq!((&line["preempted"], &line["seconds"]), (&true.into(), &4.0.into()));
            let labels = format!("outcome=\"{label}\",preempted=\"true\"");
            let sum = format!("scheduler_resize_deferred_duration_seconds_sum{{{labels}}} 4\n");
            assert!(metrics.contains(&sum), "{sum}");
        }
    }

    #[test]
    fn an_attempt_that_found_no_node_lasted_as_long_as_its_step() {
        let (_, metrics) = told(&Decision::Unschedulable {
            pod: pod("web"),
            profile: "elbowroom".into(),
            message: "0/1 nodes are available".into(),
        });
        let family = "scheduler_scheduling_attempt_duration_seconds_sum";
        assert!(
            metrics.contains(&format!("{family}{{profile=\"elbowroom\",result=\"unschedulable\"}} 0.002\n"))
        );
    }

    #[test]
    fn a_routine_bind_is_counted_and_not_told() {
        let (line, metrics) = told(&Decision::Scheduled {
            pod: pod("web"),
            node: "n1".into(),
            profile: "elbowroom".into(),
            attempts: 2,
            waited: Span::from_seconds(1),
            took: Span::from_millis(1),
        });
        assert!(line.is_null(), "{line}");
        assert!(
            metrics.contains(
                "scheduler_schedule_attempts_total{profile=\"elbowroom\",result=\"scheduled\"} 1\n"
            )
        );
        assert!(metrics.contains("scheduler_pod_scheduling_attempts_sum 2\n"));
    }
}

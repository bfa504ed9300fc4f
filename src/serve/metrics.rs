//! Every metric: kube-scheduler's stable names with the same labels and buckets, and those of resizes.
//!
//! Invariant: a family is named, helped and labelled here alone; callers say what happened, not how it is
//! counted.

use super::families::Families;
use super::labels::{self, AttemptResult, EvictionResult, Operation};
use crate::engine::QueueName;
use crate::model::Span;
use crate::resize::{Outcome, Reason};
use prometheus::{
    Encoder, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry,
    TextEncoder, exponential_buckets,
};

/// All metrics of one process. Cheap to clone; clones count together.
#[derive(Clone)]
pub struct Metrics {
    registry: Registry,
    schedule_attempts: IntCounterVec,
    attempt_duration: HistogramVec,
    pod_attempts: Histogram,
    sli_duration: HistogramVec,
    pending_pods: IntGaugeVec,
    incoming_pods: IntCounterVec,
    preemption_attempts: IntCounter,
    preemption_victims: Histogram,
    preemptions: IntCounterVec,
    evictions: IntCounterVec,
    deferred_pods: IntGaugeVec,
    deferred_duration: HistogramVec,
    actuation_duration: Histogram,
    resize_attempts: IntCounterVec,
    resize_victims: Histogram,
    claimed: GaugeVec,
    claimed_unattainable: GaugeVec,
    unattainable_nodes: IntGauge,
    overcount: GaugeVec,
    reloads: IntCounterVec,
    unreadable: IntCounterVec,
    events_dropped: IntCounter,
}

/// The content type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

impl Metrics {
    /// Registers everything, in a registry of its own.
    ///
    /// # Errors
    /// Two families of one name, or a name that Prometheus does not allow: a mistake in this file.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let families = Families::of(&registry);
        let victims = exponential_buckets(1.0, 2.0, 7)?;
        let attempts = exponential_buckets(0.001, 2.0, 15)?;
        // From 10 ms to 87 minutes: a Pod may stay pending, and a resize Deferred, for long.
        let waits = exponential_buckets(0.01, 2.0, 20)?;

        let metrics = Self {
            schedule_attempts: families.counters(
                "schedule_attempts_total",
                "Attempts to place Pods, by result.",
                &["result", "profile"],
            )?,
            attempt_duration: families.histograms(
                "scheduling_attempt_duration_seconds",
                "Time of an attempt to place a Pod, deciding and binding.",
                attempts,
                &["result", "profile"],
            )?,
            pod_attempts: families.histogram(
                "pod_scheduling_attempts",
                "Attempts it took to place a Pod.",
                exponential_buckets(1.0, 2.0, 5)?,
            )?,
            sli_duration: families.histograms(
                "pod_scheduling_sli_duration_seconds",
                "Time from when a Pod could be tried to when it was placed.",
                waits.clone(),
                &["attempts"],
            )?,
            pending_pods: families.gauges(
                "pending_pods",
                "Pods that wait to be placed, by queue.",
                &["queue"],
            )?,
            incoming_pods: families.counters(
                "queue_incoming_pods_total",
                "Pods added to a queue, by what moved them.",
                &["queue", "event"],
            )?,
            preemption_attempts: families
                .counter("preemption_attempts_total", "Searches for victims on behalf of pending Pods.")?,
            preemption_victims: families.histogram(
                "preemption_victims",
                "Victims chosen at a time for pending Pods.",
                victims.clone(),
            )?,
            preemptions: families.counters("preemptions_total", "Victims evicted.", &["operation"])?,
            evictions: families.counters(
                "evictions_total",
                "Eviction calls by their answer, dry runs left out.",
                &["operation", "result"],
            )?,
            deferred_pods: families.gauges(
                "resize_deferred_pods",
                "Pods whose resize is Deferred, by why it is where it is.",
                &["reason"],
            )?,
            deferred_duration: families.histograms(
                "resize_deferred_duration_seconds",
                "Time that resizes were Deferred, by how that ended.",
                waits.clone(),
                &["outcome", "preempted"],
            )?,
            actuation_duration: families.histogram(
                "resize_actuation_duration_seconds",
                "Time from Deferred until the resize was in force.",
                waits,
            )?,
            resize_attempts: families.counters(
                "resize_preemption_attempts_total",
                "Decisions on Deferred resizes, by their outcome.",
                &["result"],
            )?,
            resize_victims: families.histogram(
                "resize_preemption_victims",
                "Victims chosen at a time for a Deferred resize.",
                victims,
            )?,
            claimed: families.amounts(
                "resize_claimed",
                "Resources kept for Deferred resizes over all nodes.",
                &["resource", "unit"],
            )?,
            claimed_unattainable: families.amounts(
                "resize_claimed_unattainable",
                "Resources kept over all nodes for Deferred resizes that cannot be had as things stand.",
                &["resource", "unit"],
            )?,
            unattainable_nodes: families.gauge(
                "resize_unattainable_nodes",
                "Nodes that keep room for a Deferred resize that cannot be had as things stand.",
            )?,
            overcount: families.amounts(
                "overhead_counted_twice",
                "Resources charged for Pods' overhead a second time over all nodes, as kubelets do.",
                &["resource", "unit"],
            )?,
            reloads: families.counters(
                "configuration_reloads_total",
                "Changes of the configuration file, by whether they were taken over.",
                &["result"],
            )?,
            unreadable: families.counters(
                "unreadable_objects_total",
                "Objects of the API that could not be understood and are not seen by any decision.",
                &["kind"],
            )?,
            events_dropped: families.counter(
                "events_dropped_total",
                "Events that were not sent because too many were waiting.",
            )?,
            registry: registry.clone(),
        };
        metrics.start_at_zero();
        families.add_process()?;
        families.add_build_info()?;
        Ok(metrics)
    }

    /// Closed label sets show up before the first time, so that a rate can be taken from the start.
    fn start_at_zero(&self) {
        for operation in Operation::ALL {
            self.preemptions.with_label_values(&[operation.as_str()]);
            for result in EvictionResult::ALL {
                self.evictions.with_label_values(&[operation.as_str(), result.as_str()]);
            }
        }
        for reason in Reason::ALL {
            self.deferred_pods.with_label_values(&[reason.as_str()]);
            self.resize_attempts.with_label_values(&[reason.as_str()]);
        }
        for queue in [QueueName::Active, QueueName::Backoff, QueueName::Unschedulable, QueueName::Gated] {
            self.pending_pods.with_label_values(&[labels::queue(queue)]);
        }
    }

    /// The profiles' names, so that their counters show up before the first Pod.
    pub fn profile(&self, profile: &str) {
        for result in AttemptResult::ALL {
            self.schedule_attempts.with_label_values(&[result.as_str(), profile]);
        }
    }

    /// An attempt to place a Pod ended.
    pub fn attempt(&self, result: AttemptResult, profile: &str, took: Span) {
        let labels = [result.as_str(), profile];
        self.schedule_attempts.with_label_values(&labels).inc();
        self.attempt_duration.with_label_values(&labels).observe(took.as_seconds_f64());
    }

    /// A Pod was placed, after so many attempts and so long in the queues.
    pub fn placed(&self, attempts: u32, waited: Span) {
        self.pod_attempts.observe(f64::from(attempts));
        self.sli_duration.with_label_values(&[labels::attempts(attempts)]).observe(waited.as_seconds_f64());
    }

    /// How many Pods a queue holds.
    pub fn pending(&self, queue: QueueName, pods: usize) {
        self.pending_pods.with_label_values(&[labels::queue(queue)]).set(count(pods));
    }

    /// A Pod entered a queue; `event` is upstream's name for what moved it.
    pub fn queued(&self, queue: QueueName, event: &str) {
        self.incoming_pods.with_label_values(&[labels::queue(queue), event]).inc();
    }

    /// Victims were looked for on behalf of a pending Pod; `victims` is zero when none were found.
    pub fn preempted(&self, victims: usize) {
        self.preemption_attempts.inc();
        if victims > 0 {
            self.preemption_victims.observe(victims as f64);
        }
    }

    /// An eviction was answered. Dry runs do not count.
    pub fn evicted(&self, operation: Operation, result: EvictionResult) {
        self.evictions.with_label_values(&[operation.as_str(), result.as_str()]).inc();
        if result == EvictionResult::Evicted {
            self.preemptions.with_label_values(&[operation.as_str()]).inc();
        }
    }

    /// How many Deferred resizes are where they are for this reason.
    pub fn deferred(&self, reason: Reason, pods: usize) {
        self.deferred_pods.with_label_values(&[reason.as_str()]).set(count(pods));
    }

    /// A Deferred resize came to a new decision.
    pub fn resize_decided(&self, reason: Reason) {
        self.resize_attempts.with_label_values(&[reason.as_str()]).inc();
    }

    /// Victims were chosen for a resize.
    pub fn resize_victims(&self, victims: usize) {
        self.resize_victims.observe(victims as f64);
    }

    /// A resize is no longer Deferred.
    pub fn resize_ended(&self, outcome: Outcome, preempted: bool, waited: Span) {
        let preempted = if preempted { "true" } else { "false" };
        let labels = [labels::outcome(outcome), preempted];
        self.deferred_duration.with_label_values(&labels).observe(waited.as_seconds_f64());
    }

    /// A resize that was Deferred is in force.
    pub fn resize_actuated(&self, waited: Span) {
        self.actuation_duration.observe(waited.as_seconds_f64());
    }

    /// How much of a resource is claimed over all nodes, in the engine's units: milli-CPU for `cpu`, else
    /// bytes or a count.
    pub fn claimed(&self, resource: &str, amount: i64) {
        set(&self.claimed, resource, amount);
    }

    /// How much of that is for resizes that cannot be had as things stand, in the engine's units.
    pub fn claimed_unattainable(&self, resource: &str, amount: i64) {
        set(&self.claimed_unattainable, resource, amount);
    }

    /// On how many nodes there is such a resize.
    pub fn unattainable_nodes(&self, nodes: usize) {
        self.unattainable_nodes.set(count(nodes));
    }

    /// How much is charged for overhead a second time over all nodes, in the engine's units.
    pub fn overcount(&self, resource: &str, amount: i64) {
        set(&self.overcount, resource, amount);
    }

    /// The configuration file changed, and was taken over or not.
    pub fn reloaded(&self, taken_over: bool) {
        let result = if taken_over { "success" } else { "error" };
        self.reloads.with_label_values(&[result]).inc();
    }

    /// An object of this kind could not be understood.
    pub fn unreadable(&self, kind: &str) {
        self.unreadable.with_label_values(&[kind]).inc();
    }

    /// An event was dropped.
    pub fn event_dropped(&self) {
        self.events_dropped.inc();
    }

    /// The text that a scrape gets.
    ///
    /// # Errors
    /// A family that cannot be written, which would be a mistake of the library.
    pub fn render(&self) -> prometheus::Result<Vec<u8>> {
        let mut text = Vec::with_capacity(16 * 1024);
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Sets an amount in the unit of its label: cores for CPU, else bytes or a count.
fn set(gauge: &GaugeVec, resource: &str, amount: i64) {
    let amount = if resource == "cpu" { amount as f64 / 1000.0 } else { amount as f64 };
    gauge.with_label_values(&[resource, labels::unit(resource)]).set(amount);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn scrape(metrics: &Metrics) -> Vec<String> {
        String::from_utf8(metrics.render().unwrap()).unwrap().lines().map(str::to_owned).collect()
    }

    fn assert_line(metrics: &Metrics, line: &str) {
        let text = scrape(metrics);
        assert!(text.iter().any(|known| known == line), "{line} is not in\n{}", text.join("\n"));
    }

    /// Everything that can happen, once.
    fn used() -> Metrics {
        let metrics = Metrics::new().unwrap();
        metrics.attempt(AttemptResult::Scheduled, "elbowroom", Span::from_millis(3));
        metrics.placed(2, Span::from_seconds(1));
        metrics.pending(QueueName::Backoff, 7);
        metrics.queued(QueueName::Active, "NodeAdd");
        metrics.preempted(2);
        metrics.evicted(Operation::InPlaceResize, EvictionResult::Evicted);
        metrics.evicted(Operation::InPlaceResize, EvictionResult::Pdb);
        metrics.deferred(Reason::BlockedByPdb, 3);
        metrics.resize_decided(Reason::Preempting);
        metrics.resize_victims(2);
        metrics.resize_ended(Outcome::Allocated, true, Span::from_seconds(4));
        metrics.resize_actuated(Span::from_seconds(5));
        metrics.claimed("cpu", 1500);
        metrics.claimed("memory", 1 << 30);
        metrics.claimed_unattainable("cpu", 500);
        metrics.unattainable_nodes(2);
        metrics.unreadable("Pod");
        metrics.event_dropped();
        metrics
    }

    #[test]
    fn every_family_is_told_with_its_labels() {
        let metrics = used();
        for line in [
            "scheduler_schedule_attempts_total{profile=\"elbowroom\",result=\"scheduled\"} 1",
            "scheduler_scheduling_attempt_duration_seconds_count\
             {profile=\"elbowroom\",result=\"scheduled\"} 1",
            "scheduler_pod_scheduling_attempts_sum 2",
            "scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"2\"} 1",
            "scheduler_pending_pods{queue=\"backoff\"} 7",
            "scheduler_pending_pods{queue=\"gated\"} 0",
            "scheduler_queue_incoming_pods_total{event=\"NodeAdd\",queue=\"active\"} 1",
            "scheduler_preemption_attempts_total 1",
            "scheduler_preemption_victims_sum 2",
            "scheduler_preemptions_total{operation=\"in_place_resize\"} 1",
            "scheduler_preemptions_total{operation=\"scheduling\"} 0",
            "scheduler_evictions_total{operation=\"in_place_resize\",result=\"evicted\"} 1",
            "scheduler_evictions_total{operation=\"in_place_resize\",result=\"pdb\"} 1",
            "scheduler_evictions_total{operation=\"scheduling\",result=\"stale_pdb\"} 0",
            "scheduler_resize_deferred_pods{reason=\"BlockedByPDB\"} 3",
            "scheduler_resize_deferred_pods{reason=\"Observing\"} 0",
            "scheduler_resize_deferred_duration_seconds_sum{outcome=\"allocated\",preempted=\"true\"} 4",
            "scheduler_resize_actuation_duration_seconds_sum 5",
            "scheduler_resize_preemption_attempts_total{result=\"Preempting\"} 1",
            "scheduler_resize_preemption_victims_count 1",
            "scheduler_resize_claimed{resource=\"cpu\",unit=\"cores\"} 1.5",
            "scheduler_resize_claimed{resource=\"memory\",unit=\"bytes\"} 1073741824",
            "scheduler_resize_claimed_unattainable{resource=\"cpu\",unit=\"cores\"} 0.5",
            "scheduler_resize_unattainable_nodes 2",
            "scheduler_unreadable_objects_total{kind=\"Pod\"} 1",
            "scheduler_events_dropped_total 1",
        ] {
            assert_line(&metrics, line);
        }
    }

    #[test]
    fn buckets_are_those_of_kube_scheduler() {
        let text = scrape(&used());
        let buckets = |family: &str| {
            let prefix = format!("scheduler_{family}_bucket{{");
            let lines: Vec<&String> = text.iter().filter(|line| line.starts_with(&prefix)).collect();
            let bound =
                |line: &&String| line.rsplit("le=\"").next().unwrap().split('"').next().unwrap().to_owned();
            (lines.len(), lines.first().map(bound).unwrap(), lines.iter().rev().nth(1).map(bound).unwrap())
        };
        let told = |count, first: &str, last: &str| (count, first.to_owned(), last.to_owned());
        assert_eq!(buckets("scheduling_attempt_duration_seconds"), told(16, "0.001", "16.384"));
        assert_eq!(buckets("pod_scheduling_attempts"), told(6, "1", "16"));
        assert_eq!(buckets("preemption_victims"), told(8, "1", "64"));
        assert_eq!(buckets("pod_scheduling_sli_duration_seconds"), told(21, "0.01", "5242.88"));
    }

    #[test]
    fn a_profile_shows_up_before_its_first_pod() {
        let metrics = Metrics::new().unwrap();
        metrics.profile("elbowroom");
        assert_line(&metrics, "scheduler_schedule_attempts_total{profile=\"elbowroom\",result=\"error\"} 0");
    }

    #[test]
    fn no_victims_is_an_attempt_without_a_sample() {
        let metrics = Metrics::new().unwrap();
        metrics.preempted(0);
        assert_line(&metrics, "scheduler_preemption_attempts_total 1");
        assert_line(&metrics, "scheduler_preemption_victims_count 0");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_tells_its_memory() {
        let text = scrape(&Metrics::new().unwrap());
        let memory = text.iter().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
        assert!(memory.unwrap().parse::<f64>().unwrap() > 0.0);
    }
}

//! How metric families come into a registry.
//!
//! Invariant: every name gets upstream's prefix here, but for what describes the process itself.

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, Result,
};

/// Registers families in one registry. Each method fails when the name is taken or not allowed.
pub struct Families<'a>(&'a Registry);

impl<'a> Families<'a> {
    /// Into this registry.
    pub fn of(registry: &'a Registry) -> Self {
        Self(registry)
    }

    fn add<C: Collector + Clone + 'static>(&self, family: C) -> Result<C> {
        self.0.register(Box::new(family.clone()))?;
        Ok(family)
    }

    /// Counters by label.
    pub fn counters(&self, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec> {
        self.add(IntCounterVec::new(Opts::new(format!("scheduler_{name}"), help), labels)?)
    }

    /// One counter.
    pub fn counter(&self, name: &str, help: &str) -> Result<IntCounter> {
        self.add(IntCounter::with_opts(Opts::new(format!("scheduler_{name}"), help))?)
    }

    /// Gauges of whole numbers by label.
    pub fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> Result<IntGaugeVec> {
        self.add(IntGaugeVec::new(Opts::new(format!("scheduler_{name}"), help), labels)?)
    }

    /// One gauge of whole numbers.
    pub fn gauge(&self, name: &str, help: &str) -> Result<IntGauge> {
        self.add(IntGauge::with_opts(Opts::new(format!("scheduler_{name}"), help))?)
    }

    /// One histogram.
    pub fn histogram(&self, name: &str, help: &str, buckets: Vec<f64>) -> Result<Histogram> {
        let opts = HistogramOpts::new(format!("scheduler_{name}"), help).buckets(buckets);
        self.add(Histogram::with_opts(opts)?)
    }

    /// Histograms by label.
    pub fn histograms(
        &self,
        name: &str,
        help: &str,
        buckets: Vec<f64>,
        labels: &[&str],
    ) -> Result<HistogramVec> {
        let opts = HistogramOpts::new(format!("scheduler_{name}"), help).buckets(buckets);
        self.add(HistogramVec::new(opts, labels)?)
    }

    /// Gauges of any number by label.
    pub fn amounts(&self, name: &str, help: &str, labels: &[&str]) -> Result<GaugeVec> {
        self.add(GaugeVec::new(Opts::new(format!("scheduler_{name}"), help), labels)?)
    }

    /// `process_…`: memory, CPU time, open files of this process.
    #[cfg(target_os = "linux")]
    pub fn add_process(&self) -> Result<()> {
        self.0.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))
    }

    /// Only Linux tells.
    #[cfg(not(target_os = "linux"))]
    pub fn add_process(&self) -> Result<()> {
        Ok(())
    }

    /// Which version runs.
    pub fn add_build_info(&self) -> Result<()> {
        let opts = Opts::new("elbowroom_build_info", "The version that runs; always 1.");
        let info = Gauge::with_opts(opts.const_label("version", env!("CARGO_PKG_VERSION")))?;
        info.set(1.0);
        self.add(info).map(drop)
    }
}

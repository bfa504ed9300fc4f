//! What others may ask of a running elbowroom over HTTP: metrics, health, readiness.
//!
//! Invariant: answering changes nothing and waits for nothing; a scrape reads numbers that others have set.

mod families;
mod http;
pub mod labels;
pub mod metrics;
mod readiness;

pub use http::Server;
pub use metrics::Metrics;
pub use readiness::Readiness;

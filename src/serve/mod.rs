//! What others may ask of a running elbowroom over HTTP: metrics, health, readiness.
//!
//! Invariant: answering changes nothing and waits for nothing; a scrape reads numbers that others have set.

mod families;
pub mod labels;
pub mod metrics;
mod readiness;
mod server;

pub use metrics::Metrics;
pub use readiness::Readiness;
pub use server::Server;

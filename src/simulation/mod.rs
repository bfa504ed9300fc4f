//! A cluster on virtual time: a simulated API server, kubelets and a disruption controller around the real engine.
//!
//! Invariant: nothing here waits, reads a clock or draws from outside; one scenario and one seed give one history.

pub mod api;
pub mod facts;
pub mod kubelet;
pub mod objects;
pub mod random;
pub mod scenario;
pub mod world;

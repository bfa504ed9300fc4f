//! elbowroom: a Kubernetes scheduler that makes room for running Pods that grow.

pub mod check;
pub mod cluster;
pub mod command;
pub mod config;
pub mod driver;
pub mod engine;
pub mod inspect;
pub mod model;
pub mod resize;
pub mod scheduling;
pub mod serve;
pub mod simulation;
pub mod wire;

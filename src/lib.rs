//! elbowroom: a Kubernetes scheduler that makes room for running Pods that grow.

pub mod model;

//! Objects as JSON, and the facts they become: one rule a test.
//!
//! Invariant: each object is the least that shows the rule.

#![allow(clippy::unwrap_used)]

mod objects;
mod placement;
mod pod;
mod resources;

use super::{Converter, Unreadable};
use crate::model::Pod;
use serde_json::{Value, json};

fn converter() -> Converter {
    Converter::new(["keep.example/this".to_owned()])
}

/// The Pod `ns/p` with these parts.
fn try_pod(spec: Value, status: Value) -> Result<Pod, Unreadable> {
    let object = json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": spec, "status": status});
    converter().pod(&serde_json::from_value(object).unwrap())
}

fn with_spec(spec: Value) -> Pod {
    try_pod(spec, json!({})).unwrap()
}

fn with_status(status: Value) -> Pod {
    try_pod(json!({}), status).unwrap()
}

fn with_metadata(mut metadata: Value) -> Pod {
    metadata["name"] = "p".into();
    metadata["namespace"] = "ns".into();
    converter().pod(&serde_json::from_value(json!({"metadata": metadata})).unwrap()).unwrap()
}

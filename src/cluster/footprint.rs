//! Placeholder.
use crate::model::{Str, requests::PodResources};
/// Placeholder.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Footprint {
    pub desired: Vec<(Str, i64)>,
    pub reserved: Vec<(Str, i64)>,
    pub held: Vec<(Str, i64)>,
    pub nonzero_cpu: i64,
    pub nonzero_memory: i64,
    pub new_nonzero_cpu: i64,
    pub new_nonzero_memory: i64,
}
/// Placeholder.
pub fn footprint(_: &PodResources) -> Footprint {
    Footprint::default()
}

//! What the API says of a Node, reduced to what decisions read.
//!
//! Invariant: a node is known by its name; Pods name it so before it exists and after it is gone.

use super::Str;
use super::labels::Labels;
use super::requests::Requests;
use super::taint::Taint;

/// A Node as last seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Name.
    pub name: Str,
    /// UID.
    pub uid: Str,
    /// Labels.
    pub labels: Labels,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// `spec.unschedulable`: cordoned.
    pub unschedulable: bool,
    /// Condition `Ready` has status True.
    pub ready: bool,
    /// `status.allocatable`, pods included.
    pub allocatable: Requests,
    /// `spec.podPreemptionPolicy.disableResizePreemption`: who switched resize preemption off here.
    pub resize_preemption_disabled_by: Vec<Str>,
}

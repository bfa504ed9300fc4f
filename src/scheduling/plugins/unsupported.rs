//! Unsupported: a Pod is never bound for want of a plugin.
//!
//! Invariant: whatever a Pod demands and nothing here checks is named, and rejects the Pod on every node.

use crate::model::placement::Unsupported;

/// Why the Pod cannot be placed; `None` when every demand is checked.
pub fn message(demands: &[Unsupported]) -> Option<String> {
    if demands.is_empty() {
        return None;
    }
    let named: Vec<String> = demands.iter().map(describe).collect();
    Some(format!("pod asks for what this scheduler does not support yet: {}", named.join(", ")))
}

fn describe(demand: &Unsupported) -> String {
    match demand {
        Unsupported::Claim(volume) => format!("PersistentVolumeClaim (volume {volume:?})"),
        Unsupported::InlineCsi(volume) => format!("inline CSI volume {volume:?}"),
        Unsupported::ExclusiveDisk(volume) => format!("exclusive network disk (volume {volume:?})"),
        Unsupported::HardSpread(key) => format!("topology spread with DoNotSchedule (key {key:?})"),
        Unsupported::PodAffinity(key) => format!("required pod affinity (key {key:?})"),
        Unsupported::PodAntiAffinity(key) => format!("required pod anti-affinity (key {key:?})"),
        Unsupported::ResourceClaim(name) => format!("resource claim {name:?}"),
        Unsupported::Gang => "scheduling group".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_demand_is_named_with_its_object() {
        let demands = [Unsupported::Claim("data".into()), Unsupported::HardSpread("zone".into())];
        assert_eq!(
            message(&demands).unwrap(),
            "pod asks for what this scheduler does not support yet: PersistentVolumeClaim (volume \"data\"), \
             topology spread with DoNotSchedule (key \"zone\")"
        );
    }

    #[test]
    fn a_plain_pod_has_no_such_demand() {
        assert_eq!(message(&[]), None);
    }
}

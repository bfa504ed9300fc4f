//! What the kubelet said when it deferred a resize.
//!
//! Invariant: the text is a hint. It can stop an eviction; it never causes one.

/// A `PodResizePending` message, understood as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// `Node didn't have enough resource: cpu, requested: 700, used: 600, capacity: 1000`: milli-CPU or units.
    Shortage {
        /// The first resource that was short.
        resource: String,
        /// What its sum over the other Pods was.
        used: Option<i64>,
    },
    /// It refuses whatever room there is: pressure (`pkg/kubelet/eviction`), shutdown (`pkg/kubelet/nodeshutdown`),
    /// or device and topology managers that find no place.
    Refusal,
    /// A check that the model repeats itself (affinity, taints, ports), or a text nobody here knows.
    Other,
}

const SHORTAGE: &str = "Node didn't have enough resource: ";
const REFUSALS: [&str; 4] = [
    "The node had condition",
    "node is shutting down",
    "Resources cannot be allocated with Topology locality",
    "Allocate failed due to",
];

impl Said {
    /// Reads a message.
    pub fn parse(message: &str) -> Self {
        if let Some(rest) = message.strip_prefix(SHORTAGE) {
            let mut parts = rest.split(", ");
            let resource = parts.next().unwrap_or_default().to_owned();
            let used = parts.find_map(|part| part.strip_prefix("used: ")).and_then(|n| n.parse().ok());
            return Self::Shortage { resource, used };
        }
        if REFUSALS.iter().any(|text| message.contains(text)) { Self::Refusal } else { Self::Other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_names_its_resource_and_what_others_use() {
        let text = "Node didn't have enough resource: cpu, requested: 700, used: 600, capacity: 1000";
        assert_eq!(Said::parse(text), Said::Shortage { resource: "cpu".into(), used: Some(600) });
    }

    #[test]
    fn a_shortage_without_figures_is_still_one() {
        let text = "Node didn't have enough resource: memory";
        assert_eq!(Said::parse(text), Said::Shortage { resource: "memory".into(), used: None });
    }

    #[test]
    fn pressure_and_shutdown_are_refusals() {
        assert_eq!(Said::parse("The node had condition: [DiskPressure]. "), Said::Refusal);
        assert_eq!(Said::parse("Pod was rejected as the node is shutting down."), Said::Refusal);
    }

    #[test]
    fn what_is_not_known_is_not_taken_for_anything() {
        assert_eq!(Said::parse("Predicate NodeAffinity failed: node(s) didn't match"), Said::Other);
        assert_eq!(Said::parse(""), Said::Other);
    }
}

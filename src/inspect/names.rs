//! Names, amounts, times and lists as people read them.
//!
//! Invariant: the same value is written alike in text, JSON and YAML.

use super::shape::AmountsByName;
use crate::cluster::{Amounts, Cluster, PodId, PodRow};
use crate::model::pod::Qos;
use crate::model::{PodRef, Timestamp};
use crate::resize::text::amount;

/// `namespace/name`.
pub fn path(pod: &PodRef) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}

/// `namespace/name` of a row; empty for one that is gone.
pub fn path_of(cluster: &Cluster, id: PodId) -> String {
    cluster.pods.get(id).map(|row| path(&row.pod.id)).unwrap_or_default()
}

/// Amounts by name.
pub fn amounts(cluster: &Cluster, list: &Amounts) -> AmountsByName {
    list.iter().map(|(id, value)| (cluster.resources.name(id).to_string(), amount(id, value))).collect()
}

/// `cpu 700m, memory 1Gi`.
pub fn listed(list: &AmountsByName) -> String {
    list.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// What a Pod holds, or nothing.
pub fn holds(cluster: &Cluster, row: &PodRow) -> AmountsByName {
    amounts(cluster, &row.charge.held)
}

/// RFC 3339 in UTC, to the second.
pub fn rfc3339(at: Timestamp) -> String {
    let second = at.0.div_euclid(1_000_000);
    jiff::Timestamp::from_second(second).map(|at| at.to_string()).unwrap_or_default()
}

/// The class as the API has it.
pub fn qos(class: Qos) -> &'static str {
    match class {
        Qos::BestEffort => "BestEffort",
        Qos::Burstable => "Burstable",
        Qos::Guaranteed => "Guaranteed",
    }
}

/// `1 Pod`, `2 Pods`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The first few, and how many more there are.
pub fn few(names: &[String], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_second() {
        assert_eq!(rfc3339(Timestamp(1_796_097_600_500_000)), "2026-12-01T04:00:00Z");
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(few(&names, 3), "a, b, c");
        assert_eq!(few(&names, 2), "a, b and 1 more");
    }
}

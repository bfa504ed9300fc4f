//! The score of NodeResourcesFit: the node with the larger free share wins.
//!
//! Invariant: integer arithmetic that truncates as Go does; CPU and memory count as scoring sees them, with a default
//! for containers that ask for nothing (kube-scheduler `plugins/noderesources/least_allocated.go`).

use super::MAX_SCORE;

/// What its score counts for.
pub const WEIGHT: i64 = 1;

/// The score of a node where `requested` includes the new Pod: CPU in milli-CPU and memory in bytes, each as
/// (requested, allocatable). A resource that the node does not have is left out.
pub fn score(resources: [(i64, i64); 2]) -> i64 {
    let (mut sum, mut weights) = (0, 0);
    for (requested, allocatable) in resources {
        if allocatable != 0 {
            sum += free_share(requested, allocatable);
            weights += 1;
        }
    }
    if weights == 0 { 0 } else { sum / weights }
}

fn free_share(requested: i64, allocatable: i64) -> i64 {
    if requested > allocatable {
        return 0;
    }
    allocatable.saturating_sub(requested).saturating_mul(MAX_SCORE) / allocatable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_free_shares_is_truncated() {
        // (4000-1000)*100/4000 = 75; (10000-5000)*100/10000 = 50; 125/2 = 62.
        assert_eq!(score([(1000, 4000), (5000, 10_000)]), 62);
    }

    #[test]
    fn a_resource_that_is_overcommitted_counts_zero() {
        assert_eq!(score([(5000, 4000), (0, 10_000)]), 50);
    }

    #[test]
    fn a_resource_that_the_node_lacks_is_left_out() {
        assert_eq!(score([(1000, 4000), (200, 0)]), 75);
        assert_eq!(score([(1, 0), (1, 0)]), 0);
    }
}

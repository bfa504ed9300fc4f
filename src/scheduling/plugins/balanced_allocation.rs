//! NodeResourcesBalancedAllocation: the node whose CPU and memory shares come closer together wins.
//!
//! Invariant: the score says how the balance changes, from 50 (worse) over 75 (no change) to 100 (better)
//! (kube-scheduler `plugins/noderesources/balanced_allocation.go`).

use super::MAX_SCORE;

/// What its score counts for.
pub const WEIGHT: i64 = 1;

/// One resource of a node: what is requested there, what the new Pod asks for, and what there is in all.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Requested by the Pods there, as they really ask.
    pub requested: i64,
    /// Asked for by the new Pod.
    pub asked: i64,
    /// Allocatable.
    pub allocatable: i64,
}

/// The score of a node for CPU and memory.
pub fn score(uses: [Use; 2]) -> i64 {
    let with = balance(uses.map(|one| (one.requested.saturating_add(one.asked), one.allocatable)));
    let without = balance(uses.map(|one| (one.requested, one.allocatable)));
    MAX_SCORE / 2 + (MAX_SCORE / 2 + with - without) / 2
}

/// 100 when both shares are equal, 50 when one is full and the other empty. A resource that the node lacks is left
/// out, and one alone is always in balance.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "Go's own conversions")]
fn balance([cpu, memory]: [(i64, i64); 2]) -> i64 {
    if cpu.1 == 0 || memory.1 == 0 {
        return MAX_SCORE;
    }
    let share = |(requested, allocatable): (i64, i64)| (requested as f64 / allocatable as f64).min(1.0);
    let deviation = ((share(cpu) - share(memory)) / 2.0).abs();
    ((1.0 - deviation) * MAX_SCORE as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(cpu: [i64; 3], memory: [i64; 3]) -> [Use; 2] {
        [cpu, memory].map(|[requested, asked, allocatable]| Use { requested, asked, allocatable })
    }

    #[test]
    fn a_pod_of_the_nodes_own_shape_changes_nothing() {
        assert_eq!(score(uses([0, 1000, 4000], [0, 1024, 4096])), 75);
    }

    #[test]
    fn filling_the_emptier_resource_scores_above_75() {
        // Before: shares 3/4 and 0, side 62; after: 3/4 and 1/2, side 87; 50 + (50+87-62)/2 = 87.
        assert_eq!(score(uses([3000, 0, 4000], [0, 2048, 4096])), 87);
    }

    #[test]
    fn filling_the_fuller_resource_scores_below_75() {
        // Before: 1/4 and 1/4, side 100; after: 1 and 1/4, side 62; 50 + (50+62-100)/2 = 56.
        assert_eq!(score(uses([1000, 3000, 4000], [1024, 0, 4096])), 56);
    }

    #[test]
    fn shares_above_one_count_as_one() {
        assert_eq!(score(uses([9000, 1000, 4000], [4096, 4096, 4096])), 75);
    }

    #[test]
    fn a_node_with_one_resource_only_is_in_balance() {
        assert_eq!(score(uses([1000, 1000, 4000], [0, 5, 0])), 75);
    }
}

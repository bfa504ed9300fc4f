//! Which of the best nodes is taken.
//!
//! Invariant: equal scores are decided by place alone, the very place that kube-scheduler's heap would give
//! (`framework/sorted_nodes.go`), so that the two agree on every node.

/// The place of the winner: among the highest scores, the one that a binary heap built bottom-up over the list has on
/// top. A parent wins ties against its children, and a left child against a right one, so that is the first in
/// pre-order of the tree.
pub fn winner(scores: &[i64]) -> Option<usize> {
    let max = scores.iter().max()?;
    let best = scores.iter().enumerate().filter(|(_, score)| *score == max);
    best.map(|(place, _)| place).min_by_key(|place| preorder(*place))
}

/// A key that sorts places of a heap in pre-order: the way down from the root as bits, 0 for left, and of two places
/// on one way the upper first.
fn preorder(place: usize) -> (u64, u32) {
    let way = place as u64 + 1;
    (way << way.leading_zeros(), u64::BITS - way.leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The top of a heap that is really built.
    fn top_of_heap(scores: &[i64]) -> Option<usize> {
        let mut heap: Vec<(i64, usize)> = scores.iter().copied().zip(0..).collect();
        for start in (0..heap.len() / 2).rev() {
            let mut parent = start;
            while let Some(left) = Some(2 * parent + 1).filter(|left| *left < heap.len()) {
                let right = left + 1;
                let child = if right < heap.len() && heap[right].0 > heap[left].0 { right } else { left };
                if heap[child].0 <= heap[parent].0 {
                    break;
                }
                heap.swap(parent, child);
                parent = child;
            }
        }
        heap.first().map(|(_, place)| *place)
    }

    #[test]
    fn no_node_has_no_winner() {
        assert_eq!(winner(&[]), None);
    }

    #[test]
    fn four_equal_nodes_fill_in_the_order_seen_of_kube_scheduler() {
        assert_eq!(winner(&[5, 5, 5, 5]), Some(0));
        assert_eq!(winner(&[4, 5, 5, 5]), Some(1));
        assert_eq!(winner(&[4, 4, 5, 5]), Some(3));
        assert_eq!(winner(&[4, 4, 5, 4]), Some(2));
    }

    proptest! {
        #[test]
        fn the_winner_is_the_top_of_a_real_heap(scores in prop::collection::vec(0i64..4, 0..200)) {
            prop_assert_eq!(winner(&scores), top_of_heap(&scores));
        }
    }
}

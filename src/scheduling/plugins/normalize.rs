//! Bringing raw scores to the range of all plugins.
//!
//! Invariant: the result lies between 0 and 100, truncated as Go does (kube-scheduler `plugins/helper`).

use super::MAX_SCORE;

/// Scales to 0..=100 by the largest; reversed, the largest gets 0. When all are 0 they stay so, or all get 100 if
/// reversed.
pub fn normalize(scores: &mut [i64], reverse: bool) {
    let max = scores.iter().copied().max().unwrap_or(0).max(0);
    for score in scores {
        let scaled = if max == 0 { 0 } else { MAX_SCORE.saturating_mul(*score) / max };
        *score = if reverse { MAX_SCORE - scaled } else { scaled };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(mut scores: Vec<i64>, reverse: bool) -> Vec<i64> {
        normalize(&mut scores, reverse);
        scores
    }

    #[test]
    fn the_largest_gets_100_and_the_rest_their_share() {
        assert_eq!(normalized(vec![1, 3, 0], false), [33, 100, 0]);
    }

    #[test]
    fn reversed_the_smallest_is_best() {
        assert_eq!(normalized(vec![1, 3, 0], true), [67, 0, 100]);
    }

    #[test]
    fn nothing_to_tell_apart_is_0_or_reversed_100() {
        assert_eq!(normalized(vec![0, 0], false), [0, 0]);
        assert_eq!(normalized(vec![0, 0], true), [100, 100]);
    }
}

//! Blocks: the initial and the goal state are each uniform over all configurations.
//!
//! A configuration of n blocks is a set of towers. There are L(n, k) = C(n-1, k-1) n!/k! of them
//! with k towers (Lah numbers). So: draw k in proportion to L(n, k); put the blocks in a random
//! order; cut the order at k - 1 of its n - 1 gaps. Each set of k towers comes from exactly k!
//! pairs of order and cuts, hence all are equally likely. (Slaney and Thiébaux, "Blocks World
//! revisited", count with another recurrence.) Random insertion would favour low towers.
//!
//! Solvable: put every block on the table, then build the goal's towers from below. The goal names
//! what stands on what and not what stands on the table, as the field's problems do.

use homing_pddl::Problem;
use serde::{Deserialize, Serialize};

use super::{ParameterError, check};
use crate::random::Random;

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of blocks n.
    pub blocks: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        self.blocks.to_string()
    }
}

/// `below[b]` is the block under b, `None` for the table.
pub(crate) fn configuration(blocks: usize, random: &mut Random) -> Vec<Option<usize>> {
    // L(n, k + 1) / L(n, k) = (n - k) / (k (k + 1))
    let mut weights = vec![1.0; blocks];
    for towers in 1..blocks {
        let ratio = (blocks - towers) as f64 / (towers * (towers + 1)) as f64;
        weights[towers] = weights[towers - 1] * ratio;
    }
    let towers = 1 + random.weighted(&weights);
    let mut order: Vec<usize> = (0..blocks).collect();
    random.shuffle(&mut order);
    let mut starts = vec![false; blocks];
    starts[0] = true;
    for gap in random.distinct(towers - 1, blocks - 1) {
        starts[gap + 1] = true;
    }
    let mut below = vec![None; blocks];
    for at in 1..blocks {
        if !starts[at] {
            below[order[at]] = Some(order[at - 1]);
        }
    }
    below
}

/// Draws a problem.
///
/// # Errors
///
/// If there are fewer than two blocks.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    let count = parameters.blocks;
    check("blocks", count, 2)?;
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();
    let blocks = builder.objects("b", 1, count, "object");
    let initial = configuration(count, &mut random);
    let goal = configuration(count, &mut random);
    builder.fact("arm-empty", &[]);
    let mut clear = vec![true; count];
    for (block, below) in initial.iter().enumerate() {
        match *below {
            Some(below) => {
                clear[below] = false;
                builder.fact("on", &[blocks[block], blocks[below]]);
            }
            None => builder.fact("on-table", &[blocks[block]]),
        }
    }
    for block in (0..count).filter(|&block| clear[block]) {
        builder.fact("clear", &[blocks[block]]);
    }
    for (block, below) in goal.iter().enumerate() {
        if let Some(below) = *below {
            builder.goal("on", &[blocks[block], blocks[below]]);
        }
    }
    Ok(builder.finish(all.problem_name(seed)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The plausible mistake: block after block on the table or on a clear block at random.
    fn by_insertion(blocks: usize, random: &mut Random) -> Vec<Option<usize>> {
        let mut order: Vec<usize> = (0..blocks).collect();
        random.shuffle(&mut order);
        let mut below = vec![None; blocks];
        let mut tops: Vec<usize> = Vec::new();
        for block in order {
            let choice = random.below(tops.len() + 1);
            if choice == tops.len() {
                tops.push(block);
            } else {
                below[block] = Some(std::mem::replace(&mut tops[choice], block));
            }
        }
        below
    }

    /// How far the counts of all configurations are from equal, and how many there are.
    fn chi_square(
        blocks: usize,
        draws: usize,
        sample: fn(usize, &mut Random) -> Vec<Option<usize>>,
    ) -> (usize, f64) {
        let mut random = Random::new("chi-square", blocks as u64);
        let mut counts: BTreeMap<Vec<Option<usize>>, usize> = BTreeMap::new();
        for _ in 0..draws {
            *counts.entry(sample(blocks, &mut random)).or_default() += 1;
        }
        let expected = draws as f64 / counts.len() as f64;
        let sum = counts
            .values()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum();
        (counts.len(), sum)
    }

    #[test]
    fn configurations_of_3_and_4_blocks_are_uniform() {
        // 13 and 73 configurations (sums of Lah numbers). The critical values of chi-square with
        // 12 and 72 degrees of freedom at 1e-4 are 39.1 and 125.1 (scipy.stats.chi2.isf).
        let (count, sum) = chi_square(3, 130_000, configuration);
        assert_eq!(count, 13);
        assert!(sum < 39.1, "{sum}");
        let (count, sum) = chi_square(4, 365_000, configuration);
        assert_eq!(count, 73);
        assert!(sum < 125.1, "{sum}");
    }

    #[test]
    fn the_test_of_uniformity_rejects_random_insertion() {
        let (count, sum) = chi_square(3, 130_000, by_insertion);
        assert_eq!(count, 13);
        assert!(sum > 1000.0, "{sum}");
        let (_, sum) = chi_square(4, 365_000, by_insertion);
        assert!(sum > 1000.0, "{sum}");
    }

    #[test]
    fn tower_counts_of_50_blocks_follow_the_lah_numbers() {
        // E[k] for n = 50 from exact rational arithmetic: sum k L(50, k) / sum L(50, k).
        let mut random = Random::new("towers", 50);
        let draws = 20_000;
        let total: usize = (0..draws)
            .map(|_| {
                let below = configuration(50, &mut random);
                below.iter().filter(|below| below.is_none()).count()
            })
            .sum();
        let mean = total as f64 / f64::from(draws);
        // Standard error 0.0124.
        assert!((mean - 6.851_785).abs() < 0.05, "{mean}");
    }
}

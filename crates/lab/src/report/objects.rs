//! The rate of problems solved against the number of objects: does what is learnt carry over to
//! larger problems?

use super::pair::Pair;
use super::record_index::Domain;
use crate::record::Evaluation;
use crate::statistics::mean;

/// Up to so many object counts each has a point of its own; more are put in bins.
const MOST_POINTS: usize = 16;

/// Bins, where there are too many object counts.
const BINS: usize = 10;

/// Numbers of objects, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) least: usize,
    pub(super) most: usize,
}

/// Problems solved by H: with the worst seed, in the mean, with the best seed.
#[derive(Clone, Copy)]
pub(super) struct Solved {
    pub(super) least: usize,
    pub(super) mean: f64,
    pub(super) most: usize,
}

/// Problems of similar size.
pub(super) struct Bin {
    pub(super) objects: Sizes,
    pub(super) problems: usize,
    pub(super) base: Option<usize>,
    pub(super) learned: Option<Solved>,
}

impl Bin {
    pub(super) fn middle(&self) -> f64 {
        (self.objects.least + self.objects.most) as f64 / 2.0
    }
}

/// The bins of a domain: the same for all its pairs.
pub(super) fn edges(domain: &Domain) -> Vec<Sizes> {
    let mut counts: Vec<usize> = domain.problems.iter().map(|p| p.objects).collect();
    counts.sort_unstable();
    counts.dedup();
    let (Some(&least), Some(&most)) = (counts.first(), counts.last()) else {
        return Vec::new();
    };
    if counts.len() <= MOST_POINTS {
        return counts
            .into_iter()
            .map(|count| Sizes {
                least: count,
                most: count,
            })
            .collect();
    }
    let width = (most - least + 1).div_ceil(BINS);
    (0..BINS)
        .map(|bin| Sizes {
            least: least + bin * width,
            most: least + (bin + 1) * width - 1,
        })
        .filter(|sizes| sizes.least <= most)
        .collect()
}

/// Solved problems by size. With a threshold, only plans found within so many evaluations count.
pub(super) fn objects(
    pair: &Pair<'_>,
    domain: &Domain,
    edges: &[Sizes],
    threshold: Option<u64>,
) -> Vec<Bin> {
    let counts = |run: &Evaluation| {
        Pair::solved_with(run)
            .is_some_and(|evaluations| threshold.is_none_or(|most| evaluations <= most))
    };
    let mut bins = Vec::new();
    for &sizes in edges {
        let here: Vec<usize> = (0..pair.problems.len())
            .filter(|&place| {
                let objects = domain.problems[pair.problems[place]].objects;
                sizes.least <= objects && objects <= sizes.most
            })
            .collect();
        if here.is_empty() {
            continue;
        }
        let solved = |runs: &[&Evaluation]| here.iter().filter(|&&at| counts(runs[at])).count();
        let seeds: Vec<usize> = pair.series.iter().map(|s| solved(&s.runs)).collect();
        let shares: Vec<f64> = seeds.iter().map(|&count| count as f64).collect();
        let least = seeds.iter().min();
        let most = seeds.iter().max();
        bins.push(Bin {
            objects: sizes,
            problems: here.len(),
            base: pair.base.as_deref().map(solved),
            learned: mean(&shares)
                .zip(least.zip(most))
                .map(|(mean, (&least, &most))| Solved { least, mean, most }),
        });
    }
    bins
}

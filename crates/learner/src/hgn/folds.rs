//! Samples in folds that have the same share of each class of labels.

use homing_nlm::SplitMix64;

/// The class of each label: between which quantiles it lies.
pub(crate) fn bins(labels: &[usize], count: usize) -> Vec<usize> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let edges: Vec<usize> = (1..count)
        .filter_map(|at| sorted.get((at * sorted.len()).div_ceil(count).saturating_sub(1)))
        .copied()
        .collect();
    let bin = |label: &usize| edges.iter().filter(|&edge| label > edge).count();
    labels.iter().map(bin).collect()
}

/// So many samples with replacement, of every class its share: places in the list of labels.
pub(crate) fn draw_more(bins: &[usize], total: usize, random: &mut SplitMix64) -> Vec<usize> {
    let most = bins.iter().copied().max().unwrap_or(0);
    let mut drawn = Vec::with_capacity(total);
    let mut seen = 0;
    for bin in 0..=most {
        let members: Vec<usize> = (0..bins.len()).filter(|&at| bins[at] == bin).collect();
        seen += members.len();
        // Rounded over all classes so far, so that the sum is the total.
        let until = total * seen / bins.len();
        while drawn.len() < until {
            drawn.push(members[random.below(members.len())]);
        }
    }
    drawn
}

/// The fold of each sample: the members of a class are dealt out in random order.
pub(crate) fn deal(bins: &[usize], folds: usize, random: &mut SplitMix64) -> Vec<usize> {
    let most = bins.iter().copied().max().unwrap_or(0);
    let mut fold_of = vec![0; bins.len()];
    let mut next = 0;
    for bin in 0..=most {
        let mut members: Vec<usize> = (0..bins.len()).filter(|&at| bins[at] == bin).collect();
        shuffle(&mut members, random);
        for member in members {
            fold_of[member] = next % folds;
            next += 1;
        }
    }
    fold_of
}

/// Puts items in a random order, every order equally likely.
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut SplitMix64) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_quantiles() {
        let labels: Vec<usize> = (0..100).collect();
        let bins = bins(&labels, 4);
        assert_eq!(bins[..25], [0; 25]);
        assert_eq!(bins[75..], [3; 25]);
        assert_eq!(super::bins(&[2, 2, 2], 4), [0, 0, 0]);
    }

    #[test]
    fn folds_have_equal_shares_and_samples_are_kept() {
        let labels: Vec<usize> = (0..103).map(|at| at % 9).collect();
        let bins = bins(&labels, 4);
        let fold_of = deal(&bins, 5, &mut SplitMix64::new(3));
        for fold in 0..5 {
            for bin in 0..4 {
                let all = bins.iter().filter(|&&b| b == bin).count();
                let here = (0..103)
                    .filter(|&at| bins[at] == bin && fold_of[at] == fold)
                    .count();
                assert!(here.abs_diff(all / 5) <= 1, "{here} of {all}");
            }
        }
        let drawn = draw_more(&bins[..20], 60, &mut SplitMix64::new(3));
        assert_eq!(drawn.len(), 60);
        assert!(drawn.iter().all(|&at| at < 20));
        assert_eq!(drawn, draw_more(&bins[..20], 60, &mut SplitMix64::new(3)));
    }
}

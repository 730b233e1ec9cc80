//! The statistics of reports: means, deviations, medians and the Wilcoxon rank-sum test.
//!
//! Each is checked against SciPy's values, which `dev/report/statistics.py` makes.

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    match values.len() {
        0 => None,
        n => Some(values.iter().sum::<f64>() / n as f64),
    }
}

/// The sample standard deviation (n - 1 in the denominator); `None` of fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The standard error of the mean: the sample standard deviation over √n.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    standard_deviation(values).map(|deviation| deviation / (values.len() as f64).sqrt())
}

/// The median: of an even number of values, the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    Some(if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    })
}

/// How a p-value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// From the exact distribution of U; there were no ties.
    Exact,
    /// From the normal approximation, corrected for ties and for continuity.
    Asymptotic,
}

/// The outcome of a rank-sum test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// U of the first sample: pairs in which its value is the larger, ties as a half.
    pub u: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How it was found.
    pub method: Method,
}

/// Larger samples take the approximation, which is good to many digits there.
const MOST_FOR_EXACT: usize = 30;

/// The two-sided Wilcoxon rank-sum (Mann-Whitney U) test: might both samples come from one
/// distribution? Exact for samples of up to 30 values without ties, as SciPy's
/// `mannwhitneyu(x, y, method="exact")`; else as its `method="asymptotic"`. `None` if a sample is
/// empty or holds a value that is no number.
pub fn rank_sum(x: &[f64], y: &[f64]) -> Option<RankSum> {
    if x.is_empty() || y.is_empty() || x.iter().chain(y).any(|value| value.is_nan()) {
        return None;
    }
    let mut all: Vec<(f64, bool)> = x.iter().map(|&value| (value, true)).collect();
    all.extend(y.iter().map(|&value| (value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));

    let mut ranks_of_x = 0.0;
    let mut tie_term = 0.0;
    let mut start = 0;
    while start < all.len() {
        let length = all[start..]
            .iter()
            .take_while(|(value, _)| *value == all[start].0)
            .count();
        // Values that tie share the mean of their ranks, which count from 1.
        let rank = start as f64 + (length + 1) as f64 / 2.0;
        let of_x = all[start..start + length].iter().filter(|(_, x)| *x);
        ranks_of_x += rank * of_x.count() as f64;
        tie_term += (length as f64).powi(3) - length as f64;
        start += length;
    }

    let (n, m) = (x.len(), y.len());
    let pairs = (n * m) as f64;
    let u = ranks_of_x - (n * (n + 1)) as f64 / 2.0;
    let larger = u.max(pairs - u);
    let exact = tie_term == 0.0 && n.max(m) <= MOST_FOR_EXACT;
    let (p, method) = if exact {
        (2.0 * upper_tail(n, m, larger as usize), Method::Exact)
    } else {
        let total = (n + m) as f64;
        let variance = pairs / 12.0 * ((total + 1.0) - tie_term / (total * (total - 1.0)));
        let z = (larger - pairs / 2.0 - 0.5) / variance.sqrt();
        // All values equal: the variance is 0, z is minus infinity.
        (erfc(z / std::f64::consts::SQRT_2), Method::Asymptotic)
    };
    Some(RankSum {
        u,
        p: p.clamp(0.0, 1.0),
        method,
    })
}

/// P(U ≥ u) for samples of n and m values without ties.
fn upper_tail(n: usize, m: usize, u: usize) -> f64 {
    // counts[k]: ways to choose i of the first j ranks with statistic k. The generating function is
    // the Gaussian binomial: a product of (1 - q^(m+i)) / (1 - q^i) for i = 1..n.
    let mut counts = vec![0_i128; n * m + 1];
    counts[0] = 1;
    for i in 1..=n {
        for k in (m + i..counts.len()).rev() {
            counts[k] -= counts[k - (m + i)];
        }
        for k in i..counts.len() {
            counts[k] += counts[k - i];
        }
    }
    let above: i128 = counts[u.min(counts.len())..].iter().sum();
    let total: i128 = counts.iter().sum();
    above as f64 / total as f64
}

/// The complementary error function, to about 13 digits.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.5 {
        // erf(x) = 2/√π e^(-x²) Σ 2^k x^(2k+1) / (1·3·…·(2k+1)): every term is positive.
        let mut term = x;
        let mut sum = x;
        let mut k = 0.0;
        while term > sum * 1e-17 {
            k += 1.0;
            term *= 2.0 * x * x / (2.0 * k + 1.0);
            sum += term;
        }
        1.0 - 2.0 * scale * sum
    } else {
        // e^(-x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))), from the inside.
        let mut fraction = x;
        for k in (1..=120).rev() {
            fraction = x + f64::from(k) / 2.0 / fraction;
        }
        scale / fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_there_is_nothing() {
        assert_eq!(mean(&[]), None);
        assert_eq!(standard_deviation(&[3.0]), None);
        assert_eq!(standard_error(&[3.0]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(rank_sum(&[], &[1.0]), None);
        assert_eq!(rank_sum(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn three_seeds_can_never_be_significant() {
        let test = rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert_eq!(test.method, Method::Exact);
        assert!((test.p - 0.1).abs() < 1e-15);
    }

    #[test]
    fn equal_values_differ_in_nothing() {
        let test = rank_sum(&[7.0; 4], &[7.0; 5]).unwrap();
        assert_eq!((test.p, test.method), (1.0, Method::Asymptotic));
    }
}

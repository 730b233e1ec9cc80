//! Whether problems made elsewhere could have come from our generators.
//!
//! The problems made elsewhere come in settings: so many kept of so many drawn with the same
//! parameters, trivial ones and duplicates dropped. We draw the whole collection again and again
//! in the same way. A feature x of a problem is centred at the mean μ of our problems of its
//! setting; the averages of x - μ and of (x - μ)² - σ² over the collection, for mean and variance,
//! are compared with the same averages of our collections: z is the distance in standard
//! deviations. Dropping duplicates makes problems of a small setting depend on each other; ours
//! depend on each other in the same way.

use std::collections::HashSet;
use std::sync::Arc;

use homing_pddl::Problem;

use crate::domains::{DomainName, ParameterError, Parameters};
use crate::features::{FeatureError, features};
use crate::suite::{content_hash, is_trivial};

/// Problems made elsewhere with the same parameters.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What they were made from.
    pub parameters: Parameters,
    /// How many were drawn, dropped ones included.
    pub drawn: usize,
    /// Those that were kept.
    pub problems: Vec<Arc<Problem>>,
}

/// One feature, theirs and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The feature.
    pub feature: &'static str,
    /// The mean over their problems.
    pub their_mean: f64,
    /// What it is by our generator at the same parameters.
    pub our_mean: f64,
    /// How far the means are apart, in standard deviations of their mean.
    pub mean_z: f64,
    /// The mean square of their distances from our means, setting by setting.
    pub their_variance: f64,
    /// What it is by our generator.
    pub our_variance: f64,
    /// How far the variances are apart, in standard deviations.
    pub variance_z: f64,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq)]
pub enum CompareError {
    /// We cannot draw with such parameters.
    Parameters(ParameterError),
    /// A problem cannot be measured.
    Features(FeatureError),
    /// There are no problems.
    Nothing,
}

impl std::fmt::Display for CompareError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Parameters(error) => error.fmt(f),
            Self::Features(error) => error.fmt(f),
            Self::Nothing => write!(f, "there are no problems to compare with"),
        }
    }
}

impl std::error::Error for CompareError {}

impl From<ParameterError> for CompareError {
    fn from(error: ParameterError) -> Self {
        Self::Parameters(error)
    }
}

impl From<FeatureError> for CompareError {
    fn from(error: FeatureError) -> Self {
        Self::Features(error)
    }
}

fn values(domain: DomainName, problem: &Arc<Problem>) -> Result<Vec<f64>, FeatureError> {
    let all = features(domain, problem)?;
    Ok(all.into_iter().map(|(_, value)| value).collect())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    values.sum::<f64>() / count as f64
}

/// Mean and variance (with n - 1).
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (values.len().max(2) - 1) as f64)
}

/// How far a value is from the mean of others, in their standard deviations.
fn distance(value: f64, others: &[f64]) -> f64 {
    let (mean, variance) = moments(others);
    // Averages of equal numbers may differ in their last digits.
    let gap = value - mean;
    if gap.abs() < 1e-9 {
        0.0
    } else {
        gap / variance.sqrt()
    }
}

/// How we draw a problem: our generators, or something else in tests of this test.
pub type Generate<'a> = &'a dyn Fn(&Parameters, u64) -> Result<Problem, ParameterError>;

/// Our problems of one setting in one collection: rows of features.
fn draw_setting(
    setting: &Setting,
    collection: usize,
    generate: Generate<'_>,
) -> Result<Vec<Vec<f64>>, CompareError> {
    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    for draw in 0..setting.drawn {
        let seed = (collection * setting.drawn + draw) as u64;
        let problem = generate(&setting.parameters, seed)?;
        if is_trivial(&problem) || !seen.insert(content_hash(&problem)) {
            continue;
        }
        rows.push(values(setting.parameters.domain(), &Arc::new(problem))?);
    }
    Ok(rows)
}

/// A collection's averages of x - μ and (x - μ)² - σ², for one feature.
fn averages<'a>(
    rows: impl Iterator<Item = (&'a [Vec<f64>], (f64, f64))>,
    feature: usize,
) -> (f64, f64) {
    let (mut first, mut second, mut count) = (0.0, 0.0, 0);
    for (rows, (mean, variance)) in rows {
        for row in rows {
            let gap = row[feature] - mean;
            first += gap;
            second += gap * gap - variance;
            count += 1;
        }
    }
    let count = f64::from(count.max(1));
    (first / count, second / count)
}

/// Compares problems made elsewhere with `collections` collections drawn by `generate`.
///
/// # Errors
///
/// If a problem cannot be drawn or measured, or there is none.
pub fn compare_with(
    settings: &[Setting],
    collections: usize,
    generate: Generate<'_>,
) -> Result<Vec<Row>, CompareError> {
    let first = settings.iter().find_map(|setting| {
        let problem = setting.problems.first()?;
        Some((setting.parameters.domain(), problem))
    });
    let (domain, problem) = first.ok_or(CompareError::Nothing)?;
    let names: Vec<&'static str> = features(domain, problem)?
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let mut theirs: Vec<Vec<Vec<f64>>> = Vec::new();
    // ours[setting][collection] is a list of rows.
    let mut ours: Vec<Vec<Vec<Vec<f64>>>> = Vec::new();
    for setting in settings {
        let rows: Result<_, _> = setting.problems.iter().map(|p| values(domain, p)).collect();
        theirs.push(rows?);
        let drawn: Result<_, _> = (0..collections)
            .map(|collection| draw_setting(setting, collection, generate))
            .collect();
        ours.push(drawn?);
    }
    let total: usize = theirs.iter().map(Vec::len).sum();
    let mut table = Vec::new();
    for (feature, name) in names.into_iter().enumerate() {
        let expected: Vec<(f64, f64)> = ours
            .iter()
            .map(|drawn| {
                let all: Vec<f64> = drawn.iter().flatten().map(|row| row[feature]).collect();
                if all.is_empty() {
                    (0.0, 0.0)
                } else {
                    moments(&all)
                }
            })
            .collect();
        let pairs = theirs
            .iter()
            .map(Vec::as_slice)
            .zip(expected.iter().copied());
        let (their_first, their_second) = averages(pairs, feature);
        let replicas: Vec<(f64, f64)> = (0..collections)
            .map(|collection| {
                let rows = ours.iter().map(|drawn| drawn[collection].as_slice());
                averages(rows.zip(expected.iter().copied()), feature)
            })
            .collect();
        let firsts: Vec<f64> = replicas.iter().map(|pair| pair.0).collect();
        let seconds: Vec<f64> = replicas.iter().map(|pair| pair.1).collect();
        let weighted = |pick: fn(&(f64, f64)) -> f64| {
            let sum: f64 = theirs
                .iter()
                .zip(&expected)
                .map(|(rows, moments)| rows.len() as f64 * pick(moments))
                .sum();
            sum / total as f64
        };
        let our_mean = weighted(|moments| moments.0);
        let our_variance = weighted(|moments| moments.1);
        table.push(Row {
            feature: name,
            their_mean: our_mean + their_first,
            our_mean,
            mean_z: distance(their_first, &firsts),
            their_variance: our_variance + their_second,
            our_variance,
            variance_z: distance(their_second, &seconds),
        });
    }
    Ok(table)
}

/// Compares problems made elsewhere with those of our generators.
///
/// # Errors
///
/// If a problem cannot be drawn or measured, or there is none.
pub fn compare(settings: &[Setting], collections: usize) -> Result<Vec<Row>, CompareError> {
    compare_with(settings, collections, &|parameters, seed| {
        parameters.generate(seed)
    })
}

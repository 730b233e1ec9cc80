//! The unit of comparison: h and H of one heuristic in one domain, over problems that all have run.

use std::collections::BTreeMap;

use super::heuristics::heuristic_order;
use super::record_index::{Group, RecordIndex, Run};
use crate::record::{Evaluation, Outcome};

/// Runs of H with one model, one for each problem of the [`Pair`].
pub(super) struct Series<'a> {
    pub(super) seed: u64,
    pub(super) runs: Vec<&'a Evaluation>,
}

/// h and H in one domain.
pub(super) struct Pair<'a> {
    pub(super) domain: usize,
    pub(super) heuristic: &'a str,
    /// The problems that are compared, as places in the domain's list.
    pub(super) problems: Vec<usize>,
    /// Runs of h, one for each problem.
    pub(super) base: Option<Vec<&'a Evaluation>>,
    /// H, seed by seed.
    pub(super) series: Vec<Series<'a>>,
    /// Seeds of H that have run too few problems to be compared, and how many they have run.
    pub(super) left_out: Vec<(u64, usize)>,
    /// Problems of the domain that any configuration has run.
    pub(super) expected: usize,
    /// How many of them h has run.
    pub(super) base_there: usize,
    /// How many runs of H there are, over all seeds.
    pub(super) learned_there: usize,
    /// Seeds of H of which there is any run.
    pub(super) seeds: usize,
    /// What a failure counts as, in sums of evaluations.
    pub(super) limit: u64,
}

impl Pair<'_> {
    /// Runs that a finished experiment would have and this one has not.
    pub(super) fn missing(&self) -> usize {
        let base = if self.base_there > 0 || self.seeds > 0 {
            self.expected - self.base_there
        } else {
            0
        };
        base + self.seeds * self.expected - self.learned_there
    }

    /// Evaluations of a run, if it ended with a plan.
    pub(super) fn solved_with(run: &Evaluation) -> Option<u64> {
        run.solved().then_some(run.evaluations)
    }

    /// The seed with the least sum of evaluations, failures counted at the limit.
    pub(super) fn best_seed(&self) -> Option<usize> {
        let sum = |series: &Series<'_>| -> u64 {
            let cost = |run: &&Evaluation| Self::solved_with(run).unwrap_or(self.limit);
            series.runs.iter().map(cost).sum()
        };
        (0..self.series.len()).min_by_key(|&place| (sum(&self.series[place]), place))
    }
}

/// Whether a run was stopped by something else than the limit on evaluations.
pub(super) fn stopped_short(run: &Evaluation) -> bool {
    matches!(
        run.outcome,
        Outcome::TimeLimit | Outcome::MemoryLimit | Outcome::Failed
    )
}

/// The pairs of a group, by domain and heuristic.
pub(super) fn pairs<'a>(index: &'a RecordIndex<'a>, group: &Group) -> Vec<Pair<'a>> {
    type Column<'a> = Vec<Option<&'a Evaluation>>;
    type Model<'a> = Option<(u64, &'a str)>;
    let mut columns: BTreeMap<(usize, (usize, &str), Model<'_>), Column<'_>> = BTreeMap::new();
    let mut present: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    for run in &index.runs {
        if run.search != group.search || run.superseded {
            continue;
        }
        // All variants are measured on the same problems: those of the search.
        let problems = index.domains[run.domain].problems.len();
        present
            .entry(run.domain)
            .or_insert_with(|| vec![false; problems])[run.problem] = true;
        if run.variant.is_some() && run.variant != group.variant {
            continue;
        }
        let model = run.record.model.as_ref();
        let model = model.map(|model| (model.seed, model.sha256.as_str()));
        columns
            .entry((run.domain, heuristic_order(run.heuristic()), model))
            .or_insert_with(|| vec![None; problems])[run.problem] = Some(run.record);
    }

    let mut kinds: Vec<(usize, (usize, &str))> = columns
        .keys()
        .map(|(domain, heuristic, _)| (*domain, *heuristic))
        .collect();
    kinds.dedup();
    // Where there are several ways of training, a domain that was trained in others but not in
    // this one has nothing to show here.
    let elsewhere = |domain: usize| {
        let trained = |run: &&Run<'_>| {
            run.search == group.search && run.domain == domain && run.variant.is_some()
        };
        let mut runs = index.runs.iter().filter(trained).peekable();
        runs.peek().is_some() && runs.all(|run| run.variant != group.variant)
    };
    let absent: Vec<usize> = present.keys().copied().filter(|&d| elsewhere(d)).collect();
    kinds.retain(|(domain, _)| !absent.contains(domain));
    let limit = index.searches[group.search].max_evaluations;
    kinds
        .into_iter()
        .map(|(domain, heuristic)| {
            let base = columns.get(&(domain, heuristic, None));
            let learned: Vec<(u64, &Column<'_>)> = columns
                .range((domain, heuristic, Some((0, "")))..)
                .take_while(|((d, h, _), _)| (*d, *h) == (domain, heuristic))
                .filter_map(|((_, _, model), runs)| model.map(|(seed, _)| (seed, runs)))
                .collect();
            let expected = present[&domain].iter().filter(|there| **there).count();
            pair(domain, heuristic.1, base, &learned, expected, limit)
        })
        .collect()
}

fn there(column: &[Option<&Evaluation>]) -> usize {
    column.iter().flatten().count()
}

fn pair<'a>(
    domain: usize,
    heuristic: &'a str,
    base: Option<&Vec<Option<&'a Evaluation>>>,
    learned: &[(u64, &Vec<Option<&'a Evaluation>>)],
    expected: usize,
    limit: Option<u64>,
) -> Pair<'a> {
    // Seeds with the most runs first. The first k of them are compared over the problems that all
    // of them and h have run; k is what leaves the most runs to compare. It depends on which runs
    // are there, not on how they ended.
    let mut order: Vec<&(u64, &Vec<Option<&Evaluation>>)> = learned.iter().collect();
    order.sort_by_key(|(_, runs)| std::cmp::Reverse(there(runs)));
    let all = base.or_else(|| learned.first().map(|(_, runs)| *runs));
    let mut common: Vec<usize> = match base {
        Some(runs) => (0..runs.len()).filter(|&p| runs[p].is_some()).collect(),
        None => (0..all.map_or(0, Vec::len)).collect(),
    };
    let mut chosen = 0;
    let mut problems = Vec::new();
    for (place, (_, runs)) in order.iter().enumerate() {
        common.retain(|&problem| runs[problem].is_some());
        if common.len() * (place + 1) >= problems.len() * chosen && !common.is_empty() {
            chosen = place + 1;
            problems.clone_from(&common);
        }
    }
    if let (0, Some(runs)) = (chosen, base) {
        problems = (0..runs.len()).filter(|&p| runs[p].is_some()).collect();
    }
    let select = |runs: &Vec<Option<&'a Evaluation>>| -> Vec<&'a Evaluation> {
        problems
            .iter()
            .filter_map(|&problem| runs[problem])
            .collect()
    };
    let mut series: Vec<Series<'a>> = order[..chosen]
        .iter()
        .map(|(seed, runs)| Series {
            seed: *seed,
            runs: select(runs),
        })
        .collect();
    series.sort_by_key(|series| series.seed);
    let mut left_out: Vec<(u64, usize)> = order[chosen..]
        .iter()
        .map(|(seed, runs)| (*seed, there(runs)))
        .collect();
    left_out.sort_unstable();
    let base_runs = base.map(select);
    let most = base_runs
        .iter()
        .flatten()
        .chain(series.iter().flat_map(|series| &series.runs))
        .map(|run| run.evaluations)
        .max();
    Pair {
        domain,
        heuristic,
        problems,
        base: base_runs,
        series,
        left_out,
        expected,
        base_there: base.map_or(0, |runs| there(runs)),
        learned_there: learned.iter().map(|(_, runs)| there(runs)).sum(),
        seeds: learned.len(),
        limit: limit.or(most).unwrap_or(1),
    }
}

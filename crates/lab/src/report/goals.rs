//! Goals reached in training: the table, and how they grow step by step.

use super::heuristics::heuristic_order;
use super::record_index::RecordIndex;
use crate::record::{CurvePoint, Training};
use crate::statistics::{RankSum, mean, rank_sum, standard_deviation};

/// From this p-value on, two heuristics count as equally good.
pub(super) const SIGNIFICANT: f64 = 0.05;

/// Training with one heuristic in one domain.
pub(super) struct Goals<'a> {
    pub(super) heuristic: &'a str,
    /// By seed.
    pub(super) runs: Vec<&'a Training>,
    pub(super) mean: f64,
    pub(super) deviation: Option<f64>,
    /// The largest mean of the domain, or not significantly below it.
    pub(super) best: bool,
    /// The test against the heuristic of the largest mean; `None` for that one itself.
    pub(super) test: Option<RankSum>,
    pub(super) cpu_seconds: f64,
    /// Of wall-clock time inside the process.
    pub(super) network_share: f64,
    pub(super) steps: f64,
}

pub(super) struct GoalsRow<'a> {
    pub(super) domain: usize,
    pub(super) cells: Vec<Goals<'a>>,
}

/// The rows of one way of training.
pub(super) fn goals<'a>(index: &RecordIndex<'a>, variant: usize) -> Vec<GoalsRow<'a>> {
    let mut rows: Vec<GoalsRow<'a>> = Vec::new();
    for run in index.trainings.iter().filter(|run| run.variant == variant) {
        if rows.last().is_none_or(|row| row.domain != run.domain) {
            rows.push(GoalsRow {
                domain: run.domain,
                cells: Vec::new(),
            });
        }
        let Some(row) = rows.last_mut() else { continue };
        let heuristic = run.record.heuristic.as_str();
        if row
            .cells
            .last()
            .is_none_or(|cell| cell.heuristic != heuristic)
        {
            row.cells.push(Goals {
                heuristic,
                runs: Vec::new(),
                mean: 0.0,
                deviation: None,
                best: false,
                test: None,
                cpu_seconds: 0.0,
                network_share: 0.0,
                steps: 0.0,
            });
        }
        if let Some(cell) = row.cells.last_mut() {
            cell.runs.push(run.record);
        }
    }
    for row in &mut rows {
        row.cells.iter_mut().for_each(summarize);
        compare(&mut row.cells);
    }
    rows
}

fn values(runs: &[&Training], of: impl Fn(&Training) -> f64) -> Vec<f64> {
    runs.iter().map(|run| of(run)).collect()
}

fn summarize(cell: &mut Goals<'_>) {
    let goals = values(&cell.runs, |run| run.goals as f64);
    let average = |of: fn(&Training) -> f64| mean(&values(&cell.runs, of)).unwrap_or_default();
    let network = average(|run| run.network_seconds);
    let planning = average(|run| run.planning_seconds);
    let cpu_seconds = average(|run| run.cpu_seconds);
    let steps = average(|run| run.steps as f64);
    cell.mean = mean(&goals).unwrap_or_default();
    cell.deviation = standard_deviation(&goals);
    cell.cpu_seconds = cpu_seconds;
    cell.steps = steps;
    cell.network_share = if network + planning > 0.0 {
        network / (network + planning)
    } else {
        0.0
    };
}

fn compare(cells: &mut [Goals<'_>]) {
    let goals: Vec<Vec<f64>> = cells
        .iter()
        .map(|cell| values(&cell.runs, |run| run.goals as f64))
        .collect();
    let mut top = 0;
    for place in 1..cells.len() {
        if cells[place].mean > cells[top].mean {
            top = place;
        }
    }
    for (place, cell) in cells.iter_mut().enumerate() {
        if place == top {
            cell.best = true;
            continue;
        }
        let test = rank_sum(&goals[place], &goals[top]);
        cell.test = test;
        cell.best = test.is_some_and(|test| test.p >= SIGNIFICANT);
    }
}

/// Goals up to a step, over the seeds.
pub(super) struct OverSeeds {
    pub(super) step: f64,
    pub(super) least: f64,
    pub(super) mean: f64,
    pub(super) most: f64,
}

/// Goals by step over the seeds.
pub(super) struct Curve<'a> {
    pub(super) heuristic: &'a str,
    pub(super) points: Vec<OverSeeds>,
}

/// Points of a drawn curve.
const POINTS: u64 = 60;

/// The curves of a row.
pub(super) fn curves<'a>(row: &GoalsRow<'a>) -> Vec<Curve<'a>> {
    let mut curves = Vec::new();
    for cell in &row.cells {
        // Only steps that every seed has reached.
        let end = cell
            .runs
            .iter()
            .map(|run| run.curve.last().map_or(0, |point| point.step))
            .min();
        let Some(end) = end.filter(|&end| end > 0) else {
            continue;
        };
        let points = (0..=POINTS)
            .map(|place| {
                let step = end as f64 * place as f64 / POINTS as f64;
                let at = values(&cell.runs, |run| goals_at(&run.curve, step));
                let least = at.iter().copied().fold(f64::INFINITY, f64::min);
                let most = at.iter().copied().fold(0.0, f64::max);
                OverSeeds {
                    step,
                    least,
                    mean: mean(&at).unwrap_or_default(),
                    most,
                }
            })
            .collect();
        curves.push(Curve {
            heuristic: cell.heuristic,
            points,
        });
    }
    curves.sort_by_key(|curve| heuristic_order(curve.heuristic));
    curves
}

/// Goals at a step, between two points of the curve as a straight line; it begins at (0, 0).
fn goals_at(curve: &[CurvePoint], step: f64) -> f64 {
    let after = curve.partition_point(|point| (point.step as f64) < step);
    let before = match after {
        0 => CurvePoint::default(),
        after => curve[after - 1],
    };
    let Some(&next) = curve.get(after) else {
        return before.goals as f64;
    };
    let width = next.step.saturating_sub(before.step) as f64;
    if width == 0.0 {
        return next.goals as f64;
    }
    let share = (step - before.step as f64) / width;
    before.goals as f64 + share * (next.goals as f64 - before.goals as f64)
}

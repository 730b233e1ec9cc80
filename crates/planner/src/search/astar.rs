//! A*, weighted A* and Dijkstra's algorithm, with reopening (paper, Alg. "A*").

use super::frame::{Frame, INITIAL};
use super::open::OpenList;
use super::{Limit, Limits, Outcome, SearchResult};
use crate::heuristic::{Costs, Estimate, Heuristic};
use crate::registry::StateId;
use crate::task::Task;
use crate::watch::Watch;

/// A*: f = g + h. With an admissible heuristic the plan is optimal.
pub fn astar(
    task: &Task,
    heuristic: &mut dyn Heuristic,
    costs: Costs,
    limits: Limits,
    watch: &mut dyn Watch,
) -> SearchResult {
    best_first(task, Some((heuristic, 1.0)), costs, limits, watch)
}

/// Weighted A*: f = g + w h. With an admissible heuristic and w ≥ 1 the plan costs at most w times
/// the optimum.
///
/// # Panics
///
/// If the weight is negative or not finite.
pub fn weighted_astar(
    task: &Task,
    heuristic: &mut dyn Heuristic,
    weight: f64,
    costs: Costs,
    limits: Limits,
    watch: &mut dyn Watch,
) -> SearchResult {
    assert!(
        weight.is_finite() && weight >= 0.0,
        "a weight is finite and not negative"
    );
    best_first(task, Some((heuristic, weight)), costs, limits, watch)
}

/// Dijkstra's algorithm: f = g. The plan is optimal; nothing is evaluated.
pub fn dijkstra(task: &Task, costs: Costs, limits: Limits, watch: &mut dyn Watch) -> SearchResult {
    best_first(task, None, costs, limits, watch)
}

/// The cost of the best known way to each state, and what is known of the way on.
#[derive(Default)]
struct Nodes {
    /// g(s)
    path_cost: Vec<u32>,
    /// w h(s), kept only where there is a heuristic.
    weighted: Vec<f64>,
    closed: Vec<bool>,
}

impl Nodes {
    fn push(&mut self, path_cost: u32) {
        self.path_cost.push(path_cost);
        self.closed.push(false);
    }

    /// Weighted estimates of the states stored last.
    fn push_estimates(&mut self, weight: f64, estimates: &[Estimate]) {
        let weighted =
            |estimate: &Estimate| estimate.finite().map_or(f64::INFINITY, |h| weight * h);
        self.weighted.extend(estimates.iter().map(weighted));
    }

    /// Queues a state under f(s), unless it is a dead end.
    fn queue(&self, state: StateId, open: &mut OpenList) {
        let weighted = self.weighted.get(state.index()).copied().unwrap_or(0.0);
        if weighted.is_finite() {
            open.push(f64::from(self.path_cost[state.index()]) + weighted, state);
        }
    }
}

fn best_first(
    task: &Task,
    mut heuristic: Option<(&mut dyn Heuristic, f64)>,
    costs: Costs,
    limits: Limits,
    watch: &mut dyn Watch,
) -> SearchResult {
    let mut frame = Frame::new(task, limits, watch);
    let mut open = OpenList::default();
    let mut nodes = Nodes::default();
    nodes.push(0);
    if let Some((heuristic, weight)) = &mut heuristic {
        match frame.evaluate_initial(*heuristic) {
            Ok(estimate) => nodes.push_estimates(*weight, &[estimate]),
            Err(limit) => return frame.end(Outcome::LimitReached(limit), 0),
        }
    }
    nodes.queue(INITIAL, &mut open);
    // States to queue after this expansion: new ones and those reached at less cost.
    let mut improved: Vec<StateId> = Vec::new();
    let mut estimates = Vec::new();
    while let Some(state) = open.pop() {
        if std::mem::replace(&mut nodes.closed[state.index()], true) {
            continue;
        }
        if frame.is_goal(state) {
            return frame.solved(state, open.peak());
        }
        let successors = match frame.begin_expansion(state) {
            Ok(successors) => successors,
            Err(limit) => return frame.end(Outcome::LimitReached(limit), open.peak()),
        };
        let from = frame.registry.next_id();
        let left = if heuristic.is_some() {
            frame.evaluations_left()
        } else {
            u64::MAX
        };
        let mut out_of_budget = false;
        improved.clear();
        for index in 0..successors {
            let action = frame.applicable(index);
            let path_cost = nodes.path_cost[state.index()].saturating_add(costs.of(task, action));
            let generated = frame.generate(state, index);
            let child = generated.state;
            if generated.is_new {
                if (child.index() - from.index()) as u64 == left {
                    out_of_budget = true;
                    break;
                }
                nodes.push(path_cost);
                improved.push(child);
            } else if path_cost < nodes.path_cost[child.index()] {
                nodes.path_cost[child.index()] = path_cost;
                frame.reroute(child, state, action);
                if std::mem::replace(&mut nodes.closed[child.index()], false) {
                    frame.statistics.reopened += 1;
                }
                improved.push(child);
            }
        }
        if let Some((heuristic, weight)) = &mut heuristic {
            let to = StateId::from_index(frame.registry.len() - usize::from(out_of_budget));
            frame.evaluate(*heuristic, from, to, &mut estimates);
            nodes.push_estimates(*weight, &estimates);
        }
        if out_of_budget {
            return frame.end(Outcome::LimitReached(Limit::Evaluations), open.peak());
        }
        for &child in &improved {
            nodes.queue(child, &mut open);
        }
    }
    frame.end(Outcome::Unsolvable, open.peak())
}

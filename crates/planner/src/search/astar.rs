//! A*, weighted A* and Dijkstra's algorithm, with reopening (paper, Alg. "A*").

use super::open::OpenList;
use super::space::{INITIAL, SearchSpace};
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

/// The cost of the best known way to each state, and what is known of the way on. A search stores
/// millions of these: 8 bytes and a bit each.
#[derive(Default)]
struct Nodes {
    /// g(s)
    path_cost: Vec<u32>,
    /// h(s), in single precision, rounded down so that an admissible estimate stays one; kept only
    /// where there is a heuristic.
    estimate: Vec<f32>,
    /// One bit a state.
    closed: Vec<u64>,
}

impl Nodes {
    fn push(&mut self, path_cost: u32) {
        if self.path_cost.len().is_multiple_of(64) {
            self.closed.push(0);
        }
        self.path_cost.push(path_cost);
    }

    /// Closes or opens a state; whether it was closed.
    fn set_closed(&mut self, state: StateId, closed: bool) -> bool {
        let (word, bit) = (state.index() / 64, state.index() % 64);
        let was = self.closed[word] >> bit & 1 == 1;
        self.closed[word] = self.closed[word] & !(1 << bit) | u64::from(closed) << bit;
        was
    }

    /// The estimates of the states stored last.
    fn push_estimates(&mut self, estimates: &[Estimate]) {
        self.estimate
            .extend(estimates.iter().map(|estimate| match estimate.finite() {
                Some(exact) => {
                    let rounded = exact as f32;
                    if f64::from(rounded) > exact {
                        rounded.next_down()
                    } else {
                        rounded
                    }
                }
                None => f32::INFINITY,
            }));
    }

    /// Queues a state under f(s) = g(s) + w h(s), unless it is a dead end.
    fn queue(&self, state: StateId, weight: f64, open: &mut OpenList) {
        let estimate = self.estimate.get(state.index()).copied().unwrap_or(0.0);
        if estimate.is_finite() {
            let path_cost = f64::from(self.path_cost[state.index()]);
            open.push(path_cost + weight * f64::from(estimate), state);
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
    let mut space = SearchSpace::new(task, limits, watch);
    let mut open = OpenList::default();
    let mut nodes = Nodes::default();
    nodes.push(0);
    let weight = heuristic.as_ref().map_or(0.0, |(_, weight)| *weight);
    if let Some((heuristic, _)) = &mut heuristic {
        match space.evaluate_initial(*heuristic) {
            Ok(estimate) => nodes.push_estimates(&[estimate]),
            Err(limit) => return space.end(Outcome::LimitReached(limit), 0),
        }
    }
    nodes.queue(INITIAL, weight, &mut open);
    // States to queue after this expansion: new ones and those reached at less cost.
    let mut improved: Vec<StateId> = Vec::new();
    let mut estimates = Vec::new();
    while let Some(state) = open.pop() {
        if nodes.set_closed(state, true) {
            continue;
        }
        if space.is_goal(state) {
            return space.solved(state, open.peak());
        }
        let successors = match space.begin_expansion(state) {
            Ok(successors) => successors,
            Err(limit) => return space.end(Outcome::LimitReached(limit), open.peak()),
        };
        let from = space.registry.next_id();
        let left = if heuristic.is_some() {
            space.evaluations_left()
        } else {
            u64::MAX
        };
        let mut out_of_budget = false;
        improved.clear();
        for index in 0..successors {
            let action = space.applicable(index);
            let path_cost = nodes.path_cost[state.index()].saturating_add(costs.of(task, action));
            let generated = space.generate(state, index);
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
                space.reroute(child, state, action);
                if nodes.set_closed(child, false) {
                    space.statistics.reopened += 1;
                }
                improved.push(child);
            }
        }
        if let Some((heuristic, _)) = &mut heuristic {
            let to = StateId::from_index(space.registry.len() - usize::from(out_of_budget));
            if let Err(limit) = space.evaluate(*heuristic, from, to, &mut estimates) {
                return space.end(Outcome::LimitReached(limit), open.peak());
            }
            nodes.push_estimates(&estimates);
        }
        if out_of_budget {
            return space.end(Outcome::LimitReached(Limit::Evaluations), open.peak());
        }
        for &child in &improved {
            nodes.queue(child, weight, &mut open);
        }
    }
    space.end(Outcome::Unsolvable, open.peak())
}

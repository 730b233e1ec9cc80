//! Greedy best first search with a lookahead after each expansion (paper, Alg. "GBFLS").

use super::open::OpenList;
use super::space::{Expanded, INITIAL, SearchSpace};
use super::{Limits, Outcome, SearchResult};
use crate::heuristic::{Costs, Estimate, Ff, Heuristic};
use crate::registry::{StateId, States};
use crate::task::Task;
use crate::watch::Watch;

/// The lookahead goes this many times as deep as the relaxed plan is long.
const DEPTH_FACTOR: f64 = 5.0;

/// How deep it goes where there is no relaxed plan.
const DEPTH_WITHOUT_PLAN: usize = 50;

/// After each expansion, walks on to the best successor, then to the best of its successors, and so
/// on, up to 5 h_FF(I) steps. States met on the walk are evaluated, and count, but only successors
/// of the state taken from the open list are queued.
pub fn gbfls(
    task: &Task,
    heuristic: &mut dyn Heuristic,
    limits: Limits,
    watch: &mut dyn Watch,
) -> SearchResult {
    let depth_limit = depth_limit(task, watch);
    let mut space = SearchSpace::new(task, limits, watch);
    let mut open = OpenList::default();
    if space.is_goal(INITIAL) {
        return space.solved(INITIAL, 0);
    }
    let mut known = match space.evaluate_initial(heuristic) {
        Ok(estimate) => vec![estimate],
        Err(limit) => return space.end(Outcome::LimitReached(limit), 0),
    };
    open.push_estimate(known[0], INITIAL);
    let mut queued = vec![true];
    // The walk that last came by each state, to notice when a walk goes in circles.
    let mut last_walk = vec![0u32];
    let mut walk = 0;
    let (mut children, mut estimates) = (Vec::new(), Vec::new());
    while let Some(start) = open.pop() {
        walk += 1;
        let mut state = start;
        for depth in 0..depth_limit {
            match space.expand_greedily(state, heuristic, &mut children, &mut estimates) {
                Ok(Expanded::New { .. }) => {}
                Ok(Expanded::Goal(goal)) => return space.solved(goal, open.peak()),
                Err(limit) => return space.end(Outcome::LimitReached(limit), open.peak()),
            }
            known.extend_from_slice(&estimates);
            queued.resize(known.len(), false);
            last_walk.resize(known.len(), 0);
            last_walk[state.index()] = walk;
            if depth == 0 {
                for &child in &children {
                    if !std::mem::replace(&mut queued[child.index()], true) {
                        open.push_estimate(known[child.index()], child);
                    }
                }
            }
            // Walks are determined by their state: back at one of its own it would only repeat.
            match best_of(&children, &known) {
                Some(next) if last_walk[next.index()] != walk => state = next,
                _ => break,
            }
        }
    }
    space.end(Outcome::Unsolvable, open.peak())
}

/// The child of least estimate, the first among equals; `None` if all are dead ends.
fn best_of(children: &[StateId], known: &[Estimate]) -> Option<StateId> {
    let mut best: Option<(f64, StateId)> = None;
    for &child in children {
        if let Some(estimate) = known[child.index()].finite()
            && best.is_none_or(|(least, _)| estimate < least)
        {
            best = Some((estimate, child));
        }
    }
    best.map(|(_, child)| child)
}

/// D = 5 h_FF(I).
pub(super) fn depth_limit(task: &Task, watch: &mut dyn Watch) -> usize {
    // A watch that says stop says so again as soon as the search begins.
    let Ok(mut ff) = Ff::watched(task, Costs::Unit, watch) else {
        return DEPTH_WITHOUT_PLAN;
    };
    let mut estimates = Vec::new();
    ff.evaluate(States::one(&task.initial_state()), &mut estimates);
    match estimates[0].finite() {
        Some(length) => ((DEPTH_FACTOR * length) as usize).max(1),
        None => DEPTH_WITHOUT_PLAN,
    }
}

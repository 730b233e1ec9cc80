//! Greedy best first search with early goal detection (paper, Alg. "GBFS").

use super::open::OpenList;
use super::space::{Expanded, INITIAL, SearchSpace};
use super::{Limits, Outcome, SearchResult};
use crate::heuristic::Heuristic;
use crate::registry::StateId;
use crate::task::Task;
use crate::watch::Watch;

/// Expands the state of least estimate first, whatever it cost to reach. A goal is noticed as soon
/// as it is generated, before it is evaluated.
pub fn gbfs(
    task: &Task,
    heuristic: &mut dyn Heuristic,
    limits: Limits,
    watch: &mut dyn Watch,
) -> SearchResult {
    let mut space = SearchSpace::new(task, limits, watch);
    let mut open = OpenList::default();
    if space.is_goal(INITIAL) {
        return space.solved(INITIAL, 0);
    }
    match space.evaluate_initial(heuristic) {
        Ok(estimate) => open.push_estimate(estimate, INITIAL),
        Err(limit) => return space.end(Outcome::LimitReached(limit), 0),
    }
    let (mut children, mut estimates) = (Vec::new(), Vec::new());
    while let Some(state) = open.pop() {
        match space.expand_greedily(state, heuristic, &mut children, &mut estimates) {
            Ok(Expanded::New { from }) => {
                for (index, &estimate) in estimates.iter().enumerate() {
                    open.push_estimate(estimate, StateId::from_index(from.index() + index));
                }
            }
            Ok(Expanded::Goal(goal)) => return space.solved(goal, open.peak()),
            Err(limit) => return space.end(Outcome::LimitReached(limit), open.peak()),
        }
    }
    space.end(Outcome::Unsolvable, open.peak())
}

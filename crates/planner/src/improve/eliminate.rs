//! Actions that a plan can do without.

use super::trace::{Price, is_applicable, price};
use crate::heuristic::Costs;
use crate::task::{ActionId, Task};
use crate::watch::{Progress, Stop, Watch};

/// Rough nanoseconds of trying and applying one action.
const STEP_WORK: u64 = 40;

/// What is left of a plan.
pub struct Eliminated {
    /// The actions that stay.
    pub actions: Vec<ActionId>,
    /// The work it was, in rough nanoseconds.
    pub work: u64,
    /// Why it ended early, if the watch said so.
    pub stop: Option<Stop>,
}

/// Takes actions out of a plan as long as that makes it cheaper, or shorter at the same cost: each
/// with all that becomes inapplicable without it, the dearest such set first. Ends early after so
/// much work.
pub fn eliminate(
    task: &Task,
    actions: &[ActionId],
    costs: Costs,
    work_limit: u64,
    watch: &mut dyn Watch,
) -> Eliminated {
    let mut left = Eliminated {
        actions: actions.to_vec(),
        work: 0,
        stop: None,
    };
    let mut kept = Vec::new();
    loop {
        let mut best: Option<(Price, Vec<ActionId>)> = None;
        let mut before = task.initial_state();
        let mut state = before.clone();
        for index in 0..left.actions.len() {
            let rest = left.actions.len() - index;
            left.work += rest as u64 * STEP_WORK;
            if left.work > work_limit {
                break;
            }
            let cost = price(task, costs, &left.actions).0;
            if index % 16 == 0
                && let Some(stop) = watch.poll(Progress::Improving { cost })
            {
                left.stop = Some(stop);
                return left;
            }
            state.copy_from_slice(&before);
            kept.clear();
            for &action in &left.actions[index + 1..] {
                if is_applicable(task, action, &state) {
                    task.apply(action, &mut state);
                    kept.push(action);
                }
            }
            if task.is_goal(&state) {
                let new = price(task, costs, &kept);
                let head = price(task, costs, &left.actions[..index]);
                let new = (head.0 + new.0, head.1 + new.1);
                if best.as_ref().is_none_or(|(best, _)| new < *best) {
                    let head = left.actions[..index].iter();
                    best = Some((new, head.chain(&kept).copied().collect()));
                }
            }
            task.apply(left.actions[index], &mut before);
        }
        match best {
            Some((_, actions)) => left.actions = actions,
            None => return left,
        }
        if left.work > work_limit {
            return left;
        }
    }
}

//! States to measure on.

use homing_nlm::SplitMix64;
use homing_planner::{ActionId, SuccessorGenerator, Task};

/// The states of a random walk without end, each with its applicable actions; from a deadlock it
/// begins again.
pub(crate) fn walk(task: &Task) -> impl Iterator<Item = (Vec<u32>, Vec<ActionId>)> + '_ {
    let generator = SuccessorGenerator::new(task);
    let mut random = SplitMix64::new(1);
    let mut state = task.initial_state();
    std::iter::repeat_with(move || {
        let mut actions = Vec::new();
        generator.applicable(&state, &mut actions);
        if actions.is_empty() {
            state = task.initial_state();
            generator.applicable(&state, &mut actions);
            assert!(!actions.is_empty(), "nothing can be done at the start");
        }
        let action = actions[random.below(actions.len())];
        let met = (state.clone(), actions);
        task.apply(action, &mut state);
        met
    })
}

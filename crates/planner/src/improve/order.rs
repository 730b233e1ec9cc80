//! Other orders of a plan's actions.
//!
//! An action stays behind those that bring about or destroy what it needs, and behind those that
//! need what it brings about or destroys. All else is free. Preconditions and effects tell; where
//! they do not tell all (conditional effects), the replay of the new order finds out.

use super::trace::is_plan;
use crate::task::{ActionId, Task};

/// What is to stand together.
pub(super) enum Together<'a> {
    /// What shares objects with the action before.
    Neighbours,
    /// The actions for which this holds, by their index in the plan.
    Chosen(&'a dyn Fn(usize) -> bool),
}

/// A plan in another order.
pub(super) struct Reordered {
    pub(super) actions: Vec<ActionId>,
    /// For [`Together::Chosen`]: from the first action that was chosen to behind the last.
    pub(super) block: std::ops::Range<usize>,
}

/// Puts a plan in another order; `None` if that is none after all.
pub(super) fn reorder(
    task: &Task,
    actions: &[ActionId],
    together: &Together<'_>,
) -> Option<Reordered> {
    let graph = Dependencies::new(task, actions);
    let order = match together {
        Together::Neighbours => graph.schedule(|ready, last| nearest(task, actions, ready, last)),
        Together::Chosen(is_chosen) => gather(&graph, actions.len(), is_chosen),
    };
    let block = match together {
        Together::Neighbours => 0..order.len(),
        Together::Chosen(is_chosen) => {
            let first = order.iter().position(|&index| is_chosen(index));
            let last = order.iter().rposition(|&index| is_chosen(index));
            first.unwrap_or(0)..last.map_or(0, |last| last + 1)
        }
    };
    let actions: Vec<ActionId> = order.iter().map(|&index| actions[index]).collect();
    is_plan(task, &actions).then_some(Reordered { actions, block })
}

/// Of the actions that could come next, the one that shares most objects with the last; of several,
/// the first in the plan.
fn nearest(task: &Task, actions: &[ActionId], ready: &[usize], last: Option<usize>) -> usize {
    let shared = |index: usize| {
        let Some(last) = last else { return 0 };
        let others = task.arguments(actions[last]);
        let own = task.arguments(actions[index]).iter();
        own.filter(|object| others.contains(object)).count()
    };
    let by_place = |&place: &usize| (std::cmp::Reverse(shared(ready[place])), ready[place]);
    (0..ready.len()).min_by_key(by_place).unwrap_or(0)
}

/// First what does not have to wait for a chosen action, then the chosen ones with what must stand
/// between them, then the rest.
fn gather(graph: &Dependencies, len: usize, is_chosen: &dyn Fn(usize) -> bool) -> Vec<usize> {
    // Behind a chosen action, directly or not.
    let mut behind = vec![false; len];
    // Before a chosen action, directly or not.
    let mut before = vec![false; len];
    for index in 0..len {
        if is_chosen(index) || behind[index] {
            graph.after[index]
                .iter()
                .for_each(|&later| behind[later as usize] = true);
        }
    }
    for index in (0..len).rev() {
        let mut later = graph.after[index].iter();
        before[index] = later.any(|&later| is_chosen(later as usize) || before[later as usize]);
    }
    let class = |index: usize| match (is_chosen(index), behind[index], before[index]) {
        (false, false, _) => 0,
        (true, ..) | (false, true, true) => 1,
        (false, true, false) => 2,
    };
    let mut order: Vec<usize> = (0..len).collect();
    // Sorting is stable: within a class the order stays.
    order.sort_by_key(|&index| class(index));
    order
}

/// Which actions of a plan must stay behind which.
struct Dependencies {
    /// By action: those that must stay behind it; later in the plan, all of them.
    after: Vec<Vec<u32>>,
    /// By action: how many it must stay behind.
    waits_for: Vec<u32>,
}

impl Dependencies {
    fn new(task: &Task, actions: &[ActionId]) -> Self {
        let mut graph = Self {
            after: vec![Vec::new(); actions.len()],
            waits_for: vec![0; actions.len()],
        };
        // By fact: who changed it last, and who has needed it since.
        let mut writer: Vec<Option<u32>> = vec![None; task.propositions().len()];
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); task.propositions().len()];
        for (index, &action) in actions.iter().enumerate() {
            let index = index as u32;
            for fact in task.pre(action) {
                if let Some(writer) = writer[fact.index()] {
                    graph.add(writer, index);
                }
            }
            for fact in task.add(action).iter().chain(task.del(action)) {
                for reader in readers[fact.index()].drain(..) {
                    graph.add(reader, index);
                }
                if let Some(writer) = writer[fact.index()].replace(index) {
                    graph.add(writer, index);
                }
            }
            for fact in task.pre(action) {
                readers[fact.index()].push(index);
            }
        }
        graph
    }

    fn add(&mut self, earlier: u32, later: u32) {
        let after = &mut self.after[earlier as usize];
        if earlier != later && after.last() != Some(&later) {
            after.push(later);
            self.waits_for[later as usize] += 1;
        }
    }

    /// Lines the actions up; `choose` takes a place in the list of those that could come next.
    fn schedule(&self, choose: impl Fn(&[usize], Option<usize>) -> usize) -> Vec<usize> {
        let mut waits_for = self.waits_for.clone();
        let mut ready: Vec<usize> = (0..waits_for.len())
            .filter(|&index| waits_for[index] == 0)
            .collect();
        let mut order: Vec<usize> = Vec::with_capacity(waits_for.len());
        while !ready.is_empty() {
            let next = ready.swap_remove(choose(&ready, order.last().copied()));
            order.push(next);
            for &later in &self.after[next] {
                waits_for[later as usize] -= 1;
                if waits_for[later as usize] == 0 {
                    ready.push(later as usize);
                }
            }
        }
        order
    }
}

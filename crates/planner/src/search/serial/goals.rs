//! The goals of a task as values of variables, and what actions do to them.

use std::collections::VecDeque;

use crate::csr::Csr;
use crate::task::{ActionId, PropId, Task};

/// A value from which a goal is not to be had.
pub(super) const FAR: u32 = u32::MAX;

/// A goal as a value of a variable.
pub(super) struct Goal {
    pub(super) prop: PropId,
    pub(super) variable: usize,
    /// By value: how many steps of this variable alone lead to the goal.
    pub(super) distance: Vec<u32>,
}

/// A step of a goal's variable: from one value, or from any, to another.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) action: ActionId,
    pub(super) from: Option<u32>,
    pub(super) to: u32,
}

/// A goal whose variable an action changes.
#[derive(Clone, Copy)]
pub(super) struct Touch {
    pub(super) goal: u32,
    /// Whether the goal holds afterwards.
    pub(super) reaches: bool,
}

/// The goals of a task, and what actions do to them.
pub(super) struct Goals {
    pub(super) all: Vec<Goal>,
    /// By action.
    pub(super) touched: Csr<Touch>,
    /// By goal: the actions that change its variable and do not reach it.
    pub(super) undoing: Csr<ActionId>,
    /// By goal: the actions that change its variable and that of no other goal.
    pub(super) own: Csr<Step>,
    /// By proposition: the actions that need it and change no goal's variable.
    pub(super) free: Csr<ActionId>,
    /// By proposition: the actions that make it true.
    pub(super) achieving: Csr<ActionId>,
}

impl Goals {
    pub(super) fn of(task: &Task) -> Self {
        let encoding = task.encoding();
        let mut goal_of = vec![None; encoding.variable_count()];
        for (index, &goal) in task.goal().iter().enumerate() {
            goal_of[encoding.place(goal).0] = Some(index);
        }
        let mut touched = Csr::default();
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); task.goal().len()];
        let mut row: Vec<Touch> = Vec::new();
        for action in task.actions() {
            row.clear();
            let add = task.add(action).iter().map(|&prop| encoding.place(prop));
            // What is deleted and not replaced leaves its variable without a value.
            let del = task.del(action).iter();
            let del = del.map(|&prop| (encoding.place(prop).0, 0));
            for (variable, value) in add.chain(del) {
                let Some(index) = goal_of[variable] else {
                    continue;
                };
                if row.iter().any(|touch| touch.goal == index as u32) {
                    continue;
                }
                let goal = task.goal()[index];
                let mut before = task.pre(action).iter().map(|&prop| encoding.place(prop));
                let before = before.find(|before| before.0 == variable);
                steps[index].push(Step {
                    action,
                    from: before.map(|(_, value)| value),
                    to: value,
                });
                row.push(Touch {
                    goal: index as u32,
                    reaches: encoding.place(goal) == (variable, value),
                });
            }
            touched.push_row(row.iter().copied());
        }
        let all = steps.iter().zip(task.goal()).map(|(steps, &prop)| {
            let (variable, value) = encoding.place(prop);
            let values = encoding.variables()[variable].mask as usize + 1;
            Goal {
                prop,
                variable,
                distance: distances(value, values, steps),
            }
        });
        let all: Vec<Goal> = all.collect();
        let mut own = Csr::default();
        for steps in &steps {
            let alone = |step: &&Step| touched.row(step.action.index()).len() == 1;
            own.push_row(steps.iter().filter(alone).copied());
        }
        let free = Csr::from_pairs(task.propositions().len(), ActionId(0), || {
            let touched = &touched;
            let free = { task.actions() }.filter(|action| touched.row(action.index()).is_empty());
            free.flat_map(|action| {
                let pre = task.pre(action).iter();
                pre.map(move |prop| (prop.index(), action))
            })
        });
        let undoing = Csr::from_pairs(all.len(), ActionId(0), || {
            let touched = &touched;
            task.actions().flat_map(move |action| {
                let row = touched.row(action.index()).iter();
                let undone = row.filter(|touch| !touch.reaches);
                undone.map(move |touch| (touch.goal as usize, action))
            })
        });
        let achieving = Csr::from_pairs(task.propositions().len(), ActionId(0), || {
            task.actions().flat_map(|action| {
                let add = task.add(action).iter();
                add.map(move |prop| (prop.index(), action))
            })
        });
        Self {
            all,
            touched,
            undoing,
            own,
            free,
            achieving,
        }
    }

    /// By value of a goal's variable: how many of these steps of it lead to the goal.
    pub(super) fn distances_by<'a>(
        &self,
        goal: usize,
        task: &Task,
        steps: impl IntoIterator<Item = &'a Step>,
    ) -> Vec<u32> {
        let (_, value) = task.encoding().place(self.all[goal].prop);
        distances(value, self.all[goal].distance.len(), steps)
    }

    /// Whether an action changes no goal's variable.
    pub(super) fn is_free(&self, action: ActionId) -> bool {
        self.touched.row(action.index()).is_empty()
    }

    pub(super) fn holds(&self, goal: usize, task: &Task, state: &[u32]) -> bool {
        task.encoding().holds(self.all[goal].prop, state)
    }

    pub(super) fn distance(&self, goal: usize, task: &Task, state: &[u32]) -> u32 {
        let goal = &self.all[goal];
        goal.distance[task.encoding().variables()[goal.variable].value(state) as usize]
    }
}

/// Steps from each value of a variable to one of them.
fn distances<'a>(to: u32, values: usize, steps: impl IntoIterator<Item = &'a Step>) -> Vec<u32> {
    let steps = steps.into_iter().map(|step| (step.from, step.to));
    let mut steps: Vec<(Option<u32>, u32)> = steps.collect();
    steps.sort_unstable();
    steps.dedup();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); values];
    let mut from_any = vec![false; values];
    for (from, to) in steps {
        match from {
            Some(from) => before[to as usize].push(from),
            None => from_any[to as usize] = true,
        }
    }
    let mut distance = vec![FAR; values];
    distance[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(value) = queue.pop_front() {
        let next = distance[value as usize] + 1;
        let mut reach = |from: u32| {
            if distance[from as usize] == FAR {
                distance[from as usize] = next;
                queue.push_back(from);
            }
        };
        match from_any[value as usize] {
            true => (0..values as u32).for_each(&mut reach),
            false => before[value as usize].iter().copied().for_each(&mut reach),
        }
    }
    distance
}

//! Value iteration over a whole state space (paper, Alg. "Value Iteration"), for problems small
//! enough to write down.

use std::fmt;

use homing_planner::{Costs, Heuristic, Registry, StateId, States, SuccessorGenerator, Task};

use crate::shaping::Mdp;

/// The state space of a small task, with the potential of each state.
pub struct Tabular {
    registry: Registry,
    goals: Vec<bool>,
    potentials: Vec<f64>,
    /// For each state: (successor, cost).
    successors: Vec<Vec<(usize, u32)>>,
}

/// There are more states than a table should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The limit.
    pub limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the problem has more than {} states", self.limit)
    }
}

impl std::error::Error for TooLarge {}

/// The optimal values of a decision process.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// V̂*(s) of the shaped process; −∞ where no goal can be reached.
    pub residuals: Vec<f64>,
    /// Sweeps over all states until nothing changed by more than the tolerance.
    pub sweeps: usize,
}

impl Tabular {
    /// Lists all states that can be reached, with φ from `heuristic`; without one φ = 0.
    ///
    /// # Errors
    ///
    /// If there are more than `limit`.
    pub fn explore(
        task: &Task,
        heuristic: Option<&mut dyn Heuristic>,
        costs: Costs,
        mdp: Mdp,
        limit: usize,
    ) -> Result<Self, TooLarge> {
        let generator = SuccessorGenerator::new(task);
        let mut registry = Registry::new(task.encoding().words());
        registry.insert(&task.initial_state());
        let mut successors = Vec::new();
        let (mut actions, mut words) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < registry.len() {
            let state = registry.state(StateId::from_index(at)).to_vec();
            generator.applicable(&state, &mut actions);
            let mut row = Vec::with_capacity(actions.len());
            for &action in &actions {
                words.clear();
                words.extend_from_slice(&state);
                task.apply(action, &mut words);
                let (id, _) = registry.insert(&words);
                row.push((id.index(), costs.of(task, action)));
            }
            successors.push(row);
            if registry.len() > limit {
                return Err(TooLarge { limit });
            }
            at += 1;
        }
        let states: States<'_> = registry.range(StateId(0), registry.next_id());
        let goals: Vec<bool> = states.iter().map(|state| task.is_goal(state)).collect();
        let mut potentials = vec![0.0; goals.len()];
        if let Some(heuristic) = heuristic {
            let mut estimates = Vec::new();
            heuristic.evaluate(states, &mut estimates);
            for (index, estimate) in estimates.iter().enumerate() {
                // A dead end has no value to correct.
                if let Some(h) = estimate.finite() {
                    potentials[index] = mdp.potential(h, goals[index]);
                }
            }
        }
        Ok(Self {
            registry,
            goals,
            potentials,
            successors,
        })
    }

    /// The number of states; 0 is the initial one.
    pub fn len(&self) -> usize {
        self.goals.len()
    }

    /// Whether there is none; there always is one.
    pub fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// A state's words.
    pub fn state(&self, index: usize) -> &[u32] {
        self.registry.state(StateId::from_index(index))
    }

    /// Whether a state is a goal.
    pub fn is_goal(&self, index: usize) -> bool {
        self.goals[index]
    }

    /// The successors of a state in the order of actions, each with the action's cost.
    pub fn successors(&self, index: usize) -> &[(usize, u32)] {
        &self.successors[index]
    }

    /// φ(s)
    pub fn potential(&self, index: usize) -> f64 {
        self.potentials[index]
    }

    /// Replaces φ.
    ///
    /// # Panics
    ///
    /// If there is not one for each state.
    pub fn set_potentials(&mut self, potentials: Vec<f64>) {
        assert_eq!(potentials.len(), self.len());
        self.potentials = potentials;
    }

    /// Q̂(s, a) = r̂ + γ V̂(s') for each successor, in order.
    pub fn action_values(&self, mdp: Mdp, residuals: &[f64], state: usize) -> Vec<f64> {
        let from = self.potentials[state];
        self.successors[state]
            .iter()
            .map(|&(next, cost)| {
                let goal = self.goals[next];
                let to = if goal { 0.0 } else { self.potentials[next] };
                let residual = if goal { 0.0 } else { residuals[next] };
                mdp.shaped_reward(cost, goal, from, to) + mdp.discount(cost) * residual
            })
            .collect()
    }

    /// Sweeps V̂(s) ← max_a Q̂(s, a) until no value changes by more than `tolerance`.
    pub fn value_iteration(&self, mdp: Mdp, tolerance: f64) -> Solution {
        let mut residuals: Vec<f64> = self
            .goals
            .iter()
            .map(|&goal| if goal { 0.0 } else { f64::NEG_INFINITY })
            .collect();
        let mut sweeps = 0;
        loop {
            sweeps += 1;
            let mut change: f64 = 0.0;
            for state in (0..self.len()).filter(|&state| !self.goals[state]) {
                let best = self
                    .action_values(mdp, &residuals, state)
                    .into_iter()
                    .fold(f64::NEG_INFINITY, f64::max);
                if best != residuals[state] {
                    let moved = (best - residuals[state]).abs();
                    change = change.max(if moved.is_finite() {
                        moved
                    } else {
                        f64::INFINITY
                    });
                    residuals[state] = best;
                }
            }
            if change <= tolerance {
                return Solution { residuals, sweeps };
            }
        }
    }
}

//! `homing train --tabular`: the exact values, by value iteration.

use std::sync::Arc;

use homing_learner::{Mdp, Tabular, TrainConfig};
use homing_planner::{Costs, Task};

use crate::exit::Exit;
use crate::output::print;

/// Larger state spaces are passed over.
const LARGEST: usize = 200_000;

/// Sweeps end when no value changes by more than this.
const TOLERANCE: f64 = 1e-12;

pub(crate) fn run(tasks: &[Arc<Task>], config: &TrainConfig) -> anyhow::Result<Exit> {
    let mdp = Mdp {
        gamma: config.gamma,
        reward: config.reward,
    };
    let costs = Costs::unit_if(config.unit_cost);
    print(&format!(
        "{:<24} {:>8} {:>7} {:>12} {:>12} {:>12}\n",
        "problem", "states", "sweeps", "V*(I)", "phi(I)", "residual(I)"
    ))?;
    for task in tasks {
        let mut heuristic = config.heuristic.build(task, costs);
        let name = &task.problem().name;
        match Tabular::explore(task, Some(heuristic.as_mut()), costs, mdp, LARGEST) {
            Ok(table) => {
                let solution = table.value_iteration(mdp, TOLERANCE);
                let (residual, potential) = (solution.residuals[0], table.potential(0));
                print(&format!(
                    "{name:<24} {:>8} {:>7} {:>12.6} {potential:>12.6} {residual:>12.6}\n",
                    table.len(),
                    solution.sweeps,
                    residual + potential,
                ))?;
            }
            Err(error) => print(&format!("{name:<24} left out: {error}\n"))?,
        }
    }
    Ok(Exit::Success)
}

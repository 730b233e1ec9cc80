//! The paper's theory on problems small enough to write down: shaping changes no optimal policy,
//! and a perfect heuristic leaves nothing to learn.

mod common;

use common::{fixtures, load, perfect, problem_files, shared, task};
use homing_learner::{Mdp, Reward, Tabular, discounted};
use homing_planner::heuristic::{Add, Blind, Ff, Max};
use homing_planner::{Costs, Heuristic, Task};

/// Largest state space that is written down.
const LIMIT: usize = 20_000;
/// Sweeps end when nothing changes by more than this.
const STILL: f64 = 1e-13;
const CLOSE: f64 = 1e-9;
const GAMMAS: [f64; 3] = [0.9, 0.999, 0.999_999];
const REWARDS: [Reward; 3] = [Reward::Cost, Reward::CostButLast, Reward::Goal];

fn explore(task: &Task, heuristic: Option<&mut dyn Heuristic>, costs: Costs, mdp: Mdp) -> Tabular {
    Tabular::explore(task, heuristic, costs, mdp, LIMIT).expect("a small task")
}

/// Equal up to the last digits, also where both are infinite.
fn close(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= CLOSE * one.abs().max(1.0)
}

#[test]
fn a_perfect_potential_leaves_a_residual_of_zero() {
    let mut states = 0;
    for (name, task) in fixtures() {
        for costs in [Costs::Task, Costs::Unit] {
            for gamma in GAMMAS {
                let reward = Reward::Cost;
                let mdp = Mdp { gamma, reward };
                let mut table = explore(&task, None, costs, mdp);
                let h = perfect(&table);
                // A state without a way to the goal has no value, whatever its potential.
                let potentials = h
                    .iter()
                    .map(|h| h.map_or(0.0, |h| -discounted(h as f64, gamma)))
                    .collect();
                table.set_potentials(potentials);
                let solution = table.value_iteration(mdp, STILL);
                for (state, (residual, h)) in solution.residuals.iter().zip(&h).enumerate() {
                    match h {
                        Some(_) => assert!(
                            residual.abs() <= CLOSE,
                            "{name}, {costs:?}, {gamma}, state {state}: {residual}"
                        ),
                        None => assert_eq!(*residual, f64::NEG_INFINITY, "{name}, {state}"),
                    }
                }
                states += table.len();
            }
        }
    }
    println!("{states} states");
    assert!(states > 1000);
}

/// The actions of a state that are as good as the best.
fn best_actions(table: &Tabular, mdp: Mdp, residuals: &[f64], state: usize) -> Vec<usize> {
    let values = table.action_values(mdp, residuals, state);
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (0..values.len())
        .filter(|&action| values[action] >= best - CLOSE * best.abs().max(1.0))
        .collect()
}

/// Solves a task with and without shaping: the same optimal actions everywhere, and V = V̂ + φ.
/// Returns the number of states compared.
fn compare(name: &str, task: &Task, costs: Costs, gamma: f64) -> usize {
    let mut compared = 0;
    for reward in REWARDS {
        let mdp = Mdp { gamma, reward };
        let plain = explore(task, None, costs, mdp);
        let values = plain.value_iteration(mdp, STILL).residuals;
        let heuristics: [Box<dyn Heuristic>; 4] = [
            Box::new(Blind::new(task)),
            Box::new(Max::new(task, costs)),
            Box::new(Add::new(task, costs)),
            Box::new(Ff::new(task, costs)),
        ];
        for mut heuristic in heuristics {
            let place = format!(
                "{name}, {costs:?}, {reward:?}, {gamma}, {}",
                heuristic.name()
            );
            let shaped = explore(task, Some(heuristic.as_mut()), costs, mdp);
            let residuals = shaped.value_iteration(mdp, STILL).residuals;
            for state in 0..shaped.len() {
                let potential = shaped.potential(state);
                assert!(
                    close(residuals[state] + potential, values[state]),
                    "{place}, state {state}: {} + {potential}, not {}",
                    residuals[state],
                    values[state]
                );
                if !shaped.is_goal(state) && values[state].is_finite() {
                    assert_eq!(
                        best_actions(&shaped, mdp, &residuals, state),
                        best_actions(&plain, mdp, &values, state),
                        "{place}, state {state}"
                    );
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn shaping_changes_no_optimal_policy_and_the_value_is_residual_plus_potential() {
    let mut compared = 0;
    for (name, task) in fixtures() {
        for costs in [Costs::Task, Costs::Unit] {
            for gamma in GAMMAS {
                compared += compare(&name, &task, costs, gamma);
            }
        }
    }
    println!("{compared} states compared");
    assert!(compared > 10_000);
}

#[test]
fn shaping_changes_no_optimal_policy_in_the_eight_domains() {
    let Some(folder) = shared("instances") else {
        return;
    };
    for name in [
        "blocks",
        "ferry",
        "gripper",
        "logistics",
        "miconic",
        "parking",
        "satellite",
        "visitall",
    ] {
        let folder = folder.join(name);
        let mut problems = problem_files(&folder);
        problems.sort_by_key(|path| {
            let size = std::fs::metadata(path).expect("a file").len();
            (size, path.clone())
        });
        let domain = folder.join("domain.pddl");
        let fits = problems.iter().take(5).find_map(|path| {
            let task = task(&load(&domain, path))?;
            let mdp = Mdp {
                gamma: 0.999,
                reward: Reward::Cost,
            };
            let table = Tabular::explore(&task, None, Costs::Unit, mdp, LIMIT).ok()?;
            (!table.is_goal(0) && table.len() > 1).then_some(task)
        });
        match fits {
            Some(task) => {
                let compared = compare(name, &task, Costs::Unit, 0.999);
                println!("{name}: {compared} states compared");
            }
            None => println!("{name}: left out, no problem has at most {LIMIT} states"),
        }
    }
}

#[test]
fn the_reward_of_0_or_1_is_worth_gamma_to_the_steps_before_the_last() {
    for (name, task) in fixtures() {
        for gamma in GAMMAS {
            let reward = Reward::Goal;
            let mdp = Mdp { gamma, reward };
            let table = explore(&task, None, Costs::Unit, mdp);
            let values = table.value_iteration(mdp, 0.0).residuals;
            for (state, h) in perfect(&table).into_iter().enumerate() {
                let wanted = match h {
                    Some(0) => 0.0,
                    Some(h) => gamma.powi(h as i32 - 1),
                    None => f64::NEG_INFINITY,
                };
                let found = values[state];
                assert!(
                    close(found, wanted),
                    "{name}, state {state}: {found}, not {wanted}"
                );
            }
        }
    }
}

/// The sum of γ^t for t = 0..h with γ = 0.999999, in integers of 24 decimals: s ← 1 + s − s/10⁶.
#[test]
fn the_discounted_heuristic_at_six_nines_is_right_to_nine_digits() {
    const ONE: u128 = 1_000_000_000_000_000_000_000_000;
    let mut sum: u128 = 0;
    let mut worst: f64 = 0.0;
    for h in 1..=3_000_000u32 {
        sum = ONE + sum - sum / 1_000_000;
        if h < 2_000 || h % 1_009 == 0 {
            let exact = sum as f64 / ONE as f64;
            let found = discounted(f64::from(h), 0.999_999);
            worst = worst.max((found / exact - 1.0).abs());
        }
    }
    println!("largest relative error {worst:e}");
    assert!(worst <= 1e-9, "{worst:e}");
    assert_eq!(discounted(0.0, 0.999_999), 0.0);
    // Why it is computed in f64: in f32 the very first step is off by more than 1 %.
    let gamma = 0.999_999f32;
    let single = f64::from((1.0 - gamma) * 1e6);
    assert!((single - 1.0).abs() > 0.01);
}

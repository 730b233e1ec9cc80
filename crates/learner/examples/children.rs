//! What scoring a child costs by difference, from scratch, and by h_FF, on problems of a domain.
//!
//! `children DOMAIN PROBLEM...`: weights are random, for all colours met on a random walk; so every
//! look-up that can succeed does.

#[path = "common/load.rs"]
mod load;
#[path = "common/walk.rs"]
mod walk;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use homing_learner::{CountsFunction, FeatureCounter, GraphSpec};
use homing_nlm::SplitMix64;
use homing_planner::heuristic::Ff;
use homing_planner::search::SuccessorScorer;
use homing_planner::{ActionId, Costs, Heuristic, States, Task};

fn measure(
    scorer: &mut dyn SuccessorScorer,
    walk: &[(Vec<u32>, Vec<ActionId>)],
    least: Duration,
) -> (f64, f64) {
    let start = Instant::now();
    let (mut children, mut sum, work) = (0u64, 0i64, scorer.work());
    while start.elapsed() < least {
        for (state, actions) in walk {
            scorer.enter(state);
            for &action in actions {
                sum = sum.wrapping_add(scorer.child(action).scores[0]);
            }
            children += actions.len() as u64;
        }
    }
    std::hint::black_box(sum);
    let per_child = 1.0 / children as f64;
    let microseconds = start.elapsed().as_secs_f64() * 1e6 * per_child;
    (
        microseconds,
        (scorer.work() - work) as f64 * per_child / 1000.0,
    )
}

/// Microseconds of h_FF a child.
fn measure_ff(task: &Task, walk: &[(Vec<u32>, Vec<ActionId>)], least: Duration) -> f64 {
    let mut ff = Ff::new(task, Costs::Unit);
    let (mut estimates, mut child, mut children) = (Vec::new(), Vec::new(), 0u64);
    let start = Instant::now();
    for (state, actions) in walk.iter().cycle() {
        for &action in actions.iter().take(20) {
            child.clone_from(state);
            task.apply(action, &mut child);
            estimates.clear();
            ff.evaluate(States::one(&child), &mut estimates);
            children += 1;
        }
        if start.elapsed() >= least {
            break;
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / children as f64
}

#[allow(clippy::print_stdout)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for problem in &arguments[1..] {
        let task = load::load(&arguments[0], problem);
        let walk: Vec<_> = walk::walk(&task).take(300).collect();
        let spec = GraphSpec::of_tasks(&[&task], 2, true);
        let mut counter = FeatureCounter::new(&task, &spec);
        let colours: BTreeSet<u64> = walk
            .iter()
            .flat_map(|(state, _)| counter.count(state))
            .map(|(colour, _)| colour)
            .collect();
        let mut random = SplitMix64::new(2);
        let weights: Vec<(u64, [i32; 2])> = colours
            .iter()
            .map(|&colour| {
                (
                    colour,
                    [0; 2].map(|_: i32| random.below(9999) as i32 - 5000),
                )
            })
            .collect();
        let function = CountsFunction::new(spec, 2, weights);
        let second = Duration::from_secs(1);
        let (by_difference, counted) = measure(&mut *function.scorer(&task), &walk, second);
        let (from_scratch, _) = measure(
            &mut *function.scratch_scorer(&task),
            &walk[..walk.len().min(20)],
            second / 2,
        );
        let by_ff = measure_ff(&task, &walk, second / 2);
        let name = Path::new(problem).with_extension("");
        println!(
            "{:<44} objects {:>4} propositions {:>6} colours {:>5} | by difference {by_difference:.3} us a child \
             (counted as {counted:.3}), from scratch {from_scratch:.2}, h_FF {by_ff:.2}",
            name.display(),
            task.problem().objects.len(),
            task.propositions().len(),
            colours.len(),
        );
    }
}

//! One update and one evaluation of the graph network, timed on one thread, and the same states and
//! weights as JSON for another program: `gnn_peer DOMAIN WIDTH STEPS OUT PROBLEM...`. The script
//! `dev/peers/gnn.py` runs it.

// What it measures is what it prints.
#![allow(clippy::print_stdout)]

#[path = "common/clock.rs"]
mod clock;
#[path = "common/load.rs"]
mod load;

use homing_learner::gnn_probe::Probe;
use homing_learner::{Compute, GnnConfig, GnnTrainer};
use homing_planner::Task;

/// Seconds of one run: the least of five means over runs that take long enough for the clock, which
/// moves on with the scheduler's ticks.
fn best(mut work: impl FnMut()) -> f64 {
    let means = (0..5).map(|_| clock::mean_over(0.2, &mut work));
    means.fold(f64::INFINITY, f64::min)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [domain, width, steps, out, problems @ ..] = arguments.as_slice() else {
        panic!("gnn_peer DOMAIN WIDTH STEPS OUT PROBLEM...");
    };
    let tasks: Vec<Task> = problems
        .iter()
        .map(|path| load::load(domain, path))
        .collect();
    let steps: usize = steps.parse().expect("a number");
    let config = GnnConfig {
        width: width.parse().expect("a number"),
        batch: steps,
        ..GnnConfig::default()
    };
    let mut trainer = GnnTrainer::new(&tasks, config, 1, Compute::from(1)).expect("it can begin");
    let mut probe = Probe::new(&mut trainer, steps);
    let json = serde_json::json!({ "parameters": probe.parameters(), "graphs": probe.graphs() });
    std::fs::write(out, json.to_string()).expect("it can be written");
    let mut sums = (0.0, 0.0);
    let mut with = probe.evaluation();
    let evaluation = best(|| sums = probe.evaluate(64, &mut with));
    let alone = best(|| {
        probe.evaluate(1, &mut with);
    });
    let gathered = probe.gather();
    let error = probe.update(&gathered);
    let update = best(|| {
        probe.update(&gathered);
    });
    let json = serde_json::json!({
        "update_seconds": update, "evaluation_seconds": evaluation,
        "alone_seconds": alone, "values": sums.0, "logits": sums.1, "value_error": error,
    });
    println!("{json}");
}

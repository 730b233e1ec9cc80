//! One update and one evaluation of the graph network, timed on one thread, and the same states and
//! weights as JSON for another program: `gnn_peer DOMAIN WIDTH STEPS OUT PROBLEM...`. The script
//! `dev/peers/gnn.py` runs it.

use std::sync::Arc;

use homing_learner::gnn_probe::Probe;
use homing_learner::{Compute, GnnConfig, GnnTrainer};
use homing_pddl::{Source, read_problem};
use homing_planner::{Task, ground};

/// Seconds that this thread has run so far, whatever else the machine does; of Linux.
fn cpu_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = times.split_whitespace().next().expect("three numbers");
    first.parse::<f64>().expect("nanoseconds") / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [domain, width, steps, out, problems @ ..] = arguments.as_slice() else {
        panic!("gnn_peer DOMAIN WIDTH STEPS OUT PROBLEM...");
    };
    let read = |path: &String| Source::new(path, std::fs::read(path).expect("a file"));
    let domain = read(domain);
    let tasks: Vec<Task> = problems
        .iter()
        .map(|path| {
            let (problem, messages) = read_problem(&domain, &read(path));
            let problem = problem.unwrap_or_else(|| panic!("{messages}"));
            ground(&Arc::new(problem), &mut ()).expect("it has a plan")
        })
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
    let mut evaluation = f64::INFINITY;
    let mut alone = f64::INFINITY;
    let mut sums = (0.0, 0.0);
    for _ in 0..5 {
        let start = cpu_seconds();
        sums = probe.evaluate(64);
        evaluation = evaluation.min(cpu_seconds() - start);
        let start = cpu_seconds();
        probe.evaluate(1);
        alone = alone.min(cpu_seconds() - start);
    }
    let gathered = probe.gather();
    let mut update = f64::INFINITY;
    let mut error = None;
    for _ in 0..5 {
        let start = cpu_seconds();
        let found = probe.update(&gathered);
        update = update.min(cpu_seconds() - start);
        error.get_or_insert(found);
    }
    let json = serde_json::json!({
        "update_seconds": update, "evaluation_seconds": evaluation,
        "alone_seconds": alone, "values": sums.0, "logits": sums.1, "value_error": error,
    });
    println!("{json}");
}

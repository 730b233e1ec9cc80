//! Trains the graph network without the command line, for a machine where that takes long to build:
//! `gnn_train OUT ITERATIONS EPISODES UPDATES RATE WIDTH DOMAIN PROBLEM...`, one thread, seed 0. The
//! model is the one that `homing train --learner gnn` writes. It goes on from `OUT.checkpoint`.

// What it does is what it prints.
#![allow(clippy::print_stdout)]

#[path = "common/load.rs"]
mod load;

use homing_learner::{Compute, GnnConfig, GnnTrainer};
use homing_planner::Task;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [
        out,
        iterations,
        episodes,
        updates,
        rate,
        width,
        domain,
        problems @ ..,
    ] = arguments.as_slice()
    else {
        panic!("gnn_train OUT ITERATIONS EPISODES UPDATES RATE WIDTH DOMAIN PROBLEM...");
    };
    let tasks: Vec<Task> = problems
        .iter()
        .map(|path| load::load(domain, path))
        .collect();
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let config = GnnConfig {
        iterations: number(iterations) as u64,
        episodes: number(episodes),
        updates: number(updates),
        learning_rate: rate.parse().expect("a number"),
        width: number(width),
        ..GnnConfig::default()
    };
    let checkpoint = format!("{out}.checkpoint");
    let compute = Compute::from(1);
    let mut trainer = match std::fs::read(&checkpoint) {
        Ok(bytes) => GnnTrainer::resume(&tasks, &bytes, compute).expect("of this run"),
        Err(_) => GnnTrainer::new(&tasks, config.clone(), 0, compute).expect("it can begin"),
    };
    trainer.set_iterations(config.iterations);
    while trainer.iteration() < config.iterations {
        let record = trainer.step().expect("it goes on");
        println!("{record:?}");
        if record.iteration % 5 == 0 || record.iteration == config.iterations {
            let bytes = trainer.checkpoint().expect("a checkpoint");
            std::fs::write(&checkpoint, bytes).expect("it can be written");
            let model = trainer.model().to_file().expect("a model");
            std::fs::write(out, model).expect("it can be written");
        }
    }
}

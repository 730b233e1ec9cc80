//! Trains on the problems of a folder and prints goals reached, loss and where the time went.
//!
//! `cargo run --release -p homing-learner --example goals -- FOLDER HEURISTIC STEPS LAYERS SEED`

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use homing_learner::{TrainConfig, Trainer};
use homing_pddl::{Source, read_problem};
use homing_planner::{Task, ground};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, heuristic, steps, layers, seed] = arguments.as_slice() else {
        return Err("FOLDER HEURISTIC STEPS LAYERS SEED".into());
    };
    let read = |path: &std::path::Path| -> std::io::Result<Arc<Source>> {
        Ok(Source::new(
            path.display().to_string(),
            std::fs::read(path)?,
        ))
    };
    let folder = std::path::Path::new(folder);
    let domain = read(&folder.join("domain.pddl"))?;
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut tasks: Vec<Task> = Vec::new();
    for path in paths
        .iter()
        .filter(|p| !p.ends_with("domain.pddl") && p.extension().is_some_and(|e| e == "pddl"))
    {
        let (problem, messages) = read_problem(&domain, &read(path)?);
        let problem = problem.ok_or_else(|| messages.to_string())?;
        tasks.push(ground(&Arc::new(problem), &mut ())?);
    }
    let config = TrainConfig {
        heuristic: heuristic.parse()?,
        steps: steps.parse()?,
        layers: layers.parse()?,
        ..TrainConfig::reference()
    };
    let start = std::time::Instant::now();
    let mut trainer = Trainer::new(&tasks, config.clone(), seed.parse()?, 1)?;
    let mut loss = 0.0;
    for step in 1..=config.steps {
        let record = trainer.step()?;
        if let Some(sgd) = record.sgd {
            loss = 0.99 * loss + 0.01 * sgd.loss;
        }
        if step % (config.steps / 5).max(1) == 0 {
            println!(
                "step {step}: {} goals, {} resets, loss {loss:.4}, {:.2} s",
                record.goals,
                record.resets,
                start.elapsed().as_secs_f64()
            );
        }
    }
    println!("{:?}", trainer.timings());
    Ok(())
}

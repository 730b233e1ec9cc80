//! Fills the folder of an experiment with records of runs that were never made, to see how homing
//! bears experiments of any size. `dev/slurm/scale` uses it.
//!
//!     cargo run --release --example simulate_experiment FILE DIR

#![allow(clippy::print_stdout)]

use std::io::Write as _;
use std::path::PathBuf;

use homing_lab::experiment::Plan;
use homing_lab::layout::ExperimentFolder;
use homing_lab::record::Outcome;
use homing_lab::suite::text_hash;

/// Processes that shared the work.
const PARTS: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(file), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: simulate_experiment FILE DIR".into());
    };
    let loaded = homing::experiment::load(&file, &())?;
    let folder = ExperimentFolder::new(folder);
    std::fs::create_dir_all(folder.parts())?;
    std::fs::create_dir_all(folder.models())?;
    std::fs::write(folder.spec(), &loaded.bytes)?;
    trainings(&folder, &loaded.plan)?;
    evaluations(&folder, &loaded.plan)?;
    let (models, runs) = (loaded.plan.trainings.len(), loaded.plan.evaluations.len());
    println!("{models} models and {runs} searches");
    Ok(())
}

/// Models as large as real ones, and what is read of their records.
fn trainings(folder: &ExperimentFolder, plan: &Plan) -> Result<(), Box<dyn std::error::Error>> {
    let mut records = String::new();
    for task in &plan.trainings {
        let model = task.key.repeat(2000);
        std::fs::write(folder.file(&task.model), &model)?;
        let (key, hash) = (&task.key, text_hash(model.as_bytes()));
        records.push_str(&format!(
            r#"{{"format":1,"key":"{key}","model_sha256":"{hash}","cpu_seconds":60.0}}"#
        ));
        records.push('\n');
    }
    std::fs::write(folder.parts().join("simulated.training.jsonl"), records)?;
    Ok(())
}

/// Nine of ten searches are done.
fn evaluations(folder: &ExperimentFolder, plan: &Plan) -> Result<(), Box<dyn std::error::Error>> {
    for (part, tasks) in plan
        .evaluations
        .chunks(plan.evaluations.len().div_ceil(PARTS).max(1))
        .enumerate()
    {
        let name = format!("simulated-{part}.evaluations.jsonl");
        let file = std::fs::File::create(folder.parts().join(name))?;
        let mut file = std::io::BufWriter::new(file);
        for task in tasks.iter().skip(tasks.len() / 10) {
            let mut record = task.planned.clone();
            record.outcome = Outcome::Solved;
            record.cpu_seconds = task.cost / 3.0;
            serde_json::to_writer(&mut file, &record)?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
    }
    Ok(())
}

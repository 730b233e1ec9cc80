//! How homing bears an experiment of half a million tasks. Nothing of it is run: records are made up.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use homing_lab::experiment::Plan;
use homing_lab::layout::ExperimentFolder;
use homing_lab::record::Outcome;
use homing_lab::suite::text_hash;

use crate::runs::{Run, root};

/// Processes that shared the work.
const PARTS: usize = 1000;

/// Models as large as real ones, and what is read of their records.
fn make_up_trainings(folder: &ExperimentFolder, plan: &Plan) {
    let mut records = String::new();
    for task in &plan.trainings {
        let model = task.key.repeat(2000);
        std::fs::write(folder.file(&task.model), &model).expect("a model");
        let (key, hash) = (&task.key, text_hash(model.as_bytes()));
        records.push_str(&format!(
            "{{\"format\":1,\"key\":\"{key}\",\"model_sha256\":\"{hash}\",\"cpu_seconds\":60.0}}\n"
        ));
    }
    let path = folder.parts().join("made-up.training.jsonl");
    std::fs::write(path, records).expect("records");
}

/// All searches but the first tenth of each part; how many.
fn make_up_searches(folder: &ExperimentFolder, plan: &Plan) -> usize {
    let mut done = 0;
    let parts = plan
        .evaluations
        .chunks(plan.evaluations.len().div_ceil(PARTS));
    for (part, tasks) in parts.enumerate() {
        let path = folder
            .parts()
            .join(format!("made-up-{part}.evaluations.jsonl"));
        let mut text = Vec::new();
        for task in tasks.iter().skip(tasks.len() / 10) {
            let mut record = task.planned.clone();
            record.outcome = Outcome::Solved;
            record.cpu_seconds = task.cost / 3.0;
            serde_json::to_writer(&mut text, &record).expect("a record");
            text.push(b'\n');
            done += 1;
        }
        let mut file = std::fs::File::create(path).expect("a file");
        file.write_all(&text).expect("records");
    }
    done
}

/// Runs the command, and prints what it took.
fn measured(arguments: &[&str], folder: &Path) -> Run {
    let mut command = Command::new("/usr/bin/time");
    command
        .args(["-f", "%e s, %U s of a core, %M KiB"])
        .arg(env!("CARGO_BIN_EXE_homing"))
        .args(arguments)
        .current_dir(folder);
    let run = Run::from(command.output().expect("GNU time")).ends_with(0);
    eprintln!("{arguments:?}: {}", run.stderr.trim());
    run
}

#[test]
#[ignore = "half a gigabyte of records, and half a minute"]
fn half_a_million_tasks_are_planned_cut_and_counted() {
    let place = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(root().join("experiments/table1-coverage.toml"));
    let text = text
        .expect("an experiment")
        .replace("seeds = 20", "seeds = 61");
    let file = place.path().join("large.toml");
    std::fs::write(&file, &text).expect("a file");
    let options = ["--on", "slurm", "--max-array-size", "1001", "--dry-run"];
    let submit = [
        &["experiment", "large.toml", "--out", "out"],
        options.as_slice(),
    ]
    .concat();
    measured(&submit, place.path());

    let plan = homing::experiment::load(&file, &()).expect("a plan").plan;
    assert!(plan.tasks().count() > 500_000);
    let folder = ExperimentFolder::new(place.path().join("out"));
    std::fs::create_dir_all(folder.parts()).expect("a folder");
    std::fs::create_dir_all(folder.models()).expect("a folder");
    std::fs::write(folder.spec(), text).expect("a file");
    make_up_trainings(&folder, &plan);
    let done = make_up_searches(&folder, &plan);

    let run = measured(&["experiment", "status", "out"], place.path());
    let counted = |row: &str| run.line(row).split_whitespace().next().map(str::to_owned);
    assert_eq!(counted("search"), Some(done.to_string()), "{run:#?}");
    assert_eq!(counted("train"), Some(plan.trainings.len().to_string()));
    let run = measured(&submit, place.path());
    assert!(!run.stdout.contains("train: "), "all models are there");
    assert!(run.stdout.contains("search: "), "{run:#?}");
}

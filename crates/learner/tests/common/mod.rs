//! What the learner's tests share: problems, small configurations, short runs.

// Each test file uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_learner::{Model, StepRecord, Tabular, TrainConfig, Trainer};
use homing_pddl::{Problem, Source, read_problem};
use homing_planner::{GroundError, Task, ground};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of shared problems beside the repository, if it is there.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let shared = root().join("../shared").join(folder);
    if shared.is_dir() {
        Some(shared)
    } else {
        eprintln!("skipped: there is no `shared/{folder}` beside the repository");
        None
    }
}

pub fn parse_texts(domain: &str, problem: &str) -> Arc<Problem> {
    let (problem, messages) = read_problem(
        &Source::new("domain.pddl", domain.as_bytes().to_vec()),
        &Source::new("problem.pddl", problem.as_bytes().to_vec()),
    );
    Arc::new(problem.unwrap_or_else(|| panic!("{messages}\n{domain}")))
}

pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn load(domain: &Path, problem: &Path) -> Arc<Problem> {
    parse_texts(&text(domain), &text(problem))
}

/// The problem files of a folder, by name.
pub fn problem_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".pddl") && !name.starts_with("domain")
        })
        .collect();
    files.sort();
    files
}

/// Grounds a problem; `None` if it has no plan.
pub fn task(problem: &Arc<Problem>) -> Option<Task> {
    match ground(problem, &mut ()) {
        Ok(task) => Some(task),
        Err(GroundError::Unsolvable { .. }) => None,
        Err(error) => panic!("{}: {error}", problem.name),
    }
}

/// The problems of a folder under `fixtures/valid` that have a plan.
pub fn fixture(folder: &str) -> Vec<Task> {
    let folder = root().join("fixtures/valid").join(folder);
    let domain = folder.join("domain.pddl");
    let problems = problem_files(&folder);
    assert!(!problems.is_empty(), "{} is empty", folder.display());
    problems
        .iter()
        .filter_map(|path| task(&load(&domain, path)))
        .collect()
}

/// All of `fixtures/valid` that have a plan, as (name, task).
pub fn fixtures() -> Vec<(String, Task)> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("fixtures/valid"))
        .expect("fixtures/valid is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    let mut tasks = Vec::new();
    for folder in folders {
        let folder = folder.file_name().expect("a name").to_string_lossy();
        for task in fixture(&folder) {
            tasks.push((format!("{folder}/{}", task.problem().name), task));
        }
    }
    assert!(tasks.len() >= 15, "fixtures/valid is missing");
    tasks
}

/// A run in which everything happens within a hundred steps: SGD begins, the target network is
/// renewed, the replay memory overflows, episodes end.
pub fn hasty() -> TrainConfig {
    TrainConfig {
        steps: 100,
        layers: 4,
        features: 4,
        batch_size: 8,
        target_every: 10,
        replay_capacity: 40,
        warm_up: 20,
        max_episode_length: 7,
        ..TrainConfig::reference()
    }
}

/// Trains to the end; what every step did, and the model.
pub fn finish(mut trainer: Trainer<'_>) -> (Vec<StepRecord>, Model) {
    let mut records = Vec::new();
    while trainer.steps() < trainer.config().steps {
        records.push(trainer.step().expect("training goes on"));
    }
    (records, trainer.model())
}

/// A model of a short run.
pub fn train(tasks: &[Task], config: &TrainConfig, seed: u64, threads: usize) -> Model {
    let trainer = Trainer::new(tasks, config.clone(), seed, threads).expect("training begins");
    finish(trainer).1
}

/// h* of every state, by relaxing all edges until nothing changes; `None` where there is no way.
pub fn perfect(table: &Tabular) -> Vec<Option<u64>> {
    let mut h: Vec<Option<u64>> = (0..table.len())
        .map(|state| table.is_goal(state).then_some(0))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for state in 0..table.len() {
            for &(next, cost) in table.successors(state) {
                if let Some(way) = h[next].map(|rest| rest + u64::from(cost))
                    && h[state].is_none_or(|known| way < known)
                {
                    h[state] = Some(way);
                    changed = true;
                }
            }
        }
    }
    h
}

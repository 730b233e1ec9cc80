//! Scores by difference against scores from scratch in the domains of the shared folder, where it
//! is there: conditional effects, axioms, negation and large problems among them.

mod common;

use std::path::{Path, PathBuf};

use common::{problem_files, shared};
use homing_learner::{CountsFunction, FeatureCounter, GraphSpec};
use homing_nlm::SplitMix64;
use homing_pddl::{Source, read_problem};
use homing_planner::{SuccessorGenerator, Task, ground};

/// Files larger than this take too long to ground in a test.
const LARGEST_FILE: u64 = 6_000;

/// The largest of the small problems of a folder, as a task, if there is one that can be read.
fn largest_of_the_small(folder: &Path) -> Option<Task> {
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(u64::MAX, |data| data.len());
    let small = problem_files(folder).into_iter();
    let problem = small.filter(|p| size(p) <= LARGEST_FILE).max_by_key(size)?;
    // A domain for all problems, or one for each.
    let name = problem.file_name()?.to_string_lossy().into_owned();
    let domain = [
        folder.join("domain.pddl"),
        folder.join(format!("domain-{name}")),
        folder.join(format!("domain_{name}")),
    ];
    let domain = domain.into_iter().find(|path| path.is_file())?;
    let read = |path: &Path| {
        let text = std::fs::read(path).expect("a file");
        Source::new(path.display().to_string(), text)
    };
    let (problem, _) = read_problem(&read(&domain), &read(&problem));
    ground(&std::sync::Arc::new(problem?), &mut ()).ok()
}

/// Compares along a random walk; how many children were compared.
fn compare(name: &str, task: &Task) -> usize {
    let mut random = SplitMix64::new(3);
    let spec = GraphSpec::of_tasks(&[task], 2, true);
    let generator = SuccessorGenerator::new(task);
    let (mut state, mut actions) = (task.initial_state(), Vec::new());
    let mut walk = Vec::new();
    for _ in 0..12 {
        walk.push(state.clone());
        generator.applicable(&state, &mut actions);
        if actions.is_empty() {
            state = task.initial_state();
        } else {
            task.apply(actions[random.below(actions.len())], &mut state);
        }
    }
    let mut counter = FeatureCounter::new(task, &spec);
    let mut colours: Vec<u64> = walk
        .iter()
        .flat_map(|state| counter.count(state))
        .map(|(colour, _)| colour)
        .collect();
    colours.sort_unstable();
    colours.dedup();
    let weights = colours.into_iter().map(|colour| {
        let weight = [0; 2].map(|_: i32| random.below(20_000) as i32 - 10_000);
        (colour, weight)
    });
    let function = CountsFunction::new(spec, 2, weights.collect());
    let mut difference = function.scorer(task);
    let mut scratch = function.scratch_scorer(task);
    let mut compared = 0;
    for state in &walk {
        difference.enter(state);
        scratch.enter(state);
        assert_eq!(difference.scores(), scratch.scores(), "{name}");
        generator.applicable(state, &mut actions);
        for &action in actions.iter().take(40) {
            assert_eq!(difference.child(action), scratch.child(action), "{name}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn scores_by_difference_are_those_from_scratch_in_every_shared_domain() {
    for collection in [
        "benchmarks",
        "benchmarks-adl",
        "learning-track",
        "instances",
    ] {
        let Some(collection) = shared(collection) else {
            continue;
        };
        let (mut domains, mut compared) = (0, 0);
        let mut folders: Vec<PathBuf> = std::fs::read_dir(&collection)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_dir())
            .collect();
        folders.sort();
        for folder in folders {
            if let Some(task) = largest_of_the_small(&folder) {
                domains += 1;
                compared += compare(&folder.display().to_string(), &task);
            }
        }
        assert!(domains >= 5, "{}: {domains}", collection.display());
        assert!(compared > 300, "{}: {compared}", collection.display());
    }
}

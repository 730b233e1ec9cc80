//! Learning from the problem at hand: cut, fit, search; one line a problem.
//!
//!     cargo run --release -p homing-learner --example at_hand -- [SETTING=VALUE...] FOLDER...
//!
//! Settings: `work` (seconds of search, counted), `share` (of the learned worker; 1: it works alone),
//! `seed`, `at` (percent of the list by size, several with commas), `samples` of a cut, and some of
//! `CutConfig` by name.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use homing_learner::{
    CountsConfig, CutConfig, Cutter, GraphSpec, RankingConfig, TrainingProblem, TrainingSet, fit,
};
use homing_nlm::SplitMix64;
use homing_pddl::{Source, read_problem};
use homing_planner::heuristic::{Costs, Ff, Heuristic};
use homing_planner::search::{Deferred, DeferredConfig, Limits, Outcome};
use homing_planner::{Task, ground};

struct Options {
    folders: Vec<PathBuf>,
    work: f64,
    share: f64,
    seed: u64,
    samples: usize,
    at: Vec<usize>,
    cut: CutConfig,
}

fn options() -> Options {
    let mut options = Options {
        folders: Vec::new(),
        work: 2.0,
        share: 1.0,
        seed: 1,
        samples: 60,
        at: vec![55, 75, 100],
        cut: CutConfig::default(),
    };
    for word in std::env::args().skip(1) {
        match word.split_once('=') {
            Some((name, value)) => set(&mut options, name, value),
            None => options.folders.push(PathBuf::from(word)),
        }
    }
    options
}

fn set(options: &mut Options, name: &str, value: &str) {
    let number: f64 = value.parse().unwrap_or(0.0);
    let cut = &mut options.cut;
    match name {
        "work" => options.work = number,
        "share" => options.share = number,
        "seed" => options.seed = number as u64,
        "samples" => options.samples = number as usize,
        "at" => options.at = value.split(',').filter_map(|n| n.parse().ok()).collect(),
        "cuts" => cut.cuts = number as usize,
        "states" => cut.states = number as u64,
        "space" => cut.space.1 = number as usize,
        "least" => cut.space.0 = number as usize,
        "goals" => cut.goals = number as usize,
        "extras" => cut.extras = number as usize,
        "all_goals" => cut.all_goals = number,
        "from_trails" => cut.from_trails = number,
        "from_plans" => cut.from_plans = number,
        "trail_parts" => cut.trail_parts = number,
        "repair" => cut.repair = number > 0.0,
        "shrink_plans" => cut.shrink_plans = number,
        "whole_types" => cut.whole_types = number,
        _ => println!("no setting {name}"),
    }
}

fn main() {
    let options = options();
    let mut solved = (0, 0);
    for folder in &options.folders {
        let mut here = (0, 0);
        for file in chosen(folder, &options.at) {
            if let Some(task) = load(&folder.join("domain.pddl"), &file) {
                here.1 += 1;
                here.0 += u32::from(run(&file, &task, &options));
            }
        }
        println!("{:<34} {} of {}", folder.display(), here.0, here.1);
        solved = (solved.0 + here.0, solved.1 + here.1);
    }
    println!("solved {} of {}", solved.0, solved.1);
}

/// The problem files of a folder to look at.
fn chosen(folder: &Path, at: &[usize]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(u64, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".pddl") && !name.starts_with("domain")
        })
        .map(|path| (path.metadata().map_or(0, |m| m.len()), path))
        .collect();
    files.sort();
    let place = |percent: &usize| (files.len() * percent).div_ceil(100).max(1) - 1;
    let some = at.iter().filter(|_| !files.is_empty()).map(place);
    some.map(|index| files[index].1.clone()).collect()
}

fn load(domain: &Path, problem: &Path) -> Option<Task> {
    let source = |path: &Path| {
        let bytes = std::fs::read(path).ok()?;
        Some(Source::new(path.display().to_string(), bytes))
    };
    let (problem, _) = read_problem(&source(domain)?, &source(problem)?);
    ground(&Arc::new(problem?), &mut ()).ok()
}

fn run(file: &Path, task: &Task, options: &Options) -> bool {
    let start = Instant::now();
    let report = Cutter::new(task, options.cut.clone(), options.seed).cut(&mut ());
    let cutting = start.elapsed().as_secs_f64();
    let mut random = SplitMix64::new(options.seed);
    let problems: Vec<TrainingProblem> = report
        .cuts
        .iter()
        .map(|cut| TrainingProblem {
            task: Arc::clone(&cut.task),
            samples: cut.space.sample(options.samples, &mut random),
        })
        .collect();
    drop(report.cuts);
    let set = TrainingSet { problems };
    let spec = GraphSpec::of_tasks(&[task], 2, true);
    let (function, fitted) = fit(
        &set,
        &spec,
        &CountsConfig::default(),
        &RankingConfig::default(),
        options.seed,
    );
    let fitting = start.elapsed().as_secs_f64() - cutting;
    let config = DeferredConfig {
        share: options.share,
        ..DeferredConfig::default()
    };
    let mut heuristics: Vec<Box<dyn Heuristic>> = Vec::new();
    if options.share < 1.0 {
        heuristics.push(Box::new(Ff::new(task, Costs::Unit)));
    }
    let mut search = Deferred::new(task, heuristics, config);
    search.add_scorer(function.scorer(task));
    let work = Some((options.work * 1e9) as u64);
    let outcome = search.run(Limits::default(), work, &mut ());
    let searching = start.elapsed().as_secs_f64() - cutting - fitting;
    let steps = match &outcome {
        Outcome::Solved(plan) => Some(plan.steps.len()),
        _ => None,
    };
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    println!(
        "{:<34.34} {:<4} {:>5} | {:>3} cuts {cutting:>5.2}s fit {fitting:>5.2}s acc {:>5.3} {:>5.3} feats {:>5} | search {searching:>5.2}s exp {:>7} stored {:>7}",
        format!("{}/{name}", folder.to_string_lossy()),
        if steps.is_some() { "ok" } else { "--" },
        steps.unwrap_or(0),
        report.statistics.cuts,
        fitted.accuracy.first().unwrap_or(&0.0),
        fitted.accuracy.get(1).unwrap_or(&0.0),
        fitted.features,
        search.statistics().expansions,
        search.statistics().stored,
    );
    steps.is_some()
}

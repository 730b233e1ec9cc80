//! How problems are cut: one line a problem.
//!
//!     cargo run --release -p homing-learner --example cuts -- FOLDER...
//!
//! Of each folder (with `domain.pddl` and problems) three problems are cut: those at 40, 70 and
//! 100 % of the list by size. `--seed N`, `--all` for every problem, `--write DIR` for the cuts as
//! files.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use homing_learner::{CutConfig, CutReport, Cutter};
use homing_pddl::{Source, read_problem};
use homing_planner::{Task, ground};

struct Options {
    folders: Vec<PathBuf>,
    seed: u64,
    all: bool,
    write: Option<PathBuf>,
}

fn options() -> Options {
    let mut options = Options {
        folders: Vec::new(),
        seed: 1,
        all: false,
        write: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => options.seed = words.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "--all" => options.all = true,
            "--write" => options.write = words.next().map(PathBuf::from),
            folder => options.folders.push(PathBuf::from(folder)),
        }
    }
    options
}

fn main() {
    let options = options();
    println!(
        "{:<34} {:>8} {:>5} | {:>4} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>4} {:>8} | {:>6} {:>4} {:>4} {:>4} {:>4} | {:>3} {:>6} {:>6}",
        "problem",
        "actions",
        "goals",
        "cuts",
        "tries",
        "large",
        "fores",
        "unrea",
        "unsol",
        "dupl",
        "triv",
        "states",
        "median",
        "dist",
        "max",
        "objs",
        "dead",
        "kact",
        "first",
        "secs"
    );
    for folder in &options.folders {
        for file in chosen(folder, options.all) {
            let Some(task) = load(&folder.join("domain.pddl"), &file) else {
                println!("{} not grounded", file.display());
                continue;
            };
            cut(&file, &task, &options);
        }
    }
}

/// The problem files of a folder to look at.
fn chosen(folder: &Path, all: bool) -> Vec<PathBuf> {
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
    let at = |percent: usize| ((files.len() * percent).div_ceil(100)).max(1) - 1;
    if all || files.is_empty() {
        return files.into_iter().map(|(_, path)| path).collect();
    }
    [40, 70, 100]
        .map(|percent| files[at(percent)].1.clone())
        .into()
}

fn load(domain: &Path, problem: &Path) -> Option<Task> {
    let source = |path: &Path| {
        Some(Source::new(
            path.display().to_string(),
            std::fs::read(path).ok()?,
        ))
    };
    let (problem, _) = read_problem(&source(domain)?, &source(problem)?);
    ground(&Arc::new(problem?), &mut ()).ok()
}

fn cut(file: &Path, task: &Task, options: &Options) {
    let start = Instant::now();
    let mut cutter = Cutter::new(task, CutConfig::default(), options.seed);
    let first_cut = cutter.next_cut(&mut ());
    let first = start.elapsed().as_secs_f64();
    let mut report = cutter.cut(&mut ());
    let seconds = start.elapsed().as_secs_f64();
    if let Ok(Some(cut)) = first_cut {
        report.cuts.insert(0, cut);
    }
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let name = file.file_stem().unwrap_or_default();
    let label: String = format!("{}/{}", folder.to_string_lossy(), name.to_string_lossy());
    print_line(&label, task, &report, first, seconds);
    if let Some(dir) = &options.write {
        write(&dir.join(&label), &report);
    }
}

fn print_line(label: &str, task: &Task, report: &CutReport, first: f64, seconds: f64) {
    let done = &report.statistics;
    let middle = |mut numbers: Vec<usize>| {
        numbers.sort_unstable();
        (
            numbers.get(numbers.len() / 2).copied().unwrap_or(0),
            numbers.last().copied().unwrap_or(0),
        )
    };
    let of = |value: &dyn Fn(&homing_learner::Cut) -> usize| {
        middle(report.cuts.iter().map(value).collect())
    };
    let steps = |cut: &homing_learner::Cut| cut.space.distance(0).map_or(0, |d| d.steps as usize);
    let dead = report
        .cuts
        .iter()
        .filter(|cut| cut.space.dead_ends() > 0)
        .count();
    println!(
        "{:<34.34} {:>8} {:>5} | {:>4} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>4} {:>8} | {:>6} {:>4} {:>4} {:>4} {:>4} | {:>3} {:>6.2} {:>6.2}",
        label,
        task.action_count(),
        task.goal().len(),
        done.cuts,
        done.tries,
        done.too_large,
        done.foreseen,
        done.unreachable + done.not_grounded,
        done.unsolvable,
        done.duplicates,
        done.trivial,
        done.states,
        of(&|cut| cut.space.len()).0,
        of(&steps).0,
        of(&steps).1,
        of(&|cut| cut.problem.objects.len()).0,
        dead,
        done.actions / 1000,
        first,
        seconds,
    );
}

fn write(folder: &Path, report: &CutReport) {
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    for (number, cut) in report.cuts.iter().enumerate() {
        let file = folder.join(format!("cut-{:03}.pddl", number + 1));
        if let Err(error) = std::fs::write(&file, cut.to_pddl()) {
            println!("{}: {error}", file.display());
        }
    }
}

//! `homing cut`.

use std::path::{Path, PathBuf};

use clap::Args;
use homing::files::NewFolder;
use homing::input::read_bytes;
use homing::{LearnHereConfig, LimitWatch};
use homing_lab::layout::DOMAIN_FILE;
use homing_learner::{Cut as SmallProblem, CutConfig, CutStatistics, Cutter};
use homing_planner::{GroundError, Task, Watch, ground};

use crate::exit::{Exit, Failure};
use crate::input::{Warnings, domain_and_problem, load_problem};
use crate::output::print;
use crate::watch::{SearchObserver, catch_interrupts};

/// Cut small problems out of a large one
///
/// Makes a folder with the domain and a file for each small problem: a few goals of the large one,
/// the objects that a way to them needs, and what the initial state says about these. Each has a
/// plan, and so few states that it can be walked through: a training set for `homing train`. The
/// same seed gives the same problems everywhere.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing cut [OPTIONS] --out DIR [DOMAIN] PROBLEM",
    after_help = "Example:\n  homing cut --out parts domain.pddl large.pddl",
    after_long_help = "Examples:\n  \
                       homing cut --out parts domain.pddl large.pddl\n  \
                       homing train --out m.safetensors parts\n\n\
                       docs/cutting.md says how problems are cut. `homing solve` does the same by \
                       itself where a problem is hard."
)]
pub(crate) struct Cut {
    /// The domain and the problem; without DOMAIN, `domain.pddl` or `domain-PROBLEM` is taken
    #[arg(required = true, num_args = 1..=2, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// The folder to make
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,

    /// How many problems to cut at the most [default: 200]
    #[arg(long, value_name = "N", help_heading = "Drawing")]
    cuts: Option<usize>,

    /// Seed of what is drawn
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Drawing")]
    seed: u64,

    /// A TOML file with settings, in a section [cut], as for `homing solve` [docs/cutting.md]
    #[arg(long, value_name = "FILE", help_heading = "Drawing")]
    learn_config: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Cut) -> anyhow::Result<Exit> {
    catch_interrupts();
    let config = configuration(arguments)?;
    let (domain, problem) = domain_and_problem(&arguments.files)?;
    let folder = NewFolder::prepare(&arguments.out)?;
    let problem = load_problem(&domain, &problem, Warnings::Count)?;
    let observer = SearchObserver::new(false, false);
    let mut watch = LimitWatch::new(None, None, &observer);
    let task = match ground(&problem, &mut watch) {
        Ok(task) => task,
        Err(GroundError::Stopped { .. }) => return Err(interrupted(&observer)),
        Err(error @ GroundError::Unsolvable { .. }) => {
            observer.finish();
            return Err(Failure::because(Exit::Unsolvable, error.to_string()));
        }
        Err(error @ (GroundError::MissingCost { .. } | GroundError::Unstratified { .. })) => {
            observer.finish();
            return Err(Failure::because(Exit::BadPddl, error.to_string()));
        }
    };
    let cutter = Cutter::new(&task, config, arguments.seed);
    let cut = write_cuts(cutter, &folder, &mut watch)?;
    let Some((sizes, tried)) = cut else {
        return Err(interrupted(&observer));
    };
    observer.finish();
    if sizes.steps.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            format!(
                "no small problem could be cut out of {}: {tried}",
                problem.name
            ),
        ));
    }
    write_domain(&domain, &folder)?;
    folder.finish()?;
    print(&summary(&arguments.out, &task, sizes))?;
    Ok(Exit::Success)
}

/// The file over the defaults, and flags over the file.
fn configuration(arguments: &Cut) -> anyhow::Result<CutConfig> {
    let mut config = match &arguments.learn_config {
        Some(path) => LearnHereConfig::read(path)?.cut,
        None => CutConfig::default(),
    };
    if let Some(cuts) = arguments.cuts {
        config.cuts = cuts;
    }
    Ok(config)
}

fn interrupted(observer: &SearchObserver) -> anyhow::Error {
    observer.finish();
    Failure::silent(Exit::Interrupted)
}

/// The domain as it is, comments and all.
fn write_domain(domain: &Path, folder: &NewFolder) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(&read_bytes(domain)?).into_owned();
    Ok(folder.write(DOMAIN_FILE, &text)?)
}

/// How large the cuts are.
#[derive(Default)]
struct Sizes {
    /// Least steps to the goal.
    steps: Vec<usize>,
    states: Vec<usize>,
    objects: Vec<usize>,
}

impl Sizes {
    fn add(&mut self, cut: &SmallProblem) {
        let steps = cut.space.distance(0).map_or(0, |d| d.steps as usize);
        self.steps.push(steps);
        self.states.push(cut.space.len());
        self.objects.push(cut.problem.objects.len());
    }
}

/// Writes each cut as it comes; `None` if that was interrupted.
fn write_cuts(
    mut cutter: Cutter<'_>,
    folder: &NewFolder,
    watch: &mut dyn Watch,
) -> anyhow::Result<Option<(Sizes, CutStatistics)>> {
    let mut sizes = Sizes::default();
    loop {
        match cutter.next_cut(watch) {
            Ok(Some(cut)) => {
                sizes.add(&cut);
                let file = format!("cut-{:04}.pddl", sizes.steps.len());
                folder.write(&file, &cut.to_pddl())?;
            }
            Ok(None) => return Ok(Some((sizes, cutter.statistics().clone()))),
            Err(_) => return Ok(None),
        }
    }
}

fn summary(out: &Path, task: &Task, sizes: Sizes) -> String {
    let number = sizes.steps.len();
    let plural = if number == 1 { "" } else { "s" };
    format!(
        "{}: {number} problem{plural} cut out of {}\n  {:<10} {} of {}\n  {:<10} {}\n  {:<10} {}\n",
        out.display(),
        task.problem().name,
        "objects",
        range(sizes.objects),
        task.problem().objects.len(),
        "states",
        range(sizes.states),
        "steps",
        range(sizes.steps),
    )
}

/// "2 to 9, median 4"
fn range(mut numbers: Vec<usize>) -> String {
    numbers.sort_unstable();
    let median = numbers[numbers.len() / 2];
    let (least, most) = (numbers[0], numbers[numbers.len() - 1]);
    format!("{least} to {most}, median {median}")
}

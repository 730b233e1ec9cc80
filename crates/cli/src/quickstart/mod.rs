//! `homing quickstart`: the whole path on small blocks problems, to be looked at.
//!
//! It is an experiment like any other, whose file it writes into the folder; only what is shown is
//! its own.

mod picture;
mod table;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use homing::experiment::{Done, FolderLock, Runner};
use homing::files::{NewFolder, write_whole};
use homing::resources::threads;
use homing::{Observer, ReportRequest};
use homing_lab::DomainName;
use homing_lab::domains::{Parameters, blocks};
use homing_lab::experiment::{OwnFiles, Plan, ProblemFile, Spec};
use homing_lab::layout::{ExperimentFolder, ModelFiles};
use homing_lab::report::integer;
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::{Draw, Suite, draw};
use homing_learner::Signature;

use crate::args::parse_positive;
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::progress::duration;
use crate::watch::{catch_interrupts, finishing, interrupted};
use picture::Picture;
use table::Table;

/// See the whole path at work, in a minute or two
///
/// Draws small blocks problems, trains a correction to h_FF on them, solves larger problems with h_FF
/// and with what was learnt, and leaves a folder with the model, the plans, the records, a report and
/// the commands to do the same for a domain of your own. Started again, it goes on where it was.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  homing quickstart")]
pub(crate) struct Quickstart {
    /// The folder to leave everything in
    #[arg(
        long,
        value_name = "DIR",
        default_value = "homing-quickstart",
        help_heading = "Output"
    )]
    out: PathBuf,

    /// Seed of the training run
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "The run")]
    seed: u64,

    /// Training steps
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        value_parser = parse_positive,
        help_heading = "The run"
    )]
    steps: u64,

    /// Stop a search after so many evaluations
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000,
        value_parser = parse_positive,
        help_heading = "The run"
    )]
    max_evaluations: u64,
}

/// Of the problems to solve: blocks, and seeds that no suite uses.
const SIZES: [usize; 4] = [10, 15, 20, 25];
const SEEDS: std::ops::Range<u64> = 8_000_000..8_000_003;

/// The experiment. The paths are those of the sets of problems, which their plan names.
fn experiment_text(arguments: &Quickstart, small: &str, large: &str) -> String {
    let (seed, steps) = (arguments.seed, arguments.steps);
    let evaluations = arguments.max_evaluations;
    format!(
        "# What `homing quickstart` runs. `homing experiment` understands it too, and finds all of it done.\n\
         \n\
         title = \"Quickstart: blocks, h_FF and what was learnt\"\n\
         heuristics = [\"ff\"]\n\
         seeds = 1\n\
         first_seed = {seed}\n\
         \n\
         [train]\n\
         config.steps = {steps}\n\
         \n\
         [own.blocks]\n\
         domain = \"{small}/domain.pddl\"\n\
         train = \"{small}\"\n\
         evaluate = \"{large}\"\n\
         \n\
         [evaluate]\n\
         max_evaluations = {evaluations}\n"
    )
}

fn problems(draws: &[Draw]) -> anyhow::Result<Vec<ProblemFile>> {
    let bug = |error: homing_lab::ParameterError| Failure::because(Exit::Bug, error.to_string());
    let drawn = draw(draws, |_| {}).map_err(bug)?;
    Ok(drawn.instances.iter().map(ProblemFile::from).collect())
}

fn plan(arguments: &Quickstart) -> anyhow::Result<(Plan, String)> {
    let large = SIZES.into_iter().flat_map(|blocks| {
        let parameters = Parameters::Blocks(blocks::Parameters { blocks });
        SEEDS.map(move |seed| Draw { parameters, seed })
    });
    let domain = DomainName::Blocks;
    let own = OwnFiles {
        domain_text: domain.text().to_owned(),
        signature: Signature::of(domain.domain()),
        train: problems(&Suite::PaperTrain.draws(domain))?,
        select: Vec::new(),
        evaluate: problems(&large.collect::<Vec<_>>())?,
    };
    let own = BTreeMap::from([("blocks".to_owned(), own)]);
    let make = |text: &str| {
        let plan = Spec::parse(text).and_then(|spec| Plan::new(&spec, &own));
        plan.map_err(|error| Failure::because(Exit::Bug, error.to_string()))
    };
    // Once to learn what the folders are called.
    let folders = make(&experiment_text(arguments, "small", "large"))?;
    let [small, large] = folders.sets.as_slice() else {
        return Err(Failure::because(Exit::Bug, "two sets of problems"));
    };
    let text = experiment_text(arguments, &small.folder, &large.folder);
    Ok((make(&text)?, text))
}

pub(crate) fn run(arguments: &Quickstart) -> anyhow::Result<Exit> {
    catch_interrupts();
    let out = ExperimentFolder::new(&arguments.out);
    let (plan, text) = plan(arguments)?;
    let ours = std::fs::read_to_string(out.spec()).is_ok_and(|there| there == text);
    if !ours {
        NewFolder::refuse_if_taken(&out.path)?;
    }
    let _lock = FolderLock::take(&out)?;
    write_whole(&out.spec(), text.as_bytes())?;
    let command = std::env::current_exe()?;
    let mut runner = Runner::open(&out, &plan, &command, &CtrlC)?;
    runner.keep_plans()?;
    let live = std::io::stdout().is_terminal();
    let show = Show {
        out: &out,
        plan: &plan,
        runner: &runner,
        live,
        paint: Paint(live && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())),
    };
    show.introduce()?;
    for stage in [Show::train, Show::solve] {
        let exit = stage(&show)?;
        if exit != Exit::Success {
            return Ok(exit);
        }
    }
    show.report()
}

/// Only looks whether to stop: what is shown comes from the records.
struct CtrlC;

impl Observer for CtrlC {
    fn stopped(&self) -> bool {
        interrupted()
    }

    fn finishing(&self) {
        finishing();
    }
}

struct Show<'a> {
    out: &'a ExperimentFolder,
    plan: &'a Plan,
    runner: &'a Runner<'a>,
    /// Whether somebody looks at a terminal.
    live: bool,
    paint: Paint,
}

/// Colours, where there is a terminal and they are wanted.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Show<'_> {
    fn introduce(&self) -> anyhow::Result<()> {
        let [small, large] = [0, 1].map(|set| &self.plan.sets[set].problems);
        let solve: f64 = self.plan.evaluations.iter().map(|task| task.cost).sum();
        let limit = self.plan.evaluations[0].planned.max_evaluations;
        let workers = threads(None) as f64;
        let training = &self.plan.trainings[0];
        let stages = [
            (
                format!(
                    "draw {} small problems of blocks, {} large",
                    small.len(),
                    large.len()
                ),
                "at once".to_owned(),
            ),
            (
                format!(
                    "train on the small ones, {} steps",
                    integer(training.config.steps)
                ),
                format!("about {}", duration(training.cost)),
            ),
            (
                format!(
                    "solve these, up to {} evaluations each",
                    integer(limit.unwrap_or(0))
                ),
                format!("up to {}", duration(solve / workers)),
            ),
            ("write the report".to_owned(), "a second".to_owned()),
        ];
        let mut text = "homing learns to correct a heuristic, and plans with it.\n\n".to_owned();
        for (number, (what, time)) in stages.iter().enumerate() {
            text.push_str(&format!("{}  {what:<44} {time}\n", number + 1));
        }
        print(&text)
    }

    fn heading(&self, text: &str) -> anyhow::Result<()> {
        print(&format!("\n{}\n", self.paint.bold(text)))
    }

    /// Trains, with a picture of it.
    fn train(&self) -> anyhow::Result<Exit> {
        let task = &self.plan.trainings[0];
        let each = Picture::steps_of_a_column(task.config.steps);
        let each = integer(each);
        self.heading(&format!("Training: goals reached in each {each} steps"))?;
        let log = ModelFiles::of(self.out.file(&task.model)).log();
        let mut picture = Picture::new(log, task.config.steps, self.live, self.paint);
        if let Some(record) = Done::read(self.out, self.plan)?.training(0) {
            picture.finish(&record.curve)?;
            print("the model is there already\n")?;
            return Ok(Exit::Success);
        }
        let start = Instant::now();
        let executed = std::thread::scope(|scope| -> anyhow::Result<Executed> {
            let training = scope.spawn(|| self.runner.train(0));
            while !training.is_finished() {
                std::thread::sleep(Duration::from_millis(100));
                picture.show()?;
            }
            Ok(training.join().expect("training does not panic")?)
        })?;
        match executed {
            Executed::Done => {
                let done = Done::read(self.out, self.plan)?;
                let lost = || Failure::because(Exit::Bug, "the record of training is gone");
                let record = done.training(0).ok_or_else(lost)?;
                picture.finish(&record.curve)?;
                print(&format!(
                    "{} goals in {} episodes, {} of wall-clock time\n",
                    integer(record.goals),
                    integer(record.episodes),
                    duration(start.elapsed().as_secs_f64())
                ))?;
                Ok(Exit::Success)
            }
            Executed::Failed(reason) => Err(Failure::because(Exit::Bug, reason)),
            Executed::Stopped => Ok(self.stopped()),
        }
    }

    /// Solves each problem with h and with H, and shows them side by side.
    fn solve(&self) -> anyhow::Result<Exit> {
        self.heading("Solving larger problems: h_FF, and H = h_FF corrected")?;
        let table = Mutex::new(Table::new(self.plan, self.paint));
        let done = Done::read(self.out, self.plan)?;
        let mut entries = Vec::new();
        // Small ones first: there is something to see soon.
        let mut order: Vec<usize> = (0..self.plan.evaluations.len()).collect();
        order.sort_by_key(|&at| {
            let task = &self.plan.evaluations[at];
            (task.problem, task.training.is_some())
        });
        for at in order {
            match done.evaluation(at) {
                Some(record) => table.lock().expect("no panic").add(record)?,
                None => entries.push(Entry {
                    task: at,
                    needs: Vec::new(),
                    cost: self.plan.evaluations[at].cost,
                    group: 0,
                }),
            }
        }
        let execute = |&at: &usize| match self.runner.evaluate(at) {
            Ok(Some(record)) => {
                let failed = record.error.clone();
                match table.lock().expect("no panic").add(&record) {
                    Ok(()) => failed.map_or(Executed::Done, Executed::Failed),
                    Err(error) => Executed::Failed(error.to_string()),
                }
            }
            Ok(None) => Executed::Stopped,
            Err(error) => Executed::Failed(error.to_string()),
        };
        let statuses = schedule::run(&entries, threads(None), &interrupted, &execute, &|_| {});
        for status in statuses {
            match status {
                Status::Done => {}
                Status::Failed(reason) => return Err(Failure::because(Exit::BadInput, reason)),
                Status::Needs(_) | Status::Stopped => return Ok(self.stopped()),
            }
        }
        table.into_inner().expect("no panic").conclude()?;
        Ok(Exit::Success)
    }

    fn stopped(&self) -> Exit {
        say("\nhoming: stopped; the same command goes on\n");
        Exit::Interrupted
    }

    fn report(&self) -> anyhow::Result<Exit> {
        Done::read(self.out, self.plan)?.tidy(self.out, self.plan)?;
        self.heading("Report")?;
        crate::report::show(&homing::report(&ReportRequest::of(&self.out.path))?)?;
        let program = std::env::args_os().next();
        let program = program.map_or_else(
            || "homing".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let next = format!(
            "{program} check domain.pddl small/p01.pddl\n\
             {program} train --heuristic ff \\\n    \
             --out mine.safetensors domain.pddl small/\n\
             {program} evaluate --heuristic ff \\\n    \
             --model mine.safetensors --max-evaluations 100000 \\\n    \
             --out runs/evaluations.jsonl domain.pddl large/\n\
             {program} report runs\n"
        );
        let model = &self.plan.trainings[0].model;
        let what = format!(
            "What is where\n\
             \n\
             {model}\n    \
             what was learnt: a model for `homing solve --model` and `homing model show`\n\
             plans/\n    \
             a plan for every problem that was solved, with h_FF and with H\n\
             evaluations.jsonl, training.jsonl\n    \
             the records: one line a run\n\
             report/index.html\n    \
             tables and figures made of the records\n\
             problems/\n    \
             the small problems and the large ones\n\
             experiment.toml\n    \
             all of this as a file for `homing experiment`\n\
             \n\
             The same for a domain of your own: its file, a folder of small problems, a folder of large ones\n\
             \n\
             {next}"
        );
        let readme = self.out.file("README.txt");
        write_whole(&readme, what.as_bytes())?;
        self.heading("The same for a domain of your own")?;
        print(&format!(
            "{next}\n{} says what is where\n",
            readme.display()
        ))?;
        Ok(Exit::Success)
    }
}

//! `homing quickstart`: the whole path on blocks problems, to be looked at.

mod table;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use clap::Args;
use homing::experiment::FolderLock;
use homing::files::{NewFolder, write_whole};
use homing::train::CountsRecord;
use homing::{
    EvaluateRequest, Observer, ReportRequest, SolveLimits, TrainEnd, TrainRecord, TrainRequest,
    evaluate, load_model, train,
};
use homing_lab::domains::{Parameters, blocks};
use homing_lab::layout::{DOMAIN_FILE, ExperimentFolder};
use homing_lab::record::{Evaluation, read};
use homing_lab::suite::{Draw, Suite, draw};
use homing_lab::{DomainName, ParameterError};
use homing_learner::AnyModel;
use homing_planner::search::SearchOptions;
use homing_planner::{HeuristicKind, SearchKind};

use crate::args::{parse_positive, parse_seconds};
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::progress::duration;
use crate::train::candidates;
use crate::watch::{catch_interrupts, interrupted, tell};
use table::Table;

/// See the whole path at work, in a minute or two
///
/// Draws problems of two to six blocks, learns from them in seconds, solves problems of up to 300
/// blocks with h_FF and with what was learnt, and leaves a folder with the model, the plans, the
/// records, a report and the commands to do the same for a domain of your own. Started again, it goes
/// on where it was.
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

    /// Solve problems of up to so many blocks
    #[arg(
        long,
        value_name = "N",
        default_value_t = 300,
        value_parser = parse_positive,
        help_heading = "The run"
    )]
    largest: u64,

    /// Stop a search after so many seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10.0,
        value_parser = parse_seconds,
        help_heading = "The run"
    )]
    time_limit: f64,
}

/// Of the problems to solve: blocks, and a seed that no suite uses.
const SIZES: [usize; 7] = [10, 20, 30, 50, 100, 200, 300];
const SEED: u64 = 8_000_000;

/// So many features are shown.
const FEATURES: usize = 4;

pub(crate) fn run(arguments: &Quickstart) -> anyhow::Result<Exit> {
    catch_interrupts();
    let show = Show::begin(arguments)?;
    let _lock = FolderLock::take(&show.folder)?;
    write_whole(&show.mark(), show.settings.as_bytes())?;
    show.introduce()?;
    show.draw()?;
    for stage in [Show::train, Show::solve] {
        let exit = stage(&show)?;
        if exit != Exit::Success {
            return Ok(exit);
        }
    }
    show.report()
}

struct Show<'a> {
    arguments: &'a Quickstart,
    folder: ExperimentFolder,
    /// What decides the run; the folder of a run with other settings is left alone.
    settings: String,
    sizes: Vec<usize>,
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

/// Looks whether to stop, and hands records on to the table.
struct Looker<'t>(Option<&'t Mutex<Table>>);

impl Observer for Looker<'_> {
    fn stopped(&self) -> bool {
        interrupted()
    }

    fn notice(&self, notice: &homing::Notice) {
        tell(notice);
    }

    fn evaluated(&self, record: &Evaluation) {
        if let Some(table) = self.0 {
            table.lock().expect("no panic").add(record);
        }
    }
}

impl<'a> Show<'a> {
    fn begin(arguments: &'a Quickstart) -> anyhow::Result<Self> {
        use std::io::IsTerminal;
        let folder = ExperimentFolder::new(&arguments.out);
        let sizes = SIZES.into_iter();
        let sizes: Vec<usize> = sizes
            .filter(|&blocks| blocks as u64 <= arguments.largest)
            .collect();
        if sizes.is_empty() {
            return Err(Failure::because(
                Exit::BadInput,
                format!("--largest must be at least {}", SIZES[0]),
            ));
        }
        let (seed, largest, limit) = (arguments.seed, arguments.largest, arguments.time_limit);
        let settings = format!(
            "# What `homing quickstart` was run with.\nseed = {seed}\nlargest = {largest}\ntime_limit = {limit}\n"
        );
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let show = Self {
            arguments,
            folder,
            settings,
            sizes,
            paint: Paint(std::io::stdout().is_terminal() && colours),
        };
        let there = std::fs::read_to_string(show.mark());
        if there.ok().as_deref() != Some(&show.settings) {
            NewFolder::refuse_if_taken(&show.folder.path)?;
        }
        Ok(show)
    }

    fn mark(&self) -> PathBuf {
        self.folder.file("quickstart.toml")
    }

    fn model(&self) -> PathBuf {
        self.folder.file("blocks.safetensors")
    }

    fn introduce(&self) -> anyhow::Result<()> {
        let largest = self.sizes.last().copied().unwrap_or_default();
        let most = self.arguments.time_limit * self.sizes.len() as f64;
        let stages = [
            ("draw problems of 2 to 6 blocks".to_owned(), "at once"),
            ("learn from them".to_owned(), "seconds"),
            (
                format!("solve 10 to {largest} blocks with h_FF and with what was learnt"),
                &*format!("up to {}", duration(most)),
            ),
            ("write the report".to_owned(), "a second"),
        ];
        let mut text = "homing learns from small problems, and solves large ones.\n\n".to_owned();
        for (number, (what, time)) in stages.iter().enumerate() {
            text.push_str(&format!("{}  {what:<58} {time}\n", number + 1));
        }
        print(&text)
    }

    fn heading(&self, text: &str) -> anyhow::Result<()> {
        print(&format!("\n{}\n", self.paint.bold(text)))
    }

    /// The problems to learn from and those to solve, where they are not there yet.
    fn draw(&self) -> anyhow::Result<()> {
        let small = Suite::PaperTrain.draws(DomainName::Blocks);
        let large = self.sizes.iter().map(|&blocks| Draw {
            parameters: Parameters::Blocks(blocks::Parameters { blocks }),
            seed: SEED,
        });
        write_problems(&self.folder.file("small"), &small)?;
        write_problems(&self.folder.file("large"), &large.collect::<Vec<_>>())
    }

    fn train(&self) -> anyhow::Result<Exit> {
        self.heading("Learning from 2 to 6 blocks: which child of a state comes first")?;
        let request = TrainRequest {
            seed: self.arguments.seed,
            resume: true,
            ..TrainRequest::new(vec![self.folder.file("small")], self.model())
        };
        let start = Instant::now();
        let record = match train(&request, &Looker(None))? {
            TrainEnd::Stopped { .. } => return Ok(self.stopped()),
            TrainEnd::Trained(record) => {
                self.learnt(&record, start)?;
                return Ok(Exit::Success);
            }
            TrainEnd::AlreadyThere(record) => record,
        };
        if let TrainRecord::Counts(record) = &record {
            print(&candidates::table(&record.report))?;
        }
        print("the model is there already\n")?;
        Ok(Exit::Success)
    }

    fn learnt(&self, record: &TrainRecord, start: Instant) -> anyhow::Result<()> {
        let TrainRecord::Counts(record) = record else {
            return Err(Failure::because(Exit::Bug, "a model of counts"));
        };
        let CountsRecord { report, .. } = &**record;
        print(&format!(
            "{}\n\n{}\n",
            candidates::data(report),
            candidates::table(report)
        ))?;
        if let AnyModel::Counts(model) = load_model(&self.model())? {
            print("what weighs most, of what is counted in a state; less is better:\n")?;
            for feature in model.features_in_words(FEATURES) {
                let weight = feature.weights[model.header.main_head];
                print(&format!("{weight:>8.2}  {}\n", feature.text))?;
            }
        }
        print(&format!(
            "{} features, {} bytes, {} of wall-clock time\n",
            report.fit.features,
            record.model_bytes,
            duration(start.elapsed().as_secs_f64())
        ))
    }

    /// Solves each problem with h_FF and with what was learnt, and shows them side by side.
    fn solve(&self) -> anyhow::Result<Exit> {
        self.heading("Solving larger problems: h_FF, and what was learnt")?;
        let table = Mutex::new(Table::new(
            &self.sizes,
            self.arguments.time_limit,
            self.paint,
        ));
        let records = self.folder.evaluations();
        if records.exists() {
            for record in read::<Evaluation>(&records)? {
                table.lock().expect("no panic").add(&record);
            }
        }
        // What was learnt first: it takes seconds, and rows then come as h_FF is done with them.
        let learned = (SearchKind::Lazy, None, Some(self.model()));
        let classical = (SearchKind::Gbfs, Some(HeuristicKind::Ff), None);
        for (search, heuristic, model) in [learned, classical] {
            let request = EvaluateRequest {
                files: vec![self.folder.file("large")],
                heuristics: heuristic.into_iter().collect(),
                models: model.into_iter().collect(),
                searches: vec![search],
                weight: SearchOptions::DEFAULT_WEIGHT,
                unit_cost: false,
                limits: SolveLimits {
                    time_limit: Some(self.arguments.time_limit),
                    ..SolveLimits::default()
                },
                jobs: None,
                records: records.clone(),
                plans: Some(self.folder.plans()),
                command: crate::command_file()?,
            };
            let done = evaluate(&request, &Looker(Some(&table)))?;
            if done.missing() > 0 {
                return Ok(self.stopped());
            }
            if let Some(error) = done.made.iter().find_map(|record| record.error.clone()) {
                return Err(Failure::because(Exit::Bug, error));
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
        self.heading("Report")?;
        let request = ReportRequest {
            title: Some("Quickstart: blocks, h_FF and what was learnt".to_owned()),
            ..ReportRequest::of(&self.folder.path)
        };
        crate::report::show(&homing::report(&request)?)?;
        let program = std::env::args_os().next();
        let program = program.map_or_else(
            || "homing".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let next = format!(
            "{program} check domain.pddl small/p01.pddl\n\
             {program} train --out mine.safetensors domain.pddl small/\n\
             {program} model show mine.safetensors\n\
             {program} solve --model mine.safetensors domain.pddl large/p01.pddl\n"
        );
        let what = format!(
            "What is where\n\
             \n\
             blocks.safetensors\n    \
             what was learnt: a model for `homing solve --model` and `homing model show`\n\
             plans/\n    \
             a plan for every problem that was solved, with h_FF and with the model\n\
             evaluations.jsonl\n    \
             the records: one line a search\n\
             report/index.html\n    \
             tables and figures made of the records\n\
             small/, large/\n    \
             the problems\n\
             \n\
             The same for a domain of your own: its file, a folder of small problems, a folder of large ones\n\
             \n\
             {next}"
        );
        let readme = self.folder.file("README.txt");
        write_whole(&readme, what.as_bytes())?;
        self.heading("The same for a domain of your own")?;
        print(&format!(
            "{next}\n{} says what is where\n",
            readme.display()
        ))?;
        Ok(Exit::Success)
    }
}

/// A folder of blocks problems, whole or not at all.
fn write_problems(path: &Path, draws: &[Draw]) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let bug = |error: ParameterError| Failure::because(Exit::Bug, error.to_string());
    let drawn = draw(draws, |_| {}).map_err(bug)?;
    let folder = NewFolder::prepare(path)?;
    folder.write(DOMAIN_FILE, DomainName::Blocks.text())?;
    for instance in &drawn.instances {
        folder.write(&instance.draw.file(), &instance.problem.to_string())?;
    }
    folder.finish()?;
    Ok(())
}

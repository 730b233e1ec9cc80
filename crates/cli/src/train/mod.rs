//! `homing train`.

pub(crate) mod args;
mod log;
mod progress;
mod select;
mod tabular;
mod validation;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use homing_learner::{Model, Signature, Timings, TrainConfig, TrainError, Trainer};
use homing_planner::{GroundError, Task, ground};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::input::{Warnings, expand, load_problem, read_bytes};
use crate::model::{load_model, threads};
use crate::output::{make_folder, print, say, write_whole};
use crate::resources::{cpu_seconds, peak_bytes};
use crate::watch::{catch_interrupts, interrupted};
use args::Train;
use log::Log;
use progress::Progress;
use select::Selection;

pub(crate) fn run(arguments: &Train) -> anyhow::Result<Exit> {
    catch_interrupts();
    let (mut config, given) = configuration(arguments)?;
    let (files, validation) = validation::separate(arguments)?;
    let (domain, tasks) = load_tasks(files, None)?;
    if let Some(task) = tasks.first() {
        fit(&mut config, &given, task);
    }
    if arguments.tabular {
        return tabular::run(&tasks, &config);
    }
    let Some(out) = &arguments.out else {
        return Err(Failure::because(
            Exit::BadInput,
            "--out names the model to write",
        ));
    };
    let validation = match validation {
        Some(validation) => Some(validation.load(&domain, &tasks)?),
        None => None,
    };
    let runs: Vec<Run> = match &arguments.seeds {
        None => vec![Run {
            seed: arguments.seed,
            model: out.clone(),
        }],
        Some(seeds) => {
            make_folder(out)?;
            let model = |seed: u64| out.join(format!("seed-{seed}.safetensors"));
            seeds
                .clone()
                .map(|seed| Run {
                    seed,
                    model: model(seed),
                })
                .collect()
        }
    };
    let session = Session {
        arguments,
        config: &config,
        tasks: &tasks,
        validation: validation.as_deref(),
        progress: Progress::new(runs.len(), config.steps),
    };
    session.train_all(&runs)
}

/// Which of the settings that depend on the domain the user has chosen.
#[derive(Default)]
struct Given {
    max_arity: bool,
    layers: bool,
}

/// Preset, then file, then flags.
fn configuration(arguments: &Train) -> anyhow::Result<(TrainConfig, Given)> {
    let mut config = arguments.preset.config();
    let mut given = arguments.settings.given();
    if let Some(path) = &arguments.config {
        let text = String::from_utf8_lossy(&read_bytes(path)?).into_owned();
        let bad = |error: &dyn std::fmt::Display| {
            Failure::because(Exit::BadInput, format!("{}: {error}", path.display()))
        };
        // The file's fields over the preset's.
        let file: toml::Table = toml::from_str(&text).map_err(|error| bad(&error))?;
        given.max_arity |= file.contains_key("max_arity");
        given.layers |= file.contains_key("layers");
        // Read alone first: a message then shows the line.
        toml::from_str::<TrainConfig>(&text).map_err(|error| bad(&error))?;
        let mut whole = toml::Table::try_from(&config)?;
        whole.extend(file);
        config = whole.try_into().map_err(|error| bad(&error))?;
    }
    if let Some(heuristic) = arguments.heuristic {
        config.heuristic = heuristic;
    }
    arguments.settings.apply(&mut config);
    Ok((config, given))
}

/// Gives the network the arity and the layers that the domain needs, where the user left them open.
fn fit(config: &mut TrainConfig, given: &Given, task: &Task) {
    let signature = Signature::of(&task.problem().domain);
    let raised = config.raise_to_fit(&signature, !given.max_arity, !given.layers);
    for field in raised {
        let value = match field {
            "max_arity" => config.max_arity,
            _ => config.layers,
        };
        say(&format!(
            "homing: {field} is raised to {value}, the least with which a network can read this domain\n"
        ));
    }
}

/// The fields in which two configurations differ, as `name (one, other)`.
fn differences(one: &TrainConfig, other: &TrainConfig) -> anyhow::Result<Vec<String>> {
    let (one, other) = (toml::Table::try_from(one)?, toml::Table::try_from(other)?);
    let differing = one.iter().filter_map(|(name, value)| {
        let theirs = other.get(name)?;
        (theirs != value).then(|| format!("{name} ({value}, not {theirs})"))
    });
    Ok(differing.collect())
}

/// Reads and grounds every problem; those without a plan are left out with a word. Where no domain
/// is named and none is beside the problems, it is `otherwise`.
fn load_tasks(files: &[PathBuf], otherwise: Option<&Path>) -> anyhow::Result<(PathBuf, Vec<Task>)> {
    let (domain, problems) = expand(files, otherwise)?;
    let mut tasks = Vec::new();
    for path in &problems {
        let problem = load_problem(&domain, path, Warnings::Hide)?;
        match ground(&problem, &mut ()) {
            Ok(task) => tasks.push(task),
            Err(error @ GroundError::Unsolvable { .. }) => {
                say(&format!(
                    "homing: {} is left out: {error}\n",
                    path.display()
                ));
            }
            Err(error) => {
                let message = format!("{}: {error}", path.display());
                return Err(Failure::because(Exit::BadPddl, message));
            }
        }
    }
    Ok((domain, tasks))
}

/// One training run: a seed and where its model goes.
struct Run {
    seed: u64,
    model: PathBuf,
}

impl Run {
    /// A file beside the model: `.safetensors` makes room for the extension, any other name grows
    /// by it, so that no two models share a file.
    fn beside(&self, extension: &str) -> PathBuf {
        let mut stem = self.model.clone();
        if stem.extension().is_some_and(|end| end == "safetensors") {
            stem.set_extension("");
        }
        let mut name = stem.into_os_string();
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    }
}

struct Session<'a> {
    arguments: &'a Train,
    config: &'a TrainConfig,
    tasks: &'a [Task],
    validation: Option<&'a [Task]>,
    progress: Progress,
}

fn failure(error: &TrainError) -> anyhow::Error {
    Failure::because(Exit::BadInput, error.to_string())
}

impl Session<'_> {
    /// Trains all runs, as many side by side as there are jobs; a run alone gets all of them.
    fn train_all(&self, runs: &[Run]) -> anyhow::Result<Exit> {
        let jobs = threads(self.arguments.jobs);
        if let [only] = runs {
            let result = self.train(only, jobs);
            self.progress.finish();
            return result;
        }
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<anyhow::Result<Exit>>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(runs.len()) {
                scope.spawn(|| {
                    while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if interrupted() {
                            break;
                        }
                        let result = self.train(run, 1);
                        results.lock().expect("no thread panics here").push(result);
                    }
                });
            }
        });
        self.progress.finish();
        let mut exit = if interrupted() {
            Exit::Interrupted
        } else {
            Exit::Success
        };
        for result in results.into_inner().expect("no thread panics here") {
            match result? {
                Exit::Success => {}
                other => exit = other,
            }
        }
        Ok(exit)
    }

    fn train(&self, run: &Run, threads: usize) -> anyhow::Result<Exit> {
        if run.model.is_dir() {
            // Known now, not when the training is done.
            return Err(Failure::because(
                Exit::BadInput,
                format!(
                    "cannot write {}: it is a folder, which is for --seeds",
                    run.model.display()
                ),
            ));
        }
        let checkpoint = run.beside("checkpoint");
        let going_on = self.arguments.resume && checkpoint.exists();
        if self.arguments.resume && !going_on && self.is_finished(run) {
            self.progress.finish();
            if self.arguments.json {
                self.tell(run, &load_model(&run.model)?, Timings::default())?;
            } else {
                say(&format!(
                    "homing: {} is there already, trained with these settings\n",
                    run.model.display()
                ));
            }
            return Ok(Exit::Success);
        }
        let mut trainer = if going_on {
            Trainer::resume(self.tasks, &read_bytes(&checkpoint)?, threads)
        } else {
            Trainer::new(self.tasks, self.config.clone(), run.seed, threads)
        }
        .map_err(|error| match error {
            TrainError::Checkpoint(_) => {
                Failure::because(Exit::BadInput, format!("{}: {error}", checkpoint.display()))
            }
            other => failure(&other),
        })?;
        if going_on {
            let mut other = differences(trainer.config(), self.config)?;
            if trainer.seed() != run.seed {
                other.push(format!("seed ({}, not {})", trainer.seed(), run.seed));
            }
            if !other.is_empty() {
                return Err(Failure::because(
                    Exit::BadInput,
                    format!(
                        "{} is of a run with other settings: {}",
                        checkpoint.display(),
                        other.join(", ")
                    ),
                ));
            }
        }
        let mut selection = match self.validation {
            Some(tasks) => Some(self.selection(run, &trainer, tasks, threads, going_on)?),
            None => None,
        };
        write_whole(
            &run.beside("toml"),
            toml::to_string(self.config)?.as_bytes(),
        )?;
        if !going_on {
            // Of a run that is not gone on with: a later --resume must not take it up, since the
            // log begins anew.
            let _ = std::fs::remove_file(&checkpoint);
        }
        let mut log = if self.arguments.no_log {
            None
        } else {
            Some(Log::open(run, trainer.steps())?)
        };
        while trainer.steps() < self.config.steps && !interrupted() {
            let record = trainer.step().map_err(|error| failure(&error))?;
            if let Some(log) = &mut log {
                log.write(&record)?;
            }
            self.progress.step(run.seed, &record);
            // Selection first: what a checkpoint has behind it must not be lost to a resumed run.
            if let Some(selection) = &mut selection
                && record.step.is_multiple_of(self.arguments.select_every)
            {
                selection.consider(trainer.model())?;
            }
            let every = self.arguments.checkpoint_every;
            if every > 0 && record.step.is_multiple_of(every) {
                self.save(&trainer, &checkpoint, log.as_mut())?;
            }
        }
        if interrupted() {
            self.save(&trainer, &checkpoint, log.as_mut())?;
            self.progress.finish();
            say(&format!(
                "homing: stopped at step {}; --resume goes on from {}\n",
                trainer.steps(),
                checkpoint.display()
            ));
            return Ok(Exit::Interrupted);
        }
        if let Some(log) = &mut log {
            log.flush()?;
        }
        let mut model = trainer.model();
        if let Some(mut selection) = selection {
            selection.consider(model)?;
            model = selection.best()?;
        }
        let bytes = model
            .to_file()
            .map_err(|error| Failure::because(Exit::Bug, error.to_string()))?;
        write_whole(&run.model, &bytes)?;
        // A finished run needs neither.
        let _ = std::fs::remove_file(&checkpoint);
        let _ = std::fs::remove_file(run.beside("best"));
        self.progress.finish();
        self.tell(run, &model, trainer.timings())?;
        Ok(Exit::Success)
    }

    /// Says what a run came to.
    fn tell(&self, run: &Run, model: &Model, timings: Timings) -> anyhow::Result<()> {
        let header = &model.header;
        let (network, planning) = (
            timings.network.as_secs_f64(),
            timings.planning.as_secs_f64(),
        );
        if self.arguments.json {
            let record = json!({
                "model": run.model.display().to_string(),
                "domain": header.domain,
                "seed": header.seed,
                "steps": header.steps,
                "goals": header.summary.goals,
                "episodes": header.summary.episodes,
                "problems": header.summary.problems,
                "loss": header.summary.loss,
                "config": header.config,
                "cpu_seconds": cpu_seconds(),
                "network_seconds": network,
                "planning_seconds": planning,
                "peak_memory_kb": peak_bytes().map(|bytes| bytes / 1024),
                "version": env!("CARGO_PKG_VERSION"),
            });
            return print(&format!("{record}\n"));
        }
        print(&format!(
            "{}: seed {}, {} steps, {} goals in {} episodes, loss {:.4}, network {network:.1} s, planning {planning:.1} s\n",
            run.model.display(),
            run.seed,
            header.steps,
            header.summary.goals,
            header.summary.episodes,
            header.summary.loss,
        ))
    }

    /// Whether the model of this run is there: it is written last.
    fn is_finished(&self, run: &Run) -> bool {
        let model = std::fs::read(&run.model)
            .ok()
            .and_then(|bytes| Model::from_file(&bytes).ok());
        model.is_some_and(|model| {
            model.header.config == *self.config && model.header.seed == run.seed
        })
    }

    /// The selection among snapshots, with the best one so far where a run goes on.
    fn selection<'a>(
        &self,
        run: &Run,
        trainer: &Trainer<'_>,
        tasks: &'a [Task],
        threads: usize,
        going_on: bool,
    ) -> anyhow::Result<Selection<'a>> {
        // Known now, not after a thousand steps.
        for task in tasks {
            let fits = trainer.model().check_domain(&task.problem().domain);
            fits.map_err(|error| {
                let name = &task.problem().name;
                Failure::because(
                    Exit::BadInput,
                    format!("problem {name} for --select: {error}"),
                )
            })?;
        }
        let best = run.beside("best");
        let mut selection = Selection::new(
            tasks,
            self.arguments.select_evaluations,
            threads,
            best.clone(),
        );
        if going_on && best.exists() {
            selection.consider(load_model(&best)?)?;
        }
        Ok(selection)
    }

    fn save(
        &self,
        trainer: &Trainer<'_>,
        path: &Path,
        log: Option<&mut Log>,
    ) -> anyhow::Result<()> {
        // The log first: it may run ahead of the checkpoint, never behind.
        if let Some(log) = log {
            log.flush()?;
        }
        write_whole(
            path,
            &trainer.checkpoint().map_err(|error| failure(&error))?,
        )
    }
}

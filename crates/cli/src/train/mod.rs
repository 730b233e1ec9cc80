//! `homing train`.

pub(crate) mod args;
mod log;
mod progress;
mod select;
mod tabular;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use homing_learner::{TrainConfig, TrainError, Trainer};
use homing_planner::{GroundError, Task, ground};

use crate::exit::{Exit, Failure};
use crate::input::{Warnings, defines, load_problem, read_bytes};
use crate::model::threads;
use crate::output::{print, say, write_whole};
use crate::watch::{catch_interrupts, interrupted};
use args::{Train, base};
use log::Log;
use progress::Progress;
use select::Selection;

pub(crate) fn run(arguments: &Train) -> anyhow::Result<Exit> {
    catch_interrupts();
    let config = configuration(arguments)?;
    let tasks = load_tasks(&arguments.files)?;
    if arguments.tabular {
        return tabular::run(&tasks, &config);
    }
    let Some(out) = &arguments.out else {
        return Err(Failure::because(
            Exit::BadInput,
            "--out names the model to write",
        ));
    };
    let validation = match &arguments.select {
        Some(folder) => Some(load_tasks(std::slice::from_ref(folder))?),
        None => None,
    };
    let runs: Vec<Run> = match &arguments.seeds {
        None => vec![Run {
            seed: arguments.seed,
            model: out.clone(),
        }],
        Some(seeds) => {
            std::fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
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

fn cannot_write(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let message = format!(
        "cannot write {}: {}",
        path.display(),
        crate::input::reason(error)
    );
    Failure::because(Exit::BadInput, message)
}

/// Preset, then file, then flags.
fn configuration(arguments: &Train) -> anyhow::Result<TrainConfig> {
    let mut config = arguments.preset.config();
    if let Some(path) = &arguments.config {
        let text = String::from_utf8_lossy(&read_bytes(path)?).into_owned();
        let bad = |error: &dyn std::fmt::Display| {
            Failure::because(Exit::BadInput, format!("{}: {error}", path.display()))
        };
        // The file's fields over the preset's.
        let mut whole = toml::Table::try_from(&config)?;
        let file: toml::Table = toml::from_str(&text).map_err(|error| bad(&error))?;
        whole.extend(file);
        config = whole.try_into().map_err(|error| bad(&error))?;
    }
    if let Some(heuristic) = arguments.heuristic {
        config.heuristic = base(heuristic);
    }
    arguments.settings.apply(&mut config);
    Ok(config)
}

/// The problem files among `[DOMAIN] PROBLEMS...`, and their domain.
fn expand(files: &[PathBuf]) -> anyhow::Result<(PathBuf, Vec<PathBuf>)> {
    let mut problems = Vec::new();
    let mut domain = None;
    for (index, path) in files.iter().enumerate() {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|error| cannot_write(path, &error))?;
            let mut found: Vec<PathBuf> =
                entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
            found.retain(|path| {
                let name = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                name.is_some_and(|name| name.ends_with(".pddl") && !name.starts_with("domain"))
            });
            found.sort();
            problems.extend(found);
        } else if index == 0 && files.len() > 1 && defines(path)?.as_deref() != Some("problem") {
            domain = Some(path.clone());
        } else {
            problems.push(path.clone());
        }
    }
    let Some(first) = problems.first() else {
        return Err(Failure::because(
            Exit::BadInput,
            "there are no problems to train on",
        ));
    };
    let domain = domain.unwrap_or_else(|| first.with_file_name("domain.pddl"));
    Ok((domain, problems))
}

/// Reads and grounds every problem; those without a plan are left out with a word.
fn load_tasks(files: &[PathBuf]) -> anyhow::Result<Vec<Task>> {
    let (domain, problems) = expand(files)?;
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
    Ok(tasks)
}

/// One training run: a seed and where its model goes.
struct Run {
    seed: u64,
    model: PathBuf,
}

impl Run {
    /// A file beside the model.
    fn beside(&self, extension: &str) -> PathBuf {
        self.model.with_extension(extension)
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
        let checkpoint = run.beside("checkpoint");
        let mut trainer = if self.arguments.resume && checkpoint.exists() {
            Trainer::resume(self.tasks, &read_bytes(&checkpoint)?, threads)
                .map_err(|error| failure(&error))?
        } else {
            Trainer::new(self.tasks, self.config.clone(), run.seed, threads)
                .map_err(|error| failure(&error))?
        };
        if trainer.config() != self.config || trainer.seed() != run.seed {
            return Err(Failure::because(
                Exit::BadInput,
                format!("{} is of a run with other settings", checkpoint.display()),
            ));
        }
        write_whole(
            &run.beside("toml"),
            toml::to_string(self.config)?.as_bytes(),
        )?;
        let mut log = if self.arguments.no_log {
            None
        } else {
            Some(Log::open(run, trainer.steps())?)
        };
        let mut selection = self
            .validation
            .map(|tasks| Selection::new(tasks, self.arguments.select_evaluations, threads));
        while trainer.steps() < self.config.steps && !interrupted() {
            let record = trainer.step().map_err(|error| failure(&error))?;
            if let Some(log) = &mut log {
                log.write(&record)?;
            }
            self.progress.step(run.seed, &record);
            let every = self.arguments.checkpoint_every;
            if every > 0 && record.step.is_multiple_of(every) {
                self.save(&trainer, &checkpoint, log.as_mut())?;
            }
            if let Some(selection) = &mut selection
                && record.step.is_multiple_of(self.arguments.select_every)
            {
                selection.consider(trainer.model())?;
            }
        }
        if interrupted() {
            self.save(&trainer, &checkpoint, log.as_mut())?;
            say(&format!(
                "\nhoming: stopped at step {}; --resume goes on from {}\n",
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
        // A finished run needs no checkpoint.
        let _ = std::fs::remove_file(&checkpoint);
        let timings = trainer.timings();
        self.progress.finish();
        print(&format!(
            "{}: seed {}, {} steps, {} goals in {} episodes, loss {:.4}, network {:.1} s, planning {:.1} s\n",
            run.model.display(),
            run.seed,
            model.header.steps,
            model.header.summary.goals,
            model.header.summary.episodes,
            model.header.summary.loss,
            timings.network.as_secs_f64(),
            timings.planning.as_secs_f64(),
        ))?;
        Ok(Exit::Success)
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

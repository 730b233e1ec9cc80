//! `homing train`.

pub(crate) mod args;
pub(crate) mod candidates;
mod progress;
mod tabular;

use std::path::PathBuf;
use std::sync::Mutex;

use homing::input::{ProblemFiles, load_domain, read_bytes};
use homing::train::{
    CountsRecord, DEFAULT_BUDGET, GnnRecord, GnnTraining, HgnRecord, HgnTraining, LoadedTasks,
    MayRaise, NlmRecord, SelectionProblems, load_tasks, raise_to_fit, train_seeds, within_budget,
};
use homing::{Learner, NlmTraining, SelectConfig, TrainEnd, TrainRecord, TrainRequest, train};
use homing_lab::layout::MODEL_EXTENSION;
use homing_lab::report::integer;
use homing_learner::{FunctionConfig, GnnConfig, LearnConfig, TrainConfig, ValueKind};
use homing_planner::Stop;

use crate::args::simd_from_environment;
use crate::exit::{Exit, Failure};
use crate::model::folds;
use crate::output::{print, say};
use crate::watch::{MEMORY, catch_interrupts_within, interrupted};
use args::{Preset, Shared, Train};
use progress::Progress;

pub(crate) fn run(arguments: &Train) -> anyhow::Result<Exit> {
    catch_interrupts_within(arguments.memory_limit);
    if arguments.tabular {
        return exactly(arguments);
    }
    let (files, learner) = learner(arguments)?;
    let runs = arguments.seeds.clone().map_or(1, Iterator::count);
    let steps = match &learner {
        Learner::Counts(_) | Learner::Gnn(_) | Learner::Hgn(_) => 0,
        Learner::Nlm(training) => training.config.steps,
    };
    let progress = Progress::new(runs, steps);
    let request = TrainRequest {
        files: files.to_vec(),
        model: match &arguments.out {
            Some(out) => out.clone(),
            None => named_by_domain(files, arguments)?,
        },
        learner,
        seed: arguments.seed,
        resume: arguments.resume,
        threads: arguments.jobs,
        simd: simd_from_environment()?,
        memory_limit: arguments.memory_limit,
    };
    let json = arguments.json;
    let ends = match &arguments.seeds {
        None => {
            let end = train(&request, &progress);
            progress.finish();
            let end = end?;
            tell(&end, json)?;
            vec![end]
        }
        Some(seeds) => {
            // What is printed while others still run must not be lost in their line of progress.
            let printed: Mutex<anyhow::Result<()>> = Mutex::new(Ok(()));
            let each = |end: &TrainEnd| {
                progress.finish();
                let told = tell(end, json);
                let mut printed = printed.lock().expect("no thread panics here");
                if printed.is_ok() {
                    *printed = told;
                }
            };
            let ends = train_seeds(&request, seeds.clone(), &progress, &each);
            progress.finish();
            let ends = ends?;
            printed.into_inner().expect("no thread panics here")?;
            ends
        }
    };
    let stopped = |stop: Stop| {
        let mut ends = ends.iter();
        ends.any(|end| matches!(end, TrainEnd::Stopped { by, .. } if *by == stop))
    };
    Ok(if stopped(Stop::Memory) {
        Exit::MemoryLimit
    } else if stopped(Stop::Interrupted) || interrupted() && arguments.seeds.is_some() {
        Exit::Interrupted
    } else {
        Exit::Success
    })
}

/// `--tabular`: no training at all.
fn exactly(arguments: &Train) -> anyhow::Result<Exit> {
    let (mut config, may_raise) = configuration(arguments)?;
    let (files, _) = separate(arguments)?;
    let progress = Progress::new(1, 0);
    let LoadedTasks { tasks, .. } = load_tasks(files, None, arguments.memory_limit, &progress)?;
    raise_to_fit(&mut config, may_raise, &tasks, &progress);
    tabular::run(&tasks, &config)
}

/// Where the model goes if nothing is said. What is there is not written over: nobody named it.
fn named_by_domain(files: &[PathBuf], arguments: &Train) -> anyhow::Result<PathBuf> {
    if arguments.seeds.is_some() {
        return Err(Failure::because(
            Exit::BadInput,
            "--seeds needs --out, a folder for the models",
        ));
    }
    let domain = load_domain(&ProblemFiles::find(files, None)?.domain)?.value;
    let path = PathBuf::from(format!("{}.{MODEL_EXTENSION}", domain.name));
    if path.exists() && !arguments.resume {
        let path = path.display();
        return Err(Failure::because(
            Exit::BadInput,
            format!("{path} is there already: write over it with `--out {path}`, or name another"),
        ));
    }
    Ok(path)
}

/// Iterations between snapshots of the graph network, as the program found has them.
const GNN_SELECT_EVERY: u64 = 15;

/// The files to train on, what learns, and its settings.
fn learner(arguments: &Train) -> anyhow::Result<(&[PathBuf], Learner)> {
    let bad = |message: String| Err(Failure::because(Exit::BadInput, message));
    match arguments.learner {
        ValueKind::Counts => {
            if let Some(option) = arguments.of_the_network(Shared::default()) {
                return bad(format!(
                    "{option} is for the paper's network: add --learner nlm"
                ));
            }
            if let Some(option) = arguments.of_gnn() {
                return bad(format!("{option} is for --learner gnn"));
            }
            let config = counts_configuration(arguments)?;
            Ok((&arguments.files, Learner::Counts(Box::new(config))))
        }
        ValueKind::Nlm => {
            if let Some(option) = arguments.of_counts() {
                return bad(format!("{option} is for --learner counts"));
            }
            if let Some(option) = arguments.of_gnn() {
                return bad(format!("{option} is for --learner gnn"));
            }
            let (files, problems) = separate(arguments)?;
            let (config, may_raise) = configuration(arguments)?;
            let usual = NlmTraining::default();
            let select = problems.map(|problems| {
                let usual = SelectConfig::new(problems);
                SelectConfig {
                    every: arguments.select_every.unwrap_or(usual.every),
                    max_evaluations: arguments
                        .select_evaluations
                        .unwrap_or(usual.max_evaluations),
                    ..usual
                }
            });
            let training = NlmTraining {
                config,
                may_raise,
                select,
                checkpoint_every: arguments.checkpoint_every.unwrap_or(usual.checkpoint_every),
                log: !arguments.no_log,
            };
            Ok((files, Learner::Nlm(Box::new(training))))
        }
        ValueKind::Gnn => {
            if let Some(option) = arguments.of_counts() {
                return bad(format!("{option} is for --learner counts"));
            }
            let heuristic = arguments.heuristic.map(|_| "--heuristic".to_owned());
            let shared = Shared {
                log: true,
                checkpoints: true,
                selection: true,
            };
            if let Some(option) = arguments.of_the_network(shared).or(heuristic) {
                let kept = "selects by walks of the policy";
                return bad(not_for("gnn", &option, kept));
            }
            let usual = GnnTraining::default();
            let (files, problems) = separate(arguments)?;
            let select = problems.map(|problems| SelectConfig {
                every: arguments.select_every.unwrap_or(GNN_SELECT_EVERY),
                ..SelectConfig::new(problems)
            });
            let training = GnnTraining {
                config: gnn_configuration(arguments)?,
                select,
                checkpoint_every: arguments.checkpoint_every.unwrap_or(usual.checkpoint_every),
                log: !arguments.no_log,
            };
            Ok((files, Learner::Gnn(Box::new(training))))
        }
        ValueKind::Hgn => {
            let of_network = arguments.of_the_network(Shared {
                checkpoints: true,
                ..Shared::default()
            });
            let of_counts = || arguments.of_counts().map(str::to_owned);
            let of_others = || of_counts().or_else(|| arguments.of_gnn());
            if let Some(option) = of_network.or_else(of_others) {
                let kept = "keeps the epoch that is best on a part of the problems' states";
                return bad(not_for("hgn", &option, kept));
            }
            if arguments.heuristic.is_some() {
                return bad("--heuristic is not for --learner hgn".to_owned());
            }
            let usual = HgnTraining::default();
            let training = HgnTraining {
                config: over(&usual.config, arguments)?,
                checkpoint_every: arguments.checkpoint_every.unwrap_or(usual.checkpoint_every),
            };
            Ok((&arguments.files, Learner::Hgn(Box::new(training))))
        }
    }
}

/// File, then flags.
fn gnn_configuration(arguments: &Train) -> anyhow::Result<GnnConfig> {
    let mut config = over(&GnnConfig::default(), arguments)?;
    arguments.gnn.apply(&mut config);
    Ok(config)
}

/// Budget, then file, then flags.
fn counts_configuration(arguments: &Train) -> anyhow::Result<LearnConfig> {
    let usual = within_budget(arguments.budget.unwrap_or(DEFAULT_BUDGET));
    let mut config = over(&usual, arguments)?;
    let FunctionConfig::Counts(function) = &mut config.function;
    if let Some(heuristic) = arguments.heuristic {
        function.heuristics = vec![heuristic];
    }
    if let Some(rounds) = arguments.rounds {
        function.rounds = rounds;
    }
    Ok(config)
}

/// Settings, with those of the file of `--config` over them.
fn over<T>(usual: &T, arguments: &Train) -> anyhow::Result<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Clone,
{
    let Some(path) = &arguments.config else {
        return Ok(usual.clone());
    };
    let text = String::from_utf8_lossy(&read_bytes(path)?).into_owned();
    homing::settings::over(usual, &text)
        .map_err(|error| Failure::because(Exit::BadInput, format!("{}: {error}", path.display())))
}

/// That an option is not for a learner; where it would select, what the learner does instead.
fn not_for(learner: &str, option: &str, kept: &str) -> String {
    let mut text = format!("{option} is not for --learner {learner}");
    if option.starts_with("--select") {
        text += &format!(", which {kept}");
    }
    text
}

/// The files to train on, and what to select by.
///
/// `--select` takes the next word for its folder, as flags do. In `train --select small/blocks`
/// that would leave nothing to train on, so there the word is what is trained on.
fn separate(arguments: &Train) -> anyhow::Result<(&[PathBuf], Option<SelectionProblems>)> {
    let files = arguments.files.as_slice();
    match &arguments.select {
        None => Ok((files, None)),
        Some(Some(word)) if files.is_empty() => {
            Ok((std::slice::from_ref(word), Some(SelectionProblems::Suite)))
        }
        Some(Some(word)) if word.is_file() => Err(Failure::because(
            Exit::BadInput,
            format!(
                "--select takes a folder, and {0} is a file; if {0} is to be trained on, write \
                 --select behind the problems",
                word.display()
            ),
        )),
        Some(Some(folder)) => Ok((files, Some(SelectionProblems::Folder(folder.clone())))),
        Some(None) if files.is_empty() => Err(Failure::because(
            Exit::BadInput,
            "no problems to train on are given",
        )),
        Some(None) => Ok((files, Some(SelectionProblems::Suite))),
    }
}

/// Preset, then file, then flags; and which of the settings that depend on the domain were left
/// open.
fn configuration(arguments: &Train) -> anyhow::Result<(TrainConfig, MayRaise)> {
    let mut config = arguments.preset.unwrap_or(Preset::Default).config();
    let mut may_raise = arguments.settings.left_open();
    if let Some(path) = &arguments.config {
        let text = String::from_utf8_lossy(&read_bytes(path)?).into_owned();
        let bad = |error: &dyn std::fmt::Display| {
            Failure::because(Exit::BadInput, format!("{}: {error}", path.display()))
        };
        // The file's fields over the preset's.
        let file: toml::Table = toml::from_str(&text).map_err(|error| bad(&error))?;
        may_raise.max_arity &= !file.contains_key("max_arity");
        may_raise.layers &= !file.contains_key("layers");
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
    Ok((config, may_raise))
}

/// Says what a run came to.
fn tell(end: &TrainEnd, json: bool) -> anyhow::Result<()> {
    match end {
        TrainEnd::Trained(record) | TrainEnd::AlreadyThere(record) if json => {
            print(&(serde_json::to_string(record)? + "\n"))
        }
        TrainEnd::Trained(TrainRecord::Counts(record)) => print(&of_counts(record)),
        TrainEnd::Trained(TrainRecord::Nlm(record)) => print(&line(record)),
        TrainEnd::Trained(TrainRecord::Gnn(record)) => print(&of_gnn(record)),
        TrainEnd::Trained(TrainRecord::Hgn(record)) => print(&of_hypergraph(record)),
        TrainEnd::AlreadyThere(record) => {
            say(&format!(
                "homing: {} is there already, trained with these settings\n",
                record.model()
            ));
            Ok(())
        }
        TrainEnd::Stopped {
            steps,
            checkpoint,
            by,
        } => {
            let (why, with) = match by {
                Stop::Memory => (MEMORY, " with a larger --memory-limit"),
                _ => ("stopped", ""),
            };
            say(&match checkpoint {
                Some(checkpoint) => format!(
                    "homing: {why} at step {steps}; --resume goes on from {}{with}\n",
                    checkpoint.display()
                ),
                None => format!("homing: {why}; the same command begins again{with}\n"),
            });
            Ok(())
        }
    }
}

fn line(record: &NlmRecord) -> String {
    format!(
        "{}: seed {}, {} steps, {} goals in {} episodes, loss {:.4}, network {:.1} s, planning {:.1} s\n",
        record.model,
        record.seed,
        record.steps,
        record.goals,
        record.episodes,
        record.loss,
        record.network_seconds,
        record.planning_seconds,
    )
}

fn of_gnn(record: &GnnRecord) -> String {
    format!(
        "{}: seed {}, {} iterations, {} of {} episodes solved, {:.0} % in the last iteration, {} \
         steps, {:.1} s\n",
        record.model,
        record.seed,
        record.iterations,
        record.solved,
        record.episodes,
        100.0 * record.last_rate,
        record.steps,
        record.seconds,
    )
}

fn of_hypergraph(record: &HgnRecord) -> String {
    let report = &record.report;
    format!(
        "{} states of {} optimal plans\n\n{}\n{}: seed {}, {} parameters, {:.1} s\n",
        report.labels.samples,
        report.labels.solved,
        folds(report),
        record.model,
        record.seed,
        integer(record.parameters),
        record.seconds,
    )
}

fn of_counts(record: &CountsRecord) -> String {
    let report = &record.report;
    format!(
        "{}\n\n{}\n{}: seed {}, {} features, {} bytes, {:.1} s\n",
        candidates::data(report),
        candidates::table(report),
        record.model,
        record.seed,
        report.fit.features,
        integer(record.model_bytes),
        record.seconds,
    )
}

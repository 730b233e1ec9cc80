//! `homing train`.

pub(crate) mod args;
mod progress;
mod tabular;

use std::path::PathBuf;
use std::sync::Mutex;

use homing::TrainEnd;
use homing::input::read_bytes;
use homing::train::{
    LoadedTasks, MayRaise, SelectConfig, SelectionProblems, TrainRecord, TrainRequest, load_tasks,
    raise_to_fit, train, train_seeds,
};
use homing_learner::TrainConfig;

use crate::args::simd_from_environment;
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::watch::{catch_interrupts, interrupted};
use args::Train;
use progress::Progress;

pub(crate) fn run(arguments: &Train) -> anyhow::Result<Exit> {
    catch_interrupts();
    let (config, may_raise) = configuration(arguments)?;
    let (files, problems) = separate(arguments)?;
    let runs = arguments.seeds.clone().map_or(1, Iterator::count);
    let progress = Progress::new(runs, config.steps);
    if arguments.tabular {
        let mut config = config;
        let LoadedTasks { tasks, .. } = load_tasks(files, None, &progress)?;
        raise_to_fit(&mut config, may_raise, &tasks, &progress);
        return tabular::run(&tasks, &config);
    }
    let Some(out) = &arguments.out else {
        return Err(Failure::because(
            Exit::BadInput,
            "--out names the model to write",
        ));
    };
    let request = TrainRequest {
        files: files.to_vec(),
        model: out.clone(),
        config,
        may_raise,
        seed: arguments.seed,
        select: problems.map(|problems| SelectConfig {
            problems,
            every: arguments.select_every,
            max_evaluations: arguments.select_evaluations,
        }),
        checkpoint_every: arguments.checkpoint_every,
        resume: arguments.resume,
        log: !arguments.no_log,
        threads: arguments.jobs,
        simd: simd_from_environment()?,
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
    let stopped = ends
        .iter()
        .any(|end| matches!(end, TrainEnd::Stopped { .. }));
    Ok(if stopped || interrupted() && arguments.seeds.is_some() {
        Exit::Interrupted
    } else {
        Exit::Success
    })
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
    let mut config = arguments.preset.config();
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
        TrainEnd::Trained(record) => print(&line(record)),
        TrainEnd::AlreadyThere(record) => {
            say(&format!(
                "homing: {} is there already, trained with these settings\n",
                record.model
            ));
            Ok(())
        }
        TrainEnd::Stopped { steps, checkpoint } => {
            say(&format!(
                "homing: stopped at step {steps}; --resume goes on from {}\n",
                checkpoint.display()
            ));
            Ok(())
        }
    }
}

fn line(record: &TrainRecord) -> String {
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

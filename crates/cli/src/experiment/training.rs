//! Training a model for an experiment: a process, the files it works with, and the record.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use homing_lab::experiment::TrainingTask;
use homing_lab::record::{RECORD_FORMAT, Training};
use homing_lab::schedule::Executed;
use homing_lab::suite::text_hash;
use serde::Deserialize;

use super::Laboratory;
use crate::child;
use crate::evaluate::record_failure;
use crate::input::read_bytes;
use crate::output::write_whole;
use crate::resources::machine;

/// What training needs besides the model; its record has what the report needs of them.
pub(super) struct WorkingFiles {
    config: PathBuf,
    log: PathBuf,
    events: PathBuf,
}

impl WorkingFiles {
    pub(super) fn of(model: &Path) -> Self {
        Self {
            config: model.with_extension("config.toml"),
            log: model.with_extension("jsonl"),
            events: model.with_extension("events"),
        }
    }

    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.log);
        let _ = std::fs::remove_file(&self.config);
        let _ = std::fs::remove_dir_all(&self.events);
    }
}

/// What `train --json` says, as far as a record needs it.
#[derive(Deserialize)]
struct Answer {
    steps: u64,
    goals: u64,
    episodes: u64,
    problems: u64,
    loss: f64,
    config: BTreeMap<String, serde_json::Value>,
    cpu_seconds: f64,
    network_seconds: f64,
    planning_seconds: f64,
    peak_memory_kb: Option<u64>,
}

impl Laboratory<'_> {
    pub(crate) fn train(&self, at: usize) -> anyhow::Result<Executed> {
        let task = &self.plan.trainings[at];
        let model = self.folder.join(&task.model);
        let WorkingFiles { config, log, .. } = WorkingFiles::of(&model);
        write_whole(&config, toml::to_string(&task.config)?.as_bytes())?;
        let set = self.folder.join(&self.plan.sets[task.problems].folder);
        let mut arguments: Vec<OsString> = ["train", "--json", "--resume", "--jobs", "1"]
            .map(OsString::from)
            .to_vec();
        let mut put = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        put("--config", config.clone().into());
        put("--seed", task.seed.to_string().into());
        put("--out", model.clone().into());
        if let Some((set, select)) = &task.select {
            let folder = self.folder.join(&self.plan.sets[*set].folder);
            let mut value = OsString::from("--select=");
            value.push(folder);
            put("--select-every", select.every.to_string().into());
            put(
                "--select-evaluations",
                select.max_evaluations.to_string().into(),
            );
            arguments.push(value);
        }
        arguments.extend(["--".into(), set.clone().into()]);
        let Some(finished) = child::run(&arguments)? else {
            return Ok(Executed::Stopped);
        };
        let answer = serde_json::from_str::<Answer>(finished.stdout.trim());
        let (true, Ok(answer)) = (finished.status.success(), answer) else {
            return Ok(Executed::Failed(finished.reason()));
        };
        let record = self.training_record(task, &answer, &Curve::of(&log, task.config.steps))?;
        let appended = self
            .trainings
            .lock()
            .expect("no worker panics")
            .append(&record);
        appended.map_err(|error| record_failure(&error))?;
        let mut models = self.models.lock().expect("no worker panics");
        models.insert(at, record.model_sha256);
        WorkingFiles::of(&model).remove();
        Ok(Executed::Done)
    }

    fn training_record(
        &self,
        task: &TrainingTask,
        answer: &Answer,
        curve: &Curve,
    ) -> anyhow::Result<Training> {
        let set = &self.plan.sets[task.problems];
        Ok(Training {
            format: RECORD_FORMAT,
            key: task.key.clone(),
            domain: set.domain.clone(),
            domain_sha256: text_hash(set.domain_text.as_bytes()),
            problems_sha256: set.key.clone(),
            problems: answer.problems,
            heuristic: task.config.heuristic.name().to_owned(),
            seed: task.seed,
            config: answer.config.clone(),
            steps: task.config.steps,
            goals: curve.goals.unwrap_or(answer.goals),
            episodes: curve.episodes.unwrap_or(answer.episodes),
            loss: answer.loss,
            curve: curve.points.clone(),
            selected_step: task.select.as_ref().map(|_| answer.steps),
            model: task.model.clone(),
            model_sha256: text_hash(&read_bytes(&self.folder.join(&task.model))?),
            cpu_seconds: answer.cpu_seconds,
            network_seconds: answer.network_seconds,
            planning_seconds: answer.planning_seconds,
            memory_bytes: answer.peak_memory_kb.map(|kilobytes| kilobytes * 1024),
            revision: env!("HOMING_REVISION").to_owned(),
            machine: machine().to_owned(),
        })
    }
}

/// What a log says of the whole run: a model that was selected knows only what was before it.
struct Curve {
    /// Goals up to about a hundred steps.
    points: Vec<(u64, u64)>,
    goals: Option<u64>,
    episodes: Option<u64>,
}

impl Curve {
    fn of(log: &Path, steps: u64) -> Self {
        #[derive(Deserialize)]
        struct Line {
            step: u64,
            goals: u64,
            resets: u64,
        }
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let every = (steps / 100).max(1);
        let lines = text.lines();
        let lines: Vec<Line> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let kept = lines
            .iter()
            .filter(|line| line.step.is_multiple_of(every) || line.step == steps);
        Self {
            points: kept.map(|line| (line.step, line.goals)).collect(),
            goals: lines.last().map(|line| line.goals),
            episodes: lines.last().map(|line| line.resets),
        }
    }
}

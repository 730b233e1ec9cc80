//! Training a model for an experiment: a process, the files it works with, and the record.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use homing_lab::experiment::TrainingTask;
use homing_lab::layout::ModelFiles;
use homing_lab::record::{CurvePoint, RECORD_FORMAT, Training};
use homing_lab::schedule::Executed;
use homing_lab::suite::text_hash;

use super::Runner;
use super::done::trained;
use super::part::FileLock;
use crate::child;
use crate::error::Error;
use crate::files::write_whole;
use crate::input::read_bytes;
use crate::resources::{REVISION, machine};
use crate::train::{GnnRecord, HgnRecord, LogLine, NlmRecord, TrainRecord, read_log};

impl Runner<'_> {
    /// Trains a model of the plan and records it.
    ///
    /// # Errors
    ///
    /// If the run cannot begin, or a file cannot be written.
    pub(super) fn train(&self, at: usize) -> Result<Executed, Error> {
        let task = &self.plan.trainings[at];
        let lock = self.folder.model_lock(&task.model);
        let Some(_lock) = FileLock::wait(&lock, &self.observer)? else {
            return Ok(Executed::Stopped);
        };
        // Whoever had the lock before may have done it.
        if let Some(model) = trained(self.folder, self.plan, &[at])?.remove(&at) {
            let mut models = self.models.lock().expect("no worker panics");
            models.insert(at, model.sha256);
            return Ok(Executed::Done);
        }
        let files = ModelFiles::of(self.folder.file(&task.model));
        let config = toml::to_string(&task.config).map_err(Error::bug)?;
        write_whole(&files.requested_config(), config.as_bytes())?;
        let finished = child::run(
            self.command,
            &self.arguments(task, &files),
            None,
            &self.observer,
        )
        .map_err(|error| Error::Request(error.to_string()))?;
        let Some(finished) = finished else {
            return Ok(Executed::Stopped);
        };
        if finished.interrupted() {
            return Ok(Executed::Stopped);
        }
        let (true, Some(answer)) = (finished.status.success(), finished.record::<TrainRecord>())
        else {
            return Ok(Executed::Failed(finished.reason()));
        };
        let answer = match answer {
            TrainRecord::Nlm(answer) => Answer::of_network(*answer),
            TrainRecord::Hgn(answer) => Answer::of_hypergraph(*answer)?,
            TrainRecord::Gnn(answer) => Answer::of_graph_network(*answer)?,
            TrainRecord::Counts(_) => return Ok(Executed::Failed(finished.reason())),
        };
        let curve = Curve::of(&files.log(), task.config.steps());
        let record = self.training_record(task, answer, curve)?;
        self.write(&self.trainings, &record)?;
        let mut models = self.models.lock().expect("no worker panics");
        models.insert(at, record.model_sha256);
        files.remove_working_files();
        Ok(Executed::Done)
    }

    fn arguments(&self, task: &TrainingTask, files: &ModelFiles) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ["train", "--json", "--resume", "--jobs", "1"]
            .map(OsString::from)
            .to_vec();
        let mut put = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        put("--learner", task.config.kind().name().into());
        put("--config", files.requested_config().into());
        put("--seed", task.seed.to_string().into());
        put("--out", files.model.clone().into());
        if let Some(memory) = self.memory {
            put("--memory-limit", format!("{}K", memory >> 10).into());
        }
        if let Some(select) = &task.select {
            put("--select-every", select.spec.every.to_string().into());
            put(
                "--select-evaluations",
                select.spec.max_evaluations.to_string().into(),
            );
            let mut value = OsString::from("--select=");
            value.push(self.folder.file(&self.plan.sets[select.problems].folder));
            arguments.push(value);
        }
        let set = self.folder.file(&self.plan.sets[task.problems].folder);
        arguments.extend(["--".into(), set.into()]);
        arguments
    }

    fn training_record(
        &self,
        task: &TrainingTask,
        answer: Answer,
        curve: Curve,
    ) -> Result<Training, Error> {
        let set = &self.plan.sets[task.problems];
        Ok(Training {
            format: RECORD_FORMAT,
            key: task.key.clone(),
            domain: set.domain.clone(),
            domain_sha256: text_hash(set.domain_text.as_bytes()),
            problems_sha256: set.key.clone(),
            problems: answer.problems,
            heuristic: task.config.heuristic().to_owned(),
            seed: task.seed,
            config: answer.config,
            steps: task.config.steps(),
            goals: curve.goals.unwrap_or(answer.goals),
            episodes: curve.episodes.unwrap_or(answer.episodes),
            loss: answer.loss,
            curve: curve.points,
            selected_step: task.select.as_ref().map(|_| answer.steps),
            model: task.model.clone(),
            model_sha256: text_hash(&read_bytes(&self.folder.file(&task.model))?),
            cpu_seconds: answer.cpu_seconds,
            network_seconds: answer.network_seconds,
            planning_seconds: answer.planning_seconds,
            memory_bytes: answer.peak_memory_kb.map(|kilobytes| kilobytes * 1024),
            revision: REVISION.to_owned(),
            machine: machine().to_owned(),
        })
    }
}

/// What a run of training says of itself, whatever its kind.
struct Answer {
    config: BTreeMap<String, serde_json::Value>,
    problems: u64,
    goals: u64,
    episodes: u64,
    loss: f64,
    steps: u64,
    cpu_seconds: f64,
    network_seconds: f64,
    planning_seconds: f64,
    peak_memory_kb: Option<u64>,
}

impl Answer {
    fn of_network(record: NlmRecord) -> Self {
        Self {
            config: record.config,
            problems: record.problems,
            goals: record.goals,
            episodes: record.episodes,
            loss: record.loss,
            steps: record.steps,
            cpu_seconds: record.cpu_seconds,
            network_seconds: record.network_seconds,
            planning_seconds: record.planning_seconds,
            peak_memory_kb: record.peak_memory_kb,
        }
    }

    /// It has neither goals nor episodes; its loss is that of the fold that was kept.
    fn of_hypergraph(record: HgnRecord) -> Result<Self, Error> {
        let config = serde_json::to_value(&record.config)
            .and_then(serde_json::from_value)
            .map_err(Error::bug)?;
        let kept = record.report.folds.get(record.report.chosen);
        Ok(Self {
            config,
            problems: record.problems,
            goals: 0,
            episodes: 0,
            loss: kept.map_or(0.0, |fold| fold.loss),
            steps: record.config.epochs as u64,
            cpu_seconds: record.cpu_seconds,
            network_seconds: record.seconds,
            planning_seconds: 0.0,
            peak_memory_kb: record.peak_memory_kb,
        })
    }

    /// Its goals are episodes that came to one; its record keeps no loss.
    fn of_graph_network(record: GnnRecord) -> Result<Self, Error> {
        let config = serde_json::to_value(&record.config)
            .and_then(serde_json::from_value)
            .map_err(Error::bug)?;
        Ok(Self {
            config,
            problems: record.problems,
            goals: record.solved,
            episodes: record.episodes,
            loss: 0.0,
            steps: record.iterations,
            cpu_seconds: record.cpu_seconds,
            network_seconds: record.seconds,
            planning_seconds: 0.0,
            peak_memory_kb: record.peak_memory_kb,
        })
    }
}

/// What a log says of the whole run: a model that was selected knows only what was before it.
struct Curve {
    /// Goals up to about a hundred steps.
    points: Vec<CurvePoint>,
    goals: Option<u64>,
    episodes: Option<u64>,
}

impl Curve {
    fn of(log: &Path, steps: u64) -> Self {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let every = (steps / 100).max(1);
        let lines: Vec<LogLine> = read_log(&text).collect();
        let kept = lines
            .iter()
            .filter(|line| line.step.is_multiple_of(every) || line.step == steps);
        Self {
            points: kept
                .map(|line| CurvePoint {
                    step: line.step,
                    goals: line.goals,
                })
                .collect(),
            goals: lines.last().map(|line| line.goals),
            episodes: lines.last().map(|line| line.resets),
        }
    }
}

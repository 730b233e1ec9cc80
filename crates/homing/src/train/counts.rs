//! Training by ranking: from problems to a model of counts.
//!
//! A run takes seconds and is bounded by counters, so nothing of it is kept on the way: one that was
//! cut off begins again and writes the same bytes.

use std::time::Instant;

use homing_lab::layout::ModelFiles;
use homing_learner::{
    AnyModel, CountsModel, DataSource, LearnConfig, LearnError, LearnReport, ValueKind, learn,
};
use serde::{Deserialize, Serialize};

use super::session::{TaskSession, expect_no_folder};
use super::{TrainEnd, TrainRecord};
use crate::error::Error;
use crate::files::write_whole;
use crate::observe::{LimitWatch, Notice};
use crate::resources::{VERSION, cpu_seconds, peak_bytes};

/// The seconds that a run by ranking is to take at the most, where nothing is said.
pub const DEFAULT_BUDGET: f64 = 120.0;

/// Fewer problems walked through than this are worth a word.
const ENOUGH_PROBLEMS: usize = 10;

/// The usual settings, with the bounds on states and on searches that come to about so many seconds
/// of one core. The bounds are counters, not the clock: the same budget gives the same model on any
/// machine, and a slow machine takes longer.
pub fn within_budget(seconds: f64) -> LearnConfig {
    let mut config = LearnConfig::default();
    let share = seconds / DEFAULT_BUDGET;
    let scaled = |bound: f64| (bound * share).ceil().max(1.0);
    let DataSource::Exact(data) = &mut config.data;
    data.total_states = scaled(data.total_states as f64) as usize;
    // One problem may have the share of a few: else the bound on all of them says nothing.
    data.states = data.states.min((data.total_states / 4).max(1));
    data.cut_from = scaled(data.cut_from as f64) as usize;
    config.selection.work = scaled(config.selection.work as f64) as u64;
    config
}

/// What came of training by ranking. `docs/formats.md` describes each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountsRecord {
    /// The settings.
    pub config: LearnConfig,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The domain's name.
    pub domain: String,
    /// The model's file.
    pub model: String,
    /// Bytes of that file.
    pub model_bytes: u64,
    /// Peak memory of the process in KiB, where the system tells.
    pub peak_memory_kb: Option<u64>,
    /// Problems given, those without a plan left out.
    pub problems: u64,
    /// What was walked through, the fit, and the candidates.
    pub report: LearnReport,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// The seed.
    pub seed: u64,
    /// The version of homing.
    pub version: String,
}

/// What runs of all seeds have in common.
pub(super) type CountsSession<'a> = TaskSession<'a, LearnConfig>;

impl CountsSession<'_> {
    pub(super) fn train(
        &self,
        files: &ModelFiles,
        seed: u64,
        threads: usize,
    ) -> Result<TrainEnd, Error> {
        let start = Instant::now();
        expect_no_folder(files)?;
        let of_this_run = |model| match model {
            AnyModel::Counts(model)
                if model.header.config == *self.training && model.header.seed == seed =>
            {
                Some(*model)
            }
            _ => None,
        };
        if let Some((model, bytes)) = self.finished(files, of_this_run) {
            let record = self.record(files, &model, bytes, start);
            return Ok(TrainEnd::AlreadyThere(record));
        }
        let mut watch = LimitWatch::new(None, self.request.memory_limit, self.observer);
        let learned = learn(
            &self.tasks,
            self.training,
            seed,
            threads,
            &mut watch,
            &mut |progress| self.observer.learning(seed, progress),
        );
        let model = match learned {
            Ok(model) => model,
            Err(LearnError::Stopped(by)) => {
                return Ok(TrainEnd::Stopped {
                    steps: 0,
                    checkpoint: None,
                    by,
                });
            }
            Err(error) => return Err(Error::Learn(error)),
        };
        let data = &model.header.report.data;
        if data.walked < ENOUGH_PROBLEMS && data.too_large > 0 {
            self.observer.notice(&Notice::FewWalked(data.clone()));
        }
        let bytes = model.to_file().map_err(Error::bug)?;
        write_whole(&files.model, &bytes)?;
        let record = self.record(files, &model, bytes.len(), start);
        Ok(TrainEnd::Trained(record))
    }

    fn record(
        &self,
        files: &ModelFiles,
        model: &CountsModel,
        bytes: usize,
        start: Instant,
    ) -> TrainRecord {
        let header = &model.header;
        debug_assert_eq!(header.kind, ValueKind::Counts);
        TrainRecord::Counts(Box::new(CountsRecord {
            config: header.config.clone(),
            cpu_seconds: cpu_seconds(),
            domain: header.domain.clone(),
            model: files.model.display().to_string(),
            model_bytes: bytes as u64,
            peak_memory_kb: peak_bytes().map(|bytes| bytes / 1024),
            problems: self.tasks.len() as u64,
            report: header.report.clone(),
            seconds: start.elapsed().as_secs_f64(),
            seed: header.seed,
            version: VERSION.to_owned(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_budget_gives_the_usual_settings() {
        assert_eq!(within_budget(DEFAULT_BUDGET), LearnConfig::default());
        let short = within_budget(1.0);
        assert!(short.problems().is_empty());
        let DataSource::Exact(data) = &short.data;
        assert_eq!(data.total_states, 50_000);
        assert!(within_budget(0.0).problems().is_empty());
    }
}

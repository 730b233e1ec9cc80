//! The line of live progress of one or more training runs.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use homing::{Notice, Observer};
use homing_learner::{HgnProgress, IterationRecord, LearnProgress, StepRecord};

use crate::output::{clear_line, show_line};
use crate::progress::{bar, duration};
use crate::watch::{finishing, interrupted, tell};

const BETWEEN_LINES: Duration = Duration::from_millis(200);

pub(crate) struct Progress {
    show: bool,
    runs: usize,
    steps: u64,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    /// Steps taken since the program began, over all runs.
    taken: u64,
    /// The furthest step of each run: steps of a resumed one were taken before.
    first: std::collections::HashMap<u64, u64>,
    loss: f64,
    /// Candidates that have had their searches, over all runs.
    compared: u64,
    last: Instant,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(runs: usize, steps: u64) -> Self {
        Self {
            show: std::io::stderr().is_terminal(),
            runs,
            steps,
            start: Instant::now(),
            state: Mutex::new(State {
                taken: 0,
                first: std::collections::HashMap::new(),
                loss: 0.0,
                compared: 0,
                last: Instant::now(),
                shown: false,
            }),
        }
    }

    fn step(&self, seed: u64, record: &StepRecord) {
        if !self.show {
            return;
        }
        let mut state = self.state.lock().expect("no thread panics here");
        state.taken += 1;
        state.first.entry(seed).or_insert(record.step);
        if let Some(sgd) = record.sgd {
            state.loss = 0.99 * state.loss + 0.01 * sgd.loss;
        }
        if state.last.elapsed() < BETWEEN_LINES {
            return;
        }
        state.last = Instant::now();
        state.shown = true;
        let elapsed = self.start.elapsed().as_secs_f64();
        let rate = state.taken as f64 / elapsed.max(0.01);
        let before: u64 = state.first.values().map(|first| first - 1).sum();
        let all = self.runs as u64 * self.steps;
        let done = state.taken + before;
        let left = (all.saturating_sub(done)) as f64 / rate.max(0.01);
        show_line(&format!(
            "{} {done}/{all} steps, {} left, {rate:.0}/s, {} goals, loss {:.3}",
            bar(done, all, 16),
            duration(left),
            record.goals,
            state.loss
        ));
    }

    /// A line an iteration: of several runs, whichever came last.
    fn iteration(&self, seed: u64, record: &IterationRecord, of: u64) {
        if !self.show {
            return;
        }
        let mut state = self.state.lock().expect("no thread panics here");
        state.taken += 1;
        state.first.entry(seed).or_insert(record.iteration);
        state.shown = true;
        let elapsed = self.start.elapsed().as_secs_f64();
        let before: u64 = state.first.values().map(|first| first - 1).sum();
        let all = self.runs as u64 * of;
        let done = state.taken + before;
        let rate = state.taken as f64 / elapsed.max(0.01);
        let left = all.saturating_sub(done) as f64 / rate.max(0.001);
        show_line(&format!(
            "{} {done}/{all} iterations, {} left, {} of {} solved, {} steps, {} updates, error of V {:.3}",
            bar(done, all, 16),
            duration(left),
            record.solved,
            record.episodes,
            record.steps,
            record.updates,
            record.value_error
        ));
    }

    fn learn(&self, progress: &LearnProgress) {
        if !self.show {
            return;
        }
        let elapsed = self.start.elapsed().as_secs_f64();
        let text = match progress {
            LearnProgress::Gathered(report) => format!(
                "{} problems walked through, {} states; fitting, {elapsed:.1} s",
                report.walked, report.states
            ),
            LearnProgress::Fitted { name, fit } => {
                format!("{name}: {} features fitted, {elapsed:.1} s", fit.features)
            }
            LearnProgress::Compared { record, of } => {
                let mut state = self.state.lock().expect("no thread panics here");
                state.compared += 1;
                let all = self.runs as u64 * *of as u64;
                format!(
                    "{} {}/{all} candidates, {}: {} solved, {elapsed:.1} s",
                    bar(state.compared, all, 16),
                    state.compared,
                    record.name,
                    record.solved
                )
            }
        };
        show_line(&text);
        self.state.lock().expect("no thread panics here").shown = true;
    }

    fn epoch(&self, progress: &HgnProgress) {
        if !self.show {
            return;
        }
        let best = progress.best.iter().copied().fold(f64::INFINITY, f64::min);
        let (done, all) = (progress.epoch as u64, progress.of as u64);
        let elapsed = self.start.elapsed().as_secs_f64();
        show_line(&format!(
            "{} {done}/{all} epochs, least loss {best:.3}, {elapsed:.1} s",
            bar(done, all, 16)
        ));
        self.state.lock().expect("no thread panics here").shown = true;
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock().expect("no thread panics here");
        if std::mem::take(&mut state.shown) {
            clear_line();
        }
    }
}

impl Observer for Progress {
    fn stopped(&self) -> bool {
        interrupted()
    }

    fn finishing(&self) {
        finishing();
    }

    fn notice(&self, notice: &Notice) {
        tell(notice);
    }

    fn iteration(&self, seed: u64, record: &IterationRecord, of: u64) {
        self.iteration(seed, record, of);
    }

    fn learning(&self, _seed: u64, progress: &LearnProgress) {
        self.learn(progress);
    }

    fn epoch(&self, _seed: u64, progress: &HgnProgress) {
        Self::epoch(self, progress);
    }

    fn training_step(&self, seed: u64, record: &StepRecord) {
        self.step(seed, record);
    }
}

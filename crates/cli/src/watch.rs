//! Clock, memory, Ctrl-C and the line of live progress.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use homing_planner::{Progress, Stop, Watch};

use crate::output::{clear_line, show_line};
use crate::resources::resident_bytes;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C end the work cleanly; a second one ends it at once.
pub(crate) fn catch_interrupts() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(crate::exit::Exit::Interrupted as i32);
        }
    };
    // Without a handler Ctrl-C ends the program as ever: no reason to stop here.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// The clock is read at most once in so many evaluations or expansions.
const WORK_BETWEEN_LOOKS: u64 = 64;

/// Memory is read, and progress shown, at most this often.
const BETWEEN_SLOW_LOOKS: Duration = Duration::from_millis(100);

/// Watches limits and shows progress on standard error, if that is a terminal.
pub(crate) struct LimitWatch {
    start: Instant,
    time_limit: Option<Duration>,
    memory_limit: Option<u64>,
    show: bool,
    shown: bool,
    last_work: u64,
    last_slow_look: Instant,
    search_start: Option<Instant>,
}

impl LimitWatch {
    pub(crate) fn new(time_limit: Option<f64>, memory_limit: Option<u64>, quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            start: now,
            time_limit: time_limit.map(Duration::from_secs_f64),
            memory_limit,
            show: !quiet && std::io::stderr().is_terminal(),
            shown: false,
            last_work: 0,
            last_slow_look: now,
            search_start: None,
        }
    }

    /// Takes the line of progress away.
    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.shown) {
            clear_line();
        }
    }

    fn show(&mut self, progress: Progress) {
        let elapsed = self.start.elapsed().as_secs_f64();
        let line = match progress {
            Progress::Grounding { actions } => {
                format!("grounding: {actions} actions, {elapsed:.1} s")
            }
            Progress::Landmarks { found } => {
                format!("landmarks: {found}, {elapsed:.1} s")
            }
            Progress::Cutting { cuts, states } => {
                format!("cutting: {cuts} small problems, {states} states, {elapsed:.1} s")
            }
            Progress::Search {
                evaluations,
                expansions,
                best,
            } => {
                let start = *self.search_start.get_or_insert_with(Instant::now);
                let work = if evaluations > 1 {
                    evaluations
                } else {
                    expansions
                };
                let rate = work as f64 / start.elapsed().as_secs_f64().max(0.01);
                let best = best.map_or_else(String::new, |best| format!(", best h {best}"));
                let unit = if evaluations > 1 {
                    "evaluations"
                } else {
                    "expansions"
                };
                format!("search: {work} {unit}{best}, {rate:.0}/s, {elapsed:.1} s")
            }
        };
        show_line(&line);
        self.shown = true;
    }
}

impl Watch for LimitWatch {
    fn poll(&mut self, progress: Progress) -> Option<Stop> {
        let work = match progress {
            Progress::Grounding { .. } | Progress::Landmarks { .. } | Progress::Cutting { .. } => {
                u64::MAX
            }
            Progress::Search {
                evaluations,
                expansions,
                ..
            } => evaluations.max(expansions),
        };
        if let Progress::Search { .. } = progress {
            if self.search_start.is_none() {
                self.search_start = Some(Instant::now());
                self.last_work = 0;
            } else if work < self.last_work + WORK_BETWEEN_LOOKS {
                return None;
            }
            self.last_work = work;
        }
        if interrupted() {
            return Some(Stop::Interrupted);
        }
        let now = Instant::now();
        if self
            .time_limit
            .is_some_and(|limit| now - self.start >= limit)
        {
            return Some(Stop::Time);
        }
        if now - self.last_slow_look >= BETWEEN_SLOW_LOOKS {
            self.last_slow_look = now;
            let over = |limit| resident_bytes().is_some_and(|bytes| bytes >= limit);
            if self.memory_limit.is_some_and(over) {
                return Some(Stop::Memory);
            }
            if self.show {
                self.show(progress);
            }
        }
        None
    }
}

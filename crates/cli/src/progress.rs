//! How far a set of tasks is: a live line in a terminal, now and then a plain one elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use homing::{Notice, Observer};
use homing_lab::schedule::Progress;

use crate::output::{clear_line, say, show_line};
use crate::watch::{finishing, interrupted, tell};

const BETWEEN_FRAMES: Duration = Duration::from_millis(100);
const BETWEEN_LINES: Duration = Duration::from_secs(30);

pub(crate) struct TaskProgress {
    what: &'static str,
    live: bool,
    state: Mutex<State>,
}

struct State {
    last: Instant,
    shown: bool,
}

impl TaskProgress {
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            what,
            live: std::io::stderr().is_terminal(),
            state: Mutex::new(State {
                last: Instant::now(),
                shown: false,
            }),
        }
    }

    fn show(&self, now: Progress) {
        let mut state = self.state.lock().expect("no thread panics here");
        let pause = if self.live {
            BETWEEN_FRAMES
        } else {
            BETWEEN_LINES
        };
        if state.last.elapsed() < pause {
            return;
        }
        state.last = Instant::now();
        state.shown = true;
        let failed = match now.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let text = format!(
            "{}/{} {}{failed}; {} of a core used, about {} left ({} on {})",
            now.finished,
            now.total,
            self.what,
            duration(now.seconds_used),
            duration(now.seconds_left * now.workers as f64),
            duration(now.seconds_left),
            now.workers,
        );
        if self.live {
            let bar = bar(now.finished as u64, now.total as u64, 24);
            show_line(&format!("{bar} {text}"));
        } else {
            say(&format!("{text}\n"));
        }
    }

    /// Takes the live line away.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock().expect("no thread panics here");
        if std::mem::take(&mut state.shown) && self.live {
            clear_line();
        }
    }
}

impl Observer for TaskProgress {
    fn stopped(&self) -> bool {
        interrupted()
    }

    fn finishing(&self) {
        finishing();
    }

    fn notice(&self, notice: &Notice) {
        tell(notice);
    }

    fn task_ended(&self, now: Progress) {
        self.show(now);
    }
}

/// So much of the whole, as a bar.
pub(crate) fn bar(done: u64, all: u64, columns: usize) -> String {
    let share = u128::from(done) * columns as u128 / u128::from(all.max(1));
    let filled = (share as usize).min(columns);
    "█".repeat(filled) + &"░".repeat(columns - filled)
}

/// Seconds as a person says them: `40 s`, `12 min`, `3.5 h`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6_000.0 => format!("{:.0} min", s / 60.0),
        s if s < 360_000.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn bars_fill() {
        let bars = [(0, 0), (0, 9), (5, 9), (9, 9), (10, 9)];
        let bars = bars.map(|(done, all)| super::bar(done, all, 4));
        assert_eq!(bars, ["░░░░", "░░░░", "██░░", "████", "████"]);
    }

    #[test]
    fn durations_read_well() {
        let texts = [0.04, 42.3, 130.0, 9_000.0, 1e6].map(super::duration);
        assert_eq!(texts, ["0.0 s", "42 s", "2 min", "2.5 h", "12 days"]);
    }
}

//! What is said while a folder of problems is made.

use std::io::IsTerminal;

use homing_lab::suite::{Dropped, Reason};

use crate::output::{clear_line, show_line};
use crate::progress::bar;

/// "240 problems, 3 trivial and 7 duplicate ones dropped"
pub(crate) fn summary(kept: usize, dropped: &[Dropped]) -> String {
    let trivial = dropped
        .iter()
        .filter(|dropped| dropped.reason == Reason::Trivial)
        .count();
    let plural = if kept == 1 { "" } else { "s" };
    let mut text = format!("{kept} problem{plural}");
    match (trivial, dropped.len() - trivial) {
        (0, 0) => {}
        (trivial, 0) => text.push_str(&format!(", {trivial} trivial dropped")),
        (0, equal) => text.push_str(&format!(", {equal} duplicate dropped")),
        (trivial, equal) => {
            text.push_str(&format!(
                ", {trivial} trivial and {equal} duplicate dropped"
            ));
        }
    }
    text
}

/// A line of progress on standard error, if that is a terminal.
pub(crate) struct Counter {
    title: String,
    total: usize,
    show: bool,
    last: Option<std::time::Instant>,
}

impl Counter {
    pub(crate) fn new(title: impl Into<String>, total: usize) -> Self {
        Self {
            title: title.into(),
            total,
            show: std::io::stderr().is_terminal(),
            last: None,
        }
    }

    pub(crate) fn update(&mut self, done: usize) {
        let due = self
            .last
            .is_none_or(|last| last.elapsed() >= std::time::Duration::from_millis(100));
        if self.show && due {
            self.last = Some(std::time::Instant::now());
            let bar = bar(done as u64, self.total as u64, 24);
            show_line(&format!("{bar} {done}/{} {}", self.total, self.title));
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if self.last.is_some() {
            clear_line();
        }
    }
}

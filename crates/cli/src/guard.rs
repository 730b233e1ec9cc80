//! The last resort of limits and signals.
//!
//! Work looks at its limits itself, and often. Where it does not for a while (inside a library, or
//! one evaluation of a large network), a thread of its own sees that a limit is long past, writes
//! what the command would have written, and ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use homing::Outcome;
use homing::resources::MemoryGauge;

use crate::exit::Exit;
use crate::watch::interrupted_since;

/// Work has so long to see by itself that it is time to end.
const GRACE: Duration = Duration::from_millis(300);

/// What is finishing already has so long to write what it has.
const FINISHING_GRACE: Duration = Duration::from_secs(30);

/// The thread looks at least and at most this often.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(1)];

/// No program fills memory faster: so many bytes a second.
const FASTEST_GROWTH: f64 = 8e9;

/// Memory past its limit that the system may see: a twentieth, or this much.
const LEAST_SLACK: u64 = 32 << 20;

/// What must not be passed by much. Times are since `start`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) start: Instant,
    pub(crate) time: Option<Duration>,
    pub(crate) memory: Option<u64>,
}

impl Bounds {
    /// Only Ctrl-C and its like.
    pub(crate) fn none() -> Self {
        Self {
            start: Instant::now(),
            time: None,
            memory: None,
        }
    }
}

/// The hold that the work has on its guard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Set by whoever ends the process: the work or the guard.
    ended: Arc<AtomicBool>,
    /// The work has seen that it is to end.
    finishing: Arc<AtomicBool>,
}

impl Guard {
    /// Sets a guard. `end` writes what the command would have written, and says with
    /// which code it would have ended.
    pub(crate) fn set(bounds: Bounds, end: Box<dyn FnOnce(Outcome) -> Exit + Send>) -> Self {
        let guard = Self::default();
        let theirs = guard.clone();
        // Without a thread there is no last resort, but the work looks at its limits all the same.
        let _ = std::thread::Builder::new()
            .name("guard".to_owned())
            .spawn(move || theirs.stand(bounds, end));
        guard
    }

    /// The work ends by itself from here on, and the guard leaves it alone. Does not return if the
    /// guard was first.
    pub(crate) fn dismiss(&self) {
        while self.ended.swap(true, Ordering::SeqCst) {
            std::thread::park();
        }
    }

    /// The work has seen that it is to end, and writes what it has.
    pub(crate) fn finishing(&self) {
        self.finishing.store(true, Ordering::SeqCst);
    }

    fn stand(&self, bounds: Bounds, end: Box<dyn FnOnce(Outcome) -> Exit + Send>) {
        let gauge = MemoryGauge::default();
        let outcome = loop {
            if self.ended.load(Ordering::SeqCst) {
                return;
            }
            let resident = bounds.memory.and_then(|_| gauge.resident()).unwrap_or(0);
            if let Some(outcome) = self.overrun(bounds, resident) {
                break outcome;
            }
            let [longest, shortest] = BETWEEN_LOOKS;
            let soonest = bounds.memory.map_or(longest, |limit| {
                let room = limit.saturating_sub(resident) as f64;
                Duration::from_secs_f64(room / FASTEST_GROWTH)
            });
            std::thread::sleep(soonest.clamp(shortest, longest));
        };
        if !self.ended.swap(true, Ordering::SeqCst) {
            std::process::exit(end(outcome) as i32);
        }
    }

    /// What is past its limit, and has been for longer than it should.
    fn overrun(&self, bounds: Bounds, resident: u64) -> Option<Outcome> {
        // Half of the slack: the rest is used up before the process has ended.
        let over = |limit: u64| resident > limit + (limit / 20).max(LEAST_SLACK) / 2;
        if bounds.memory.is_some_and(over) {
            return Some(Outcome::MemoryLimit);
        }
        let grace = if self.finishing.load(Ordering::SeqCst) {
            FINISHING_GRACE
        } else {
            GRACE
        };
        if interrupted_since().is_some_and(|since| since.elapsed() > grace) {
            return Some(Outcome::Interrupted);
        }
        let late = |limit: Duration| bounds.start.elapsed() > limit.saturating_add(grace);
        bounds.time.is_some_and(late).then_some(Outcome::TimeLimit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_long_past_are_seen() {
        let guard = Guard::default();
        let bounds = Bounds {
            memory: Some(1 << 30),
            ..Bounds::none()
        };
        assert_eq!(guard.overrun(bounds, (1 << 30) + 1000), None);
        let far = (1 << 30) + (1 << 30) / 20;
        assert_eq!(guard.overrun(bounds, far), Some(Outcome::MemoryLimit));
        let bounds = Bounds {
            time: Some(Duration::ZERO),
            ..Bounds::none()
        };
        assert_eq!(guard.overrun(bounds, 0), None);
        std::thread::sleep(GRACE + Duration::from_millis(50));
        assert_eq!(guard.overrun(bounds, 0), Some(Outcome::TimeLimit));
        guard.finishing();
        assert_eq!(guard.overrun(bounds, 0), None);
    }
}

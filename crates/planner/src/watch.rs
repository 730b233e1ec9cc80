//! How the outside looks into a long computation and ends it.
//!
//! The planner knows neither clocks nor terminals: whoever runs it passes a [`Watch`], which is
//! shown how far things are and may answer that it is time to stop. Loops count their work and ask
//! through a [`Pace`]; what is about to take much memory at once asks for [`Watch::room`] first.

use crate::registry::StateId;
use crate::task::{ActionId, Task};

/// How far a computation is.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// A file is being read.
    Reading,
    /// Grounding has found so many actions.
    Grounding {
        /// Reachable ground actions so far.
        actions: usize,
    },
    /// Something that grounding or a search needs is being made.
    Building {
        /// What it is, in the plural: `successor tables`.
        what: &'static str,
    },
    /// Small problems are being cut out of a task.
    Cutting {
        /// Cuts made so far.
        cuts: usize,
        /// States walked through so far, in all that was tried.
        states: u64,
    },
    /// Landmarks are being looked for.
    Landmarks {
        /// Landmarks so far.
        found: usize,
    },
    /// A plan is being made shorter.
    Improving {
        /// What it costs now.
        cost: u64,
    },
    /// A search is under way.
    Search {
        /// States evaluated so far.
        evaluations: u64,
        /// States expanded so far.
        expansions: u64,
        /// The least finite estimate met so far.
        best: Option<f64>,
    },
}

/// Why the outside ended a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Out of time.
    Time,
    /// Out of memory.
    Memory,
    /// The user asked for it.
    Interrupted,
}

/// A state that a search has looked at: evaluated, scored, or found to be a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    /// The state. A state may be met twice, by both workers of a lazy search.
    pub state: StateId,
    /// How it was reached; `None` for the initial state. The parent was met before.
    pub reached: Option<(StateId, ActionId)>,
    /// What is thought of it.
    pub verdict: Verdict,
}

/// What a search thinks of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// So far from the goal, by the first heuristic.
    Estimate(f64),
    /// So good by the learned score, on a scale of its own; less is better.
    Score(i64),
    /// No way leads to the goal.
    DeadEnd,
    /// It is a goal.
    Goal,
}

/// Looks on and may end a computation. It is asked often: it should answer within nanoseconds.
pub trait Watch {
    /// Shown the progress, says whether to stop.
    fn poll(&mut self, progress: Progress) -> Option<Stop>;

    /// Asked before a table grows by so many bytes at once, says whether to stop instead.
    fn room(&mut self, _bytes: usize) -> Option<Stop> {
        None
    }

    /// Shown a state that a search of `task` has looked at.
    fn met(&mut self, _task: &Task, _met: Met) {}

    /// Whether there is a point in [`met`](Self::met): a search asks once, and saves itself the
    /// trouble.
    fn looks_at_states(&self) -> bool {
        true
    }
}

/// Never stops anything.
impl Watch for () {
    fn poll(&mut self, _: Progress) -> Option<Stop> {
        None
    }

    fn looks_at_states(&self) -> bool {
        false
    }
}

/// Tables that grow by less than this do not ask for room.
const SMALL_GROWTH: usize = 1 << 20;

/// Asks a watch for room, unless little is needed.
pub(crate) fn ask_for_room(bytes: usize, watch: &mut dyn Watch) -> Result<(), Stop> {
    if bytes < SMALL_GROWTH {
        return Ok(());
    }
    watch.room(bytes).map_or(Ok(()), Err)
}

/// What one growth of a hash table of small numbers takes, if it must grow before it holds `more`.
pub(crate) fn table_growth(table: &hashbrown::HashTable<u32>, more: usize) -> usize {
    let wanted = table.len() + more;
    if wanted <= table.capacity() {
        return 0;
    }
    // A number and a byte of control each, and an eighth stays empty.
    let buckets = (wanted.max(table.capacity() + 1) * 8 / 7).next_power_of_two();
    buckets * (size_of::<u32>() + 1)
}

/// Steps of work between two questions: a few tenths of a millisecond.
const WORK_BETWEEN_POLLS: usize = 1 << 14;

/// Asks a watch once in so much counted work.
pub struct Pace<'w> {
    watch: &'w mut dyn Watch,
    progress: Progress,
    left: usize,
}

impl<'w> Pace<'w> {
    /// Asks at once, then now and then. `progress` is shown until it is changed.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub fn new(watch: &'w mut dyn Watch, progress: Progress) -> Result<Self, Stop> {
        let mut pace = Self {
            watch,
            progress,
            left: WORK_BETWEEN_POLLS,
        };
        pace.ask()?;
        Ok(pace)
    }

    /// Of something that is being made.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub fn building(watch: &'w mut dyn Watch, what: &'static str) -> Result<Self, Stop> {
        Self::new(watch, Progress::Building { what })
    }

    /// What is shown from now on.
    pub fn show(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// Counts steps of work of some ten nanoseconds each, and asks if it is time to.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    #[inline]
    pub fn work(&mut self, steps: usize) -> Result<(), Stop> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.ask(),
        }
    }

    /// Asks for room before a table grows.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[inline]
    pub fn room(&mut self, bytes: usize) -> Result<(), Stop> {
        if bytes == 0 {
            return Ok(());
        }
        ask_for_room(bytes, self.watch)
    }

    #[cold]
    fn ask(&mut self) -> Result<(), Stop> {
        self.left = WORK_BETWEEN_POLLS;
        self.watch.poll(self.progress).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count(usize);

    impl Watch for Count {
        fn poll(&mut self, _: Progress) -> Option<Stop> {
            self.0 += 1;
            (self.0 > 3).then_some(Stop::Time)
        }

        fn room(&mut self, bytes: usize) -> Option<Stop> {
            (bytes > 1 << 30).then_some(Stop::Memory)
        }
    }

    #[test]
    fn a_pace_asks_once_in_so_much_work() {
        let mut watch = Count(0);
        let mut pace = Pace::building(&mut watch, "tests").expect("the first is free");
        let mut steps = 0;
        while pace.work(1).is_ok() {
            steps += 1;
        }
        assert_eq!(steps, 3 * (WORK_BETWEEN_POLLS + 1) - 1);
        assert_eq!(watch.0, 4);
    }

    #[test]
    fn much_room_is_asked_for() {
        let mut watch = Count(0);
        let mut pace = Pace::building(&mut watch, "tests").expect("the first is free");
        assert_eq!(pace.room(1 << 20), Ok(()));
        assert_eq!(pace.room(2 << 30), Err(Stop::Memory));
    }

    #[test]
    fn growth_is_foreseen() {
        let mut table = hashbrown::HashTable::new();
        for number in 0..100_000u32 {
            let foreseen = table_growth(&table, 1);
            let before = table.allocation_size();
            table.insert_unique(u64::from(number) << 20, number, |&n| u64::from(n) << 20);
            let after = table.allocation_size();
            assert_eq!(foreseen > 0, before != after, "{number}");
            assert!(foreseen <= after + 64 && after <= foreseen + 64 || foreseen == 0);
        }
    }
}

//! Running tasks that need one another on several workers.
//!
//! A failed task does not stop the others: only what needs it is left out. Nothing here knows what
//! a task does; the caller's `execute` runs one and says how it went.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// A task and what it needs.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// What to do.
    pub task: T,
    /// Tasks (by index, all smaller than its own) that must be done before.
    pub needs: Vec<usize>,
    /// Seconds it is thought to take on one worker.
    pub cost: f64,
    /// Tasks of one group are alike: what some took tells what the others will.
    pub group: usize,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done,
    /// It failed, with a reason.
    Failed(String),
    /// Not run, since this task (by index), which it needs, failed.
    Needs(usize),
    /// Not run, since the work was stopped.
    Stopped,
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Tasks that came to an end in some way.
    pub finished: usize,
    /// Tasks that failed, or need one that did.
    pub failed: usize,
    /// All tasks.
    pub total: usize,
    /// Seconds that all workers together have worked.
    pub seconds_used: f64,
    /// Seconds that are left if tasks of a group take what those before them took, with all workers
    /// at work.
    pub seconds_left: f64,
    /// Tasks at a time.
    pub workers: usize,
}

/// How one execution went.
pub enum Executed {
    /// It is done.
    Done,
    /// It failed, with a reason.
    Failed(String),
    /// The work was stopped before it was done.
    Stopped,
}

struct State {
    status: Vec<Option<Status>>,
    /// How many of the tasks it needs are not done.
    unmet: Vec<usize>,
    /// Ready and not begun; the first goes first.
    ready: BTreeSet<usize>,
    /// Tasks that have no status yet.
    open: usize,
    failed: usize,
    groups: Vec<Group>,
    /// What finished tasks took and were thought to take: for groups of which none is finished.
    took: f64,
    thought: f64,
    /// What all finished tasks took, failures too.
    used: f64,
}

#[derive(Clone, Copy, Default)]
struct Group {
    open: usize,
    open_cost: f64,
    finished: usize,
    took: f64,
}

/// Runs all tasks; of those that are ready the first in the list goes first. `observe` is told after
/// each task; `stopped` is asked before each.
pub fn run<T: Sync>(
    entries: &[Entry<T>],
    workers: usize,
    stopped: &(dyn Fn() -> bool + Sync),
    execute: &(dyn Fn(&T) -> Executed + Sync),
    observe: &(dyn Fn(Progress) + Sync),
) -> Vec<Status> {
    let mut dependents = vec![Vec::new(); entries.len()];
    for (index, entry) in entries.iter().enumerate() {
        for &need in &entry.needs {
            assert!(need < index, "a task needs one that comes after it");
            dependents[need].push(index);
        }
    }
    let state = Mutex::new(State::new(entries));
    let changed = Condvar::new();
    let take = || -> Option<usize> {
        let mut state = state.lock().expect("no worker panics");
        loop {
            if stopped() || state.open == 0 {
                return None;
            }
            if let Some(index) = state.ready.pop_first() {
                return Some(index);
            }
            // Woken at intervals too, to ask `stopped`.
            let wait = std::time::Duration::from_millis(100);
            let woken = changed.wait_timeout(state, wait);
            state = woken.expect("no worker panics").0;
        }
    };
    let work = || {
        while let Some(index) = take() {
            let start = Instant::now();
            let status = match execute(&entries[index].task) {
                Executed::Done => Status::Done,
                Executed::Failed(reason) => Status::Failed(reason),
                Executed::Stopped => Status::Stopped,
            };
            let mut state = state.lock().expect("no worker panics");
            state.ran(&entries[index], start.elapsed().as_secs_f64(), &status);
            state.conclude(entries, &dependents, index, status);
            let progress = state.progress(workers);
            drop(state);
            changed.notify_all();
            observe(progress);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, entries.len().max(1)) {
            scope.spawn(work);
        }
    });
    let state = state.into_inner().expect("no worker panics");
    state
        .status
        .into_iter()
        .map(|status| status.unwrap_or(Status::Stopped))
        .collect()
}

impl State {
    fn new<T>(entries: &[Entry<T>]) -> Self {
        let count = entries.iter().map(|entry| entry.group + 1).max();
        let mut groups = vec![Group::default(); count.unwrap_or(0)];
        for entry in entries {
            groups[entry.group].open += 1;
            groups[entry.group].open_cost += entry.cost;
        }
        let free = entries.iter().enumerate();
        let free = free.filter(|(_, entry)| entry.needs.is_empty());
        Self {
            status: vec![None; entries.len()],
            unmet: entries.iter().map(|entry| entry.needs.len()).collect(),
            ready: free.map(|(index, _)| index).collect(),
            open: entries.len(),
            failed: 0,
            groups,
            took: 0.0,
            thought: 0.0,
            used: 0.0,
        }
    }

    /// Learns from the time that a task took.
    fn ran<T>(&mut self, entry: &Entry<T>, seconds: f64, status: &Status) {
        self.used += seconds;
        if *status == Status::Done {
            let group = &mut self.groups[entry.group];
            group.finished += 1;
            group.took += seconds;
            self.took += seconds;
            self.thought += entry.cost;
        }
    }

    /// Gives a task its status, and those that need it what follows.
    fn conclude<T>(
        &mut self,
        entries: &[Entry<T>],
        dependents: &[Vec<usize>],
        index: usize,
        status: Status,
    ) {
        if self.status[index].is_some() {
            return;
        }
        let follows = match &status {
            Status::Done => None,
            Status::Failed(_) => Some(Status::Needs(index)),
            other => Some(other.clone()),
        };
        self.failed += usize::from(matches!(status, Status::Failed(_) | Status::Needs(_)));
        self.status[index] = Some(status);
        self.open -= 1;
        let group = &mut self.groups[entries[index].group];
        group.open -= 1;
        group.open_cost -= entries[index].cost;
        for &dependent in &dependents[index] {
            match &follows {
                Some(status) => self.conclude(entries, dependents, dependent, status.clone()),
                None => {
                    self.unmet[dependent] -= 1;
                    if self.unmet[dependent] == 0 {
                        self.ready.insert(dependent);
                    }
                }
            }
        }
    }

    fn progress(&self, workers: usize) -> Progress {
        let ratio = if self.thought > 0.0 {
            self.took / self.thought
        } else {
            1.0
        };
        let left = self.groups.iter().map(|group| {
            if group.finished > 0 {
                group.open as f64 * group.took / group.finished as f64
            } else {
                group.open_cost * ratio
            }
        });
        Progress {
            finished: self.status.len() - self.open,
            failed: self.failed,
            total: self.status.len(),
            seconds_used: self.used,
            seconds_left: left.sum::<f64>().max(0.0) / workers.max(1) as f64,
            workers: workers.max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn entry(task: usize, needs: &[usize]) -> Entry<usize> {
        Entry {
            task,
            needs: needs.to_vec(),
            cost: 1.0,
            group: 0,
        }
    }

    fn run_all(
        entries: &[Entry<usize>],
        workers: usize,
        execute: &(dyn Fn(&usize) -> Executed + Sync),
    ) -> Vec<Status> {
        run(entries, workers, &|| false, execute, &|_| {})
    }

    #[test]
    fn what_is_needed_comes_first() {
        // Each task checks that all it needs have been executed.
        let entries: Vec<_> = (0..200)
            .map(|index| {
                entry(
                    index,
                    &if index < 10 {
                        vec![]
                    } else {
                        vec![index / 2, index - 9]
                    },
                )
            })
            .collect();
        for workers in [1, 2, 7] {
            let done: Vec<AtomicUsize> = (0..200).map(|_| AtomicUsize::new(0)).collect();
            let statuses = run_all(&entries, workers, &|&index| {
                for &need in &entries[index].needs {
                    assert_eq!(done[need].load(Ordering::SeqCst), 1);
                }
                done[index].fetch_add(1, Ordering::SeqCst);
                Executed::Done
            });
            assert!(statuses.iter().all(|status| *status == Status::Done));
            assert!(done.iter().all(|count| count.load(Ordering::SeqCst) == 1));
        }
    }

    #[test]
    fn a_failure_stops_only_what_needs_it() {
        let entries = [
            entry(0, &[]),
            entry(1, &[]),
            entry(2, &[0]),
            entry(3, &[2]),
            entry(4, &[1]),
        ];
        let statuses = run_all(&entries, 2, &|&index| match index {
            0 => Executed::Failed("broken".to_owned()),
            _ => Executed::Done,
        });
        assert_eq!(
            statuses,
            [
                Status::Failed("broken".to_owned()),
                Status::Done,
                Status::Needs(0),
                Status::Needs(0),
                Status::Done
            ]
        );
    }

    #[test]
    fn stopping_leaves_the_rest() {
        let entries: Vec<_> = (0..10).map(|index| entry(index, &[])).collect();
        let executed = AtomicUsize::new(0);
        let statuses = run(
            &entries,
            1,
            &|| executed.load(Ordering::SeqCst) == 3,
            &|_| {
                executed.fetch_add(1, Ordering::SeqCst);
                Executed::Done
            },
            &|_| {},
        );
        assert_eq!(statuses.iter().filter(|s| **s == Status::Done).count(), 3);
        assert_eq!(
            statuses.iter().filter(|s| **s == Status::Stopped).count(),
            7
        );
    }

    #[test]
    fn the_time_left_comes_from_tasks_of_the_same_group() {
        let entries: Vec<_> = (0..4).map(|index| entry(index, &[])).collect();
        let mut state = State::new(&entries);
        state.ran(&entries[0], 5.0, &Status::Done);
        state.conclude(&entries, &vec![Vec::new(); 4], 0, Status::Done);
        let progress = state.progress(3);
        assert_eq!((progress.finished, progress.total), (1, 4));
        assert!((progress.seconds_left - 5.0).abs() < 1e-12);
        assert_eq!((progress.seconds_used, progress.workers), (5.0, 3));
    }
}

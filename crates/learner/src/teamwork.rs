//! Work shared out among threads, with a watch that only one of them may ask.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use homing_planner::{Progress, Stop, Watch};

/// Does something for each item, in as many threads as there are; results in the order of items.
/// Where one is stopped, the others are as well.
pub(crate) fn for_all<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    watch: &mut dyn Watch,
    act: impl Fn(&T, &mut dyn Watch) -> Result<R, Stop> + Sync,
) -> Result<Vec<R>, Stop> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    // Each thread takes the next item that nobody has.
    let take = |watch: &mut dyn Watch| -> Result<Vec<(usize, R)>, Stop> {
        let mut mine = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else {
                return Ok(mine);
            };
            mine.push((place, act(item, watch)?));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len()))
            .map(|_| scope.spawn(|| take(&mut Told(&stopped))))
            .collect();
        let mut results = take(&mut Telling {
            watch,
            stopped: &stopped,
        });
        for other in others {
            let theirs = other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // Why this thread was stopped counts: the others only know that it was.
            if let Ok(results) = &mut results {
                results.extend(theirs?);
            }
        }
        results
    })?;
    results.sort_by_key(|&(place, _)| place);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Asks the watch, and lets the other threads know.
struct Telling<'a> {
    watch: &'a mut dyn Watch,
    stopped: &'a AtomicBool,
}

impl Watch for Telling<'_> {
    fn poll(&mut self, progress: Progress) -> Option<Stop> {
        let stop = self.watch.poll(progress);
        if stop.is_some() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stop
    }
}

/// Stops when the thread that asks the watch has been told to.
struct Told<'a>(&'a AtomicBool);

impl Watch for Told<'_> {
    fn poll(&mut self, _: Progress) -> Option<Stop> {
        self.0.load(Ordering::Relaxed).then_some(Stop::Interrupted)
    }
}

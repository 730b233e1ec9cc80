//! A batch in chunks, shared out among threads.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::tape::Buffers;

/// Gradients of finished chunks that wait for their turn.
struct Waiting<'g, R> {
    gradient: &'g mut [f32],
    next: usize,
    finished: BTreeMap<usize, Vec<f32>>,
    results: Vec<Option<R>>,
}

/// Adds the gradients of `chunks` chunks to `gradient`, in the order of chunks, whichever is
/// finished first; gives the results in that order too. `work` is told which chunk it is, adds its
/// gradient to a buffer of zeros, and may use the buffers of its thread. There are as many threads
/// as there are `buffers`, of which there must be some.
pub fn add_up<R: Send>(
    chunks: usize,
    buffers: &mut [Buffers],
    gradient: &mut [f32],
    work: impl Fn(usize, &mut Buffers, &mut [f32]) -> R + Sync,
) -> Vec<R> {
    assert!(!buffers.is_empty(), "no buffers, so no threads");
    let len = gradient.len();
    let taken = AtomicUsize::new(0);
    let waiting = Mutex::new(Waiting {
        gradient,
        next: 0,
        finished: BTreeMap::new(),
        results: (0..chunks).map(|_| None).collect(),
    });
    let run = |buffers: &mut Buffers| {
        let mut spare: Vec<Vec<f32>> = Vec::new();
        loop {
            let chunk = taken.fetch_add(1, Ordering::Relaxed);
            if chunk >= chunks {
                return;
            }
            let mut part = spare.pop().unwrap_or_default();
            part.clear();
            part.resize(len, 0.0);
            let result = work(chunk, buffers, &mut part);
            let mut waiting = waiting.lock().expect("no thread panicked");
            waiting.results[chunk] = Some(result);
            waiting.finished.insert(chunk, part);
            let mut next = waiting.next;
            while let Some(part) = waiting.finished.remove(&next) {
                for (sum, x) in waiting.gradient.iter_mut().zip(&part) {
                    *sum += x;
                }
                spare.push(part);
                next += 1;
            }
            waiting.next = next;
        }
    };
    let (first, others) = buffers.split_first_mut().expect("checked above");
    std::thread::scope(|scope| {
        for buffers in others.iter_mut().take(chunks.saturating_sub(1)) {
            scope.spawn(|| run(buffers));
        }
        run(first);
    });
    let waiting = waiting.into_inner().expect("no thread panicked");
    let results = waiting.results.into_iter();
    results
        .map(|result| result.expect("every chunk was done"))
        .collect()
}

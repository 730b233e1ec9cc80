//! Who works when: so many at once, the others in the order they came, and no more than there is
//! room for.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A queue for places to work in.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    places: usize,
    most_waiting: usize,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    working: usize,
    waiting: VecDeque<u64>,
    next: u64,
    bytes: usize,
}

/// There is no room.
#[derive(Debug)]
pub(crate) struct Full;

/// A wait in the queue, and then a place; left when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    queue: Arc<Queue>,
    number: u64,
    bytes: usize,
    works: bool,
}

impl Queue {
    pub(crate) fn new(places: usize, most_waiting: usize, most_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            places,
            most_waiting,
            most_bytes,
        })
    }

    /// Joins the queue, with a request of so many bytes.
    pub(crate) fn join(self: &Arc<Self>, bytes: usize) -> Result<Turn, Full> {
        let mut state = self.state.lock().expect("no thread panics here");
        let crowded = state.waiting.len() >= self.most_waiting;
        if crowded || state.bytes.saturating_add(bytes) > self.most_bytes {
            return Err(Full);
        }
        let number = state.next;
        state.next += 1;
        state.bytes += bytes;
        state.waiting.push_back(number);
        Ok(Turn {
            queue: Arc::clone(self),
            number,
            bytes,
            works: false,
        })
    }

    /// How many work and how many wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = self.state.lock().expect("no thread panics here");
        (state.working, state.waiting.len())
    }
}

impl Turn {
    /// Waits for a place. `each` is told now and then how many are ahead, and ends the wait with
    /// `false`.
    pub(crate) fn wait(&mut self, each: &mut dyn FnMut(usize) -> bool) -> bool {
        let queue = Arc::clone(&self.queue);
        let mut state = queue.state.lock().expect("no thread panics here");
        loop {
            if state.waiting.front() == Some(&self.number) && state.working < queue.places {
                state.waiting.pop_front();
                state.working += 1;
                self.works = true;
                // There may be a place for the next one, too.
                queue.changed.notify_all();
                return true;
            }
            let place = state
                .waiting
                .iter()
                .position(|&number| number == self.number);
            drop(state);
            if !each(place.unwrap_or(0)) {
                return false;
            }
            state = queue.state.lock().expect("no thread panics here");
            let waited = queue
                .changed
                .wait_timeout(state, Duration::from_millis(100));
            state = waited.expect("no thread panics here").0;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock().expect("no thread panics here");
        if self.works {
            state.working -= 1;
        } else {
            state.waiting.retain(|&number| number != self.number);
        }
        state.bytes -= self.bytes;
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_and_no_more_than_fit() {
        let queue = Queue::new(1, 2, 100);
        let mut first = queue.join(10).expect("room");
        assert!(first.wait(&mut |_| true));
        let mut second = queue.join(10).expect("room");
        let third = queue.join(10).expect("room");
        assert!(queue.join(10).is_err(), "two wait");
        assert!(!second.wait(&mut |ahead| {
            assert_eq!(ahead, 0);
            false
        }));
        drop(third);
        assert!(queue.join(90).is_err(), "too many bytes");
        drop(first);
        assert!(second.wait(&mut |_| true));
        assert_eq!(queue.load(), (1, 0));
    }

    #[test]
    fn many_threads_all_get_their_turn() {
        let queue = Queue::new(2, 100, 1000);
        let most = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    let mut turn = queue.join(1).expect("room");
                    assert!(turn.wait(&mut |_| true));
                    most.fetch_max(queue.load().0, std::sync::atomic::Ordering::SeqCst);
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(queue.load(), (0, 0));
    }
}

//! Results that clients come back for. They are kept for a while, and the oldest go first when there
//! are too many; work that nobody asks for any more is stopped.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::job::Event;

/// A result nobody has asked for in so long is forgotten.
const KEPT: Duration = Duration::from_secs(600);

/// Work nobody has asked about in so long is stopped: editors that break off just stop asking.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of results kept, at the most.
const MOST_BYTES: usize = 64 << 20;

/// One that is forgotten cannot be told from one that never was.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    Pending,
    Done(Event),
}

struct Entry {
    asked: Instant,
    event: Option<Event>,
    bytes: usize,
    order: u64,
}

/// What was promised, by its id.
#[derive(Default)]
pub(crate) struct Results {
    entries: Mutex<Entries>,
    keys: [RandomState; 2],
}

#[derive(Default)]
struct Entries {
    by_id: BTreeMap<String, Entry>,
    next: u64,
}

impl Results {
    /// A new promise; its id cannot be guessed.
    pub(crate) fn promise(&self) -> String {
        let mut entries = self.entries.lock().expect("no thread panics here");
        entries.forget();
        let order = entries.next;
        entries.next += 1;
        let [first, second] = &self.keys;
        let id = format!(
            "{:016x}{:016x}",
            first.hash_one(order),
            second.hash_one(order)
        );
        let entry = Entry {
            asked: Instant::now(),
            event: None,
            bytes: 0,
            order,
        };
        entries.by_id.insert(id.clone(), entry);
        id
    }

    /// Keeps a promise.
    pub(crate) fn keep(&self, id: &str, event: Event) {
        let mut entries = self.entries.lock().expect("no thread panics here");
        if let Some(entry) = entries.by_id.get_mut(id) {
            entry.bytes = serde_json::to_vec(&event).map_or(0, |text| text.len());
            entry.asked = Instant::now();
            entry.event = Some(event);
        }
        entries.forget();
    }

    /// What became of a promise.
    pub(crate) fn ask(&self, id: &str) -> Option<Found> {
        let mut entries = self.entries.lock().expect("no thread panics here");
        entries.forget();
        let entry = entries.by_id.get_mut(id)?;
        entry.asked = Instant::now();
        Some(match &entry.event {
            Some(event) => Found::Done(event.clone()),
            None => Found::Pending,
        })
    }

    /// Whether anybody still waits for it.
    pub(crate) fn wanted(&self, id: &str) -> bool {
        let entries = self.entries.lock().expect("no thread panics here");
        let entry = entries.by_id.get(id);
        entry.is_some_and(|entry| entry.asked.elapsed() < PATIENCE)
    }
}

impl Entries {
    fn forget(&mut self) {
        self.by_id.retain(|_, entry| entry.asked.elapsed() < KEPT);
        let mut bytes: usize = self.by_id.values().map(|entry| entry.bytes).sum();
        while bytes > MOST_BYTES {
            let done = self.by_id.iter().filter(|(_, entry)| entry.event.is_some());
            let oldest = done.min_by_key(|(_, entry)| entry.order);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else {
                return;
            };
            bytes -= self.by_id.remove(&id).map_or(0, |entry| entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_kept_and_the_oldest_go_first() {
        let results = Results::default();
        let first = results.promise();
        assert!(matches!(results.ask(&first), Some(Found::Pending)));
        assert!(results.wanted(&first));
        assert!(results.ask("0").is_none());
        let big = || Event::Notice {
            text: "x".repeat(MOST_BYTES / 2 + 1),
        };
        results.keep(&first, big());
        assert!(matches!(results.ask(&first), Some(Found::Done(_))));
        let second = results.promise();
        assert_ne!(first, second);
        results.keep(&second, big());
        assert!(results.ask(&first).is_none());
        assert!(results.ask(&second).is_some());
    }
}

//! The network's input: a finite structure, given by its true propositions.
//!
//! In the tree of `docs/nlm.md`: what goes in at the root.

use std::fmt;

/// One input of the network: O objects and the propositions true of them.
///
/// Everything not inserted is false; no dense array is ever built by the
/// caller. Inserting a proposition twice is the same as inserting it once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    objects: usize,
    /// For each arity n, rows of `[channel, x_1, ..., x_n]`.
    rows: Vec<Vec<u16>>,
}

/// The largest object count a [`Structure`] may have.
pub const MAX_OBJECTS: usize = 1 << 15;

impl Structure {
    /// A structure of `objects` objects in which nothing is true.
    pub fn new(objects: usize) -> Self {
        Self {
            objects,
            rows: Vec::new(),
        }
    }

    /// O: the number of objects.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// Makes the proposition of z/n (n = `objects.len()`) at this channel true.
    ///
    /// # Panics
    ///
    /// If an object is not below the structure's object count, or the channel
    /// does not fit 16 bits. Whether the network has such a channel
    /// is checked when the structure is evaluated.
    pub fn insert(&mut self, channel: usize, objects: &[usize]) {
        let channel = u16::try_from(channel).expect("a channel fits 16 bits");
        while self.rows.len() <= objects.len() {
            self.rows.push(Vec::new());
        }
        let rows = &mut self.rows[objects.len()];
        rows.push(channel);
        for &x in objects {
            assert!(
                x < self.objects,
                "object {x} of a structure with {} objects",
                self.objects
            );
            rows.push(x as u16);
        }
    }

    /// Makes propositions of z/n (n = `arity`) true, given as [`rows`](Self::rows) gives them.
    ///
    /// # Panics
    ///
    /// If a row is cut short, or an object is not below the structure's object count.
    pub fn extend(&mut self, arity: usize, rows: &[u16]) {
        assert!(
            rows.len().is_multiple_of(arity + 1)
                && rows
                    .chunks_exact(arity + 1)
                    .all(|row| row[1..].iter().all(|&x| usize::from(x) < self.objects)),
            "rows of arity {arity} for a structure with {} objects",
            self.objects
        );
        while self.rows.len() <= arity {
            self.rows.push(Vec::new());
        }
        self.rows[arity].extend_from_slice(rows);
    }

    /// The propositions of arity n, flat: rows of `[channel, x_1, ..., x_n]`.
    pub fn rows(&self, arity: usize) -> &[u16] {
        self.rows.get(arity).map_or(&[], Vec::as_slice)
    }

    /// Removes every proposition and keeps the allocations.
    pub fn clear(&mut self, objects: usize) {
        self.objects = objects;
        for rows in &mut self.rows {
            rows.clear();
        }
    }

    /// The propositions of arity n as (channel, objects).
    pub fn propositions(&self, arity: usize) -> impl Iterator<Item = (usize, &[u16])> {
        self.rows(arity)
            .chunks_exact(arity + 1)
            .map(|row| (usize::from(row[0]), &row[1..]))
    }

    /// One more than the largest arity with room for propositions.
    pub(crate) fn arities(&self) -> usize {
        self.rows.len()
    }

    /// The same propositions over the objects kept; `new_name[x]` is the new
    /// name of x, or `None` for an object left out.
    pub(crate) fn restrict(&self, objects: usize, new_name: &[Option<u16>]) -> Self {
        let mut rows: Vec<Vec<u16>> = Vec::with_capacity(self.rows.len());
        for (arity, old) in self.rows.iter().enumerate() {
            let mut new = Vec::with_capacity(old.len());
            for row in old.chunks_exact(arity + 1) {
                let start = new.len();
                new.push(row[0]);
                for &x in &row[1..] {
                    match new_name[usize::from(x)] {
                        Some(y) => new.push(y),
                        None => {
                            new.truncate(start);
                            break;
                        }
                    }
                }
            }
            rows.push(new);
        }
        Self { objects, rows }
    }
}

/// Why a batch of structures does not fit a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// A structure of the batch has another object count than the first.
    MixedObjectCounts {
        /// The position in the batch.
        state: usize,
        /// Its object count.
        objects: usize,
        /// The object count of the first structure.
        expected: usize,
    },
    /// The object count is 0 or above [`MAX_OBJECTS`].
    ObjectCountOutOfRange {
        /// The position in the batch.
        state: usize,
        /// Its object count.
        objects: usize,
    },
    /// A proposition names a channel the network does not have.
    NoSuchChannel {
        /// The position in the batch.
        state: usize,
        /// The arity of the proposition.
        arity: usize,
        /// Its channel.
        channel: usize,
        /// How many channels the network has at that arity.
        channels: usize,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MixedObjectCounts {
                state,
                objects,
                expected,
            } => write!(
                f,
                "structure {state} of the batch has {objects} objects, the first has {expected}: \
                 the structures of a batch must have equally many"
            ),
            Self::ObjectCountOutOfRange { state, objects } => write!(
                f,
                "structure {state} of the batch has {objects} objects; \
                 it must have between 1 and {MAX_OBJECTS}"
            ),
            Self::NoSuchChannel {
                state,
                arity,
                channel,
                channels,
            } => write!(
                f,
                "structure {state} of the batch uses channel {channel} of arity {arity}, \
                 where the network has {channels}"
            ),
        }
    }
}

impl std::error::Error for InputError {}

/// Checks that the structures fit a network with these input channels.
pub(crate) fn check_batch(
    batch: &[&Structure],
    input_channels: &[usize],
) -> Result<(), InputError> {
    for (state, s) in batch.iter().enumerate() {
        if s.objects == 0 || s.objects > MAX_OBJECTS {
            return Err(InputError::ObjectCountOutOfRange {
                state,
                objects: s.objects,
            });
        }
        if s.objects != batch[0].objects {
            return Err(InputError::MixedObjectCounts {
                state,
                objects: s.objects,
                expected: batch[0].objects,
            });
        }
        for arity in 0..s.arities() {
            let channels = input_channels.get(arity).copied().unwrap_or(0);
            for (channel, _) in s.propositions(arity) {
                if channel >= channels {
                    return Err(InputError::NoSuchChannel {
                        state,
                        arity,
                        channel,
                        channels,
                    });
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_there_and_back() {
        let mut one = Structure::new(3);
        one.insert(4, &[]);
        one.insert(0, &[2, 1]);
        one.insert(7, &[0, 0]);
        let mut other = Structure::new(3);
        for arity in (0..3).rev() {
            other.extend(arity, one.rows(arity));
        }
        assert_eq!(one.rows(2), [0, 2, 1, 7, 0, 0]);
        assert_eq!(one.rows(5), []);
        assert_eq!(one, other);
    }

    /// Kernels read arrays at these places without looking.
    #[test]
    #[should_panic(expected = "rows of arity 1 for a structure with 3 objects")]
    fn an_object_that_is_not_there_is_refused() {
        Structure::new(3).extend(1, &[0, 2, 0, 3]);
    }
}

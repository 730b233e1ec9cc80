//! Every state met, once, in one arena.

use hashbrown::HashTable;
use homing_pddl::index_type;

use crate::hash::hash_slice;
use crate::watch::table_growth;

index_type! {
    /// Index of a state in a [`Registry`], in the order of insertion.
    StateId,
}

/// A run of packed states one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct States<'a> {
    words: &'a [u32],
    stride: usize,
    len: usize,
}

impl<'a> States<'a> {
    /// One state.
    pub fn one(state: &'a [u32]) -> Self {
        Self {
            words: state,
            stride: state.len(),
            len: 1,
        }
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The state of an index.
    pub fn get(&self, index: usize) -> &'a [u32] {
        &self.words[index * self.stride..(index + 1) * self.stride]
    }

    /// The states in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u32]> {
        (0..self.len).map(move |index| self.get(index))
    }
}

/// The states met in a search, each stored once.
pub struct Registry {
    stride: usize,
    words: Vec<u32>,
    len: u32,
    table: HashTable<u32>,
}

impl Registry {
    /// For states of so many words.
    pub fn new(stride: usize) -> Self {
        Self {
            stride,
            words: Vec::new(),
            len: 0,
            table: HashTable::new(),
        }
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The id that the next new state will get.
    pub fn next_id(&self) -> StateId {
        StateId(self.len)
    }

    /// A state's words.
    pub fn state(&self, id: StateId) -> &[u32] {
        let start = id.index() * self.stride;
        &self.words[start..start + self.stride]
    }

    /// The states from `from` up to `to`, which were inserted one after the other.
    pub fn range(&self, from: StateId, to: StateId) -> States<'_> {
        States {
            words: &self.words[from.index() * self.stride..to.index() * self.stride],
            stride: self.stride,
            len: to.index() - from.index(),
        }
    }

    /// Stores a state; says whether it is new.
    ///
    /// # Panics
    ///
    /// Past 2^32 states.
    pub fn insert(&mut self, state: &[u32]) -> (StateId, bool) {
        debug_assert_eq!(state.len(), self.stride);
        let stride = self.stride;
        let words = &self.words;
        let stored = |id: u32| &words[id as usize * stride..(id as usize + 1) * stride];
        let entry = self.table.entry(
            hash_slice(state),
            |&id| stored(id) == state,
            |&id| hash_slice(stored(id)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => (StateId(*entry.get()), false),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let id = self.len;
                self.len = id.checked_add(1).expect("more than 2^32 states");
                entry.insert(id);
                self.words.extend_from_slice(state);
                (StateId(id), true)
            }
        }
    }

    /// The id of a state, if it is stored.
    pub fn find(&self, state: &[u32]) -> Option<StateId> {
        debug_assert_eq!(state.len(), self.stride);
        let is_it = |&id: &u32| self.state(StateId(id)) == state;
        self.table
            .find(hash_slice(state), is_it)
            .map(|&id| StateId(id))
    }

    /// The bytes by which the table grows at once before it holds so many more states.
    pub(crate) fn growth(&self, more: usize) -> usize {
        table_growth(&self.table, more)
    }

    /// Bytes that a state takes: its words, without the table that finds it.
    pub fn bytes_per_state(&self) -> usize {
        self.stride * size_of::<u32>()
    }
}

//! The facts of one predicate found so far, with the indices that joins look them up by.

use hashbrown::HashTable;
use homing_pddl::model::ObjectId;

use crate::hash::hash_words;
use crate::watch::table_growth;

fn hash(arguments: impl Iterator<Item = ObjectId>) -> u64 {
    hash_words(arguments.map(|object| object.0))
}

/// An index by the arguments at some positions.
struct Index {
    positions: Vec<usize>,
    /// Which list holds the facts with given arguments, found by the first of them.
    table: HashTable<u32>,
    lists: Vec<Vec<u32>>,
}

/// Names an index of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexId(usize);

/// A set of argument tuples. A fact is known from the moment it is inserted; joins see it only
/// from the moment it is revealed, in the same order.
pub(super) struct Relation {
    arity: usize,
    rows: Vec<ObjectId>,
    /// The number of facts; `rows` cannot tell where the arity is 0.
    len: u32,
    revealed: u32,
    table: HashTable<u32>,
    indices: Vec<Index>,
}

impl Relation {
    pub(super) fn new(arity: usize) -> Self {
        Self {
            arity,
            rows: Vec::new(),
            len: 0,
            revealed: 0,
            table: HashTable::new(),
            indices: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn revealed(&self) -> u32 {
        self.revealed
    }

    pub(super) fn row(&self, row: u32) -> &[ObjectId] {
        let start = row as usize * self.arity;
        &self.rows[start..start + self.arity]
    }

    /// Finds a fact, revealed or not.
    pub(super) fn find(&self, arguments: &[ObjectId]) -> Option<u32> {
        self.table
            .find(hash(arguments.iter().copied()), |&row| {
                self.row(row) == arguments
            })
            .copied()
    }

    /// Adds a fact; `false` if it was there.
    pub(super) fn insert(&mut self, arguments: &[ObjectId]) -> bool {
        debug_assert_eq!(arguments.len(), self.arity);
        let (rows, arity) = (&self.rows, self.arity);
        let row = |row: u32| {
            let start = row as usize * arity;
            &rows[start..start + arity]
        };
        let own = hash(arguments.iter().copied());
        if self
            .table
            .find(own, |&other| row(other) == arguments)
            .is_some()
        {
            return false;
        }
        self.table
            .insert_unique(own, self.len, |&other| hash(row(other).iter().copied()));
        self.rows.extend_from_slice(arguments);
        self.len += 1;
        true
    }

    /// The bytes by which the table grows at once if one more fact is added.
    pub(super) fn growth(&self) -> usize {
        table_growth(&self.table, 1)
    }

    /// Makes the next fact visible to joins.
    pub(super) fn reveal_next(&mut self) {
        let row = self.revealed;
        self.revealed += 1;
        let (rows, arity) = (&self.rows, self.arity);
        let argument = |row: u32, position: usize| rows[row as usize * arity + position];
        for index in &mut self.indices {
            let Index {
                positions,
                table,
                lists,
            } = index;
            let key_hash =
                |row: u32| hash(positions.iter().map(|&position| argument(row, position)));
            let found = table.find(key_hash(row), |&list| {
                let first = lists[list as usize][0];
                positions
                    .iter()
                    .all(|&p| argument(first, p) == argument(row, p))
            });
            match found {
                Some(&list) => lists[list as usize].push(row),
                None => {
                    let list = u32::try_from(lists.len()).expect("fewer lists than facts");
                    lists.push(vec![row]);
                    table.insert_unique(key_hash(row), list, |&list| {
                        key_hash(lists[list as usize][0])
                    });
                }
            }
        }
    }

    /// The index by these positions, made if there is none. Only before anything is revealed.
    pub(super) fn index_by(&mut self, positions: &[usize]) -> IndexId {
        assert_eq!(self.revealed, 0, "indices come before facts");
        let found = self
            .indices
            .iter()
            .position(|index| index.positions == positions);
        IndexId(found.unwrap_or_else(|| {
            self.indices.push(Index {
                positions: positions.to_vec(),
                table: HashTable::new(),
                lists: Vec::new(),
            });
            self.indices.len() - 1
        }))
    }

    /// The revealed facts whose arguments at the index's positions are `key`.
    pub(super) fn look_up(&self, index: IndexId, key: &[ObjectId]) -> &[u32] {
        let index = &self.indices[index.0];
        let found = index.table.find(hash(key.iter().copied()), |&list| {
            let first = self.row(index.lists[list as usize][0]);
            index
                .positions
                .iter()
                .zip(key)
                .all(|(&position, &object)| first[position] == object)
        });
        found.map_or(&[], |&list| &index.lists[list as usize])
    }

    /// How many different objects stand at a position, over all facts inserted.
    pub(super) fn distinct(&self, position: usize) -> usize {
        let mut objects: Vec<ObjectId> = self
            .rows
            .iter()
            .skip(position)
            .step_by(self.arity)
            .copied()
            .collect();
        objects.sort_unstable();
        objects.dedup();
        objects.len()
    }
}

//! Many short lists in one allocation.

/// Lists of indices, by a first index.
#[derive(Debug)]
pub(super) struct Lists {
    /// List `i` is `items[ends[i]..ends[i + 1]]`.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// From pairs (list, item), which `pairs` gives to its argument twice in the same order: once to
    /// count, once to place. Items keep their order.
    pub(super) fn new(lists: usize, pairs: impl Fn(&mut dyn FnMut(usize, u32))) -> Self {
        let mut ends = vec![0u32; lists + 1];
        pairs(&mut |list, _| ends[list + 1] += 1);
        for list in 0..lists {
            ends[list + 1] += ends[list];
        }
        let mut next = ends.clone();
        let mut items = vec![0; ends[lists] as usize];
        pairs(&mut |list, item| {
            items[next[list] as usize] = item;
            next[list] += 1;
        });
        Self { ends, items }
    }

    pub(super) fn of(&self, list: usize) -> &[u32] {
        &self.items[self.ends[list] as usize..self.ends[list + 1] as usize]
    }

    /// The number of items in all lists.
    pub(super) fn total(&self) -> usize {
        self.items.len()
    }
}

//! Many short lists in one allocation.

/// Rows of varying length, stored one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Csr<T> {
    /// Row `i` is `items[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Csr<T> {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T: Copy> Csr<T> {
    /// Without rows, but with room for so many rows and items.
    pub(crate) fn with_capacity(rows: usize, items: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self {
            offsets,
            items: Vec::with_capacity(items),
        }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn row(&self, index: usize) -> &[T] {
        &self.items[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Whether one more row of so many items can be numbered.
    pub(crate) fn has_room(&self, items: usize) -> bool {
        self.items.len() + items <= u32::MAX as usize
    }

    /// All rows as one.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn push_row(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        let end = u32::try_from(self.items.len()).expect("more than 2^32 items in a table");
        self.offsets.push(end);
    }

    /// From pairs (row, item) listed by `pairs` twice in the same order: once to count, once to
    /// place. Items keep their order within a row.
    pub(crate) fn from_pairs<I>(rows: usize, fill: T, pairs: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = (usize, T)>,
    {
        let mut offsets = vec![0u32; rows + 1];
        for (row, _) in pairs() {
            offsets[row + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut items = vec![fill; offsets[rows] as usize];
        for (row, item) in pairs() {
            items[next[row] as usize] = item;
            next[row] += 1;
        }
        Self { offsets, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_grouped_by_row_in_order() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c')];
        let csr = Csr::from_pairs(4, ' ', || pairs.iter().copied());
        let rows: Vec<&[char]> = csr.rows().collect();
        assert_eq!(rows, [&['b'][..], &[], &['a', 'c'], &[]]);
    }
}

//! Which rows belong together.

use std::sync::Arc;

/// In a list of rows to gather: none, so zeros.
pub const NONE: u32 = u32::MAX;

/// Lists of rows, one a segment. A row may be in several lists, or in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    starts: Arc<[u32]>,
    rows: Arc<[u32]>,
}

impl Segments {
    /// From the list of each segment.
    pub fn from_lists<'a>(lists: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for list in lists {
            rows.extend_from_slice(list);
            starts.push(rows.len() as u32);
        }
        Self {
            starts: starts.into(),
            rows: rows.into(),
        }
    }

    /// From where each segment starts in `rows`, and its end: one number more than segments. Panics if
    /// the starts do not ascend from 0 to the number of rows.
    pub fn new(starts: Vec<u32>, rows: Vec<u32>) -> Self {
        assert_eq!(starts.first(), Some(&0), "the first start");
        assert!(starts.is_sorted(), "starts ascend");
        assert_eq!(starts.last(), Some(&(rows.len() as u32)), "the last start");
        Self {
            starts: starts.into(),
            rows: rows.into(),
        }
    }

    /// Consecutive rows, so many a segment: all rows in order, each once.
    pub fn of_sizes(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for size in sizes {
            end += size as u32;
            starts.push(end);
        }
        Self {
            starts: starts.into(),
            rows: (0..end).collect(),
        }
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lists, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts
            .windows(2)
            .map(|ends| &self.rows[ends[0] as usize..ends[1] as usize])
    }
}

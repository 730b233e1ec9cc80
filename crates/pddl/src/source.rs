//! A file's text, and places in it.

use std::fmt;
use std::sync::Arc;

/// A half-open range of byte offsets in one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset past the last byte.
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self {
            start: u32::try_from(start).expect("sources are at most 4 GiB"),
            end: u32::try_from(end).expect("sources are at most 4 GiB"),
        }
    }

    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The text of one input file under the name it is reported by.
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// Where the first byte stood that is no UTF-8, if there was one.
    invalid_utf8: Option<Span>,
}

impl Source {
    /// Takes a file's bytes. Bytes that are not UTF-8 are replaced and reported by [`crate::parse`].
    ///
    /// # Panics
    ///
    /// If `bytes` is longer than 4 GiB.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Arc<Self> {
        let (text, invalid_utf8) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let end = start + char::REPLACEMENT_CHARACTER.len_utf8();
                (text, Some(Span::new(start, end)))
            }
        };
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .map(|at| u32::try_from(at).expect("sources are at most 4 GiB"))
            .collect();
        Arc::new(Self {
            name: name.into(),
            text,
            line_starts,
            invalid_utf8,
        })
    }

    /// The name the file is reported by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn invalid_utf8(&self) -> Option<Span> {
        self.invalid_utf8
    }

    /// Line and column of an offset, both counted from 1, columns in characters.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1] as usize;
        let column = self.text[start..offset as usize].chars().count() + 1;
        (line, column)
    }

    /// The text of a line counted from 1, without its end.
    pub(crate) fn line(&self, line: usize) -> &str {
        let start = self.line_starts[line - 1] as usize;
        let end = self
            .line_starts
            .get(line)
            .map_or(self.text.len(), |&next| next as usize - 1);
        self.text[start..end].trim_end_matches('\r')
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name, self.text.len())
    }
}

/// A span in a named source: what a message points at.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// Where in it.
    pub span: Span,
}

//! A growing f32 buffer on cache-line boundaries.

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// f32 aligned to 64 bytes; keeps its capacity when it shrinks.
#[derive(Default)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
}

impl Buffer {
    /// Makes room for `len` f32; what it holds is unspecified but finite or
    /// whatever was written before.
    pub(crate) fn reserve(&mut self, len: usize) {
        let lines = len.div_ceil(16);
        if self.lines.len() < lines {
            // A fresh zeroed allocation: growing would copy stale contents.
            self.lines = Vec::new();
            self.lines.resize(lines, Line([0.0; 16]));
        }
    }

    /// Makes room for `len` f32 and sets them to zero.
    pub(crate) fn zeroed(&mut self, len: usize) {
        let lines = len.div_ceil(16);
        let fresh = self.lines.len() < lines;
        self.reserve(len);
        if !fresh {
            self.lines[..lines].fill(Line([0.0; 16]));
        }
    }

    pub(crate) fn as_ptr(&self) -> *const f32 {
        self.lines.as_ptr().cast()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut f32 {
        self.lines.as_mut_ptr().cast()
    }

    /// The f32 at this place.
    pub(crate) fn at(&self, i: usize) -> f32 {
        self.lines[i / 16].0[i % 16]
    }

    /// Sets the f32 at this place.
    pub(crate) fn set(&mut self, i: usize, x: f32) {
        self.lines[i / 16].0[i % 16] = x;
    }

    /// Adds to the f32 at this place.
    pub(crate) fn add(&mut self, i: usize, x: f32) {
        self.lines[i / 16].0[i % 16] += x;
    }

    /// Sets a run of f32 to one value.
    pub(crate) fn fill(&mut self, from: usize, len: usize, x: f32) {
        if from % 16 == 0 && len % 16 == 0 {
            self.lines[from / 16..(from + len) / 16].fill(Line([x; 16]));
        } else {
            for i in from..from + len {
                self.set(i, x);
            }
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.capacity() * 64
    }
}

//! What is wrong with settings, in words, all of it at once.

use std::ops::RangeInclusive;

/// What is wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    /// Takes down a sentence unless something holds.
    pub(crate) fn must(&mut self, holds: bool, text: impl Into<String>) {
        if !holds {
            self.0.push(text.into());
        }
    }

    /// A count may not be 0.
    pub(crate) fn at_least_one(&mut self, name: &str, count: u64) {
        self.must(count > 0, format!("`{name}` must be at least 1"));
    }

    /// A count lies between two others.
    pub(crate) fn within(&mut self, name: &str, count: usize, bounds: RangeInclusive<usize>) {
        let (least, most) = (bounds.start(), bounds.end());
        let text = format!("`{name}` must be from {least} to {most}");
        self.must(bounds.contains(&count), text);
    }

    /// A number is above 0 and finite.
    pub(crate) fn positive(&mut self, name: &str, number: f64) {
        let holds = number > 0.0 && number.is_finite();
        self.must(holds, format!("`{name}` must be positive"));
    }

    /// A number is at least 0 and finite.
    pub(crate) fn not_negative(&mut self, name: &str, number: f64) {
        let holds = number >= 0.0 && number.is_finite();
        self.must(holds, format!("`{name}` must not be negative"));
    }

    /// A factor that makes nothing larger.
    pub(crate) fn above_zero_at_most_one(&mut self, name: &str, number: f64) {
        let holds = number > 0.0 && number <= 1.0;
        self.must(holds, format!("`{name}` must be above 0 and at most 1"));
    }

    /// A share of a whole.
    pub(crate) fn share(&mut self, name: &str, number: f64) {
        let holds = (0.0..=1.0).contains(&number);
        self.must(holds, format!("`{name}` must be from 0 to 1"));
    }

    /// Further sentences.
    pub(crate) fn and(&mut self, others: Vec<String>) {
        self.0.extend(others);
    }

    /// All of them, in order.
    pub(crate) fn all(self) -> Vec<String> {
        self.0
    }
}

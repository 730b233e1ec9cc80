//! Names that are not in a list.

use std::fmt;

/// A name that means nothing, and those that would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What it should have been the name of.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    pub(crate) fn new(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        Self {
            what,
            name: name.to_owned(),
            known: known.into_iter().collect(),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, known } = self;
        write!(
            f,
            "there is no {what} `{name}`; there are {}",
            known.join(", ")
        )
    }
}

impl std::error::Error for UnknownName {}

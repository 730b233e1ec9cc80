//! Lists whose entries have names: how a name is read and written, and what is said of one that is not
//! in the list.

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

/// For a list of kinds with `ALL` and `entry`: name, label and description of each, and its name as
/// text. `$what` is what a kind is called in messages.
macro_rules! named_list {
    ($kind:ident, $what:literal) => {
        impl $kind {
            /// Its name, as users type it and as files have it.
            pub const fn name(self) -> &'static str {
                self.entry().name
            }

            /// Its name in tables.
            pub const fn label(self) -> &'static str {
                self.entry().label
            }

            /// What it is, in a line.
            pub const fn description(self) -> &'static str {
                self.entry().description
            }

            /// The one of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|kind| kind.name() == name)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::names::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::from_name(name).ok_or_else(|| {
                    $crate::names::UnknownName::new($what, name, Self::ALL.map(Self::name))
                })
            }
        }

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn names_are_read_as_they_are_written() {
                for kind in $kind::ALL {
                    assert_eq!(kind.name().parse(), Ok(kind));
                    let text = serde_json::to_string(&kind).expect("a name");
                    assert_eq!(text, format!("\"{kind}\""));
                }
                let error = "gff".parse::<$kind>().expect_err("no such name");
                let names = $kind::ALL.map(|kind| kind.name()).join(", ");
                let message = format!("there is no {} `gff`; there are {names}", $what);
                assert_eq!(error.to_string(), message);
            }

            /// The message of serde names every variant, so that none can be missing in the list.
            #[test]
            fn the_list_is_complete() {
                let message = serde_json::from_str::<$kind>("\"\"")
                    .expect_err("no such name")
                    .to_string();
                let names = $kind::ALL.map(|kind| format!("`{kind}`"));
                assert!(message.contains(&names.join(", ")), "{message}");
            }
        }
    };
}

pub(crate) use named_list;

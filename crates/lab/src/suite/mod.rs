//! Suites: sets of problems without duplicates and trivial ones, and what is written about them.

mod draw;
mod folder;
mod manifest;
mod table;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domains::{DomainName, Parameters};

pub use draw::{Collection, Draw, Instance, draw};
pub use folder::{FileProblem, collect, manifest_of_files};
pub use manifest::{
    Dropped, MANIFEST_FILE, Manifest, ManifestProblem, Reason, content_hash, is_trivial, text_hash,
};

/// A named suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// What the paper trains on.
    PaperTrain,
    /// What the paper tests on.
    PaperTest,
    /// Ours, to choose models by: of sizes between the two.
    Validation,
}

impl Suite {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::PaperTrain, Self::PaperTest, Self::Validation];

    /// As users type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PaperTrain => "paper-train",
            Self::PaperTest => "paper-test",
            Self::Validation => "validation",
        }
    }

    /// Its settings in a domain.
    pub fn parameters(self, domain: DomainName) -> Vec<Parameters> {
        table::parameters(self, domain)
    }

    /// The seeds each setting is drawn with. Suites have no seed in common.
    pub fn seeds(self, domain: DomainName) -> Range<u64> {
        let all = table::seed_range(self);
        let end = all.start + table::seeds(self, domain);
        assert!(end <= all.end, "a suite has too many seeds");
        all.start..end
    }

    /// All draws of the suite in a domain, setting by setting.
    pub fn draws(self, domain: DomainName) -> Vec<Draw> {
        let seeds = self.seeds(domain);
        self.parameters(domain)
            .into_iter()
            .flat_map(|parameters| seeds.clone().map(move |seed| Draw { parameters, seed }))
            .collect()
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no suite of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSuite {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<&str> = Suite::ALL.iter().map(|suite| suite.as_str()).collect();
        write!(
            f,
            "there is no suite `{}`; there are {}",
            self.name,
            all.join(", ")
        )
    }
}

impl std::error::Error for UnknownSuite {}

impl FromStr for Suite {
    type Err = UnknownSuite;

    fn from_str(text: &str) -> Result<Self, UnknownSuite> {
        let found = Self::ALL.into_iter().find(|suite| suite.as_str() == text);
        found.ok_or_else(|| UnknownSuite {
            name: text.to_owned(),
        })
    }
}

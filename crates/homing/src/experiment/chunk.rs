//! How processes that share an experiment agree on who does what, without talking to one another.
//!
//! Each makes the plan of the same file and cuts it by the same costs. Costs are measured on what is
//! done, which changes while they work; so the first that cuts a plan into so many chunks writes
//! down the costs it used, and all others read them.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use homing_lab::experiment::{Chunk, Costs, Plan, Stage};
use homing_lab::layout::ExperimentFolder;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::error::Error;
use crate::files::{make_folder, write_first};
use crate::input::read_bytes;

/// A chunk by its number, from 1, and how many there are: `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChunkNumber {
    /// Which one, at most `of`.
    pub number: NonZeroUsize,
    /// Of how many.
    pub of: NonZeroUsize,
}

impl ChunkNumber {
    /// The only one.
    pub const WHOLE: Self = Self {
        number: NonZeroUsize::MIN,
        of: NonZeroUsize::MIN,
    };
}

impl fmt::Display for ChunkNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for ChunkNumber {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(number, of)| {
            let chunk = Self {
                number: number.parse().ok()?,
                of: of.parse().ok()?,
            };
            (chunk.number <= chunk.of).then_some(chunk)
        });
        parsed.ok_or_else(|| "expected a chunk such as 3/8, from 1/8 to 8/8".to_owned())
    }
}

impl TryFrom<String> for ChunkNumber {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ChunkNumber> for String {
    fn from(chunk: ChunkNumber) -> Self {
        chunk.to_string()
    }
}

/// Where it is written down what a cut goes by.
fn costs_file(
    folder: &ExperimentFolder,
    plan: &Plan,
    stage: Option<Stage>,
    count: NonZeroUsize,
) -> PathBuf {
    let plan = &plan.identity()[..12];
    let stage = stage.map_or("all", Stage::name);
    folder.chunks().join(format!("{plan}-{stage}-{count}.json"))
}

fn read_costs(path: &Path) -> Result<Costs, Error> {
    serde_json::from_slice(&read_bytes(path)?).map_err(|error| Error::bad_file(path, error))
}

/// Writes down what a cut goes by, unless somebody has; the costs that hold.
pub(super) fn agree(
    folder: &ExperimentFolder,
    plan: &Plan,
    done: &Done,
    stage: Option<Stage>,
    count: NonZeroUsize,
) -> Result<Costs, Error> {
    let path = costs_file(folder, plan, stage, count);
    if !path.exists() {
        make_folder(&folder.chunks())?;
        let costs = serde_json::to_vec(&done.costs(plan)).map_err(Error::bug)?;
        write_first(&path, &costs)?;
    }
    read_costs(&path)
}

/// The chunks of a stage as they are or would be agreed on; nothing is written.
pub(super) fn chunks_as_agreed(
    folder: &ExperimentFolder,
    plan: &Plan,
    done: &Done,
    stage: Stage,
    count: NonZeroUsize,
) -> Result<Vec<Chunk>, Error> {
    let path = costs_file(folder, plan, Some(stage), count);
    let costs = match path.exists() {
        true => read_costs(&path)?,
        false => done.costs(plan),
    };
    Ok(plan.chunks(Some(stage), count.get(), &costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_counted_from_one() {
        let chunk: ChunkNumber = "3/8".parse().unwrap();
        assert_eq!((chunk.number.get(), chunk.of.get()), (3, 8));
        assert_eq!(chunk.to_string(), "3/8");
        for wrong in ["", "3", "0/8", "9/8", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(wrong.parse::<ChunkNumber>().is_err(), "{wrong}");
        }
    }
}

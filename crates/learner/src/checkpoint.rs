//! Checkpoints: everything a run depends on, so that it goes on as if it had never been stopped.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::Display;

use homing_nlm::SplitMix64;
use homing_planner::Task;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compute::Compute;
use crate::config::TrainConfig;
use crate::model::{from_bytes, to_bytes};
use crate::record::TrainError;
use crate::seal::{holds, seal, unseal};
use crate::state_space::Position;
use crate::trainer::{Episode, Trainer};

/// The version of the format written.
const VERSION: u32 = 1;
const KEY: &str = "homing-checkpoint";
/// The arrays, in the order of the checksum.
const ARRAYS: [&str; 5] = [
    "parameters",
    "target",
    "adam.first",
    "adam.second",
    "replay",
];

/// Everything that is no array.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    config: TrainConfig,
    seed: u64,
    /// One hash a problem: a run goes on with the problems it began with.
    problems: Vec<u64>,
    random: u64,
    adam_steps: u32,
    steps: u64,
    sgd_steps: u64,
    goals: u64,
    resets: u64,
    episode: Option<SavedEpisode>,
    recent_losses: Vec<f64>,
    /// The stored states, oldest first.
    replay: Vec<SavedEntry>,
}

/// The episode under way; three numbers in the file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "(u32, Vec<u32>, usize)", into = "(u32, Vec<u32>, usize)")]
struct SavedEpisode {
    space: u32,
    packed_state: Vec<u32>,
    length: usize,
}

impl From<(u32, Vec<u32>, usize)> for SavedEpisode {
    fn from((space, packed_state, length): (u32, Vec<u32>, usize)) -> Self {
        Self {
            space,
            packed_state,
            length,
        }
    }
}

impl From<SavedEpisode> for (u32, Vec<u32>, usize) {
    fn from(episode: SavedEpisode) -> Self {
        (episode.space, episode.packed_state, episode.length)
    }
}

/// A state of the replay memory; a pair in the file. The packed states are in the array `replay`,
/// one behind the other.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(from = "(u32, bool)", into = "(u32, bool)")]
struct SavedEntry {
    space: u32,
    /// Whether SGD has used it.
    seen: bool,
}

impl From<(u32, bool)> for SavedEntry {
    fn from((space, seen): (u32, bool)) -> Self {
        Self { space, seen }
    }
}

impl From<SavedEntry> for (u32, bool) {
    fn from(entry: SavedEntry) -> Self {
        (entry.space, entry.seen)
    }
}

/// A hash of a problem's text (FNV-1a).
pub(crate) fn hash(task: &Task) -> u64 {
    let text = format!("{}{}", task.problem().domain, task.problem());
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl<'t> Trainer<'t> {
    /// The bytes of a checkpoint file.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn checkpoint(&self) -> Result<Vec<u8>, TrainError> {
        let failed = |error: &dyn std::fmt::Display| TrainError::Checkpoint(error.to_string());
        let mut words: Vec<u32> = Vec::new();
        let mut replay = Vec::new();
        for entry in self.replay.history() {
            let Position { space, node } = entry.position;
            words.extend_from_slice(self.spaces[space as usize].state(node));
            replay.push(SavedEntry {
                space,
                seen: entry.seen,
            });
        }
        let header = Header {
            version: VERSION,
            config: self.config.clone(),
            seed: self.seed,
            problems: self.spaces.iter().map(|space| hash(space.task)).collect(),
            random: self.random.state(),
            adam_steps: self.adam.steps(),
            steps: self.steps,
            sgd_steps: self.sgd_steps,
            goals: self.goals,
            resets: self.resets,
            episode: self.episode.map(|Episode { position, length }| {
                let space = &self.spaces[position.space as usize];
                SavedEpisode {
                    space: position.space,
                    packed_state: space.state(position.node).to_vec(),
                    length,
                }
            }),
            recent_losses: self.recent_losses.clone(),
            replay,
        };
        let (first, second) = self.adam.moments();
        let arrays = [
            (ARRAYS[0], to_bytes(&self.parameters)),
            (ARRAYS[1], to_bytes(&self.target_parameters)),
            (ARRAYS[2], to_bytes(first)),
            (ARRAYS[3], to_bytes(second)),
        ];
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut tensors = Vec::new();
        for (name, bytes) in &arrays {
            let tensor = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            tensors.push((*name, tensor.map_err(|error| failed(&error))?));
        }
        let tensor = TensorView::new(Dtype::U32, vec![words.len() / 4], &words);
        tensors.push((ARRAYS[4], tensor.map_err(|error| failed(&error))?));
        let header = serde_json::to_string(&header).map_err(|error| failed(&error))?;
        let arrays = arrays.iter().map(|(_, bytes)| bytes.as_slice());
        let header = seal(&header, arrays.chain([words.as_slice()]));
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(tensors, Some(metadata)).map_err(|error| failed(&error))
    }

    /// Goes on from a checkpoint of a run on the same tasks.
    ///
    /// # Errors
    ///
    /// If the checkpoint is damaged or of another run.
    pub fn resume<T: Borrow<Task>>(
        tasks: &'t [T],
        bytes: &[u8],
        compute: impl Into<Compute>,
    ) -> Result<Self, TrainError> {
        let (header, arrays): (Header, _) = read(bytes, KEY, VERSION, ARRAYS)?;
        let mut trainer = Self::begin(tasks, header.config, header.seed, compute)?;
        let problems: Vec<u64> = trainer
            .spaces
            .iter()
            .map(|space| hash(space.task))
            .collect();
        if problems != header.problems {
            return Err(TrainError::Checkpoint(
                "it is of a run on other problems, or in another order".to_owned(),
            ));
        }
        let numbers = |index: usize| {
            let numbers = from_bytes(arrays[index].data());
            let is_right = arrays[index].dtype() == Dtype::F32;
            if is_right && numbers.len() == trainer.parameters.len() {
                Ok(numbers)
            } else {
                Err(broken(&format!("`{}` has a wrong size", ARRAYS[index])))
            }
        };
        let (parameters, target) = (numbers(0)?, numbers(1)?);
        let (first, second) = (numbers(2)?, numbers(3)?);
        trainer.restore_weights(parameters, target);
        trainer.adam.restore(header.adam_steps, &first, &second);
        trainer.random = SplitMix64::new(header.random);
        trainer.steps = header.steps;
        trainer.sgd_steps = header.sgd_steps;
        trainer.goals = header.goals;
        trainer.resets = header.resets;
        trainer.recent_losses = header.recent_losses;
        let (chunks, _) = arrays[4].data().as_chunks::<4>();
        let words: Vec<u32> = chunks
            .iter()
            .map(|&chunk| u32::from_le_bytes(chunk))
            .collect();
        let mut rest = words.as_slice();
        for SavedEntry { space, seen } in header.replay {
            let state = trainer
                .spaces
                .get_mut(space as usize)
                .ok_or_else(|| broken(&"replay"))?;
            let width = state.task.encoding().words();
            if rest.len() < width {
                return Err(broken(&"replay"));
            }
            let (words, remaining) = rest.split_at(width);
            rest = remaining;
            let node = state.node_of(words);
            trainer.store(Position { space, node }, seen);
        }
        if let Some(episode) = header.episode {
            let space = episode.space;
            let state = trainer
                .spaces
                .get_mut(space as usize)
                .ok_or_else(|| broken(&"episode"))?;
            if episode.packed_state.len() != state.task.encoding().words() {
                return Err(broken(&"episode"));
            }
            let node = state.node_of(&episode.packed_state);
            trainer.episode = Some(Episode {
                position: Position { space, node },
                length: episode.length,
            });
        }
        Ok(trainer)
    }
}

pub(crate) fn broken(error: &dyn Display) -> TrainError {
    TrainError::Checkpoint(format!("it is damaged or cut short ({error})"))
}

/// The header of a checkpoint and its arrays: whole, of this version, and of the kind that `key` names.
pub(crate) fn read<'b, H, const N: usize>(
    bytes: &'b [u8],
    key: &str,
    version: u32,
    arrays: [&str; N],
) -> Result<(H, [TensorView<'b>; N]), TrainError>
where
    H: Serialize + DeserializeOwned,
{
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
    let metadata = metadata.metadata().clone().unwrap_or_default();
    let is_checkpoint = |key: &&String| key.starts_with("homing-") && key.ends_with("checkpoint");
    let header = metadata
        .get(key)
        .ok_or_else(|| match metadata.keys().find(is_checkpoint) {
            Some(_) => TrainError::Checkpoint(
                "it is of a run with another objective: --objective must be what it was".to_owned(),
            ),
            None => broken(&"no header"),
        })?;
    let mut value: Value = serde_json::from_str(header).map_err(|error| broken(&error))?;
    let sum = unseal(&mut value).ok_or_else(|| broken(&"no checksum"))?;
    if let Some(other) = value.get("version").filter(|&found| *found != version) {
        return Err(TrainError::Checkpoint(format!(
            "it has format {other}, this homing reads {version}"
        )));
    }
    let header: H = serde_json::from_value(value).map_err(|error| broken(&error))?;
    let mut found = Vec::new();
    for name in arrays {
        found.push(tensors.tensor(name).map_err(|error| broken(&error))?);
    }
    let text = serde_json::to_string(&header).map_err(|error| broken(&error))?;
    if !holds(&sum, &text, found.iter().map(TensorView::data)) {
        return Err(broken(&"its checksum does not fit its content"));
    }
    let found = found.try_into().expect("one for each name");
    Ok((header, found))
}

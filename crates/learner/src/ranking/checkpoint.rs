//! Checkpoints of a network that is trained to rank. Examples are not in them: the same problems
//! and seed give the same ones again.

use std::collections::HashMap;
use std::fmt::Display;

use homing_nlm::SplitMix64;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use super::examples::TrainingSet;
use super::network::RankingTrainer;
use crate::checkpoint::{broken, hash, read};
use crate::compute::Compute;
use crate::config::TrainConfig;
use crate::model::{from_bytes, to_bytes};
use crate::record::TrainError;
use crate::seal::seal;

/// The version of the format written.
const VERSION: u32 = 1;
const KEY: &str = "homing-ranking-checkpoint";
/// The arrays, in the order of the checksum.
const ARRAYS: [&str; 3] = ["parameters", "adam.first", "adam.second"];

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
    recent_losses: Vec<f64>,
}

fn problems(set: &TrainingSet) -> Vec<u64> {
    set.problems.iter().map(|of| hash(&of.task)).collect()
}

impl<'s> RankingTrainer<'s> {
    /// The bytes of a checkpoint file.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn checkpoint(&self) -> Result<Vec<u8>, TrainError> {
        let failed = |error: &dyn Display| TrainError::Checkpoint(error.to_string());
        let (weights, (first, second), adam_steps) = self.learnt();
        let header = Header {
            version: VERSION,
            config: self.config.clone(),
            seed: self.seed,
            problems: problems(self.set),
            random: self.random.state(),
            adam_steps,
            steps: self.steps,
            recent_losses: self.recent_losses.clone(),
        };
        let arrays = [weights, first, second].map(to_bytes);
        let mut tensors = Vec::new();
        for (name, bytes) in ARRAYS.into_iter().zip(&arrays) {
            let tensor = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            tensors.push((name, tensor.map_err(|error| failed(&error))?));
        }
        let header = serde_json::to_string(&header).map_err(|error| failed(&error))?;
        let header = seal(&header, arrays.iter().map(Vec::as_slice));
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(tensors, Some(metadata)).map_err(|error| failed(&error))
    }

    /// Goes on from a checkpoint of a run on the same examples.
    ///
    /// # Errors
    ///
    /// If the checkpoint is damaged or of another run.
    pub fn resume(
        set: &'s TrainingSet,
        bytes: &[u8],
        compute: impl Into<Compute>,
    ) -> Result<Self, TrainError> {
        let (header, arrays): (Header, _) = read(bytes, KEY, VERSION, ARRAYS)?;
        let arrays = arrays.map(|array| from_bytes(array.data()));
        if problems(set) != header.problems {
            return Err(TrainError::Checkpoint(
                "it is of a run on other problems, or in another order".to_owned(),
            ));
        }
        let mut trainer = Self::begin(set, header.config, header.seed, compute)?;
        let weights = trainer.learnt().0.len();
        if arrays.iter().any(|array| array.len() != weights) {
            return Err(broken(&"an array has a wrong size"));
        }
        trainer.restore(arrays.each_ref().map(Vec::as_slice), header.adam_steps);
        trainer.random = SplitMix64::new(header.random);
        trainer.steps = header.steps;
        trainer.recent_losses = header.recent_losses;
        Ok(trainer)
    }
}

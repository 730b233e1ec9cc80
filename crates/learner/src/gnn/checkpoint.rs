//! Checkpoints of training the graph network: a run goes on from one as if it had never been
//! stopped. Nothing of an iteration under way is kept: its episodes are drawn again, the same.

use std::borrow::Borrow;

use homing_planner::Task;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use super::config::GnnConfig;
use super::model::GnnSummary;
use super::ppo::GnnTrainer;
use crate::checkpoint::hash;
use crate::compute::Compute;
use crate::container::{Array, Opened, write};
use crate::model::{FORMAT_VERSION, from_bytes, to_bytes};
use crate::record::TrainError;
use crate::value::ValueKind;

/// The arrays, in the order of the checksum.
const ARRAYS: [&str; 3] = ["parameters", "adam.first", "adam.second"];

/// Everything that is no array. No model has these fields, so that none is taken for the other.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format_version: u32,
    kind: ValueKind,
    config: GnnConfig,
    seed: u64,
    /// One hash a problem: a run goes on with the problems it began with.
    checkpoint_of: Vec<u64>,
    adam_steps: u32,
    iteration: u64,
    summary: GnnSummary,
}

fn broken(reason: &dyn std::fmt::Display) -> TrainError {
    TrainError::Checkpoint(format!("it is damaged or cut short ({reason})"))
}

impl<'t> GnnTrainer<'t> {
    fn problems(&self) -> Vec<u64> {
        let grounds = self.grounds.iter();
        grounds.map(|ground| hash(ground.task)).collect()
    }

    /// The bytes of a checkpoint file.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn checkpoint(&self) -> Result<Vec<u8>, TrainError> {
        let header = Header {
            format_version: FORMAT_VERSION,
            kind: ValueKind::Gnn,
            config: self.config.clone(),
            seed: self.seed,
            checkpoint_of: self.problems(),
            adam_steps: self.adam.steps(),
            iteration: self.iteration,
            summary: self.summary,
        };
        let failed = |error: &dyn std::fmt::Display| TrainError::Checkpoint(error.to_string());
        let (first, second) = self.adam.moments();
        let bytes = [&self.parameters, first, second].map(to_bytes);
        let arrays = ARRAYS.iter().zip(&bytes).map(|(name, bytes)| Array {
            name: (*name).to_owned(),
            dtype: Dtype::F32,
            shape: vec![bytes.len() / 4],
            bytes,
        });
        let sealed: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        write(arrays.collect(), &header, &sealed).map_err(|error| failed(&error))
    }

    /// Goes on from a checkpoint of a run on the same tasks.
    ///
    /// # Errors
    ///
    /// If the checkpoint is damaged or of another run.
    pub fn resume<T: Borrow<Task>>(
        tasks: &'t [T],
        bytes: &[u8],
        compute: Compute,
    ) -> Result<Self, TrainError> {
        let opened = Opened::new(bytes).map_err(|error| broken(&error))?;
        opened
            .expect_kind(ValueKind::Gnn)
            .map_err(|error| broken(&error))?;
        let header: Header = opened.header().map_err(|error| broken(&error))?;
        let mut data = Vec::new();
        for name in ARRAYS {
            let tensor = opened.tensors.tensor(name);
            data.push(tensor.map_err(|error| broken(&error))?.data());
        }
        opened
            .check_sum(&header, &data)
            .map_err(|error| broken(&error))?;
        let mut trainer = Self::new(tasks, header.config, header.seed, compute)?;
        if trainer.problems() != header.checkpoint_of {
            return Err(TrainError::Checkpoint(
                "it is of a run on other problems, or in another order".to_owned(),
            ));
        }
        let arrays: Vec<Vec<f32>> = data.into_iter().map(from_bytes).collect();
        let length = trainer.parameters.len();
        if arrays.iter().any(|array| array.len() != length) {
            return Err(broken(&"an array has a wrong size"));
        }
        trainer.parameters.clone_from(&arrays[0]);
        let adam = &mut trainer.adam;
        adam.restore(header.adam_steps, &arrays[1], &arrays[2]);
        trainer.iteration = header.iteration;
        trainer.summary = header.summary;
        Ok(trainer)
    }
}

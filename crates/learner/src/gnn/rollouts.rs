//! How far a policy comes by itself on other problems: what snapshots of a run are compared by.

use std::borrow::Borrow;

use homing_planner::Task;

use super::draw::Drawer;
use super::episodes::{Ground, run};
use super::model::GnnModel;
use super::ppo::{IN_STEP, generator};
use crate::compute::Compute;
use crate::model::ModelError;
use crate::teamwork::for_all;
use crate::value::ValueFunction;

/// No iteration of a run has this number, so that walks are drawn apart from its episodes.
const NO_ITERATION: u64 = u64::MAX;

/// Problems on which policies are tried.
pub struct GnnRollouts<'t> {
    grounds: Vec<Ground<'t>>,
    seed: u64,
}

/// What came of walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RolloutScore {
    /// Walks that came to a goal.
    pub solved: usize,
    /// Actions taken, on all of them.
    pub steps: u64,
}

impl<'t> GnnRollouts<'t> {
    /// With problems that models like this one can read; those whose goal holds already are left
    /// out. The seed decides what is drawn: every policy has the same luck.
    ///
    /// # Errors
    ///
    /// If a problem is of another domain, or has what the network cannot read.
    pub fn new<T: Borrow<Task>>(
        tasks: &'t [T],
        model: &GnnModel,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let mut grounds = Vec::new();
        for task in tasks {
            let task = task.borrow();
            model.check_domain(&task.problem().domain)?;
            Drawer::new(task, &model.network().shape)?;
            if !task.is_goal(&task.initial_state()) {
                grounds.push(Ground::new(task));
            }
        }
        Ok(Self { grounds, seed })
    }

    /// So many walks, spread over the problems: actions drawn from the policy until a goal, a
    /// deadlock, or 5 h_FF(I) steps. The number of threads changes nothing.
    ///
    /// # Errors
    ///
    /// If the model is of another network than the one that this was made with.
    pub fn score(
        &self,
        model: &GnnModel,
        walks: usize,
        compute: Compute,
    ) -> Result<RolloutScore, ModelError> {
        if self.grounds.is_empty() {
            return Ok(RolloutScore::default());
        }
        let places: Vec<u64> = (0..walks as u64).collect();
        let groups: Vec<&[u64]> = places.chunks(IN_STEP).collect();
        let parameters = model.parameters.as_slice().into();
        let groups = for_all(&groups, compute.threads, &mut (), |group, _| {
            let starts = group.iter().map(|&place| {
                let ground = place as usize % self.grounds.len();
                (ground, generator(self.seed, NO_ITERATION, place))
            });
            let network = model.network();
            let starts = starts.collect();
            Ok(run(
                &self.grounds,
                starts,
                network,
                &parameters,
                compute.simd,
                &|| false,
            ))
        });
        let mut score = RolloutScore::default();
        for episodes in groups.expect("nothing says stop") {
            for episode in episodes? {
                score.solved += usize::from(episode.solved);
                score.steps += episode.steps.len() as u64;
            }
        }
        Ok(score)
    }
}

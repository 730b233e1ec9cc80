//! H: a classical heuristic corrected by what was learnt.

use homing_nlm::{MAX_OBJECTS, Prepared, Structure, Workspace};
use homing_planner::{Costs, Estimate, Heuristic, States, Task};

use crate::compute::Compute;
use crate::encode::Encoder;
use crate::model::{Model, ModelError};
use crate::shaping::Mdp;

/// H(s) = −V(s) = h_γ(s) − residual(s), for any search. What the base heuristic proves to be a dead
/// end stays one; a goal is 0.
pub struct Learned<'t> {
    task: &'t Task,
    name: String,
    base: Box<dyn Heuristic + Send + 't>,
    mdp: Mdp,
    prepared: Prepared,
    workspace: Workspace,
    encoder: Encoder,
    structures: Vec<Structure>,
    estimates: Vec<Estimate>,
}

impl<'t> Learned<'t> {
    /// Makes the heuristic of a model for a task. The number of threads never changes a value.
    ///
    /// # Errors
    ///
    /// If the model was trained for another domain, or the problem has too many objects.
    pub fn new(
        model: &Model,
        task: &'t Task,
        compute: impl Into<Compute>,
    ) -> Result<Self, ModelError> {
        model.check_domain(&task.problem().domain)?;
        let objects = task.problem().objects.len();
        if objects > MAX_OBJECTS {
            return Err(ModelError::TooManyObjects { objects });
        }
        let config = &model.header.config;
        let Compute { threads, simd } = compute.into();
        let costs = if config.unit_cost {
            Costs::Unit
        } else {
            Costs::Task
        };
        Ok(Self {
            task,
            name: format!("H-{}", config.heuristic.name()),
            base: config.heuristic.build(task, costs),
            mdp: Mdp {
                gamma: config.gamma,
                reward: config.reward,
            },
            prepared: model.network()?.prepare(&model.parameters, simd),
            workspace: Workspace::new(threads),
            encoder: Encoder::new(task, &model.channels()),
            structures: Vec::new(),
            estimates: Vec::new(),
        })
    }

    /// An estimate as a number of steps: undiscounted.
    pub fn undiscounted(&self, estimate: f64) -> f64 {
        self.mdp.undiscounted(-estimate)
    }
}

impl Heuristic for Learned<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        self.estimates.clear();
        self.base.evaluate(states, &mut self.estimates);
        let mut used = 0;
        for (state, estimate) in states.iter().zip(&self.estimates) {
            if estimate.finite().is_some() {
                if used == self.structures.len() {
                    self.structures.push(Structure::default());
                }
                self.encoder
                    .encode(self.task, state, &mut self.structures[used]);
                used += 1;
            }
        }
        let batch: Vec<&Structure> = self.structures[..used].iter().collect();
        let residuals = self
            .prepared
            .evaluate(&batch, &mut self.workspace)
            .expect("the encoder gives what the network reads");
        let mut residuals = residuals.into_iter();
        estimates.extend(states.iter().zip(&self.estimates).map(|(state, estimate)| {
            let Some(h) = estimate.finite() else {
                return Estimate::DEAD_END;
            };
            let residual = f64::from(
                residuals
                    .next()
                    .expect("a residual for each finite estimate"),
            );
            if self.task.is_goal(state) {
                return Estimate::new(0.0);
            }
            // Weights so large that a sum overflows say nothing: the base heuristic remains.
            let residual = if residual.is_finite() { residual } else { 0.0 };
            Estimate::new(-(residual + self.mdp.potential(h, false)))
        }));
    }
}

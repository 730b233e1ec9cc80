//! Adam with an L2 penalty, as PyTorch's `weight_decay` has it: the penalty's derivative is part of
//! the gradient, not a decay beside it.

use homing_nlm::Adam;

/// Adam, and how strongly parameters are drawn to 0.
#[derive(Clone, Debug)]
pub struct AdamL2 {
    /// The optimiser; its moments go to a checkpoint.
    pub adam: Adam,
    /// The penalty λ: the gradient has λ times the parameter added.
    pub l2: f32,
    sum: Vec<f32>,
}

impl AdamL2 {
    /// Zero moments for `parameters` parameters.
    pub fn new(parameters: usize, learning_rate: f32, l2: f32) -> Self {
        let mut adam = Adam::new(parameters);
        adam.learning_rate = learning_rate;
        Self {
            adam,
            l2,
            sum: Vec::new(),
        }
    }

    /// Moves `parameters` one step against `gradient` and the penalty.
    ///
    /// # Panics
    ///
    /// If the lengths differ from that of the moments.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32]) {
        let l2 = self.l2;
        self.sum.clear();
        let pairs = gradient.iter().zip(&*parameters);
        self.sum.extend(pairs.map(|(g, p)| g + l2 * p));
        self.adam.step(parameters, &self.sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_penalty_alone_draws_to_zero() {
        let mut adam = AdamL2::new(2, 0.01, 0.1);
        let mut parameters = [0.5, -0.5];
        for _ in 0..200 {
            adam.step(&mut parameters, &[0.0, 0.0]);
        }
        assert!(parameters.iter().all(|p| p.abs() < 0.05), "{parameters:?}");
    }
}

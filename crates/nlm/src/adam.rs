//! Adam (Kingma and Ba): the optimiser of the paper.
//!
//! In the tree of `docs/nlm.md`: after `backward`, whichever way the gradient came.

/// Adam's moments for one flat parameter buffer.
///
/// The defaults are the paper's: learning rate 0.001, β₁ = 0.9, β₂ = 0.999,
/// ε = 1e-8.
#[derive(Clone, Debug)]
pub struct Adam {
    /// The learning rate.
    pub learning_rate: f32,
    /// Decay of the first moment (β₁).
    pub beta1: f32,
    /// Decay of the second moment (β₂).
    pub beta2: f32,
    /// Added to the root of the second moment (ε).
    pub epsilon: f32,
    /// An L2 penalty as PyTorch's `weight_decay` has it: so many times the parameter is part of the
    /// gradient. Usually 0.
    pub l2: f32,
    steps: u32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    /// Zero moments for `parameters` parameters.
    pub fn new(parameters: usize) -> Self {
        Self {
            learning_rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            l2: 0.0,
            steps: 0,
            first: vec![0.0; parameters],
            second: vec![0.0; parameters],
        }
    }

    /// The same with another learning rate, and a penalty.
    pub fn with(parameters: usize, learning_rate: f32, l2: f32) -> Self {
        Self {
            learning_rate,
            l2,
            ..Self::new(parameters)
        }
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The two moments, first and second, for a checkpoint.
    pub fn moments(&self) -> (&[f32], &[f32]) {
        (&self.first, &self.second)
    }

    /// Continues from a checkpoint.
    ///
    /// # Panics
    ///
    /// If the moments have not the length of the parameters.
    pub fn restore(&mut self, steps: u32, first: &[f32], second: &[f32]) {
        self.steps = steps;
        self.first.copy_from_slice(first);
        self.second.copy_from_slice(second);
    }

    /// Moves `parameters` one step against `gradient`.
    ///
    /// # Panics
    ///
    /// If the lengths differ from that of the moments.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32]) {
        assert_eq!(parameters.len(), self.first.len());
        assert_eq!(gradient.len(), self.first.len());
        self.steps += 1;
        let steps = self.steps as i32;
        // In f64: at step 1 an f32 `1 - beta2` has lost four digits.
        let correct1 = 1.0 - f64::from(self.beta1).powi(steps);
        let correct2 = 1.0 - f64::from(self.beta2).powi(steps);
        let scale = (f64::from(self.learning_rate) / correct1) as f32;
        let root = (1.0 / correct2.sqrt()) as f32;
        let (b1, b2, epsilon) = (self.beta1, self.beta2, self.epsilon);
        let (keep1, keep2, l2) = (1.0 - b1, 1.0 - b2, self.l2);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((p, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            let g = g + l2 * *p;
            *m = b1 * *m + keep1 * g;
            *v = b2 * *v + keep2 * g * g;
            *p -= scale * *m / (v.sqrt() * root + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_step_has_the_size_of_the_learning_rate() {
        let mut adam = Adam::new(3);
        let mut p = [1.0, 1.0, 1.0];
        adam.step(&mut p, &[0.5, -20.0, 0.0]);
        assert!((p[0] - 0.999).abs() < 1e-6);
        assert!((p[1] - 1.001).abs() < 1e-6);
        assert_eq!(p[2], 1.0);
    }

    #[test]
    fn agrees_with_the_textbook_in_f64() {
        let (mut m, mut v, mut x) = (0.0f64, 0.0f64, 0.3f64);
        let mut adam = Adam::new(1);
        let mut p = [0.3f32];
        for t in 1..=50 {
            let g = (f64::from(t) * 0.7).sin();
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let mh = m / (1.0 - 0.9f64.powi(t));
            let vh = v / (1.0 - 0.999f64.powi(t));
            x -= 0.001 * mh / (vh.sqrt() + 1e-8);
            adam.step(&mut p, &[g as f32]);
            assert!((f64::from(p[0]) - x).abs() < 1e-5);
        }
    }

    #[test]
    fn restoring_a_checkpoint_continues_the_same_path() {
        let mut a = Adam::new(2);
        let mut p = [0.1, 0.2];
        a.step(&mut p, &[1.0, -1.0]);
        let mut b = Adam::new(2);
        b.restore(a.steps(), a.moments().0, a.moments().1);
        let mut q = p;
        a.step(&mut p, &[0.3, 0.2]);
        b.step(&mut q, &[0.3, 0.2]);
        assert_eq!(p, q);
    }

    #[test]
    fn the_penalty_alone_draws_to_zero() {
        let mut adam = Adam::with(2, 0.01, 0.1);
        let mut parameters = [0.5, -0.5];
        for _ in 0..200 {
            adam.step(&mut parameters, &[0.0, 0.0]);
        }
        assert!(parameters.iter().all(|p| p.abs() < 0.05), "{parameters:?}");
    }
}

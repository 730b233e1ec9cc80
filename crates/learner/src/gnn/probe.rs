//! A window for measurements: the states of one iteration as plain numbers, for whoever computes the
//! same elsewhere, and one update and one evaluation of them alone. Hidden from the documentation,
//! and used by `examples/gnn_peer.rs` only.

use std::sync::Arc;

use serde::Serialize;

use super::draw::{Batch, Drawer};
use super::episodes::{Ground, Step};
use super::evaluate::Evaluator;
use super::kinds::{append_dense, words};
use super::ppo::GnnTrainer;

/// Arity, predicate, sign, objects.
pub type PlainEffect = (usize, usize, f32, u32, u32);

/// A state: features in full, actions as lists of effects.
#[derive(Serialize)]
pub struct PlainGraph {
    /// Of the graph.
    pub global: Vec<f32>,
    /// By node.
    pub nodes: Vec<Vec<f32>>,
    /// Sources, targets and features of all edges.
    pub edges: (Vec<u32>, Vec<u32>, Vec<Vec<f32>>),
    /// By action, its effects: arity, predicate, sign, objects.
    pub actions: Vec<Vec<PlainEffect>>,
    /// The action taken.
    pub pick: usize,
    /// log π of it then.
    pub log: f32,
    /// What the step is worth.
    pub worth: f32,
    /// V then.
    pub value: f32,
}

/// The steps of an iteration that was played and not learnt from.
pub struct Probe<'a, 't> {
    trainer: &'a mut GnnTrainer<'t>,
    /// The problem, the step, its worth.
    steps: Vec<(usize, Step, f32)>,
}

impl<'a, 't> Probe<'a, 't> {
    /// Plays an iteration and keeps its first steps.
    pub fn new(trainer: &'a mut GnnTrainer<'t>, most: usize) -> Self {
        let episodes = trainer.episodes(&|| false).expect("they can be read");
        let mut steps = Vec::new();
        for episode in episodes {
            let worths = trainer.config.returns(episode.steps.len(), episode.solved);
            let ground = episode.ground;
            let each = episode.steps.into_iter().zip(worths);
            steps.extend(each.map(|(step, worth)| (ground, step, worth)));
        }
        steps.truncate(most);
        Self { trainer, steps }
    }

    /// The states as plain numbers.
    pub fn graphs(&self) -> Vec<PlainGraph> {
        let each = self.steps.iter();
        each.map(|(ground, step, worth)| self.graph(*ground, step, *worth))
            .collect()
    }

    fn graph(&self, ground: usize, step: &Step, worth: f32) -> PlainGraph {
        let shape = &self.trainer.network().shape;
        let task = self.trainer.grounds[ground].task;
        let mut drawer = Drawer::new(task, shape).expect("it was read before");
        drawer.fill(&step.before, &step.state);
        let rows = |bits: &[u32], arity: usize| -> Vec<Vec<f32>> {
            let width = shape.width(arity);
            let each = bits.chunks_exact(words(width)).map(|bits| {
                let mut row = Vec::new();
                append_dense(bits, width, &mut row);
                row
            });
            each.collect()
        };
        let nodes = rows(&drawer.bits.nodes, 1);
        let mut edges = (Vec::new(), Vec::new(), Vec::new());
        for (pair, row) in rows(&drawer.bits.edges, 2).into_iter().enumerate() {
            let (source, target) = (pair / nodes.len(), pair % nodes.len());
            if source != target {
                edges.0.push(source as u32);
                edges.1.push(target as u32);
                edges.2.push(row);
            }
        }
        let actions = step.actions.iter().map(|&action| {
            let effects = drawer.effects_of(action);
            let plain = effects.map(|(arity, at, adds, x, y)| {
                let sign = if adds { 1.0 } else { -1.0 };
                (arity, at, sign, x as u32, y as u32)
            });
            plain.collect()
        });
        PlainGraph {
            global: rows(&drawer.bits.globals, 0).concat(),
            nodes,
            edges,
            actions: actions.collect(),
            pick: step.pick,
            log: step.log,
            worth,
            value: step.value,
        }
    }

    /// The parameters by name, each with its shape.
    pub fn parameters(&self) -> Vec<(String, [usize; 2], Vec<f32>)> {
        let named = self.trainer.network().layout.named().iter();
        let values = &self.trainer.parameters;
        let each = named.map(|named| {
            let matrix = named.matrix;
            let values = values[matrix.range()].to_vec();
            (
                named.name.clone(),
                [matrix.rows(), matrix.columns()],
                values,
            )
        });
        each.collect()
    }

    /// Draws the states for [`update`](Self::update), once.
    pub fn gather(&self) -> Gathered {
        let steps: Vec<_> = self.steps.iter().map(|(g, s, w)| (*g, s, *w)).collect();
        Gathered(self.trainer.chunks_of(&steps))
    }

    /// One update: forward, backward, Adam. The mean of the squared error of V before it.
    pub fn update(&mut self, gathered: &Gathered) -> f64 {
        let error = self
            .trainer
            .update(&gathered.0, &|| false)
            .expect("it is finite");
        error.value_error / self.steps.len() as f64
    }

    /// What [`evaluate`](Self::evaluate) needs, made once, as for a search.
    pub fn evaluation(&self) -> Evaluation<'t> {
        let network = self.trainer.network();
        let parameters = self.trainer.parameters.as_slice().into();
        let simd = self.trainer.compute().simd;
        let drawer = |ground: &Ground<'t>| {
            Drawer::new(ground.task, &network.shape).expect("it was read before")
        };
        Evaluation {
            evaluator: Evaluator::new(Arc::clone(network), parameters, simd),
            drawers: self.trainer.grounds.iter().map(drawer).collect(),
            batch: Batch::default(),
        }
    }

    /// The network on all states without a tape, `at_once` at a time; the sum of the values and
    /// that of the logits. Drawing is part of it; nothing is known of any state at the start.
    pub fn evaluate(&self, at_once: usize, with: &mut Evaluation<'t>) -> (f64, f64) {
        let Evaluation {
            evaluator,
            drawers,
            batch,
        } = with;
        evaluator.forget();
        let (mut logits, mut values) = (Vec::new(), Vec::new());
        let mut sums = (0.0, 0.0);
        for some in self.steps.chunks(at_once) {
            evaluator.begin(batch);
            for (ground, step, _) in some {
                let kinds = &mut evaluator.kinds;
                drawers[*ground].draw(&step.before, &step.state, &step.actions, kinds, batch);
            }
            evaluator.evaluate(batch, &mut logits, &mut values);
            sums.0 += values.iter().map(|&x| f64::from(x)).sum::<f64>();
            sums.1 += logits.iter().map(|&x| f64::from(x)).sum::<f64>();
        }
        sums
    }
}

/// The network and what draws for it.
pub struct Evaluation<'t> {
    evaluator: Evaluator,
    /// By problem.
    drawers: Vec<Drawer<'t>>,
    batch: Batch,
}

/// States drawn for the tape.
pub struct Gathered(Vec<super::ppo::Chunk>);

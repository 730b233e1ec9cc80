//! One state of a task under a network, for measuring: a training step, an evaluation, and what
//! another program needs to do the same.

use std::sync::Arc;

use homing_nlm::{Adam, Simd, SplitMix64};
use homing_planner::Task;
use homing_tape::{Buffers, Tape};
use serde_json::json;

use super::config::HgnConfig;
use super::evaluate::{Evaluator, Scratch};
use super::graph::{Hypergraph, places_of};
use super::network::{Example, Indices, Network};

/// The initial state of a task under a network with a drawn start.
pub struct HgnProbe {
    task: Arc<Task>,
    network: Network,
    graph: Hypergraph,
    indices: Indices,
    kinds: Arc<[u32]>,
    /// The weights.
    pub parameters: Vec<f32>,
    adam: Adam,
    buffers: Buffers,
    evaluator: Evaluator,
    scratch: Scratch,
    simd: Simd,
}

impl HgnProbe {
    /// With the weights of a seed.
    pub fn new(task: Arc<Task>, config: &HgnConfig, seed: u64, simd: Simd) -> Self {
        let places = places_of(&task);
        let network = Network::new(config, places);
        let graph = Hypergraph::new(&task, places);
        let mut kinds = Vec::new();
        graph.kinds(&task, &task.initial_state(), &mut kinds);
        let parameters = network.init(&mut SplitMix64::new(seed));
        let evaluator = Evaluator::new(&network, &parameters, graph.clone(), simd);
        Self {
            indices: Indices::new(&graph),
            kinds: kinds.into(),
            adam: Adam::with(parameters.len(), config.learning_rate, config.l2),
            parameters,
            buffers: Buffers::default(),
            scratch: Scratch::default(),
            evaluator,
            network,
            graph,
            task,
            simd,
        }
    }

    /// The graph and the weights, as JSON.
    pub fn describe(&self) -> serde_json::Value {
        let weights: serde_json::Map<String, serde_json::Value> = self
            .network
            .layout
            .named()
            .iter()
            .map(|named| {
                let shape = [named.matrix.rows(), named.matrix.columns()];
                let values = &self.parameters[named.matrix.range()];
                (
                    named.name.clone(),
                    json!({"shape": shape, "values": values}),
                )
            })
            .collect();
        let shapes = self.graph.shape_of.iter();
        json!({
            "nodes": self.graph.nodes,
            "edges": self.graph.edges,
            "receivers": self.network.places.receivers,
            "senders": self.network.places.senders,
            "rounds": self.network.rounds,
            "places": self.graph.places,
            "shapes": shapes.map(|&at| self.graph.shapes[at as usize]).collect::<Vec<_>>(),
            "kinds": &self.kinds[..],
            "weights": weights,
        })
    }

    /// The loss of the state for a label, and its gradient.
    pub fn gradient(&mut self, label: f32) -> (f64, Vec<f32>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let loss = self.network.loss(
            &self.parameters,
            &Example {
                graph: &self.graph,
                indices: &self.indices,
                kinds: &self.kinds,
                label,
            },
            self.simd,
            &mut self.buffers,
            Some(&mut gradient),
        );
        (loss.mean, gradient)
    }

    /// One step of training with this label; gives the loss before it.
    pub fn step(&mut self, label: f32) -> f64 {
        let (loss, gradient) = self.gradient(label);
        self.adam.step(&mut self.parameters, &gradient);
        loss
    }

    /// The estimate with the weights of the start, by the tape.
    pub fn on_tape(&mut self) -> f32 {
        let buffers = std::mem::take(&mut self.buffers);
        let layout = &self.network.layout;
        let mut tape = Tape::new(layout, &self.parameters, self.simd, buffers);
        let estimates =
            self.network
                .forward(&mut tape, &self.graph, &self.indices, &self.kinds, true);
        let value = tape.value(estimates[0])[0];
        self.buffers = tape.into_buffers();
        value
    }

    /// The estimate with the weights of the start, as a search would ask for it.
    pub fn evaluate(&mut self) -> f32 {
        let state = self.task.initial_state();
        self.evaluator
            .evaluate(&self.task, &state, &mut self.scratch)
    }
}

//! The network: its shape, its prepared weights, and how batches run.

use crate::config::{ConfigErrors, LayerShape, NlmConfig, layer_shapes};
use crate::engine::{self, Engine, Group};
use crate::features::{FeatureEngine, Job};
use crate::gradient::{Batch, GradientEngine, Shape, Transposed, transpose};
use crate::params::{ParamLayout, ParamView};
use crate::plan::Plan;
use crate::prepared::{self, ComposeWeights};
use crate::simd::Simd;
use crate::structure::{InputError, Structure, check_batch};
use crate::twins;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A neural logic machine of one shape; weights are kept apart from it.
#[derive(Clone, Debug)]
pub struct Nlm {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: NlmConfig,
    shapes: Vec<LayerShape>,
    layout: ParamLayout,
    plan: Plan,
    /// Where gradients are computed by classes.
    gradient_shape: Option<Shape>,
}

impl Nlm {
    /// The network this configuration describes, or all that is wrong with it.
    pub fn new(config: NlmConfig) -> Result<Self, ConfigErrors> {
        config.check()?;
        let shapes = layer_shapes(&config);
        let layout = ParamLayout::new(&config, &shapes);
        let plan = Plan::new(&config, &shapes, &layout);
        Ok(Self {
            inner: Arc::new(Inner {
                config,
                shapes,
                layout,
                gradient_shape: Shape::of(&plan),
                plan,
            }),
        })
    }

    /// The configuration it was made from.
    pub fn config(&self) -> &NlmConfig {
        &self.inner.config
    }

    /// How many parameters the flat buffer holds.
    pub fn parameter_count(&self) -> usize {
        self.inner.layout.total
    }

    /// The named parts of the flat buffer, in order.
    pub fn views(&self) -> &[ParamView] {
        &self.inner.layout.views
    }

    /// Fresh parameters: weights from a truncated normal with standard
    /// deviation 1/sqrt(fan-in), biases zero. Same seed, same bytes.
    pub fn init(&self, seed: u64) -> Vec<f32> {
        self.inner.layout.init(seed)
    }

    /// Brings parameters into the order the kernels read. Do this once per
    /// update; threads may share the result.
    ///
    /// # Panics
    ///
    /// If the processor does not support `simd`, or the buffer has not
    /// [`Nlm::parameter_count`] entries.
    pub fn prepare(&self, parameters: &[f32], simd: Simd) -> Prepared {
        assert!(simd.supported(), "this processor does not support {simd}");
        assert_eq!(
            parameters.len(),
            self.parameter_count(),
            "the flat buffer has one entry a parameter"
        );
        // From 1: a fresh workspace belongs to no weights.
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        Prepared {
            nlm: self.clone(),
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            weights: prepared::prepare(&self.inner.plan, parameters),
            parameters: parameters.to_vec(),
            transposed: OnceLock::new(),
            for_states: OnceLock::new(),
            simd,
            twins: true,
            layout: Layout::Quickest,
        }
    }

    pub(crate) fn shapes(&self) -> &[LayerShape] {
        &self.inner.shapes
    }

    pub(crate) fn layout(&self) -> &ParamLayout {
        &self.inner.layout
    }
}

/// Buffers the kernels work in, one set a thread. Reuse it: allocation and
/// index tables are a large part of a small batch.
pub struct Workspace {
    engines: Vec<Engines>,
}

/// The engines of one thread.
#[derive(Default)]
struct Engines {
    states: Engine,
    features: FeatureEngine,
    gradient: GradientEngine,
}

impl Workspace {
    /// Room for `threads` threads (at least one). The number never changes a
    /// result, only who computes it.
    pub fn new(threads: usize) -> Self {
        let mut engines = Vec::new();
        engines.resize_with(threads.max(1), Engines::default);
        Self { engines }
    }

    /// Bytes held by the tensors of the busiest thread.
    pub fn bytes_per_thread(&self) -> usize {
        self.engines
            .iter()
            .map(|e| e.states.bytes() + e.features.bytes() + e.gradient.bytes())
            .max()
            .unwrap_or(0)
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new(1)
    }
}

/// Weights ready for the kernels.
#[derive(Clone, Debug)]
pub struct Prepared {
    nlm: Nlm,
    /// Tells these weights from any other weights; clones share it.
    generation: u64,
    weights: Vec<Vec<ComposeWeights>>,
    parameters: Vec<f32>,
    /// Made when a gradient is first asked for.
    transposed: OnceLock<Vec<Vec<Transposed>>>,
    /// Made when an engine with states in lanes first needs them.
    for_states: OnceLock<Vec<Vec<engine::ComposeWeights>>>,
    simd: Simd,
    twins: bool,
    layout: Layout,
}

/// What the lanes of a vector hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Layout {
    /// One feature a lane up to arity 3, one structure a lane above.
    Quickest,
    /// One structure a lane.
    States,
}

/// The structures of a batch, quotients where there are twins, in groups of one
/// object count and at most one vector of lanes.
struct Groups<'a> {
    structures: Vec<Cow<'a, Structure>>,
    /// Positions in the batch.
    groups: Vec<Vec<usize>>,
}

impl Prepared {
    /// The network these weights belong to.
    pub fn nlm(&self) -> &Nlm {
        &self.nlm
    }

    /// The instructions the kernels use.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Turns the quotient by twins off or on. It is on by default; off is for
    /// tests and measurements.
    #[must_use]
    pub fn with_twins(mut self, on: bool) -> Self {
        self.twins = on;
        self
    }

    /// Forces what lanes hold, for tests and measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    fn groups<'a>(&self, batch: &[&'a Structure], twins: bool, size: usize) -> Groups<'a> {
        let config = self.nlm.config();
        let structures: Vec<Cow<'a, Structure>> = batch
            .iter()
            .map(|s| {
                let quotient = twins
                    .then(|| twins::quotient(s, config.distinct, config.max_arity))
                    .flatten();
                quotient.map_or(Cow::Borrowed(*s), Cow::Owned)
            })
            .collect();
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by_key(|&i| structures[i].objects());
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for i in order {
            match groups.last_mut() {
                Some(g)
                    if g.len() < size && structures[g[0]].objects() == structures[i].objects() =>
                {
                    g.push(i);
                }
                _ => groups.push(vec![i]),
            }
        }
        Groups { structures, groups }
    }

    fn group<'a>(&'a self, structures: &'a [&'a Structure]) -> Group<'a> {
        let plan = &self.nlm.inner.plan;
        Group {
            plan,
            weights: self
                .for_states
                .get_or_init(|| engine::prepare(plan, &self.parameters)),
            simd: self.simd,
            objects: structures[0].objects(),
            structures,
        }
    }

    /// How gradients are computed by classes, if they are: the network and the structures alone decide.
    fn gradient_shape(&self, batch: &[&Structure]) -> Option<&Shape> {
        let shape = self.nlm.inner.gradient_shape.as_ref()?;
        let takes = batch.first().is_some_and(|s| shape.takes(s.objects()));
        (takes && self.layout == Layout::Quickest).then_some(shape)
    }

    fn gradient_group<'a>(
        &'a self,
        shape: &'a Shape,
        structures: &'a [&'a Structure],
    ) -> Batch<'a> {
        let plan = &self.nlm.inner.plan;
        Batch {
            plan,
            shape,
            weights: &self.weights,
            transposed: self
                .transposed
                .get_or_init(|| transpose(plan, &self.weights)),
            simd: self.simd,
            structures,
        }
    }

    pub(crate) fn job<'a>(&'a self, structure: &'a Structure) -> Job<'a> {
        Job {
            plan: &self.nlm.inner.plan,
            weights: &self.weights,
            generation: self.generation,
            simd: self.simd,
            structure,
        }
    }

    /// What lanes hold depends on the network alone, so that a value does not depend on the batch.
    fn run_group(&self, engines: &mut Engines, structures: &[&Structure], values: &mut [f32]) {
        if self.layout == Layout::States || self.nlm.config().max_arity > 3 {
            let group = self.group(structures);
            return engines.states.forward(&group, values, false);
        }
        let job = self.job(structures[0]);
        engines.features.evaluate(&job, structures, values);
    }

    /// The value of every structure of a batch, in its order.
    ///
    /// The value of a structure is the same to the last bit in whatever batch
    /// and with however many threads it is computed.
    pub fn evaluate(
        &self,
        batch: &[&Structure],
        workspace: &mut Workspace,
    ) -> Result<Vec<f32>, InputError> {
        check_batch(batch, &self.nlm.config().input_channels)?;
        let all = self.groups(batch, self.twins, self.simd.lanes());
        let results = in_parallel(&mut workspace.engines, all.groups.len(), |engine, g| {
            let structures: Vec<&Structure> =
                all.groups[g].iter().map(|&i| &*all.structures[i]).collect();
            let mut values = vec![0.0; structures.len()];
            self.run_group(engine, &structures, &mut values);
            values
        });
        let mut values = vec![0.0; batch.len()];
        for (g, result) in all.groups.iter().zip(results) {
            for (&i, v) in g.iter().zip(result) {
                values[i] = v;
            }
        }
        Ok(values)
    }

    /// The value of every structure, and the gradient of the loss with
    /// respect to every parameter, written to `gradient`.
    ///
    /// `d_value(i, v)` is the derivative of the loss with respect to the value
    /// of structure i, which is v. The gradient is a sum over groups
    /// in an order that the batch alone decides.
    ///
    /// # Panics
    ///
    /// If `gradient` has not one entry a parameter.
    pub fn backward(
        &self,
        batch: &[&Structure],
        workspace: &mut Workspace,
        d_value: impl Fn(usize, f32) -> f32 + Sync,
        gradient: &mut [f32],
    ) -> Result<Vec<f32>, InputError> {
        assert_eq!(gradient.len(), self.nlm.parameter_count());
        check_batch(batch, &self.nlm.config().input_channels)?;
        // No quotient: where unlike functions happen to tie, twins have a
        // larger part in the shared gradient than one representative would.
        let by_classes = self.gradient_shape(batch);
        let all = match by_classes {
            Some(_) => self.groups(batch, false, Shape::group(batch[0].objects())),
            None => self.groups(batch, false, self.simd.lanes()),
        };
        gradient.fill(0.0);
        if let (Some(shape), 1) = (by_classes, all.groups.len()) {
            // One group needs no sum of its own.
            let group = self.gradient_group(shape, batch);
            let engine = &mut workspace.engines[0].gradient;
            return Ok(engine.run(&group, d_value, gradient));
        }
        let results = in_parallel(&mut workspace.engines, all.groups.len(), |engine, g| {
            let members = &all.groups[g];
            let structures: Vec<&Structure> =
                members.iter().map(|&i| &*all.structures[i]).collect();
            let mut partial = vec![0.0; gradient.len()];
            if let Some(shape) = by_classes {
                let group = self.gradient_group(shape, &structures);
                let d_value = |i: usize, v| d_value(members[i], v);
                let values = engine.gradient.run(&group, d_value, &mut partial);
                return (values, partial);
            }
            let group = self.group(&structures);
            let mut values = vec![0.0; structures.len()];
            engine.states.forward(&group, &mut values, true);
            let d_values: Vec<f32> = members
                .iter()
                .zip(&values)
                .map(|(&i, &v)| d_value(i, v))
                .collect();
            engine.states.backward(&group, &d_values, &mut partial);
            (values, partial)
        });
        let mut values = vec![0.0; batch.len()];
        for (g, (group_values, partial)) in all.groups.iter().zip(results) {
            for (&i, v) in g.iter().zip(group_values) {
                values[i] = v;
            }
            for (sum, d) in gradient.iter_mut().zip(partial) {
                *sum += d;
            }
        }
        Ok(values)
    }
}

/// Runs `work(engine, i)` for i in 0..n on as many threads as there are
/// engines, results in the order of i.
fn in_parallel<R: Send>(
    engines: &mut [Engines],
    n: usize,
    work: impl Fn(&mut Engines, usize) -> R + Sync,
) -> Vec<R> {
    if engines.len() == 1 || n <= 1 {
        return (0..n).map(|i| work(&mut engines[0], i)).collect();
    }
    let next = AtomicUsize::new(0);
    let mut indexed: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = engines
            .iter_mut()
            .take(n)
            .map(|engine| {
                let (next, work) = (&next, &work);
                scope.spawn(move || {
                    let mut done = Vec::new();
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        if i >= n {
                            return done;
                        }
                        done.push((i, work(engine, i)));
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
            .collect()
    });
    indexed.sort_by_key(|r| r.0);
    indexed.into_iter().map(|r| r.1).collect()
}

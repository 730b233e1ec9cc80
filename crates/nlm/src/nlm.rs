//! The network: its shape, its prepared weights, and how batches run.
//!
//! In the tree of `docs/nlm.md`: the root. `evaluate` and `backward` are here, and choose the way.

use crate::by_class::{GradientsByClass, Network, Shape, Transposed, ValuesByClass, transpose};
use crate::by_tuple::{self, ByTuple, TupleIndices};
use crate::config::{ConfigErrors, LayerShape, NlmConfig, Readout, layer_shapes};
use crate::kernels::Level;
use crate::params::{ParamLayout, ParamView};
use crate::plan::Plan;
use crate::prepared::{self, ComposeWeights};
use crate::simd::Simd;
use crate::structure::{InputError, Structure, check_batch};
use crate::tuning::STRUCTURES_AT_ONCE;
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
    /// Of a network that is computed by class.
    by_class: Option<(Shape, Plan)>,
}

impl Nlm {
    /// The network this configuration describes, or all that is wrong with it.
    pub fn new(config: NlmConfig) -> Result<Self, ConfigErrors> {
        config.check()?;
        let shapes = layer_shapes(&config);
        let layout = ParamLayout::new(&config, &shapes);
        let plan = || Plan::new(&config, &shapes, &layout);
        let plan = (config.max_arity <= 3).then(plan);
        let by_class = plan.and_then(|plan| Some((Shape::of(&plan)?, plan)));
        Ok(Self {
            inner: Arc::new(Inner {
                config,
                shapes,
                layout,
                by_class,
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
        let level = Level::new(simd);
        assert_eq!(
            parameters.len(),
            self.parameter_count(),
            "the flat buffer has one entry a parameter"
        );
        let by_class = self.inner.by_class.as_ref();
        // From 1: a fresh workspace belongs to no weights.
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        Prepared {
            nlm: self.clone(),
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            weights: by_class
                .map_or_else(Vec::new, |(_, plan)| prepared::prepare(plan, parameters)),
            parameters: parameters.to_vec(),
            transposed: OnceLock::new(),
            by_tuple: OnceLock::new(),
            level,
            twins: true,
            way: Way::Quickest,
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
    ways: Vec<Ways>,
}

/// The ways a network can be computed, with the tensors of one thread.
#[derive(Default)]
struct Ways {
    values_by_class: ValuesByClass,
    gradients_by_class: GradientsByClass,
    tuples: TupleIndices,
}

impl Workspace {
    /// Room for `threads` threads (at least one). The number never changes a
    /// result, only who computes it.
    pub fn new(threads: usize) -> Self {
        let mut ways = Vec::new();
        ways.resize_with(threads.max(1), Ways::default);
        Self { ways }
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
    /// Made when they are first needed.
    by_tuple: OnceLock<by_tuple::Weights>,
    level: Level,
    twins: bool,
    way: Way,
}

/// Which way a network is computed. See `docs/nlm.md`, "Which way does my network take".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Way {
    /// By class wherever classes serve.
    Quickest,
    /// Tuple by tuple.
    ByTuple,
}

impl Prepared {
    /// The network these weights belong to.
    pub fn nlm(&self) -> &Nlm {
        &self.nlm
    }

    /// The instructions the kernels use.
    pub fn simd(&self) -> Simd {
        self.level.simd()
    }

    /// Turns the quotient by twins off or on. It is on by default; off is for
    /// tests and measurements.
    #[must_use]
    pub fn with_twins(mut self, on: bool) -> Self {
        self.twins = on;
        self
    }

    /// Forces a way, for tests and measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_way(mut self, way: Way) -> Self {
        self.way = way;
        self
    }

    /// Runs `work(ways, members, structures)` on groups of so many structures of one object count,
    /// quotients where there are twins; `members` are their positions in the batch. Gives the
    /// values of the batch, and what else came of each group, in order.
    fn in_groups<R: Send>(
        &self,
        (batch, twins, size): (&[&Structure], bool, usize),
        workspace: &mut Workspace,
        work: impl Fn(&mut Ways, &[usize], &[&Structure]) -> (Vec<f32>, R) + Sync,
    ) -> (Vec<f32>, Vec<R>) {
        let config = self.nlm.config();
        let quotient = |s: &Structure| twins::quotient(s, config.distinct, config.max_arity);
        let structures: Vec<Cow<'_, Structure>> = batch
            .iter()
            .map(|&s| {
                let quotient = twins.then(|| quotient(s)).flatten();
                quotient.map_or(Cow::Borrowed(s), Cow::Owned)
            })
            .collect();
        let objects = |i: &usize| structures[*i].objects();
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by_key(objects);
        let alike = order.chunk_by(|i, j| objects(i) == objects(j));
        let groups: Vec<&[usize]> = alike.flat_map(|alike| alike.chunks(size)).collect();
        let results = in_parallel(&mut workspace.ways, groups.len(), |ways, g| {
            let of = groups[g].iter().map(|&i| &*structures[i]);
            work(ways, groups[g], &of.collect::<Vec<_>>())
        });
        let mut values = vec![0.0; batch.len()];
        let mut others = Vec::new();
        for (group, (of_group, other)) in groups.iter().zip(results) {
            for (&i, v) in group.iter().zip(of_group) {
                values[i] = v;
            }
            others.push(other);
        }
        (values, others)
    }

    fn by_tuple(&self, ways: &mut Ways, structure: &Structure) -> ByTuple<'_> {
        let new = || by_tuple::weights(&self.nlm, &self.parameters);
        let weights = (&self.parameters[..], self.by_tuple.get_or_init(new));
        ByTuple::new(&self.nlm, weights, self.level, &mut ways.tuples, structure)
    }

    /// The network as it is computed by class, if it is: which way depends on the network alone,
    /// so that a value does not depend on the batch.
    fn by_class(&self) -> Option<Network<'_>> {
        let by_class = self.nlm.inner.by_class.as_ref();
        let (shape, plan) = by_class.filter(|_| self.way == Way::Quickest)?;
        Some(Network {
            plan,
            shape,
            weights: &self.weights,
            transposed: &[],
            level: self.level,
        })
    }

    /// The value of one structure by class.
    #[cfg(test)]
    pub(crate) fn value(&self, way: &mut ValuesByClass, structure: &Structure) -> f32 {
        let network = self
            .by_class()
            .expect("a network that is computed by class");
        let mut value = [0.0];
        way.evaluate(&network, self.generation, &[structure], &mut value);
        value[0]
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
        // A sum needs every object, not one of those that look alike.
        let twins = self.twins && self.nlm.config().readout == Readout::Nullary;
        let batch = (batch, twins, STRUCTURES_AT_ONCE);
        let (values, _) = self.in_groups(batch, workspace, |ways, _, structures| {
            if let Some(network) = self.by_class() {
                let (way, mut values) = (&mut ways.values_by_class, vec![0.0; structures.len()]);
                way.evaluate(&network, self.generation, structures, &mut values);
                return (values, ());
            }
            let values = structures.iter().map(|s| self.by_tuple(ways, s).value());
            (values.collect(), ())
        });
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
        let by_class = self.by_class().map(|network| Network {
            transposed: self
                .transposed
                .get_or_init(|| transpose(network.plan, &self.weights)),
            ..network
        });
        let size = match (by_class, batch.first()) {
            (Some(_), Some(first)) => Shape::group(first.objects()),
            _ => STRUCTURES_AT_ONCE,
        };
        gradient.fill(0.0);
        if let (Some(network), true) = (by_class, batch.len() <= size && !batch.is_empty()) {
            // One group needs no sum of its own.
            let way = &mut workspace.ways[0].gradients_by_class;
            return Ok(way.run(&network, batch, d_value, gradient));
        }
        let len = gradient.len();
        let batch = (batch, false, size);
        let (values, partial) = self.in_groups(batch, workspace, |ways, members, structures| {
            let mut partial = vec![0.0; len];
            if let Some(network) = by_class {
                let d_value = |i: usize, v| d_value(members[i], v);
                let way = &mut ways.gradients_by_class;
                let values = way.run(&network, structures, d_value, &mut partial);
                return (values, partial);
            }
            let of = members.iter().zip(structures);
            let values = of.map(|(&i, structure)| {
                let run = self.by_tuple(ways, structure);
                let value = run.value();
                run.backward(d_value(i, value), &mut partial);
                value
            });
            (values.collect(), partial)
        });
        for partial in partial {
            for (sum, d) in gradient.iter_mut().zip(partial) {
                *sum += d;
            }
        }
        Ok(values)
    }
}

/// Runs `work(ways, i)` for i in 0..n on as many threads as there are
/// ways, results in the order of i.
fn in_parallel<R: Send>(
    all: &mut [Ways],
    n: usize,
    work: impl Fn(&mut Ways, usize) -> R + Sync,
) -> Vec<R> {
    if all.len() == 1 || n <= 1 {
        return (0..n).map(|i| work(&mut all[0], i)).collect();
    }
    let next = AtomicUsize::new(0);
    let mut indexed: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = all
            .iter_mut()
            .take(n)
            .map(|ways| {
                let (next, work) = (&next, &work);
                scope.spawn(move || {
                    let mut done = Vec::new();
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        if i >= n {
                            return done;
                        }
                        done.push((i, work(ways, i)));
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

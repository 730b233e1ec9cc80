//! Pairs of states that are to be told apart, as differences of their features.

use homing_nlm::SplitMix64;
use homing_planner::heuristic::HeuristicKind;
use homing_planner::{Costs, Estimate, Heuristic, Pace, States, Stop, Task, Watch};

use super::examples::{TrainingProblem, TrainingSet};
use super::fit::RankingConfig;
use crate::counts::{ColourMap, CountsConfig, FeatureCounter, GraphSpec, Making, Node};
use crate::exact::{Sample, shuffle};

/// Numbers for colours, in the order they are met.
#[derive(Default)]
pub(super) struct Features {
    ids: ColourMap<u32>,
    pub(super) colours: Vec<u64>,
    /// Whether a feature is of a static relation past the first round.
    pub(super) is_late_static: Vec<bool>,
    /// Whether a feature is of a hub, and has no weight.
    pub(super) is_of_hub: Vec<bool>,
    /// Whether a feature is seen in dead ends only.
    pub(super) is_trap: Vec<bool>,
    /// How each colour was made, and before it what it was made of.
    pub(super) makings: Vec<Making>,
}

impl Features {
    /// The number of the colour of a node; `None` if there are `limit` others already.
    fn id(&mut self, counter: &FeatureCounter<'_>, node: Node, limit: usize) -> Option<u32> {
        let colour = counter.colour_of(node);
        if let Some(&id) = self.ids.get(&colour) {
            return Some(id);
        }
        if self.colours.len() >= limit {
            return None;
        }
        // Nearly always known: rounds come one after the other.
        for part in counter.parts(node) {
            self.id(counter, part, limit)?;
        }
        let id = self.colours.len() as u32;
        self.ids.insert(colour, id);
        self.colours.push(colour);
        self.is_late_static.push(counter.is_late_static(node));
        self.is_of_hub.push(counter.is_of_hub(node));
        self.makings.push(counter.making(node));
        Some(id)
    }
}

/// What a state looks like.
struct Described {
    /// Features in ascending order, each with how often it occurs.
    counts: Vec<(u32, u32)>,
    /// Estimates of the classical heuristics; `None` if one of them knows a dead end.
    estimates: Option<Vec<f64>>,
}

/// A sample, described.
struct Group<'s> {
    sample: &'s Sample,
    states: Vec<Described>,
    problem: usize,
}

/// No step down.
const NO_STEP: u32 = u32::MAX;

/// Pairs of a worse and a better state, as worse − better.
#[derive(Default)]
pub(super) struct Pairs {
    /// Pair `p` has `differences[first[p]..first[p + 1]]`: features, and by how much they differ.
    first: Vec<u32>,
    differences: Vec<(u32, f32)>,
    /// By pair, then by heuristic.
    estimates: Vec<f32>,
    /// By pair: how much it weighs.
    weights: Vec<f64>,
    /// By pair: the other steps down from the same parent, as a place in `steps`.
    step_of: Vec<u32>,
    /// Pairs of a parent and each of its best children.
    steps: Vec<Vec<u32>>,
    heuristics: usize,
}

impl Pairs {
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn heuristics(&self) -> usize {
        self.heuristics
    }

    /// Whether one of these features differs in some pair.
    pub(super) fn tell_apart_by(&self, features: &[bool]) -> bool {
        let mut differences = self.differences.iter();
        differences.any(|&(id, _)| features[id as usize])
    }

    pub(super) fn differences(&self, pair: usize) -> &[(u32, f32)] {
        &self.differences[self.first[pair] as usize..self.first[pair + 1] as usize]
    }

    pub(super) fn estimates(&self, pair: usize) -> &[f32] {
        &self.estimates[pair * self.heuristics..(pair + 1) * self.heuristics]
    }

    /// All steps down from the parent of a pair, if it is one.
    pub(super) fn steps(&self, pair: usize) -> &[u32] {
        self.steps
            .get(self.step_of[pair] as usize)
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn weight(&self, pair: usize) -> f64 {
        self.weights[pair]
    }

    fn push(&mut self, worse: &Described, better: &Described, weight: f64) {
        let (Some(h_worse), Some(h_better)) = (&worse.estimates, &better.estimates) else {
            return;
        };
        let (mut left, mut right) = (worse.counts.as_slice(), better.counts.as_slice());
        loop {
            let next = match (left.first(), right.first()) {
                (None, None) => break,
                (Some(&(id, _)), None) | (None, Some(&(id, _))) => id,
                (Some(&(a, _)), Some(&(b, _))) => a.min(b),
            };
            let mut difference = 0.0;
            if let [(id, count), behind @ ..] = left
                && *id == next
            {
                difference += *count as f32;
                left = behind;
            }
            if let [(id, count), behind @ ..] = right
                && *id == next
            {
                difference -= *count as f32;
                right = behind;
            }
            if difference != 0.0 {
                self.differences.push((next, difference));
            }
        }
        self.first.push(self.differences.len() as u32);
        self.weights.push(weight);
        self.step_of.push(NO_STEP);
        let differences = h_worse.iter().zip(h_better).map(|(w, b)| (w - b) as f32);
        self.estimates.extend(differences);
    }
}

/// Problems in which a trap must be seen at the least.
const TRAP_PROBLEMS: usize = 4;

/// How unlikely it must be that chance alone kept a feature out of all states with a way to the
/// goal.
const TRAP_CHANCE: f64 = 1e-6;

/// By feature: whether it is a trap: seen in dead ends of several problems, and never in a state with
/// a way to the goal. Whole problems tell, not those cut out of them.
fn traps(groups: &[Group<'_>], set: &TrainingSet, features: usize) -> Vec<bool> {
    let mut alive = vec![false; features];
    // By feature: dead ends, problems, and the last of these.
    let mut dead = vec![(0u32, 0usize, usize::MAX); features];
    let (mut states, mut dead_ends) = (0u32, 0u32);
    // Groups of one problem stand together.
    let whole = |group: &&Group<'_>| !set.problems[group.problem].is_cut;
    for group in groups.iter().filter(whole) {
        for (place, state) in group.states.iter().enumerate() {
            states += 1;
            if group.sample.distance(place).is_some() {
                state
                    .counts
                    .iter()
                    .for_each(|&(id, _)| alive[id as usize] = true);
                continue;
            }
            dead_ends += 1;
            for &(id, _) in &state.counts {
                let (ends, problems, last) = &mut dead[id as usize];
                *ends += 1;
                if *last != group.problem {
                    (*problems, *last) = (*problems + 1, group.problem);
                }
            }
        }
    }
    let share = f64::from(dead_ends) / f64::from(states.max(1));
    let enough = TRAP_CHANCE.ln() / share.ln();
    let is_trap = |(alive, &(ends, problems, _)): (&bool, &(u32, usize, usize))| {
        !alive && problems >= TRAP_PROBLEMS && f64::from(ends) >= enough
    };
    alive.iter().zip(&dead).map(is_trap).collect()
}

/// Describes all samples and pairs the states in them.
pub(super) fn pair_up(
    set: &TrainingSet,
    spec: &GraphSpec,
    function: &CountsConfig,
    config: &RankingConfig,
    random: &mut SplitMix64,
    watch: &mut dyn Watch,
) -> Result<(Features, Pairs), Stop> {
    let mut features = Features::default();
    let mut groups = Vec::new();
    for (index, problem) in set.problems.iter().enumerate() {
        Pace::building(watch, "pairs of states")?;
        describe(problem, index, spec, function, &mut features, &mut groups);
    }
    let mut pairs = Pairs {
        first: vec![0],
        heuristics: function.heuristics.len(),
        ..Pairs::default()
    };
    features.is_trap = traps(&groups, set, features.colours.len());
    shuffle(&mut groups, random);
    let descent = config.descent_with(&function.heuristics);
    for group in &groups {
        if pairs.len() >= config.max_pairs {
            break;
        }
        pair_siblings(group, config, descent, random, &mut pairs);
    }
    if config.dead_pairs > 0 {
        pair_dead_ends(&groups, set.problems.len(), config, random, &mut pairs);
    }
    Ok((features, pairs))
}

fn describe<'s>(
    problem: &'s TrainingProblem,
    index: usize,
    spec: &GraphSpec,
    config: &CountsConfig,
    features: &mut Features,
    groups: &mut Vec<Group<'s>>,
) {
    let task: &Task = &problem.task;
    let mut counter = FeatureCounter::new(task, spec);
    let mut heuristics: Vec<Box<dyn Heuristic + Send + '_>> = config
        .heuristics
        .iter()
        .map(|kind: &HeuristicKind| kind.build(task, Costs::Unit))
        .collect();
    let mut ids: Vec<u32> = Vec::new();
    for sample in &problem.samples {
        let mut states = Vec::with_capacity(sample.len());
        for place in 0..sample.len() {
            let state = sample.state(place);
            counter.colour(state);
            ids.clear();
            counter.for_each_node(|_, node| {
                ids.extend(features.id(&counter, node, config.max_features));
            });
            ids.sort_unstable();
            let runs = ids.chunk_by(|a, b| a == b);
            let counts = runs.map(|run| (run[0], run.len() as u32)).collect();
            states.push(Described {
                counts,
                estimates: estimates(&mut heuristics, task, state),
            });
        }
        groups.push(Group {
            sample,
            states,
            problem: index,
        });
    }
}

/// Estimates of classical heuristics, 0 at a goal.
fn estimates(
    heuristics: &mut [Box<dyn Heuristic + Send + '_>],
    task: &Task,
    state: &[u32],
) -> Option<Vec<f64>> {
    if task.is_goal(state) {
        return Some(vec![0.0; heuristics.len()]);
    }
    let mut estimates = Vec::new();
    for heuristic in heuristics.iter_mut() {
        heuristic.evaluate(States::one(state), &mut estimates);
    }
    estimates.into_iter().map(Estimate::finite).collect()
}

/// The place of the parent in a sample; its children come behind it.
const PARENT: usize = 0;

/// The best children below their worse siblings and their parent. Where the parent weighs more than a
/// sibling, it is never left out.
fn pair_siblings(
    group: &Group<'_>,
    config: &RankingConfig,
    descent: f64,
    random: &mut SplitMix64,
    pairs: &mut Pairs,
) {
    let sample = group.sample;
    let Some(best) = sample.best_child() else {
        return;
    };
    let mut steps = Vec::new();
    let is_worse = |place: usize| sample.distance(place).is_none_or(|d| d > best);
    for good in (1..sample.len()).filter(|&place| sample.distance(place) == Some(best)) {
        let mut worse: Vec<usize> = (0..sample.len()).filter(|&p| is_worse(p)).collect();
        if worse.len() > config.pairs_per_state {
            shuffle(&mut worse, random);
            if descent != 1.0 {
                worse.sort_by_key(|&place| place != PARENT);
            }
            worse.truncate(config.pairs_per_state);
        }
        for place in worse {
            if pairs.len() >= config.max_pairs {
                pairs.steps.push(steps);
                return;
            }
            let weight = if place == PARENT { descent } else { 1.0 };
            let before = pairs.len();
            pairs.push(&group.states[place], &group.states[good], weight);
            if place == PARENT && descent != 1.0 && pairs.len() > before {
                pairs.step_of[before] = pairs.steps.len() as u32;
                steps.push(before as u32);
            }
        }
    }
    pairs.steps.push(steps);
}

/// Dead ends of one sample that are paired with states elsewhere.
const DEAD_ENDS_A_SAMPLE: usize = 6;

/// Dead children behind random states of the same problem that have a way to the goal: a search
/// chooses among all that wait in its queue, not among siblings alone.
fn pair_dead_ends(
    groups: &[Group<'_>],
    problems: usize,
    config: &RankingConfig,
    random: &mut SplitMix64,
    pairs: &mut Pairs,
) {
    let limit = pairs.len() + config.max_pairs / 2;
    let mut alive: Vec<Vec<&Described>> = vec![Vec::new(); problems];
    for group in groups {
        for (place, state) in group.states.iter().enumerate() {
            if group.sample.distance(place).is_some() {
                alive[group.problem].push(state);
            }
        }
    }
    for group in groups {
        let alive = &alive[group.problem];
        let dead = (1..group.states.len()).filter(|&p| group.sample.distance(p).is_none());
        for place in dead.take(DEAD_ENDS_A_SAMPLE) {
            for _ in 0..config.dead_pairs {
                if pairs.len() >= limit {
                    return;
                }
                pairs.push(&group.states[place], alive[random.below(alive.len())], 1.0);
            }
        }
    }
}

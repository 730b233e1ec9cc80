//! The network against its definition, written once more over all edges and in double precision.

use std::collections::HashMap;
use std::sync::Arc;

use homing_nlm::{Simd, SplitMix64};
use homing_pddl::{Source, read_problem};
use homing_planner::{ActionId, PropId, SuccessorGenerator, Task, ground};
use homing_tape::{Buffers, Linear, Matrix, Segments, Tape};

use super::draw::{Batch, Drawer};
use super::evaluate::Evaluator;
use super::kinds::Kinds;
use super::network::{Index, Network};
use super::policy::softmax;
use super::*;
use crate::compute::Compute;
use crate::model::ModelError;
use crate::record::TrainError;
use crate::signature::Signature;
use crate::value::{AnyModel, ValueFunction, ValueKind};

fn source(text: &str) -> Arc<Source> {
    Source::new("file", text.as_bytes().to_vec())
}

fn task_of(domain: &str, problem: &str) -> Task {
    let (problem, messages) = read_problem(&source(domain), &source(problem));
    let problem = Arc::new(problem.unwrap_or_else(|| panic!("{messages}")));
    ground(&problem, &mut ()).expect("it has a plan")
}

/// Trucks carry boxes between places of two types, and a bell may be rung once: predicates of all
/// three arities, static ones among them.
const CARRY: &str = "(define (domain carry) (:requirements :typing)
  (:types place thing - object truck box - thing)
  (:predicates (at ?t - thing ?p - place) (in ?b - box ?t - truck) (road ?p ?q - place)
    (full ?t - truck) (rung) (lit ?p - place))
  (:action drive :parameters (?t - truck ?p ?q - place)
    :precondition (and (at ?t ?p) (road ?p ?q)) :effect (and (not (at ?t ?p)) (at ?t ?q)))
  (:action load :parameters (?b - box ?t - truck ?p - place)
    :precondition (and (at ?b ?p) (at ?t ?p)) :effect (and (not (at ?b ?p)) (in ?b ?t) (full ?t)))
  (:action unload :parameters (?b - box ?t - truck ?p - place)
    :precondition (and (in ?b ?t) (at ?t ?p) (full ?t))
    :effect (and (not (in ?b ?t)) (at ?b ?p) (not (full ?t))))
  (:action ring :parameters (?p - place) :precondition (lit ?p) :effect (rung)))";

/// The objects in an order of their own.
fn carry(objects: &str) -> Task {
    let problem = format!(
        "(define (problem p) (:domain carry) (:objects {objects})
           (:init (at t p1) (at b p2) (at c p1) (road p1 p2) (road p2 p1) (road p2 p3) (road p3 p2)
             (lit p2))
           (:goal (and (at b p3) (at c p2) (rung))))"
    );
    task_of(CARRY, &problem)
}

const ORDER: &str = "p1 p2 p3 - place t - truck b c - box";

/// A walk of a few random steps: pairs of a state and the one before.
fn walk(task: &Task, seed: u64, steps: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
    let generator = SuccessorGenerator::new(task);
    let mut random = SplitMix64::new(seed);
    let mut state = task.initial_state();
    let mut pairs = vec![(state.clone(), state.clone())];
    let mut actions = Vec::new();
    for _ in 0..steps {
        generator.applicable(&state, &mut actions);
        let before = state.clone();
        task.apply(actions[random.below(actions.len())], &mut state);
        pairs.push((before, state.clone()));
    }
    pairs
}

fn applicable(task: &Task, state: &[u32]) -> Vec<ActionId> {
    let mut actions = Vec::new();
    SuccessorGenerator::new(task).applicable(state, &mut actions);
    actions
}

fn network_for(task: &Task, width: usize) -> Network {
    let signature = Signature::of(&task.problem().domain);
    let shape = GraphShape::new(&signature).expect("arities are fine");
    Network::new(&shape, width)
}

// The definition.

type Row = Vec<f64>;

struct Plain<'a> {
    network: &'a Network,
    parameters: &'a [f64],
}

impl Plain<'_> {
    fn at(&self, matrix: Matrix, row: usize, column: usize) -> f64 {
        self.parameters[matrix.range().start + row * matrix.columns() + column]
    }

    fn linear(&self, map: Linear, inputs: &[&Row]) -> Row {
        let x: Row = inputs.iter().flat_map(|row| row.iter().copied()).collect();
        assert_eq!(x.len(), map.weight.rows());
        let column = |j| {
            let sum: f64 = (0..x.len()).map(|i| x[i] * self.at(map.weight, i, j)).sum();
            sum + self.at(map.bias, 0, j)
        };
        (0..map.weight.columns()).map(column).collect()
    }

    /// A map that stands transposed.
    fn turned(&self, matrix: Matrix, x: &Row) -> Row {
        let output = |j| (0..x.len()).map(|i| x[i] * self.at(matrix, j, i)).sum();
        (0..matrix.rows()).map(output).collect()
    }

    fn rows(&self, matrix: Matrix, row: usize) -> Row {
        (0..matrix.columns())
            .map(|j| self.at(matrix, row, j))
            .collect()
    }
}

fn relu(row: Row) -> Row {
    row.into_iter().map(|x| x.max(0.0)).collect()
}

fn sum(rows: &[&Row]) -> Row {
    (0..rows[0].len())
        .map(|i| rows.iter().map(|row| row[i]).sum())
        .collect()
}

/// Features as the notes on the program describe them, from atoms alone.
struct Features {
    global: Row,
    nodes: Vec<Row>,
    edges: HashMap<(usize, usize), Row>,
}

fn features(task: &Task, shape: &GraphShape, before: &[u32], state: &[u32]) -> Features {
    let n = task.problem().objects.len();
    let mut found = Features {
        global: vec![0.0; shape.width(0)],
        nodes: vec![vec![0.0; shape.width(1)]; n],
        edges: HashMap::new(),
    };
    for x in 0..n {
        for y in (0..n).filter(|&y| y != x) {
            found.edges.insert((x, y), vec![0.0; shape.width(2)]);
        }
    }
    let mut put = |block: usize, arity: usize, place: usize, objects: &[usize]| {
        let at = block * shape.count(arity) + place;
        let row = match objects {
            [] => &mut found.global,
            [x] => &mut found.nodes[*x],
            [x, y] => found.edges.get_mut(&(*x, *y)).expect("different objects"),
            _ => panic!("arity"),
        };
        row[at] = 1.0;
        if block == 2 && arity > 0 {
            *row.last_mut().expect("the goal's bit") = 1.0;
        }
    };
    let domain = &task.problem().domain;
    let place = |predicate: usize| {
        let arity = domain.predicates[predicate].parameters.len();
        let of_arity = domain.predicates[..predicate].iter();
        let before = of_arity.filter(|p| p.parameters.len() == arity).count();
        (arity, before)
    };
    for (block, state) in [(0, before), (1, state)] {
        for (index, prop) in task.propositions().iter().enumerate() {
            let holds = task.encoding().holds(PropId::from_index(index), state);
            if prop.positive && holds {
                let (arity, at) = place(prop.atom.predicate.index());
                let objects: Vec<usize> = prop.atom.arguments.iter().map(|o| o.index()).collect();
                put(block, arity, at, &objects);
            }
        }
        for atom in task.statics() {
            let (arity, at) = place(atom.predicate.index());
            let objects: Vec<usize> = atom.arguments.iter().map(|o| o.index()).collect();
            put(block, arity, at, &objects);
        }
        let unary = domain.predicates.iter();
        let unary = unary.filter(|p| p.parameters.len() == 1).count();
        for (x, object) in task.problem().objects.iter().enumerate() {
            put(block, 1, unary + object.types[0].index(), &[x]);
        }
    }
    for literal in &task.problem().goal.literals {
        let (arity, at) = place(literal.atom.predicate.index());
        let objects: Vec<usize> = literal.atom.arguments.iter().map(|o| o.index()).collect();
        put(2, arity, at, &objects);
    }
    found
}

impl Plain<'_> {
    fn block(&self, at: usize, input: &Features) -> Features {
        let maps = self.network.blocks[at];
        let n = input.nodes.len();
        let edge = |(&(x, y), e): (&(usize, usize), &Row)| {
            ((x, y), relu(self.linear(maps.edge, &[&input.nodes[x], e])))
        };
        let edges: HashMap<(usize, usize), Row> = input.edges.iter().map(edge).collect();
        let nodes: Vec<Row> = (0..n)
            .map(|x| {
                let mut most = vec![f64::NEG_INFINITY; self.network.width];
                for y in (0..n).filter(|&y| y != x) {
                    let message = self.linear(maps.message, &[&input.nodes[y], &edges[&(x, y)]]);
                    most.iter_mut()
                        .zip(message)
                        .for_each(|(most, x)| *most = most.max(x));
                }
                relu(self.linear(maps.node, &[&most, &input.global]))
            })
            .collect();
        let all: Vec<&Row> = nodes.iter().collect();
        let mean = sum(&all).iter().map(|x| x / n as f64).collect();
        Features {
            global: relu(self.linear(maps.global, &[&input.global, &mean])),
            nodes,
            edges,
        }
    }

    /// V, and the logit of each action.
    fn evaluate(
        &self,
        task: &Task,
        before: &[u32],
        state: &[u32],
        actions: &[ActionId],
    ) -> (f64, Vec<f64>) {
        let input = features(task, &self.network.shape, before, state);
        let first = self.block(0, &input);
        let second = self.block(1, &first);
        let global = sum(&[&first.global, &second.global]);
        let hidden = relu(self.linear(self.network.value[0], &[&global]));
        let value = self.linear(self.network.value[1], &[&hidden])[0];
        let node = |x: usize| sum(&[&first.nodes[x], &second.nodes[x]]);
        let head = self.network.policy;
        let logit = |&action: &ActionId| {
            let mut total = vec![0.0; self.network.width];
            for (props, sign) in [(task.add(action), 1.0), (task.del(action), -1.0)] {
                for prop in props {
                    let atom = &task.propositions()[prop.index()].atom;
                    let objects: Vec<usize> = atom.arguments.iter().map(|o| o.index()).collect();
                    let (_, place) = self.network.shape.place(atom.predicate);
                    let signed = |map: super::network::EffectMap| {
                        let row = self.rows(map.predicate, place);
                        let row: Row = row.iter().map(|x| sign * x).collect();
                        sum(&[&row, &self.rows(map.bias, 0)])
                    };
                    let effect = match objects.as_slice() {
                        [] => sum(&[
                            &self.turned(head.nullary.of, &global),
                            &signed(head.nullary),
                        ]),
                        [x] => sum(&[&self.turned(head.unary.of, &node(*x)), &signed(head.unary)]),
                        [x, y] => {
                            let inner = sum(&[
                                &self.turned(head.ends.of, &node(*x)),
                                &self.turned(head.to, &node(*y)),
                                &signed(head.ends),
                            ]);
                            let edge = sum(&[&first.edges[&(*x, *y)], &second.edges[&(*x, *y)]]);
                            sum(&[
                                &self.turned(head.edge, &edge),
                                &self.turned(head.inner, &inner),
                                &self.rows(head.edge_bias, 0),
                            ])
                        }
                        _ => panic!("arity"),
                    };
                    total = sum(&[&total, &effect]);
                }
            }
            let last = self.rows(head.last, 0);
            let dot: f64 = total.iter().zip(&last).map(|(a, b)| a * b).sum();
            10.0 * (dot + self.at(head.last_bias, 0, 0)).tanh()
        };
        (
            1.0 / (1.0 + (-value).exp()),
            actions.iter().map(logit).collect(),
        )
    }
}

fn wide(parameters: &[f32]) -> Vec<f64> {
    parameters.iter().map(|&x| f64::from(x)).collect()
}

/// A batch of a walk's states with their applicable actions.
fn batch_of(task: &Task, network: &Network, pairs: &[(Vec<u32>, Vec<u32>)]) -> (Kinds, Batch) {
    let shape = &network.shape;
    let mut kinds = network.kinds();
    let mut batch = Batch::default();
    let mut drawer = Drawer::new(task, shape).expect("it can be read");
    for (before, state) in pairs {
        let actions = applicable(task, state);
        drawer.draw(before, state, &actions, &mut kinds, &mut batch);
    }
    (kinds, batch)
}

#[test]
fn tape_and_fast_evaluation_follow_the_definition() {
    let task = carry(ORDER);
    let network = Arc::new(network_for(&task, 24));
    let parameters = network.layout.init(&mut SplitMix64::new(7));
    let pairs = walk(&task, 3, 12);
    let (kinds, batch) = batch_of(&task, &network, &pairs);
    let mut tape = Tape::new(
        &network.layout,
        &parameters,
        Simd::best(),
        Buffers::default(),
    );
    let outputs = network.record(&mut tape, &Index::new(&kinds, &batch));
    let mut evaluator = Evaluator::new(
        Arc::clone(&network),
        parameters.as_slice().into(),
        Simd::best(),
    );
    let doubles = wide(&parameters);
    let plain = Plain {
        network: &network,
        parameters: &doubles,
    };
    let mut drawer = Drawer::new(&task, &network.shape).expect("it can be read");
    let (mut logits, mut values) = (Vec::new(), Vec::new());
    let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 2e-5;
    for (graph, (before, state)) in pairs.iter().enumerate() {
        let actions = applicable(&task, state);
        let (value, expected) = plain.evaluate(&task, before, state, &actions);
        // One at a time: neither the batch nor the kinds met before may matter.
        let mut one = Batch::default();
        drawer.draw(before, state, &actions, &mut evaluator.kinds, &mut one);
        evaluator.evaluate(&one, &mut logits, &mut values);
        assert!(close(values[0], value), "{} {value}", values[0]);
        assert!(close(tape.value(outputs.values)[graph], value));
        assert_eq!(logits.len(), expected.len());
        let from = batch.actions.starts[graph] as usize;
        for (at, expected) in expected.into_iter().enumerate() {
            assert!(close(logits[at], expected), "{} {expected}", logits[at]);
            assert!(close(tape.value(outputs.logits)[from + at], expected));
        }
    }
    // What looks alike is computed once: that is what kinds are for.
    let objects = task.problem().objects.len();
    let (nodes, edges) = (pairs.len() * objects, pairs.len() * objects * (objects - 1));
    assert!(3 * kinds.first.nodes.len() < 2 * nodes);
    assert!(kinds.second.nodes.len() < nodes);
    assert!(3 * kinds.second_edges.len() < edges);
}

#[test]
fn a_batch_changes_no_bit() {
    let task = carry(ORDER);
    let network = Arc::new(network_for(&task, 40));
    let parameters = network.layout.init(&mut SplitMix64::new(2));
    let pairs = walk(&task, 5, 20);
    let run = |pairs: &[(Vec<u32>, Vec<u32>)], evaluator: &mut Evaluator| {
        let mut drawer = Drawer::new(&task, &network.shape).expect("it can be read");
        let mut batch = Batch::default();
        for (before, state) in pairs {
            let actions = applicable(&task, state);
            drawer.draw(before, state, &actions, &mut evaluator.kinds, &mut batch);
        }
        let (mut logits, mut values) = (Vec::new(), Vec::new());
        evaluator.evaluate(&batch, &mut logits, &mut values);
        (logits, values)
    };
    let fresh = || {
        let parameters = parameters.as_slice().into();
        Evaluator::new(Arc::clone(&network), parameters, Simd::best())
    };
    let (logits, values) = run(&pairs, &mut fresh());
    let mut backwards = fresh();
    let mut forgetful = fresh();
    for (at, pair) in pairs.iter().enumerate() {
        if at % 3 == 0 {
            forgetful.forget();
        }
        let (some, value) = run(std::slice::from_ref(pair), &mut forgetful);
        assert_eq!(value[0], values[at]);
        assert!(some.iter().all(|logit| logits.contains(logit)));
    }
    let (mut alone_logits, mut alone_values) = (Vec::new(), Vec::new());
    for pair in pairs.iter().rev() {
        let (logits, values) = run(std::slice::from_ref(pair), &mut backwards);
        alone_logits.splice(0..0, logits);
        alone_values.splice(0..0, values);
    }
    assert_eq!((logits, values), (alone_logits, alone_values));
}

#[test]
fn gradients_agree_with_finite_differences() {
    let task = carry(ORDER);
    let network = network_for(&task, 6);
    let parameters = network.layout.init(&mut SplitMix64::new(11));
    let pairs = walk(&task, 9, 5);
    let (kinds, batch) = batch_of(&task, &network, &pairs);
    let count = pairs.len();
    let picks: Vec<usize> = (0..count)
        .map(|graph| graph % batch.actions.list(graph).len())
        .collect();
    let olds: Vec<f32> = (0..count).map(|at| -1.0 - 0.3 * at as f32).collect();
    let advantages: Vec<f32> = (0..count).map(|at| 0.4 - 0.2 * at as f32).collect();
    let returns: Vec<f32> = (0..count).map(|at| 0.15 * at as f32).collect();
    let weights = [1.0, 0.7, 0.3];
    let loss = |parameters: &[f64]| -> f64 {
        let plain = Plain {
            network: &network,
            parameters,
        };
        let mut total = 0.0;
        for (at, (before, state)) in pairs.iter().enumerate() {
            let actions = applicable(&task, state);
            let (value, logits) = plain.evaluate(&task, before, state, &actions);
            let sum: f64 = logits.iter().map(|x| x.exp()).sum();
            let log = logits[picks[at]] - sum.ln();
            let ratio = (log - f64::from(olds[at])).exp();
            let a = f64::from(advantages[at]);
            let surrogate = -(ratio * a).min(ratio.clamp(0.8, 1.2) * a);
            let error = (value - f64::from(returns[at])).powi(2);
            total += weights[0] * surrogate + weights[1] * error + weights[2] * log;
        }
        total
    };
    let mut tape = Tape::new(
        &network.layout,
        &parameters,
        Simd::best(),
        Buffers::default(),
    );
    let outputs = network.record(&mut tape, &Index::new(&kinds, &batch));
    let actions = Segments::new(batch.actions.starts.clone(), batch.actions.items.clone());
    let picks32 = picks.iter().map(|&pick| pick as u32).collect();
    let log = tape.log_softmax_pick(outputs.logits, &actions, picks32);
    let surrogate = tape.clipped_surrogate(
        log,
        olds.as_slice().into(),
        advantages.as_slice().into(),
        0.2,
    );
    let error = tape.squared_error(outputs.values, returns.as_slice().into());
    let mut gradient = vec![0.0; parameters.len()];
    let outputs = [(surrogate, 1.0), (error, 0.7), (log, 0.3)];
    tape.backward(&outputs, &mut gradient);
    let mut doubles = wide(&parameters);
    let mut moved = 0;
    for named in network.layout.named() {
        let range = named.matrix.range();
        for at in range.clone().step_by((range.len() / 9).max(1)) {
            let kept = doubles[at];
            let step = 1e-6;
            doubles[at] = kept + step;
            let above = loss(&doubles);
            doubles[at] = kept - step;
            let below = loss(&doubles);
            doubles[at] = kept;
            let expected = (above - below) / (2.0 * step);
            let found = f64::from(gradient[at]);
            let tolerance = 2e-4 * (1.0 + expected.abs());
            assert!(
                (found - expected).abs() < tolerance,
                "{} {at}: {found} {expected}",
                named.name
            );
            moved += usize::from(expected.abs() > 1e-4);
        }
    }
    assert!(moved > 100, "{moved} derivatives that are not 0");
}

#[test]
fn names_and_order_of_objects_do_not_matter() {
    let first = carry(ORDER);
    let second = carry("c b - box p3 p1 - place t - truck p2 - place");
    let network = Arc::new(network_for(&first, 32));
    let parameters: Arc<[f32]> = network.layout.init(&mut SplitMix64::new(4)).into();
    let mut random = SplitMix64::new(1);
    let mut states = [first.initial_state(), second.initial_state()];
    let mut befores = states.clone();
    for _ in 0..15 {
        // By name, so that they can be told to be the same.
        let mut answers = Vec::new();
        for (at, task) in [&first, &second].into_iter().enumerate() {
            let simd = Simd::best();
            let mut evaluator = Evaluator::new(Arc::clone(&network), Arc::clone(&parameters), simd);
            let mut drawer = Drawer::new(task, &network.shape).expect("it can be read");
            let actions = applicable(task, &states[at]);
            let mut batch = Batch::default();
            drawer.draw(
                &befores[at],
                &states[at],
                &actions,
                &mut evaluator.kinds,
                &mut batch,
            );
            let (mut logits, mut values) = (Vec::new(), Vec::new());
            evaluator.evaluate(&batch, &mut logits, &mut values);
            let names = actions.iter().map(|&a| task.action_name(a).to_string());
            let mut named: Vec<(String, f32)> = names.zip(logits).collect();
            named.sort_by(|a, b| a.0.cmp(&b.0));
            answers.push((named, values[0]));
        }
        let [one, other] = &answers[..] else {
            panic!("two tasks");
        };
        assert!((one.1 - other.1).abs() < 1e-5, "{} {}", one.1, other.1);
        assert_eq!(one.0.len(), other.0.len());
        for (a, b) in one.0.iter().zip(&other.0) {
            assert_eq!(a.0, b.0);
            assert!((a.1 - b.1).abs() < 1e-4, "{a:?} {b:?}");
        }
        let name = &one.0[random.below(one.0.len())].0;
        for (at, task) in [&first, &second].into_iter().enumerate() {
            let mut actions = task.actions();
            let action = actions.find(|&a| task.action_name(a).to_string() == *name);
            befores[at] = states[at].clone();
            task.apply(action.expect("it is there"), &mut states[at]);
        }
    }
}

#[test]
fn parameters_are_as_many_as_in_the_notes() {
    let expected = [
        (
            "blocks",
            include_str!("../../../../domains/blocks/domain.pddl"),
            1_194_242,
        ),
        (
            "ferry",
            include_str!("../../../../domains/ferry/domain.pddl"),
            1_197_058,
        ),
        (
            "gripper",
            include_str!("../../../../domains/gripper/domain.pddl"),
            1_198_850,
        ),
        (
            "logistics",
            include_str!("../../../../domains/logistics/domain.pddl"),
            1_201_666,
        ),
        (
            "miconic",
            include_str!("../../../../domains/miconic/domain.pddl"),
            1_203_458,
        ),
        (
            "parking",
            include_str!("../../../../domains/parking/domain.pddl"),
            1_198_850,
        ),
        (
            "satellite",
            include_str!("../../../../domains/satellite/domain.pddl"),
            1_205_506,
        ),
        (
            "visitall",
            include_str!("../../../../domains/visitall/domain.pddl"),
            1_194_242,
        ),
    ];
    for (name, text, count) in expected {
        let (domain, messages) = homing_pddl::check_domain(&homing_pddl::parse(&source(text)).0);
        let domain = domain.unwrap_or_else(|| panic!("{messages}"));
        let shape = GraphShape::new(&Signature::of(&domain)).expect("arities are fine");
        assert_eq!(Network::new(&shape, 256).layout.len(), count, "{name}");
    }
}

#[test]
fn what_the_network_cannot_read_is_refused() {
    let shaped = |task: &Task| {
        let shape = GraphShape::new(&Signature::of(&task.problem().domain))?;
        Drawer::new(task, &shape).map(|_| ())
    };
    let domain = "(define (domain d) (:requirements :adl) (:predicates (p ?x) (q ?x ?y ?z))
      (:action a :parameters (?x) :effect (p ?x)))";
    let problem = |goal: &str| {
        format!("(define (problem one) (:domain d) (:objects o) (:init) (:goal {goal}))")
    };
    let error = shaped(&task_of(domain, &problem("(p o)"))).expect_err("three arguments");
    insta::assert_snapshot!(error, @"the graph network reads predicates of at most 2 objects, and `q` has 3");
    let domain = "(define (domain d) (:requirements :adl) (:predicates (p ?x) (q ?x))
      (:action a :parameters (?x) :effect (and (when (not (q ?x)) (q ?x)) (when (q ?x) (p ?x)))))";
    let error = shaped(&task_of(domain, &problem("(p o)"))).expect_err("conditional effects");
    insta::assert_snapshot!(error, @"the graph network reads actions without conditional effects and no derived predicates, and problem `one` has some");
    let domain = "(define (domain d) (:requirements :adl) (:predicates (p ?x) (q ?x))
      (:action a :parameters (?x) :effect (and (not (p ?x)) (q ?x))))";
    let text = "(define (problem one) (:domain d) (:objects o) (:init (p o)) (:goal (not (p o))))";
    let error = shaped(&task_of(domain, text)).expect_err("a negative goal");
    insta::assert_snapshot!(error, @"the graph network reads goals that say what must hold, and that of problem `one` forbids something");
    let bad = GnnConfig {
        width: 0,
        ..GnnConfig::default()
    };
    let tasks = [carry(ORDER)];
    assert!(matches!(
        GnnTrainer::new(&tasks, bad, 0, Compute::from(1)),
        Err(TrainError::Settings(_))
    ));
}

fn small() -> GnnConfig {
    GnnConfig {
        width: 16,
        iterations: 4,
        episodes: 23,
        updates: 3,
        batch: 200,
        learning_rate: 1e-3,
        ..GnnConfig::default()
    }
}

fn trained(tasks: &[Task], config: GnnConfig, threads: usize) -> GnnModel {
    let iterations = config.iterations;
    let mut trainer =
        GnnTrainer::new(tasks, config, 5, Compute::from(threads)).expect("it can begin");
    for _ in 0..iterations {
        trainer.step().expect("it goes on");
    }
    trainer.model()
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let tasks = [
        carry(ORDER),
        carry("c b - box p3 p1 - place t - truck p2 - place"),
    ];
    let one = trained(&tasks, small(), 1).to_file().expect("a file");
    for threads in [2, 5] {
        let bytes = trained(&tasks, small(), threads).to_file();
        assert_eq!(bytes.expect("a file"), one, "{threads} threads");
    }
}

#[test]
fn a_run_goes_on_from_its_checkpoint_as_if_it_had_never_stopped() {
    let tasks = [carry(ORDER)];
    let straight = trained(&tasks, small(), 1);
    let mut trainer = GnnTrainer::new(&tasks, small(), 5, Compute::from(1)).expect("it can begin");
    trainer.step().expect("it goes on");
    trainer.step().expect("it goes on");
    let bytes = trainer.checkpoint().expect("a checkpoint");
    let mut again = GnnTrainer::resume(&tasks, &bytes, Compute::from(2)).expect("it is whole");
    assert_eq!(again.iteration(), 2);
    // Told to stop in the middle of its work, it has not begun it.
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let late = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 40;
    assert_eq!(again.step_unless(&late).expect("it goes on"), None);
    assert_eq!(again.checkpoint().expect("a checkpoint"), bytes);
    again.step().expect("it goes on");
    again.step().expect("it goes on");
    assert_eq!(again.model(), straight);
    assert_eq!(again.model().to_file().ok(), straight.to_file().ok());
    // A checkpoint is no model, and is of its problems alone.
    assert!(matches!(
        AnyModel::from_file(&bytes),
        Err(ModelError::BadHeader(_))
    ));
    let others = [carry("c b - box p3 p1 - place t - truck p2 - place")];
    assert!(GnnTrainer::resume(&others, &bytes, Compute::from(1)).is_err());
    let mut damaged = bytes.clone();
    let last = damaged.len() - 3;
    damaged[last] ^= 1;
    assert!(GnnTrainer::resume(&tasks, &damaged, Compute::from(1)).is_err());
}

#[test]
fn a_model_survives_its_file() {
    let tasks = [carry(ORDER)];
    let config = GnnConfig {
        iterations: 1,
        ..small()
    };
    let model = trained(&tasks, config, 1);
    let bytes = model.to_file().expect("a file");
    let AnyModel::Gnn(read) = AnyModel::from_file(&bytes).expect("whole") else {
        panic!("another kind");
    };
    assert_eq!(*read, model);
    assert_eq!((read.kind(), read.domain()), (ValueKind::Gnn, "carry"));
    assert!(read.check_domain(&tasks[0].problem().domain).is_ok());
    let mut damaged = bytes.clone();
    let last = damaged.len() - 3;
    damaged[last] ^= 1;
    assert!(matches!(
        AnyModel::from_file(&damaged),
        Err(ModelError::Corrupted)
    ));
    let mut heuristic = read
        .heuristic(&tasks[0], Compute::from(1))
        .expect("it fits");
    let mut estimates = Vec::new();
    let initial = tasks[0].initial_state();
    heuristic.evaluate(homing_planner::States::one(&initial), &mut estimates);
    let estimate = estimates[0].finite().expect("no dead end");
    assert!((0.0..=1.0).contains(&estimate), "{estimate}");
}

#[test]
fn training_comes_to_solve_what_chance_does_not() {
    // Chance brings the box there in some episodes of 15 steps.
    let problem = "(define (problem p) (:domain carry)
      (:objects p1 p2 p3 - place t - truck b - box)
      (:init (at t p1) (at b p1) (road p1 p2) (road p2 p1) (road p1 p3) (road p3 p1) (lit p1))
      (:goal (at b p2)))";
    let tasks = [task_of(CARRY, problem)];
    let config = GnnConfig {
        width: 32,
        iterations: 30,
        episodes: 40,
        updates: 10,
        learning_rate: 1e-3,
        returns: Returns::Usual,
        ..GnnConfig::default()
    };
    let mut trainer = GnnTrainer::new(&tasks, config, 1, Compute::from(1)).expect("it can begin");
    let first = trainer.step().expect("it goes on");
    let mut last = first;
    for _ in 1..30 {
        last = trainer.step().expect("it goes on");
    }
    assert!(last.solved >= 36, "{first:?} {last:?}");
    assert!(last.steps < first.steps, "{first:?} {last:?}");
    // And the policy of the model is the one that was trained.
    let model = trainer.model();
    let mut policy = model.policy(&tasks[0], Simd::best()).expect("it fits");
    let initial = tasks[0].initial_state();
    let actions = applicable(&tasks[0], &initial);
    let mut probabilities = Vec::new();
    policy.evaluate(&initial, &initial, &actions, &mut probabilities);
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let mut even = Vec::new();
    softmax(&vec![0.0; actions.len()], &mut even);
    assert!(probabilities.iter().zip(&even).any(|(p, e)| p > &(1.5 * e)));
}

#[test]
fn walks_tell_a_trained_policy_from_one_that_is_not() {
    let tasks = [carry(ORDER)];
    let config = GnnConfig {
        learning_rate: 1e-3,
        iterations: 40,
        episodes: 20,
        returns: Returns::Usual,
        ..small()
    };
    let mut trainer = GnnTrainer::new(&tasks, config, 1, Compute::from(1)).expect("it can begin");
    let before = trainer.model();
    let rollouts = GnnRollouts::new(&tasks, &before, 3).expect("it reads them");
    for _ in 0..40 {
        trainer.step().expect("it goes on");
    }
    let score = |model: &GnnModel, threads: usize| {
        let score = rollouts.score(model, 45, Compute::from(threads));
        score.expect("of the same network")
    };
    let (first, last) = (score(&before, 1), score(&trainer.model(), 1));
    assert!(last.solved > first.solved, "{first:?} {last:?}");
    assert!(last.steps < first.steps, "{first:?} {last:?}");
    assert_eq!(score(&trainer.model(), 3), last);
    // Problems of another domain are refused.
    let other = CARRY.replace("rung", "rang");
    let problem = "(define (problem p) (:domain carry) (:objects p1 - place) (:init (lit p1)) (:goal (rang)))";
    let others = [task_of(&other, problem)];
    assert!(matches!(
        GnnRollouts::new(&others, &before, 3),
        Err(ModelError::OtherDomain { .. })
    ));
}

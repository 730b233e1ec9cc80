//! What the paper says of the network's input and of its settings.

mod common;

use homing_learner::{
    BucketBy, CapacityOf, Channels, Encoder, Policy, Reduce, Reward, Signature, TrainConfig,
};
use homing_nlm::Structure;
use homing_planner::ground;

/// Sec. "Value Function as NLMs": each array holds the state's predicates of its arity, then the same
/// once more for the goal; what never changes is shown as well.
#[test]
fn state_and_goal_are_channels_side_by_side() {
    let domain = "(define (domain d) (:requirements :strips)
        (:predicates (awake) (at ?x) (road ?x ?y) (seen ?x))
        (:action go :parameters (?x ?y)
          :precondition (and (awake) (at ?x) (road ?x ?y))
          :effect (and (at ?y) (seen ?y) (not (at ?x))))
        (:action doze :precondition (awake) :effect (not (awake))))";
    let problem = "(define (problem p) (:domain d) (:objects a b)
        (:init (awake) (at a) (road a b)) (:goal (and (at b) (seen b))))";
    let task = ground(&common::parse_texts(domain, problem), &mut ()).expect("solvable");
    let signature = Signature::of(&task.problem().domain);
    let channels = Channels::new(&signature, false, false);
    // awake; at, seen; road; and once more for the goal.
    assert_eq!(channels.count(), [2, 4, 2]);
    let mut structure = Structure::default();
    Encoder::new(&task, &channels).encode(&task, &task.initial_state(), &mut structure);
    let shown = |arity| {
        let mut shown: Vec<(usize, Vec<u16>)> = structure
            .propositions(arity)
            .map(|(channel, objects)| (channel, objects.to_vec()))
            .collect();
        shown.sort();
        shown
    };
    let (a, b) = (0, 1);
    assert_eq!(shown(0), [(0, vec![])]);
    assert_eq!(shown(1), [(0, vec![a]), (2, vec![b]), (3, vec![b])]);
    assert_eq!(shown(2), [(0, vec![a, b])]);
}

/// Appendix "Hyperparameters", and the settings with which its tables were made.
#[test]
fn the_presets_are_the_papers_text_and_its_program() {
    let paper = TrainConfig::paper();
    assert_eq!((paper.steps, paper.gamma), (50_000, 0.999_999));
    assert_eq!((paper.max_episode_length, paper.batch_size), (40, 25));
    assert_eq!((paper.layers, paper.max_arity, paper.features), (6, 3, 8));
    assert_eq!((paper.learning_rate, paper.temperature), (0.001, 1.0));
    assert_eq!(
        (paper.replay_capacity, paper.capacity_of, paper.bucket_by),
        (6_000, CapacityOf::Memory, BucketBy::ObjectCount)
    );
    assert_eq!(
        (paper.policy, paper.reward, paper.reduce),
        (Policy::Greedy, Reward::Cost, Reduce::Exists)
    );
    assert_eq!((paper.target_every, paper.distinct), (0, false));

    let program = TrainConfig::reference();
    assert_eq!(
        (program.steps, program.gamma, program.layers),
        (10_000, 0.999, 5)
    );
    assert_eq!(
        (program.policy, program.reward, program.reduce),
        (Policy::Softmax, Reward::CostButLast, Reduce::ExistsForall)
    );
    assert_eq!((program.target_every, program.distinct), (400, true));
    assert_eq!(
        (program.capacity_of, program.bucket_by),
        (CapacityOf::Bucket, BucketBy::ObjectNames)
    );
    assert_eq!(program.max_episode_length, paper.max_episode_length);
    assert_eq!(program.learning_rate, paper.learning_rate);
}

//! How much of a problem a model has seen before.

use homing_nlm::SplitMix64;
use homing_planner::{SuccessorGenerator, Task};
use serde::{Deserialize, Serialize};

use super::file::CountsModel;
use super::refine::{FeatureCounter, Node};

/// States looked at: the initial one, and those of a random walk from it.
const STATES: usize = 50;

/// How many of the colours of a problem's states a model has seen in training, by round. Colours it
/// has not seen weigh nothing: where these are many, its score says little.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// By round: colours that were seen, each as often as it occurs.
    pub known: Vec<u64>,
    /// By round: all colours.
    pub all: Vec<u64>,
}

impl Trust {
    /// The share of colours that were seen, over all rounds.
    pub fn share(&self) -> f64 {
        let known: u64 = self.known.iter().sum();
        let all: u64 = self.all.iter().sum();
        if all == 0 {
            1.0
        } else {
            known as f64 / all as f64
        }
    }
}

impl CountsModel {
    /// How much of a task's colours it has seen, in the initial state and along a random walk.
    pub fn trust(&self, task: &Task) -> Trust {
        self.trust_in(task, STATES)
    }

    /// The same in the initial state alone: cheap enough to look before every search.
    pub fn trust_at_first(&self, task: &Task) -> Trust {
        self.trust_in(task, 1)
    }

    fn trust_in(&self, task: &Task, states: usize) -> Trust {
        let function = &self.function;
        let rounds = function.spec().rounds + 1;
        let mut trust = Trust {
            known: vec![0; rounds],
            all: vec![0; rounds],
        };
        let mut counter = FeatureCounter::new(task, function.spec());
        let mut generator = None;
        let mut random = SplitMix64::new(0);
        let (mut state, mut actions) = (task.initial_state(), Vec::new());
        for left in (0..states).rev() {
            counter.colour(&state);
            counter.for_each_node(|colour, node| {
                let (Node::Object { round, .. } | Node::Atom { round, .. }) = node;
                trust.all[round] += 1;
                trust.known[round] += u64::from(function.has_seen(colour));
            });
            if left == 0 {
                break;
            }
            let generator = generator.get_or_insert_with(|| SuccessorGenerator::new(task));
            generator.applicable(&state, &mut actions);
            if actions.is_empty() {
                state = task.initial_state();
            } else {
                task.apply(actions[random.below(actions.len())], &mut state);
            }
        }
        trust
    }
}

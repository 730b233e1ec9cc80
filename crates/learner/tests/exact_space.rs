//! State spaces walked through: distances against plain relaxation of all edges, samples against
//! what they promise.

mod common;

use common::{fixtures, perfect};
use homing_learner::{ExactSpace, Mdp, Reward, Tabular, WalkEnd, WalkLimits};
use homing_nlm::SplitMix64;
use homing_planner::{Costs, Progress, Stop, Watch};

const MDP: Mdp = Mdp {
    gamma: 0.999,
    reward: Reward::Cost,
};

#[test]
fn distances_are_those_of_the_table() {
    for (name, task) in fixtures() {
        for costs in [Costs::Unit, Costs::Task] {
            let table = Tabular::explore(&task, None, costs, MDP, 100_000).expect("small");
            let space = ExactSpace::walk(&task, costs, WalkLimits::states(100_000), &mut ())
                .expect("small");
            assert_eq!(space.len(), table.len(), "{name}");
            let perfect = perfect(&table);
            for (state, &perfect) in perfect.iter().enumerate() {
                let distance = space.distance(state as u32);
                assert_eq!(distance.map(|d| d.cost), perfect, "{name} {state}");
                assert_eq!(space.state(state as u32), table.state(state));
                if costs == Costs::Unit {
                    assert_eq!(distance.map(|d| u64::from(d.steps)), perfect);
                }
            }
            let dead = perfect.iter().filter(|h| h.is_none()).count();
            assert_eq!(space.dead_ends(), dead, "{name}");
        }
    }
}

#[test]
fn samples_hold_solvable_parents_and_all_their_children() {
    let mut random = SplitMix64::new(7);
    let mut sampled = 0;
    for (name, task) in fixtures() {
        let space = ExactSpace::walk(&task, Costs::Task, WalkLimits::states(100_000), &mut ())
            .expect("small");
        let known: std::collections::HashMap<&[u32], u32> = (0..space.len() as u32)
            .map(|state| (space.state(state), state))
            .collect();
        for sample in space.sample(20, &mut random) {
            sampled += 1;
            let parent = known[sample.state(0)];
            let distance = sample.distance(0).expect("a way to the goal");
            assert!(distance.steps > 0, "{name}: a goal was sampled");
            let mut children: Vec<u32> = (1..sample.len())
                .map(|index| known[sample.state(index)])
                .collect();
            let mut expected = space.successors(parent).to_vec();
            expected.retain(|&child| child != parent);
            expected.sort_unstable();
            expected.dedup();
            children.sort_unstable();
            assert_eq!(children, expected, "{name}");
            for index in 0..sample.len() {
                let state = known[sample.state(index)];
                assert_eq!(sample.distance(index), space.distance(state));
            }
            let best = sample.best_child().expect("a way on");
            assert!(best.cost <= distance.cost, "{name}");
        }
        let again = space.sample(20, &mut SplitMix64::new(3));
        assert_eq!(again, space.sample(20, &mut SplitMix64::new(3)));
    }
    assert!(sampled > 100, "{sampled}");
}

#[test]
fn limits_and_the_watch_end_a_walk() {
    struct Impatient(u32);
    impl Watch for Impatient {
        fn poll(&mut self, _: Progress) -> Option<Stop> {
            self.0 += 1;
            (self.0 > 1).then_some(Stop::Time)
        }
    }
    let mut stopped = 0;
    for (_, task) in fixtures() {
        let all = ExactSpace::walk(&task, Costs::Unit, WalkLimits::states(100_000), &mut ())
            .expect("all");
        let walk = |limits| ExactSpace::walk(&task, Costs::Unit, limits, &mut ()).map(|s| s.len());
        assert_eq!(walk(WalkLimits::states(all.len())), Ok(all.len()));
        if all.len() > 1 {
            let end = walk(WalkLimits::states(all.len() - 1));
            assert!(matches!(end, Err(WalkEnd::TooLarge { .. })), "{end:?}");
            let narrow = WalkLimits {
                states: all.len(),
                transitions: all.transitions() - 1,
            };
            assert!(matches!(walk(narrow), Err(WalkEnd::TooLarge { .. })));
        }
        let limits = WalkLimits::states(100_000);
        if let Err(end) = ExactSpace::walk(&task, Costs::Unit, limits, &mut Impatient(0)) {
            assert_eq!(end, WalkEnd::Stopped(Stop::Time));
            stopped += 1;
        }
    }
    assert!(stopped > 0, "no fixture has enough states to be stopped");
}

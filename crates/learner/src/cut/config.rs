//! What a cutter is to do, and for how long.

use homing_planner::Costs;
use serde::{Deserialize, Serialize};

use crate::faults::Faults;

/// Settings of cutting. The defaults are the recipe; each says why.
///
/// Shares are probabilities from 0 to 1. Every bound is a counter: the same task, settings and seed
/// give the same cuts on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CutConfig {
    /// Cuts wanted. Twenty teach a model in most domains; more cover rarer situations, and the fit
    /// takes a second at the most for two hundred.
    pub cuts: usize,
    /// Problems built at the most, good and bad: ends the work where hardly anything new is found.
    pub tries: usize,
    /// States walked through at the most in all that is tried: half a second to a second.
    pub states: u64,
    /// Transitions followed at the most, likewise, for tasks with many actions a state.
    pub transitions: u64,
    /// The number of states above which a space is too large is drawn from this range, every
    /// doubling equally likely: small spaces are many and varied, large ones show what small ones
    /// cannot.
    pub space: (usize, usize),
    /// Where half of the states are walked through and there are fewer cuts than this, spaces may be
    /// larger: in some domains the smallest problem has tens of thousands of states.
    pub few: usize,
    /// The largest space then.
    pub space_if_few: usize,
    /// Transitions a state at the most, on average.
    pub branching: usize,
    /// What a step of a cut costs when distances to the goal are told: by default 1, for what leads to
    /// a goal soon.
    pub costs: Costs,
    /// Actions that the grounding of a cut may list before it is given up: many actions mean many
    /// states.
    pub actions: usize,
    /// Actions listed at the most in all groundings: a second where states are few and actions are
    /// many.
    pub all_actions: u64,
    /// How often a problem is walked through although one with no more objects was too large: that
    /// sign is not certain.
    pub doubt: f64,
    /// Explorations of the delete relaxation. Each goal takes its relaxed plan from one of them: the
    /// more there are, the more the resources of a cut differ.
    pub explorations: usize,
    /// Conditions and effects touched in all explorations: a task with a million actions gets two
    /// or three of them, within half a second.
    pub exploration_work: u64,
    /// Random costs of actions are 1 to 1 + spread; explorations take turns. With the first, plans
    /// stay nearly cheapest; with the second, they differ.
    pub spreads: [f64; 2],
    /// Goals chosen for a cut: 1 up to this. Four interact, and leave a space that can be walked.
    pub goals: usize,
    /// The share of further goals that have an object in common with those chosen: they interact.
    pub goals_nearby: f64,
    /// The share of cuts made of trails: true plans for the chosen goals, with the objects that these
    /// use and no more. Resources are scarce there, and ways are whole.
    pub from_trails: f64,
    /// The share of cuts whose objects are those of relaxed plans. What is left after trails and plans
    /// has the goals' objects and a few neighbours, which is all that puzzles such as blocks need.
    pub from_plans: f64,
    /// Work spent on trails at the most, as for explorations; after that they are used again.
    pub trail_work: u64,
    /// Relaxed plans followed for one goal of a trail. Fuel levels take one for each step of a way.
    pub trail_rounds: usize,
    /// Steps of a trail at the most: longer ones have too many objects, but their parts are of use.
    pub trail_steps: usize,
    /// The share of trails of which a part is taken even if the whole may be small enough: so cuts
    /// begin and end in the midst of things, too.
    pub trail_parts: f64,
    /// The neighbours of goals in cuts without relaxed plans: 0 to this.
    pub neighbours: usize,
    /// Objects beyond the plan: 0 to this. Without them every object would be of use, and nothing
    /// would teach what to leave alone.
    pub extras: usize,
    /// The share of cuts that keep all objects of a small type once they have one of it: three peg
    /// sizes or two robots are often a scale or a team.
    pub whole_types: f64,
    /// What is a small type: so many objects.
    pub small_type: usize,
    /// The share of cuts with every goal over kept objects, not only the chosen ones: so goals come
    /// together as they do in the task.
    pub all_goals: f64,
    /// Whether a mutex group that lost its true atom gets another one.
    pub repair: bool,
    /// Problems built for one choice of goals at the most, with objects added or dropped in between.
    pub attempts: usize,
    /// Whether a cut without a plan gains objects before it is tried again.
    pub grow: bool,
    /// The share of objects that no goal names dropped when a space is too large.
    pub shrink: f64,
    /// The share of too large cuts from plans that are shrunk to the last part of their plans
    /// instead, which leaves a way through a map whole.
    pub shrink_plans: f64,
    /// The share of a plan's actions left then.
    pub shorten: f64,
}

impl Default for CutConfig {
    fn default() -> Self {
        Self {
            cuts: 200,
            tries: 4_000,
            states: 2_000_000,
            transitions: 20_000_000,
            space: (100, 30_000),
            few: 20,
            space_if_few: 100_000,
            branching: 64,
            costs: Costs::Unit,
            actions: 4_000,
            all_actions: 600_000,
            doubt: 0.1,
            explorations: 24,
            exploration_work: 30_000_000,
            spreads: [0.3, 1.5],
            goals: 4,
            goals_nearby: 0.4,
            from_trails: 0.4,
            from_plans: 0.4,
            trail_work: 30_000_000,
            trail_rounds: 24,
            trail_steps: 150,
            trail_parts: 0.5,
            neighbours: 3,
            extras: 3,
            whole_types: 0.5,
            small_type: 3,
            all_goals: 0.7,
            repair: true,
            attempts: 6,
            grow: true,
            shrink: 0.4,
            shrink_plans: 0.5,
            shorten: 0.6,
        }
    }
}

/// Spaces larger than this do not fit into memory.
const MOST_STATES: usize = 1 << 30;

impl CutConfig {
    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut faults = Faults::default();
        let counts = [
            ("cuts", self.cuts),
            ("tries", self.tries),
            ("branching", self.branching),
            ("actions", self.actions),
            ("explorations", self.explorations),
            ("goals", self.goals),
            ("attempts", self.attempts),
        ];
        for (name, count) in counts {
            faults.at_least_one(name, count as u64);
        }
        let (least, most) = self.space;
        faults.must(
            0 < least && least <= most && most <= MOST_STATES,
            format!(
                "`space` must be two numbers of states from 1 to {MOST_STATES}, the less first"
            ),
        );
        faults.within("space_if_few", self.space_if_few, 1..=MOST_STATES);
        faults.must(
            self.spreads.iter().all(|&s| s >= 0.0 && s.is_finite()),
            "`spreads` must not be negative",
        );
        let shares = [
            ("doubt", self.doubt),
            ("goals_nearby", self.goals_nearby),
            ("from_trails", self.from_trails),
            ("from_plans", self.from_plans),
            ("trail_parts", self.trail_parts),
            ("whole_types", self.whole_types),
            ("all_goals", self.all_goals),
            ("shrink", self.shrink),
            ("shrink_plans", self.shrink_plans),
            ("shorten", self.shorten),
        ];
        for (name, share) in shares {
            faults.share(name, share);
        }
        faults.must(
            self.from_trails + self.from_plans <= 1.0,
            "`from_trails` and `from_plans` must come to 1 at the most",
        );
        faults.all()
    }
}

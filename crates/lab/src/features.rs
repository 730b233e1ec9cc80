//! Numbers that describe a problem of one of the eight domains.
//!
//! They are computed from the problem alone, by the names of predicates, so that problems made
//! elsewhere can be measured as well as our own.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use homing_pddl::Problem;
use homing_pddl::model::{Atom, ObjectId};
use homing_planner::heuristic::{Add, Ff};
use homing_planner::{Costs, GroundError, Heuristic, States, ground};

use crate::domains::DomainName;

/// Why a problem cannot be measured.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureError {
    /// It cannot be ground.
    Ground(GroundError),
    /// Its initial state is a dead end.
    DeadEnd,
}

impl fmt::Display for FeatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ground(error) => error.fmt(f),
            Self::DeadEnd => write!(f, "the initial state is a dead end"),
        }
    }
}

impl std::error::Error for FeatureError {}

/// A name and a value.
pub type Feature = (&'static str, f64);

/// The propositions of a problem by predicate.
struct Facts<'a> {
    problem: &'a Problem,
    init: HashMap<&'a str, Vec<&'a [ObjectId]>>,
    goal: HashMap<&'a str, Vec<&'a [ObjectId]>>,
}

impl<'a> Facts<'a> {
    fn new(problem: &'a Problem) -> Self {
        let sort = |atoms: &mut dyn Iterator<Item = &'a Atom<ObjectId>>| {
            let mut sorted: HashMap<&str, Vec<&[ObjectId]>> = HashMap::new();
            for atom in atoms {
                let name = problem.domain.predicates[atom.predicate.index()]
                    .name
                    .as_str();
                sorted.entry(name).or_default().push(&atom.arguments);
            }
            sorted
        };
        Self {
            problem,
            init: sort(&mut problem.init.iter()),
            goal: sort(&mut problem.goal.literals.iter().map(|literal| &literal.atom)),
        }
    }

    fn init(&self, predicate: &str) -> &[&'a [ObjectId]] {
        self.init.get(predicate).map_or(&[], Vec::as_slice)
    }

    fn goal(&self, predicate: &str) -> &[&'a [ObjectId]] {
        self.goal.get(predicate).map_or(&[], Vec::as_slice)
    }

    /// What a binary predicate gives for a first argument at the start.
    fn map(&self, predicate: &str) -> HashMap<ObjectId, ObjectId> {
        let pairs = self.init(predicate).iter();
        pairs.map(|pair| (pair[0], pair[1])).collect()
    }

    /// The objects for which a unary predicate holds at the start.
    fn all(&self, predicate: &str) -> HashSet<ObjectId> {
        self.init(predicate).iter().map(|one| one[0]).collect()
    }

    /// How many goals hold already.
    fn goals_reached(&self) -> f64 {
        let init: HashSet<&Atom<ObjectId>> = self.problem.init.iter().collect();
        let goals = self.problem.goal.literals.iter();
        goals.filter(|goal| init.contains(&goal.atom)).count() as f64
    }

    fn objects_of(&self, type_name: &str) -> f64 {
        let domain = &self.problem.domain;
        let objects = self.problem.objects.iter();
        objects
            .filter(|object| domain.types[object.types[0].index()].name == type_name)
            .count() as f64
    }
}

/// The number of towers and the height of the highest, given what stands on what.
fn towers(blocks: usize, on: &[&[ObjectId]]) -> (f64, f64) {
    let below: HashMap<ObjectId, ObjectId> = on.iter().map(|pair| (pair[0], pair[1])).collect();
    let height = |mut block: ObjectId| {
        let mut height = 1;
        while let Some(&under) = below.get(&block) {
            block = under;
            height += 1;
        }
        height
    };
    let highest = (0..blocks)
        .map(|block| height(ObjectId::from_index(block)))
        .max();
    (
        (blocks - below.len()) as f64,
        f64::from(highest.unwrap_or(0)),
    )
}

/// How many of the objects differ.
fn distinct(objects: impl Iterator<Item = ObjectId>) -> f64 {
    objects.collect::<BTreeSet<_>>().len() as f64
}

fn count<T>(items: &[T], test: impl Fn(&T) -> bool) -> f64 {
    items.iter().filter(|item| test(item)).count() as f64
}

fn blocks(facts: &Facts<'_>) -> Vec<Feature> {
    let count = facts.problem.objects.len();
    let (towers_at_start, height_at_start) = towers(count, facts.init("on"));
    let (towers_in_goal, height_in_goal) = towers(count, facts.goal("on"));
    vec![
        ("towers at the start", towers_at_start),
        ("highest tower at the start", height_at_start),
        ("towers in the goal", towers_in_goal),
        ("highest tower in the goal", height_in_goal),
    ]
}

fn ferry(facts: &Facts<'_>) -> Vec<Feature> {
    let at = facts.init("at");
    let ferry = facts.all("at-ferry");
    vec![
        ("places with cars", distinct(at.iter().map(|pair| pair[1]))),
        (
            "cars at the ferry",
            count(at, |pair| ferry.contains(&pair[1])),
        ),
        (
            "destinations",
            distinct(facts.goal("at").iter().map(|pair| pair[1])),
        ),
    ]
}

fn gripper(facts: &Facts<'_>) -> Vec<Feature> {
    let robot = facts.all("at-robby");
    let near = |pair: &&[ObjectId]| robot.contains(&pair[1]);
    let in_first = |pair: &&[ObjectId]| pair[1] == ObjectId(0);
    vec![
        ("balls beside the robot", count(facts.init("at"), near)),
        ("balls in the first room", count(facts.init("at"), in_first)),
        ("goals in the first room", count(facts.goal("at"), in_first)),
        (
            "robot in the first room",
            f64::from(u8::from(robot.contains(&ObjectId(0)))),
        ),
    ]
}

fn logistics(facts: &Facts<'_>) -> Vec<Feature> {
    let at = facts.map("at");
    let city = facts.map("in-city");
    let airports = facts.all("airport");
    let vehicles_at_airport = |kind: &str| {
        let vehicles = facts.init(kind);
        count(vehicles, |vehicle| airports.contains(&at[&vehicle[0]]))
    };
    let goals = facts.goal("at");
    vec![
        (
            "packages that change city",
            count(goals, |goal| city[&at[&goal[0]]] != city[&goal[1]]),
        ),
        ("packages at airports", vehicles_at_airport("obj")),
        ("trucks at airports", vehicles_at_airport("truck")),
        (
            "airports with airplanes",
            distinct(facts.init("airplane").iter().map(|plane| at[&plane[0]])),
        ),
        (
            "destinations that are airports",
            count(goals, |goal| airports.contains(&goal[1])),
        ),
    ]
}

fn miconic(facts: &Facts<'_>) -> Vec<Feature> {
    let origin = facts.init("origin");
    let destination = facts.map("destin");
    let lift = facts.all("lift-at");
    vec![
        (
            "floors where passengers wait",
            distinct(origin.iter().map(|pair| pair[1])),
        ),
        (
            "floors they want to",
            distinct(destination.values().copied()),
        ),
        (
            "passengers on the lift's floor",
            count(origin, |pair| lift.contains(&pair[1])),
        ),
        (
            "passengers going up",
            count(origin, |pair| destination[&pair[0]] > pair[1]),
        ),
    ]
}

fn parking(facts: &Facts<'_>) -> Vec<Feature> {
    let goal = facts.goal("at-curb-num");
    let start: HashSet<_> = facts.init("at-curb-num").iter().collect();
    vec![
        ("cars at curbs", facts.init("at-curb").len() as f64),
        ("free curbs", facts.init("curb-clear").len() as f64),
        (
            "cars at the right curb",
            count(goal, |pair| start.contains(pair)),
        ),
        (
            "cars behind in the goal",
            facts.goal("behind-car").len() as f64,
        ),
    ]
}

fn satellite(facts: &Facts<'_>) -> Vec<Feature> {
    let pointing = facts.init("pointing");
    let board = facts.map("on_board");
    let calibrates: HashSet<(ObjectId, ObjectId)> = facts
        .init("calibration_target")
        .iter()
        .map(|pair| (board[&pair[0]], pair[1]))
        .collect();
    vec![
        ("instruments", facts.objects_of("instrument")),
        ("supported modes", facts.init("supports").len() as f64),
        (
            "calibration targets",
            distinct(facts.init("calibration_target").iter().map(|pair| pair[1])),
        ),
        (
            "satellites pointing at a calibration target",
            count(pointing, |pair| calibrates.contains(&(pair[0], pair[1]))),
        ),
        ("pointing goals", facts.goal("pointing").len() as f64),
        ("image goals", facts.goal("have_image").len() as f64),
    ]
}

fn visitall(facts: &Facts<'_>) -> Vec<Feature> {
    let mut neighbours: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    for pair in facts.init("connected") {
        neighbours.entry(pair[0]).or_default().push(pair[1]);
    }
    let mut open: Vec<ObjectId> = facts.all("at-robot").into_iter().collect();
    let ways = open
        .first()
        .and_then(|robot| neighbours.get(robot))
        .map_or(0, Vec::len);
    let mut reached: HashSet<ObjectId> = open.iter().copied().collect();
    while let Some(cell) = open.pop() {
        for &next in neighbours.get(&cell).map_or(&[][..], Vec::as_slice) {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    let cells = facts.problem.objects.len();
    vec![
        ("cells", cells as f64),
        ("connections", facts.init("connected").len() as f64),
        ("cells in reach", reached.len() as f64),
        ("ways from the robot's cell", ways as f64),
        (
            "dead-end cells",
            neighbours.values().filter(|ways| ways.len() == 1).count() as f64,
        ),
    ]
}

/// The features of a problem of a domain: h_FF and h_add of the initial state, goals, goals that
/// hold already, and what is particular to the domain. Always the same names in the same order.
///
/// # Errors
///
/// If the problem cannot be ground or its initial state is a dead end.
///
/// # Panics
///
/// If the problem is of another domain.
pub fn features(domain: DomainName, problem: &Arc<Problem>) -> Result<Vec<Feature>, FeatureError> {
    let task = ground(problem, &mut ()).map_err(FeatureError::Ground)?;
    let state = task.initial_state();
    let estimate = |heuristic: &mut dyn Heuristic| {
        let mut estimates = Vec::new();
        heuristic.evaluate(States::one(&state), &mut estimates);
        let finite = estimates.first().and_then(|estimate| estimate.finite());
        finite.ok_or(FeatureError::DeadEnd)
    };
    let ff = estimate(&mut Ff::new(&task, Costs::Unit))?;
    let add = estimate(&mut Add::new(&task, Costs::Unit))?;
    let facts = Facts::new(problem);
    let mut all = vec![
        ("h_FF of the initial state", ff),
        ("h_add of the initial state", add),
        ("goals", problem.goal.literals.len() as f64),
        ("goals that hold already", facts.goals_reached()),
    ];
    all.extend(match domain {
        DomainName::Blocks => blocks(&facts),
        DomainName::Ferry => ferry(&facts),
        DomainName::Gripper => gripper(&facts),
        DomainName::Logistics => logistics(&facts),
        DomainName::Miconic => miconic(&facts),
        DomainName::Parking => parking(&facts),
        DomainName::Satellite => satellite(&facts),
        DomainName::Visitall => visitall(&facts),
    });
    Ok(all)
}

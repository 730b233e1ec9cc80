//! Plans by the arguments that the generators' documentation gives for solvability.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use homing_lab::DomainName;
use homing_pddl::Problem;
use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{Plan, PlanStep};

/// The propositions of a problem, as words.
struct Words {
    init: Vec<Vec<String>>,
    goal: Vec<Vec<String>>,
}

impl Words {
    fn new(problem: &Problem) -> Self {
        let words = |atom: &Atom<ObjectId>| {
            let mut words = vec![
                problem.domain.predicates[atom.predicate.index()]
                    .name
                    .clone(),
            ];
            let names = atom.arguments.iter();
            words.extend(names.map(|object| problem.objects[object.index()].name.clone()));
            words
        };
        Self {
            init: problem.init.iter().map(words).collect(),
            goal: problem
                .goal
                .literals
                .iter()
                .map(|l| words(&l.atom))
                .collect(),
        }
    }

    /// Pairs of a binary predicate.
    fn pairs<'a>(facts: &'a [Vec<String>], predicate: &'a str) -> Vec<(&'a str, &'a str)> {
        facts
            .iter()
            .filter(|words| words[0] == predicate)
            .map(|words| (words[1].as_str(), words[2].as_str()))
            .collect()
    }

    fn init(&self, predicate: &'static str) -> Vec<(&str, &str)> {
        Self::pairs(&self.init, predicate)
    }

    fn goal(&self, predicate: &'static str) -> Vec<(&str, &str)> {
        Self::pairs(&self.goal, predicate)
    }

    fn map(&self, predicate: &'static str) -> BTreeMap<&str, &str> {
        self.init(predicate).into_iter().collect()
    }

    fn all(&self, predicate: &str) -> Vec<&str> {
        let found = self.init.iter().filter(|words| words[0] == predicate);
        found.map(|words| words[1].as_str()).collect()
    }
}

#[derive(Default)]
struct Steps(Vec<PlanStep>);

impl Steps {
    fn go(&mut self, name: &str, arguments: &[&str]) {
        self.0.push(PlanStep {
            name: name.to_owned(),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        });
    }
}

fn blocks(words: &Words, steps: &mut Steps) {
    let mut below = words.map("on");
    while let Some((top, under)) = below
        .iter()
        .map(|(&top, &under)| (top, under))
        .find(|(top, _)| !below.values().any(|under| under == top))
    {
        steps.go("unstack", &[top, under]);
        steps.go("putdown", &[top]);
        below.remove(top);
    }
    let mut rest = words.goal("on");
    while !rest.is_empty() {
        let at = rest
            .iter()
            .position(|(_, under)| !rest.iter().any(|(block, _)| block == under))
            .expect("towers have a lowest block");
        let (block, under) = rest.remove(at);
        steps.go("pickup", &[block]);
        steps.go("stack", &[block, under]);
    }
}

fn ferry(words: &Words, steps: &mut Steps) {
    let at = words.map("at");
    let mut ferry = words.all("at-ferry")[0];
    for (car, goal) in words.goal("at") {
        let start = at[car];
        if start == goal {
            continue;
        }
        if ferry != start {
            steps.go("sail", &[ferry, start]);
        }
        steps.go("board", &[car, start]);
        steps.go("sail", &[start, goal]);
        steps.go("debark", &[car, goal]);
        ferry = goal;
    }
}

fn gripper(words: &Words, steps: &mut Steps) {
    let at = words.map("at");
    let mut robot = words.all("at-robby")[0];
    for (ball, goal) in words.goal("at") {
        let start = at[ball];
        if start == goal {
            continue;
        }
        if robot != start {
            steps.go("move", &[robot, start]);
        }
        steps.go("pick", &[ball, start, "left"]);
        steps.go("move", &[start, goal]);
        steps.go("drop", &[ball, goal, "left"]);
        robot = goal;
    }
}

fn logistics(words: &Words, steps: &mut Steps) {
    let mut at = words.map("at");
    let city = words.map("in-city");
    let airport: BTreeMap<&str, &str> = words
        .all("airport")
        .into_iter()
        .map(|place| (city[place], place))
        .collect();
    let trucks = words.all("truck");
    let airplane = words.all("airplane").first().copied();
    for (package, goal) in words.goal("at") {
        let (from, to) = (city[at[package]], city[goal]);
        let mut stops = Vec::new();
        if from != to {
            stops.extend([airport[from], airport[to]]);
        }
        stops.push(goal);
        for stop in stops {
            let here = at[package];
            if here == stop {
                continue;
            }
            let by_air = city[here] != city[stop];
            let vehicle = if by_air {
                airplane.expect("several cities have an airplane")
            } else {
                let mut own = trucks
                    .iter()
                    .filter(|&&truck| city[at[truck]] == city[here]);
                *own.next().expect("every city has a truck")
            };
            let mut ride = |steps: &mut Steps, to: &'_ str| {
                let from = at[vehicle];
                if from == to {
                    return;
                }
                if by_air {
                    steps.go("fly-airplane", &[vehicle, from, to]);
                } else {
                    steps.go("drive-truck", &[vehicle, from, to, city[from]]);
                }
                let (&to, _) = city.get_key_value(to).expect("a place");
                at.insert(vehicle, to);
            };
            let kind = if by_air { "airplane" } else { "truck" };
            ride(steps, here);
            steps.go(&format!("load-{kind}"), &[package, vehicle, here]);
            ride(steps, stop);
            steps.go(&format!("unload-{kind}"), &[package, vehicle, stop]);
            at.insert(package, stop);
        }
    }
}

fn miconic(words: &Words, steps: &mut Steps) {
    let destination = words.map("destin");
    let above: BTreeSet<(&str, &str)> = words.init("above").into_iter().collect();
    let mut lift = words.all("lift-at")[0];
    for (passenger, origin) in words.init("origin") {
        for (floor, action) in [(origin, "board"), (destination[passenger], "depart")] {
            if floor != lift {
                let way = if above.contains(&(lift, floor)) {
                    "up"
                } else {
                    "down"
                };
                steps.go(way, &[lift, floor]);
            }
            lift = floor;
            steps.go(action, &[floor, passenger]);
        }
    }
}

fn satellite(words: &Words, steps: &mut Steps) {
    let board = words.map("on_board");
    let target = words.map("calibration_target");
    let mut pointing = words.map("pointing");
    let mut powered: BTreeMap<&str, &str> = BTreeMap::new();
    for (place, mode) in words.goal("have_image") {
        let (instrument, _) = words
            .init("supports")
            .into_iter()
            .find(|(_, supported)| *supported == mode)
            .expect("every mode is supported");
        let satellite = board[instrument];
        if let Some(other) = powered.insert(satellite, instrument) {
            steps.go("switch_off", &[other, satellite]);
        }
        steps.go("switch_on", &[instrument, satellite]);
        for stop in [target[instrument], place] {
            if pointing[satellite] != stop {
                steps.go("turn_to", &[satellite, stop, pointing[satellite]]);
                pointing.insert(satellite, stop);
            }
            if stop == target[instrument] {
                steps.go("calibrate", &[satellite, instrument, stop]);
            }
        }
        steps.go("take_image", &[satellite, place, instrument, mode]);
    }
    for (satellite, place) in words.goal("pointing") {
        if pointing[satellite] != place {
            steps.go("turn_to", &[satellite, place, pointing[satellite]]);
        }
    }
}

fn visitall(words: &Words, steps: &mut Steps) {
    let connected = words.init("connected");
    let mut path = vec![words.all("at-robot")[0]];
    let mut seen: BTreeSet<&str> = path.iter().copied().collect();
    while let Some(&here) = path.last() {
        let next = connected
            .iter()
            .find(|(from, to)| *from == here && !seen.contains(to));
        if let Some(&(_, next)) = next {
            steps.go("move", &[here, next]);
            seen.insert(next);
            path.push(next);
        } else {
            path.pop();
            if let Some(&back) = path.last() {
                steps.go("move", &[here, back]);
            }
        }
    }
}

/// The cars at each curb, the front one first.
type Street = Vec<Vec<usize>>;

/// The shortest list of moves (from curb, to curb) to a street that passes the test.
fn shortest(start: &Street, test: impl Fn(&Street) -> bool) -> Option<Vec<(usize, usize)>> {
    let mut seen = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start.clone(), Vec::new())]);
    while let Some((street, moves)) = queue.pop_front() {
        if test(&street) {
            return Some(moves);
        }
        for from in (0..street.len()).filter(|&curb| !street[curb].is_empty()) {
            for to in (0..street.len()).filter(|&curb| curb != from && street[curb].len() < 2) {
                let mut next = street.clone();
                let car = next[from].pop().expect("there is a car");
                next[to].push(car);
                if seen.insert(next.clone()) {
                    let mut longer = moves.clone();
                    longer.push((from, to));
                    queue.push_back((next, longer));
                }
            }
        }
    }
    None
}

/// Curb after curb gets its cars, by moves among a few of the curbs not yet done: its own, those
/// that its cars are at, and some with two free places together. The last three at once.
fn parking(words: &Words, steps: &mut Steps) {
    let numbers = |prefix: &str, words: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        let found: BTreeSet<&String> = words.filter(|word| word.starts_with(prefix)).collect();
        found.into_iter().cloned().collect()
    };
    let cars = numbers("car_", &mut words.init.iter().flatten());
    let curbs = numbers("curb_", &mut words.init.iter().flatten());
    let number = |names: &[String], name: &str| {
        let found = names.iter().position(|known| known == name);
        found.expect("a known name")
    };
    let street = |facts: &[Vec<String>]| -> Street {
        let mut street = vec![Vec::new(); curbs.len()];
        for (car, curb) in Words::pairs(facts, "at-curb-num") {
            street[number(&curbs, curb)].push(number(&cars, car));
        }
        for (behind, front) in Words::pairs(facts, "behind-car") {
            let front = number(&cars, front);
            let mut at = street.iter_mut();
            let curb = at.find(|curb| curb.first() == Some(&front));
            curb.expect("the front car is at a curb")
                .push(number(&cars, behind));
        }
        street
    };
    let mut now = street(&words.init);
    let goal = street(&words.goal);
    let mut drive = |now: &mut Street, from: usize, to: usize| {
        let car = now[from].pop().expect("there is a car");
        let name = cars[car].as_str();
        let front = |curb: &[usize]| curb.first().map(|&front| cars[front].as_str());
        match (front(&now[from]), front(&now[to])) {
            (None, None) => steps.go("move-curb-to-curb", &[name, &curbs[from], &curbs[to]]),
            (None, Some(next)) => steps.go("move-curb-to-car", &[name, &curbs[from], next]),
            (Some(old), None) => steps.go("move-car-to-curb", &[name, old, &curbs[to]]),
            (Some(old), Some(next)) => steps.go("move-car-to-car", &[name, old, next]),
        }
        now[to].push(car);
    };
    let last = curbs.len().saturating_sub(3);
    for (curb, wanted) in goal.iter().enumerate().take(last) {
        let mut few = vec![curb];
        few.extend(
            (curb + 1..curbs.len()).filter(|&at| now[at].iter().any(|c| wanted.contains(c))),
        );
        for at in curb + 1..curbs.len() {
            let free: usize = few.iter().map(|&at| 2 - now[at].len()).sum();
            let helps = few.len() < 3 || free < 2 && now[at].len() < 2;
            if helps && !few.contains(&at) {
                few.push(at);
            }
        }
        // Other cars need not be told apart.
        let sign = |car: &usize| wanted.iter().position(|c| c == car).map_or(0, |at| at + 1);
        let part: Street = few
            .iter()
            .map(|&at| now[at].iter().map(sign).collect())
            .collect();
        let signs: Vec<usize> = (1..=wanted.len()).collect();
        let done = |street: &Street| wanted.is_empty() || street[0] == signs;
        for (from, to) in shortest(&part, done).expect("a curb can be filled") {
            drive(&mut now, few[from], few[to]);
        }
    }
    let rest = now[last..].to_vec();
    let done = |street: &Street| {
        let pairs = street.iter().zip(&goal[last..]);
        pairs
            .into_iter()
            .all(|(have, want)| want.is_empty() || have == want)
    };
    for (from, to) in shortest(&rest, done).expect("three curbs can be arranged") {
        drive(&mut now, last + from, last + to);
    }
}

/// A plan by recipe.
pub(crate) fn plan(domain: DomainName, problem: &Problem) -> Plan {
    let words = Words::new(problem);
    let mut steps = Steps::default();
    match domain {
        DomainName::Blocks => blocks(&words, &mut steps),
        DomainName::Ferry => ferry(&words, &mut steps),
        DomainName::Gripper => gripper(&words, &mut steps),
        DomainName::Logistics => logistics(&words, &mut steps),
        DomainName::Miconic => miconic(&words, &mut steps),
        DomainName::Parking => parking(&words, &mut steps),
        DomainName::Satellite => satellite(&words, &mut steps),
        DomainName::Visitall => visitall(&words, &mut steps),
    }
    Plan { steps: steps.0 }
}

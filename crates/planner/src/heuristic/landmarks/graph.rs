//! Which facts are landmarks, and which come before which.
//!
//! A fact is a landmark of the delete relaxation if the goal cannot be reached without it. Every
//! such fact is in every relaxed plan, so only the facts of one relaxed plan need the test: one
//! pass of reachability each. The same pass tells which other landmarks cannot be reached without
//! it (natural orders), and which actions can be the first to make it true. What all of these need
//! comes directly before it (greedy-necessary orders); where they need one of a few facts of one
//! predicate, that disjunction is a landmark too.
//!
//! Reasonable orders say what it would be foolish to do first: if B has to be true at the end, and
//! achieving A means to destroy B, then A comes before B.

use std::collections::{BTreeMap, BTreeSet};

use crate::csr::Csr;
use crate::heuristic::relaxation::Relaxation;
use crate::heuristic::{Costs, Ff};
use crate::task::{PropId, Task};
use crate::watch::{Pace, Progress, Stop, Watch};

/// Disjunctions of more facts say too little to be worth counting.
const MAX_DISJUNCTS: usize = 4;

/// Work spent on finding landmarks, in rough nanoseconds: what is found by then is used.
const MAX_WORK: u64 = 200_000_000;

/// A landmark: one of its facts is true at some time in every plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landmark {
    /// One fact, or a disjunction of a few, sorted.
    pub facts: Vec<PropId>,
    /// Whether the goal asks for it.
    pub is_goal: bool,
    /// Landmarks that come before it, sorted: natural and reasonable orders.
    pub before: Vec<u32>,
    /// Landmarks that must be true just before it becomes true for the first time, sorted.
    pub just_before: Vec<u32>,
}

/// The landmarks of a task.
#[derive(Clone, Debug, Default)]
pub struct Landmarks {
    landmarks: Vec<Landmark>,
}

/// What the passes of reachability say of one fact.
struct Fact {
    prop: PropId,
    /// Landmark facts that cannot be reached without it.
    needed_for: Vec<PropId>,
    /// What every action that can first achieve it needs.
    common_pre: Vec<PropId>,
    /// Disjunctions of facts, one of which every such action needs.
    disjunctions: Vec<Vec<PropId>>,
}

impl Landmarks {
    /// Finds the landmarks of a task whose goal can be reached in the delete relaxation.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub fn find(task: &Task, watch: &mut dyn Watch) -> Result<Self, Stop> {
        let facts = find_facts(task, watch)?;
        let mut landmarks = Vec::new();
        let mut place: BTreeMap<Vec<PropId>, u32> = BTreeMap::new();
        let mut add = |facts: Vec<PropId>, landmarks: &mut Vec<Landmark>| -> u32 {
            *place.entry(facts.clone()).or_insert_with(|| {
                let is_goal = facts.len() == 1 && task.goal.binary_search(&facts[0]).is_ok();
                landmarks.push(Landmark {
                    facts,
                    is_goal,
                    before: Vec::new(),
                    just_before: Vec::new(),
                });
                landmarks.len() as u32 - 1
            })
        };
        for fact in &facts {
            add(vec![fact.prop], &mut landmarks);
        }
        let disjunctions = apart(&facts);
        for fact in &facts {
            let to = add(vec![fact.prop], &mut landmarks);
            for &later in &fact.needed_for {
                // What is derived comes about together with what it follows from, not after it.
                if !task.is_derived(later) {
                    let later = add(vec![later], &mut landmarks);
                    landmarks[later as usize].before.push(to);
                }
            }
            if task.is_derived(fact.prop) {
                continue;
            }
            for &pre in &fact.common_pre {
                let from = add(vec![pre], &mut landmarks);
                landmarks[to as usize].just_before.push(from);
            }
            for disjunction in &fact.disjunctions {
                if disjunctions.contains(disjunction) {
                    let from = add(disjunction.clone(), &mut landmarks);
                    landmarks[to as usize].just_before.push(from);
                }
            }
        }
        let mut found = Self { landmarks };
        found.add_reasonable_orders(task, watch)?;
        for landmark in &mut found.landmarks {
            landmark.before.extend_from_slice(&landmark.just_before);
            for list in [&mut landmark.before, &mut landmark.just_before] {
                list.sort_unstable();
                list.dedup();
            }
        }
        Ok(found)
    }

    /// The landmarks.
    pub fn all(&self) -> &[Landmark] {
        &self.landmarks
    }

    /// Orders A before B where B must be true at the end, and what comes just before A, or A
    /// itself, excludes B. Orders that would close a cycle are left out.
    fn add_reasonable_orders(&mut self, task: &Task, watch: &mut dyn Watch) -> Result<(), Stop> {
        let progress = Progress::Landmarks {
            found: self.landmarks.len(),
        };
        let mut pace = Pace::new(watch, progress)?;
        let groups_of = Csr::from_pairs(task.propositions.len(), 0u32, || {
            task.mutex_groups().enumerate().flat_map(|(index, group)| {
                group.iter().map(move |prop| (prop.index(), index as u32))
            })
        });
        let exclude = |a: PropId, b: PropId| {
            a != b
                && groups_of
                    .row(a.index())
                    .iter()
                    .any(|group| groups_of.row(b.index()).contains(group))
        };
        let goals: Vec<usize> = (0..self.landmarks.len())
            .filter(|&index| self.landmarks[index].is_goal)
            .collect();
        let mut orders = Vec::new();
        for (a, landmark) in self.landmarks.iter().enumerate() {
            if landmark.facts.len() > 1 {
                continue;
            }
            for &b in &goals {
                pace.work(1 + landmark.just_before.len())?;
                let goal = self.landmarks[b].facts[0];
                let interferes = |index: &u32| {
                    let facts = &self.landmarks[*index as usize].facts;
                    facts.iter().all(|&fact| exclude(fact, goal))
                };
                let itself = exclude(landmark.facts[0], goal);
                if a != b && (itself || landmark.just_before.iter().any(interferes)) {
                    orders.push((a as u32, b as u32));
                }
            }
        }
        let mut seen = vec![0; self.landmarks.len()];
        for (number, (a, b)) in orders.into_iter().enumerate() {
            if !self.comes_before(b, a, (&mut seen, number as u32 + 1), &mut pace)? {
                self.landmarks[b as usize].before.push(a);
            }
        }
        Ok(())
    }

    /// Whether the orders say that `a` comes before `b`. What is met on the way is marked in `seen`
    /// with a number that is not there yet.
    fn comes_before(
        &self,
        a: u32,
        b: u32,
        (seen, mark): (&mut [u32], u32),
        pace: &mut Pace<'_>,
    ) -> Result<bool, Stop> {
        let mut open = vec![b];
        while let Some(index) = open.pop() {
            if index == a {
                return Ok(true);
            }
            if std::mem::replace(&mut seen[index as usize], mark) == mark {
                continue;
            }
            let landmark = &self.landmarks[index as usize];
            pace.work(1 + landmark.before.len() + landmark.just_before.len())?;
            open.extend_from_slice(&landmark.before);
            open.extend_from_slice(&landmark.just_before);
        }
        Ok(false)
    }
}

/// Tests the facts of a relaxed plan: those without which the goal cannot be reached.
fn find_facts(task: &Task, watch: &mut dyn Watch) -> Result<Vec<Fact>, Stop> {
    let mut candidates: BTreeSet<PropId> = task.goal.iter().copied().collect();
    if let Some(facts) =
        Ff::watched(task, Costs::Unit, watch)?.relaxed_plan_facts(&task.initial_state())
    {
        candidates.extend(facts);
    }
    // Achievers are rules: actions, their conditional effects, axioms.
    let achievers = Csr::from_pairs(task.propositions.len(), 0u32, || {
        let rules = task.rule_add().rows().enumerate();
        rules.flat_map(|(rule, added)| {
            let added = added.iter();
            added.map(move |prop| (prop.index(), rule as u32))
        })
    });
    let mut relaxation = Relaxation::watched(task, Costs::Unit, watch)?;
    let mut reached = Vec::new();
    let mut facts: Vec<Fact> = Vec::new();
    // Goals first: if the work runs out, these matter most.
    let is_goal = |prop: &PropId| task.goal.binary_search(prop).is_ok();
    let mut order: Vec<PropId> = candidates.iter().copied().filter(is_goal).collect();
    order.extend(candidates.iter().copied().filter(|prop| !is_goal(prop)));
    for prop in order {
        if relaxation.work > MAX_WORK && !is_goal(&prop) {
            break;
        }
        let progress = Progress::Landmarks { found: facts.len() };
        if let Some(stop) = watch.poll(progress) {
            return Err(stop);
        }
        let from_start = task.init.binary_search(&prop).is_ok();
        if relaxation.work <= MAX_WORK && !from_start {
            relaxation.reach_without(&task.init, Some(prop), &mut reached);
        } else if from_start || !is_goal(&prop) {
            // True at the start: no order says more than that.
            if is_goal(&prop) {
                facts.push(Fact::alone(prop));
            }
            continue;
        } else {
            facts.push(Fact::alone(prop));
            continue;
        }
        if task.goal.iter().all(|goal| reached[goal.index()]) {
            continue;
        }
        let first: Vec<&[PropId]> = achievers
            .row(prop.index())
            .iter()
            .map(|&rule| task.rule_pre().row(rule as usize))
            .filter(|pre| pre.iter().all(|pre| reached[pre.index()]))
            .collect();
        let needed_for = candidates.iter().copied();
        facts.push(Fact {
            prop,
            needed_for: needed_for
                .filter(|&other| other != prop && !reached[other.index()])
                .collect(),
            common_pre: common_pre(&first),
            disjunctions: disjunctions(task, &first),
        });
    }
    // Only orders among landmarks count.
    let landmarks: BTreeSet<PropId> = facts.iter().map(|fact| fact.prop).collect();
    for fact in &mut facts {
        fact.needed_for.retain(|other| landmarks.contains(other));
    }
    Ok(facts)
}

impl Fact {
    fn alone(prop: PropId) -> Self {
        Self {
            prop,
            needed_for: Vec::new(),
            common_pre: Vec::new(),
            disjunctions: Vec::new(),
        }
    }
}

/// What all achievers need.
fn common_pre(needed: &[&[PropId]]) -> Vec<PropId> {
    let Some((&first, rest)) = needed.split_first() else {
        return Vec::new();
    };
    let mut common = first.to_vec();
    for pre in rest {
        common.retain(|prop| pre.binary_search(prop).is_ok());
    }
    common
}

/// The disjunctions to be counted: those that say more than a single fact that comes just before the
/// same landmark, and of those that share a fact the smallest. Others would say the same thing twice:
/// each would be to come, and needed again, with the one, and the count would follow what is said
/// most often.
fn apart(facts: &[Fact]) -> BTreeSet<Vec<PropId>> {
    let mut taken: BTreeSet<PropId> = BTreeSet::new();
    let mut candidates: Vec<&Vec<PropId>> = Vec::new();
    for fact in facts {
        let says_more = |disjunction: &&Vec<PropId>| {
            let mut facts = disjunction.iter();
            facts.all(|prop| !fact.common_pre.contains(prop))
        };
        candidates.extend(fact.disjunctions.iter().filter(says_more));
    }
    candidates.sort_by_key(|disjunction| (disjunction.len(), *disjunction));
    candidates.dedup();
    let mut apart = BTreeSet::new();
    for disjunction in candidates {
        if disjunction.iter().all(|fact| !taken.contains(fact)) {
            taken.extend(disjunction);
            apart.insert(disjunction.clone());
        }
    }
    apart
}

/// Small sets of facts of one predicate, none true at the start, one of which each achiever needs.
fn disjunctions(task: &Task, needed: &[&[PropId]]) -> Vec<Vec<PropId>> {
    let mut by_predicate: BTreeMap<usize, (usize, BTreeSet<PropId>)> = BTreeMap::new();
    for (index, &pre) in needed.iter().enumerate() {
        for &prop in pre {
            let proposition = &task.propositions[prop.index()];
            if !proposition.positive || proposition.is_helper {
                continue;
            }
            let (covered, facts) = by_predicate
                .entry(proposition.atom.predicate.index())
                .or_default();
            // Covered counts the achievers in order: one that was passed over stops the count.
            if *covered == index {
                *covered += 1;
            }
            facts.insert(prop);
        }
    }
    let small = |facts: &BTreeSet<PropId>| (2..=MAX_DISJUNCTS).contains(&facts.len());
    let to_come = |facts: &BTreeSet<PropId>| {
        let mut facts = facts.iter();
        facts.all(|prop| task.init.binary_search(prop).is_err())
    };
    by_predicate
        .into_values()
        .filter(|(covered, facts)| *covered == needed.len() && small(facts) && to_come(facts))
        .map(|(_, facts)| facts.into_iter().collect())
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::test_tasks::{prop_name, task};

    fn find(task: &Task) -> Landmarks {
        Landmarks::find(task, &mut ()).expect("nothing stops it")
    }

    /// The names of a landmark's facts: `at a | at b`.
    fn name(task: &Task, landmark: &Landmark) -> String {
        let facts = landmark.facts.iter();
        let names: Vec<String> = facts.map(|&fact| prop_name(task, fact)).collect();
        names.join(" | ")
    }

    /// By the name of a landmark: what comes before it, and what comes just before it.
    fn orders(task: &Task, found: &Landmarks) -> BTreeMap<String, [Vec<String>; 2]> {
        let all = found.all();
        let names = |indices: &[u32]| {
            let of = |&index: &u32| name(task, &all[index as usize]);
            let mut names: Vec<String> = indices.iter().map(of).collect();
            names.sort_unstable();
            names
        };
        let orders = |landmark: &Landmark| [names(&landmark.before), names(&landmark.just_before)];
        all.iter()
            .map(|landmark| (name(task, landmark), orders(landmark)))
            .collect()
    }

    /// A key behind a walk, a door behind the key, the goal behind the door.
    pub(in crate::heuristic::landmarks) const DOOR: [&str; 2] = [
        "(:predicates (at-start) (at-door) (has-key) (open) (at-end))
         (:action walk :precondition (at-start) :effect (and (at-door) (not (at-start))))
         (:action return :precondition (at-door) :effect (and (at-start) (not (at-door))))
         (:action take :precondition (at-door) :effect (has-key))
         (:action unlock :precondition (and (at-door) (has-key)) :effect (open))
         (:action enter :precondition (and (at-door) (open))
                        :effect (and (at-end) (not (at-door))))",
        "(:init (at-start)) (:goal (at-end))",
    ];

    #[test]
    fn what_comes_before_what_is_known() {
        let task = task(DOOR[0], DOOR[1]);
        let found = find(&task);
        let list =
            |names: &[&str]| -> Vec<String> { names.iter().map(|&n| n.to_owned()).collect() };
        let expected = [
            ("at-door", &["at-start"][..], &["at-start"][..]),
            // To be at the start excludes the end: a reasonable order.
            (
                "at-end",
                &["at-door", "at-start", "has-key", "open"],
                &["at-door", "open"],
            ),
            ("at-start", &[], &[]),
            ("has-key", &["at-door"], &["at-door"]),
            ("open", &["at-door", "has-key"], &["at-door", "has-key"]),
        ];
        let expected =
            expected.map(|(of, before, just)| (of.to_owned(), [list(before), list(just)]));
        assert_eq!(orders(&task, &found), BTreeMap::from(expected));
        let goals = found.all().iter().filter(|landmark| landmark.is_goal);
        let goals: Vec<String> = goals.map(|landmark| name(&task, landmark)).collect();
        assert_eq!(goals, ["at-end"]);
    }

    #[test]
    fn what_can_be_done_without_is_no_landmark() {
        // Light comes from either lamp: neither is needed, but to be in one of the two rooms is.
        let task = task(
            "(:predicates (at ?r) (way ?a ?b) (lamp ?r) (light))
             (:action go :parameters (?a ?b) :precondition (and (at ?a) (way ?a ?b))
                         :effect (and (at ?b) (not (at ?a))))
             (:action press :parameters (?r) :precondition (and (at ?r) (lamp ?r))
                            :effect (light))",
            "(:objects hall left right)
             (:init (at hall) (way hall left) (way hall right) (lamp left) (lamp right))
             (:goal (light))",
        );
        let orders = orders(&task, &find(&task));
        let names: Vec<&str> = orders.keys().map(String::as_str).collect();
        assert_eq!(names, ["at left | at right", "light"]);
        assert_eq!(orders["light"][1], ["at left | at right"]);
    }

    #[test]
    fn a_disjunction_does_not_say_again_what_is_said() {
        let props = |facts: &[u32]| -> Vec<PropId> { facts.iter().copied().map(PropId).collect() };
        let fact = |prop: u32, common_pre: &[u32], disjunctions: &[&[u32]]| Fact {
            common_pre: props(common_pre),
            disjunctions: disjunctions.iter().map(|facts| props(facts)).collect(),
            ..Fact::alone(PropId(prop))
        };
        let facts = [
            // 5 is needed by itself.
            fact(0, &[5], &[&[1, 5], &[3, 4, 6], &[2, 3]]),
            fact(1, &[], &[&[2, 3], &[0, 8], &[8, 9]]),
        ];
        let expected = [[2, 3], [0, 8]].map(|set| props(&set));
        assert_eq!(
            apart(&facts),
            BTreeSet::from(expected),
            "of those that overlap the smallest, then the first"
        );
    }

    #[test]
    fn what_would_destroy_a_goal_comes_before_it() {
        // Sussman's anomaly: a on b is of no use while b is still to be put on c.
        let domain = include_str!("../../../../../fixtures/valid/blocks/domain.pddl");
        let parts = domain.split_once("(:predicates").expect("predicates").1;
        let parts = parts.trim_end().strip_suffix(')').expect("a domain ends");
        let task = task(
            &format!("(:predicates {parts}"),
            "(:objects a b c)
             (:init (on-table a) (on-table b) (on c a) (clear c) (clear b) (arm-empty))
             (:goal (and (on a b) (on b c)))",
        );
        let orders = orders(&task, &find(&task));
        let before = |a: &str, b: &str| orders[b][0].iter().any(|name| name == a);
        assert!(before("on b c", "on a b"));
        assert!(!before("on a b", "on b c"));
        assert!(before("holding b", "on a b"));
        assert!(orders["on a b"][1].contains(&"holding a".to_owned()));
        assert!(orders["holding a"][1].contains(&"clear a".to_owned()));
    }

    #[test]
    fn orders_have_no_cycle() {
        // Each of the goals destroys the other's way: no order of the two is right.
        let task = task(
            "(:predicates (at ?r) (seen ?r))
             (:action go :parameters (?a ?b) :precondition (at ?a)
                         :effect (and (at ?b) (not (at ?a))))
             (:action look :parameters (?r) :precondition (at ?r) :effect (seen ?r))",
            "(:objects x y z) (:init (at x)) (:goal (and (seen y) (seen z) (at x)))",
        );
        let found = find(&task);
        let count = found.all().len() as u32;
        let mut seen = vec![0; count as usize];
        let watch: &mut dyn Watch = &mut ();
        let mut pace = Pace::building(watch, "tests").expect("nothing stops it");
        let mut mark = 0;
        for (index, landmark) in found.all().iter().enumerate() {
            for &earlier in landmark.before.iter().chain(&landmark.just_before) {
                mark += 1;
                let back = found.comes_before(index as u32, earlier, (&mut seen, mark), &mut pace);
                assert_eq!(back, Ok(false), "{landmark:?}");
            }
        }
        assert!(mark > 0, "there are orders");
    }
}

//! Objects that come into use once, each with another that is used up: sandwiches and bread.
//!
//! An action that makes any of 450 sandwiches of any of 300 slices of bread has 135,000 ground
//! actions for each filling, and one in 450 is enough. Let p and q be predicates of one argument that
//! are deleted and never added (*spent*), such as `notexist` and `at_kitchen_bread`, and let every
//! action that needs p(y) delete it, and also need and delete q(x) for another of its parameters. Then
//! in any plan each y is made at most once, of one x, and each x is taken at most once. If all y with
//! p are interchangeable in the problem, renaming them turns any plan into one in which x_i is always
//! made into y_i, at the same cost. So of the ground actions only those need be kept that pair x_i
//! with y_i, as long as there are at least as many y as x.
//!
//! The pairs are facts of a predicate of their own, one literal more for the joins.

use homing_pddl::Problem;
use homing_pddl::model::{
    ActionSchema, Atom, Literal, Object, ObjectId, PredicateId, SchemaId, Term,
};

/// Combinations of objects of one action from which on pairing is worth it: kitchens of ten children
/// have 1,500.
pub(super) const WORTH_IT: f64 = 1e3;

/// Which actions pair what.
pub(super) struct Pairing {
    /// Each action that pairs, with its parameters of what is used up and of what is made.
    pub(super) actions: Vec<(SchemaId, [usize; 2])>,
    /// What is used up, and what is made of it.
    pub(super) pairs: Vec<[ObjectId; 2]>,
}

impl Pairing {
    /// The first pairing that the problem allows, if one of its actions has so many combinations of
    /// objects.
    pub(super) fn of(problem: &Problem, combinations: f64) -> Option<Self> {
        let spent = spent_predicates(problem);
        spent.iter().find_map(|&made| {
            let others = spent.iter().filter(|&&used| used != made);
            { others }.find_map(|&used| {
                let actions = pairing_actions(&problem.domain.actions, used, made)?;
                let worth_it = |&(schema, _)| choices(problem, schema) >= combinations;
                let pairs = actions.iter().any(worth_it);
                let pairs = pairs.then(|| pairs_of(problem, used, made)).flatten()?;
                Some(Self { actions, pairs })
            })
        })
    }
}

/// What is used up, each with one that is made of it, if that leaves out nothing that matters.
fn pairs_of(problem: &Problem, used: PredicateId, made: PredicateId) -> Option<Vec<[ObjectId; 2]>> {
    let [xs, ys] = [used, made].map(|predicate| all_with(problem, predicate));
    let can_pair = ys.len() >= xs.len()
        && xs.iter().all(|x| !ys.contains(x))
        && are_interchangeable(problem, &ys);
    can_pair.then(|| xs.into_iter().zip(ys).map(|(x, y)| [x, y]).collect())
}
/// Predicates of one argument that some action deletes and nothing adds.
fn spent_predicates(problem: &Problem) -> Vec<PredicateId> {
    let domain = &problem.domain;
    let predicates = (0..domain.predicates.len()).map(PredicateId::from_index);
    let is_spent = |predicate: &PredicateId| {
        let names = |atom: &Atom<Term>| atom.predicate == *predicate;
        let is_added = domain.actions.iter().any(|action| {
            let conditional = action.conditional.iter().flat_map(|effect| &effect.add);
            action.add.iter().chain(conditional).any(names)
        });
        let is_derived = domain
            .axioms
            .iter()
            .any(|axiom| axiom.predicate == *predicate);
        domain.predicates[predicate.index()].parameters.len() == 1
            && domain.actions.iter().any(|a| a.del.iter().any(names))
            && !is_added
            && !is_derived
    };
    predicates.filter(is_spent).collect()
}

/// The actions that need `made`, if each of them makes one object of one that is `used`.
fn pairing_actions(
    actions: &[ActionSchema],
    used: PredicateId,
    made: PredicateId,
) -> Option<Vec<(SchemaId, [usize; 2])>> {
    let mut found = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        let needs = |predicate: PredicateId| {
            let literals = action.precondition.literals.iter();
            literals.filter(move |literal| literal.positive && literal.atom.predicate == predicate)
        };
        if needs(made).next().is_none() {
            // A condition that is not a conjunction may need it without saying so here.
            if action.precondition.formulas.is_empty() {
                continue;
            }
            return None;
        }
        let spends = |literal: &Literal<Term>| match literal.atom.arguments[..] {
            [Term::Parameter(parameter)] if action.del.contains(&literal.atom) => Some(parameter),
            _ => None,
        };
        let mut makes = needs(made).map(spends);
        let (Some(Some(y)), None) = (makes.next(), makes.next()) else {
            return None;
        };
        let x = needs(used).find_map(spends)?;
        let is_plain = action.conditional.is_empty() && action.precondition.formulas.is_empty();
        if !is_plain || x == y {
            return None;
        }
        found.push((SchemaId::from_index(index), [x, y]));
    }
    (!found.is_empty()).then_some(found)
}

/// How many combinations of objects fit the parameters of an action.
fn choices(problem: &Problem, schema: SchemaId) -> f64 {
    let parameters = problem.domain.actions[schema.index()].parameters.iter();
    let fitting = parameters.map(|parameter| {
        let objects = problem.objects.iter();
        let fits = |object: &&Object| problem.domain.fits(&object.types, &parameter.types);
        objects.filter(fits).count() as f64
    });
    fitting.product()
}

/// The objects of which a predicate is true at first, in their order.
fn all_with(problem: &Problem, predicate: PredicateId) -> Vec<ObjectId> {
    let facts = problem.init.iter();
    let facts = facts.filter(|atom| atom.predicate == predicate);
    let mut objects: Vec<ObjectId> = facts.map(|atom| atom.arguments[0]).collect();
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// Whether any permutation of these objects leaves the problem as it is. It is enough that each is
/// mentioned alone, in the initial state by the same facts, and nowhere else.
fn are_interchangeable(problem: &Problem, objects: &[ObjectId]) -> bool {
    let Some((&first, others)) = objects.split_first() else {
        return false;
    };
    let mut is_one = vec![false; problem.objects.len()];
    objects
        .iter()
        .for_each(|object| is_one[object.index()] = true);
    let constants = problem.domain.constants.len();
    let types = &problem.objects[first.index()].types;
    let alike = |object: &ObjectId| problem.objects[object.index()].types == *types;
    let mentions = |arguments: &[ObjectId]| arguments.iter().any(|o| is_one[o.index()]);
    let goal = &problem.goal;
    if objects.iter().any(|object| object.index() < constants)
        || !others.iter().all(alike)
        || problem.values.iter().any(|v| mentions(&v.arguments))
        || goal.literals.iter().any(|l| mentions(&l.atom.arguments))
        || !goal.equalities.is_empty()
        || !goal.formulas.is_empty()
    {
        return false;
    }
    let mut facts: Vec<Vec<PredicateId>> = vec![Vec::new(); problem.objects.len()];
    for atom in problem.init.iter().filter(|a| mentions(&a.arguments)) {
        let [object] = atom.arguments[..] else {
            return false;
        };
        facts[object.index()].push(atom.predicate);
    }
    objects
        .iter()
        .for_each(|object| facts[object.index()].sort_unstable());
    let same = |object: &ObjectId| facts[object.index()] == facts[first.index()];
    others.iter().all(same)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use homing_pddl::{Source, read_problem};

    use super::*;
    use crate::ground::ground_program;
    use crate::ground::program::Program;
    use crate::heuristic::Costs;
    use crate::search::{Limits, Outcome, dijkstra};
    use crate::task::Task;

    const KITCHEN: &str = "(define (domain kitchen)
        (:requirements :strips :typing :negative-preconditions :action-costs)
        (:types bread filling snack guest)
        (:predicates (slice ?b - bread) (plain ?b - bread) (there ?f - filling) (unmade ?s - snack)
                     (ready ?s - snack) (good ?s - snack) (picky ?g - guest) (fed ?g - guest)
                     (wrapped ?s - snack) (likes ?g - guest ?s - snack))
        (:functions (total-cost) - number (price ?f - filling) - number
                    (worth ?s - snack) - number)
        (:action make :parameters (?s - snack ?b - bread ?f - filling)
            :precondition (and (unmade ?s) (slice ?b) (there ?f))
            :effect (and (not (unmade ?s)) (not (slice ?b)) (ready ?s)
                         (increase (total-cost) (price ?f))))
        (:action make-good :parameters (?s - snack ?b - bread)
            :precondition (and (unmade ?s) (slice ?b) (plain ?b))
            :effect (and (not (unmade ?s)) (not (slice ?b)) (ready ?s) (good ?s)
                         (increase (total-cost) 3)))
        (:action wrap :parameters (?s - snack)
            :precondition (and (unmade ?s) (not (wrapped ?s))) :effect (wrapped ?s))
        (:action serve :parameters (?s - snack ?g - guest)
            :precondition (and (ready ?s) (not (picky ?g)))
            :effect (and (not (ready ?s)) (fed ?g) (increase (total-cost) 1)))
        (:action serve-good :parameters (?s - snack ?g - guest)
            :precondition (and (ready ?s) (good ?s) (picky ?g))
            :effect (and (not (ready ?s)) (fed ?g) (increase (total-cost) 1)))
        EXTRA)";

    const PROBLEM: &str = "(define (problem lunch) (:domain kitchen)
        (:objects b1 b2 b3 - bread f1 f2 - filling s1 s2 s3 s4 - snack g1 g2 - guest)
        (:init (slice b1) (slice b2) (slice b3) (plain b2) (there f1) (there f2) (picky g2)
               (unmade s1) (unmade s2) (unmade s3) (unmade s4)
               (= (total-cost) 0) (= (price f1) 2) (= (price f2) 1) EXTRA)
        (:goal (and (fed g1) (fed g2) GOAL)) (:metric minimize (total-cost)))";

    /// Without `wrap` what needs `unmade` makes something.
    fn without_wrap() -> String {
        let begin = KITCHEN.find("(:action wrap").expect("it is there");
        let end = KITCHEN.find("(:action serve ").expect("it is there");
        format!("{}{}", &KITCHEN[..begin], &KITCHEN[end..])
    }

    fn read(extra: &str, init: &str, goal: &str) -> Arc<Problem> {
        let problem = PROBLEM.replace("EXTRA", init).replace("GOAL", goal);
        parsed(&without_wrap().replace("EXTRA", extra), &problem)
    }

    fn parsed(domain: &str, problem: &str) -> Arc<Problem> {
        let (problem, messages) = read_problem(
            &Source::new("domain.pddl", domain.as_bytes().to_vec()),
            &Source::new("problem.pddl", problem.as_bytes().to_vec()),
        );
        Arc::new(problem.unwrap_or_else(|| panic!("{messages}")))
    }

    fn grounded(problem: &Arc<Problem>, pairing: Option<Pairing>) -> Task {
        let mut program = Program::new(problem);
        if let Some(pairing) = pairing {
            program.pair(pairing);
        }
        ground_program(problem, &program, false, &mut ()).expect("it can be grounded")
    }

    fn least_cost(task: &Task) -> Option<u64> {
        let result = dijkstra(task, Costs::Task, Limits::default(), &mut ());
        match result.outcome {
            Outcome::Solved(plan) => {
                Some(plan.validate(task.problem()).expect("it is a plan").cost)
            }
            _ => None,
        }
    }

    #[test]
    fn what_is_made_is_paired_with_what_it_is_made_of() {
        let problem = read("", "", "");
        let pairing = Pairing::of(&problem, 0.0).expect("snacks are made of bread");
        assert_eq!(pairing.actions.len(), 2);
        assert_eq!(pairing.pairs.len(), 3);
        assert!(Pairing::of(&problem, WORTH_IT).is_none(), "it is small");
        let all = grounded(&problem, None);
        let paired = grounded(&problem, Some(pairing));
        // 4 snacks, 3 slices (of two fillings the cheaper), and one plain slice; then a snack a
        // slice. The fourth snack is not to be had any more.
        let count = |task: &Task, name: &str| {
            let names = task.actions().map(|a| task.action_name(a).to_string());
            names
                .filter(|n| n.starts_with(&format!("({name} ")))
                .count()
        };
        assert_eq!([count(&all, "make"), count(&all, "make-good")], [12, 4]);
        assert_eq!(
            [count(&paired, "make"), count(&paired, "make-good")],
            [3, 1]
        );
        // One with the cheaper filling, a good one, two served.
        assert_eq!(least_cost(&all), Some(1 + 3 + 2));
        assert_eq!(least_cost(&paired), least_cost(&all));
    }

    #[test]
    fn the_least_cost_stays_for_any_number_of_each() {
        let mut solved = 0;
        for numbers in 0..81u32 {
            let [bread, plain, snacks, picky] = [1, 3, 9, 27].map(|by| 1 + numbers / by % 3);
            let list = |name: &str, count: u32| -> String {
                (1..=count).map(|i| format!("({name}{i}) ")).collect()
            };
            let objects = |name: &str, count: u32| list(name, count).replace(['(', ')'], "");
            let text = PROBLEM
                .replace("b1 b2 b3 -", &format!("{} -", objects("b", bread)))
                .replace("s1 s2 s3 s4 -", &format!("{} -", objects("s", snacks)))
                .replace("g1 g2 -", &format!("{} -", objects("g", 3)))
                .replace("(slice b1) (slice b2) (slice b3) (plain b2)", &{
                    let slices = list("slice b", bread);
                    slices + &list("plain b", plain.min(bread))
                })
                .replace("(picky g2)", &list("picky g", picky))
                .replace(
                    "(unmade s1) (unmade s2) (unmade s3) (unmade s4)",
                    &list("unmade s", snacks),
                )
                .replace("GOAL", "(fed g3)")
                .replace("EXTRA", "");
            let problem = parsed(&without_wrap().replace("EXTRA", ""), &text);
            let pairing = Pairing::of(&problem, 0.0);
            // A snack for each slice; or, where slices are alike, a slice for each snack.
            let expected = snacks >= bread || plain >= bread;
            assert_eq!(pairing.is_some(), expected, "{numbers}");
            let mut program = Program::new(&problem);
            let all = ground_program(&problem, &program, false, &mut ()).ok();
            if let Some(pairing) = pairing {
                program.pair(pairing);
            }
            let paired = ground_program(&problem, &program, false, &mut ()).ok();
            let [all, paired] = [all, paired].map(|task| task.as_ref().and_then(least_cost));
            assert_eq!(all, paired, "{numbers}");
            solved += u32::from(all.is_some());
        }
        assert!((5..70).contains(&solved), "{solved}");
    }

    #[test]
    fn where_renaming_would_change_something_nothing_is_paired() {
        let none = |problem: Arc<Problem>, why: &str| {
            assert!(Pairing::of(&problem, 0.0).is_none(), "{why}");
        };
        none(read("", "", "(ready s1)"), "a goal names a snack");
        none(read("", "(likes g1 s2)", ""), "a fact names one of them");
        none(read("", "(wrapped s2)", ""), "one is wrapped");
        none(read("", "(= (worth s1) 3)", ""), "one has a value");
        let again = "(:action bake :parameters (?b - bread) :effect (slice ?b))";
        none(read(again, "", ""), "bread comes back");
        let unmake = "(:action unmake :parameters (?s - snack) :effect (unmade ?s))";
        none(read(unmake, "", ""), "snacks come back");
        let keep = "(:action conjure :parameters (?s - snack)
                     :precondition (unmade ?s) :effect (and (ready ?s) (not (unmade ?s))))";
        none(read(keep, "", ""), "snacks are made of nothing");
        let wraps = KITCHEN.replace("EXTRA", "");
        let problem = PROBLEM.replace("EXTRA", "").replace("GOAL", "");
        none(parsed(&wraps, &problem), "unmade snacks are used otherwise");
    }
}

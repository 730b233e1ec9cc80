//! A plan with the states on its way: what is drawn.

use homing_pddl::Problem;
use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{Plan, PlanError};
use serde_json::{Value, json};

/// More facts than this in all states are not told: nobody could look at them.
const MOST_FACTS: usize = 2_000_000;

/// The objects, the goal, and what is true at first and after every step. A plan that does not hold
/// is shown as far as it does, with the reason.
pub fn replay(problem: &Problem, plan: &Plan) -> Value {
    let names = |atom: &Atom<ObjectId>| -> Vec<Value> {
        let predicate = &problem.domain.predicates[atom.predicate.index()].name;
        let arguments = atom.arguments.iter().map(|object| json!(object.index()));
        std::iter::once(json!(predicate)).chain(arguments).collect()
    };
    let mut states: Vec<Value> = Vec::new();
    let mut before: Vec<Atom<ObjectId>> = Vec::new();
    let mut told = 0;
    let result = plan.replay(problem, &mut |world| {
        let facts = world.true_atoms();
        told += facts.len();
        if told > MOST_FACTS {
            return;
        }
        // Both are sorted: the difference is what changes.
        let key = |atom: &Atom<ObjectId>| (atom.predicate, atom.arguments.clone());
        let add = facts
            .iter()
            .filter(|fact| before.binary_search_by_key(&key(fact), key).is_err());
        let add: Vec<Value> = add.map(|fact| json!(names(fact))).collect();
        let del = before.iter().filter(|fact| {
            facts
                .binary_search_by_key(&key(fact), |fact| key(fact))
                .is_err()
        });
        let del: Vec<Value> = del.map(|fact| json!(names(fact))).collect();
        states.push(json!({"add": add, "del": del}));
        before = facts.into_iter().cloned().collect();
    });
    let types = &problem.domain.types;
    let objects: Vec<Value> = problem
        .objects
        .iter()
        .map(|object| {
            let of = object
                .types
                .first()
                .map_or("object", |at| &types[at.index()].name);
            json!({"name": object.name, "type": of})
        })
        .collect();
    let goal: Vec<Value> = problem
        .goal
        .literals
        .iter()
        .map(|literal| json!({"fact": names(&literal.atom), "positive": literal.positive}))
        .collect();
    let steps: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
    let (valid, cost, error) = match &result {
        Ok(validated) => (true, Some(validated.cost), None),
        Err(error) => (false, None, Some(error.to_string())),
    };
    json!({
        "domain": problem.domain.name, "problem": problem.name, "objects": objects, "goal": goal,
        "steps": steps, "states": states, "valid": valid, "cost": cost, "error": error,
        "at_step": result.as_ref().err().and_then(step_of),
        "cut": told > MOST_FACTS,
    })
}

/// The step that is to blame, from 1.
fn step_of(error: &PlanError) -> Option<usize> {
    match error {
        PlanError::UnknownAction { step, .. }
        | PlanError::UnknownObject { step, .. }
        | PlanError::WrongArity { step, .. }
        | PlanError::WrongType { step, .. }
        | PlanError::Precondition { step, .. }
        | PlanError::MissingCost { step, .. }
        | PlanError::Unsettled { step, .. } => Some(*step),
        PlanError::Goal { .. } => None,
    }
}

/// The text of an action with its objects in place of the parameters.
pub(crate) fn grounded(problem: &Problem, step: &homing_planner::PlanStep) -> String {
    let domain = problem.domain.to_string();
    let begin = format!("  (:action {}\n", step.name);
    let Some(at) = domain.find(&begin) else {
        return step.to_string();
    };
    let body = &domain[at + 2..];
    let end = body
        .find("\n  (:action ")
        .unwrap_or(body.trim_end().len() - 1);
    let schema = problem
        .domain
        .actions
        .iter()
        .find(|action| action.name == step.name);
    let parameters: Vec<(&str, &str)> = schema
        .into_iter()
        .flat_map(|schema| schema.parameters.iter())
        .zip(&step.arguments)
        .map(|(parameter, argument)| (parameter.name.as_str(), argument.as_str()))
        .collect();
    let mut text = String::new();
    let mut rest = body[..end].trim_end();
    while let Some(mark) = rest.find('?') {
        text.push_str(&rest[..mark]);
        let after = &rest[mark + 1..];
        let length = after
            .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
            .unwrap_or(after.len());
        let found = parameters
            .iter()
            .find(|(name, _)| *name == &after[..length]);
        match found {
            Some((_, object)) => text.push_str(object),
            None => text.push_str(&rest[mark..=mark + length]),
        }
        rest = &after[length..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use homing::ProblemSource;

    use super::*;

    const DOMAIN: &str = "(define (domain d) (:predicates (p ?x) (q ?x))\n (:action a :parameters (?x) :precondition (p ?x) :effect (and (q ?x) (not (p ?x))))\n (:action b :parameters () :effect (and)))";
    const PROBLEM: &str =
        "(define (problem x) (:domain d) (:objects m n) (:init (p m) (p n)) (:goal (q n)))";

    fn problem() -> std::sync::Arc<Problem> {
        let source = ProblemSource::Text {
            domain: DOMAIN.to_owned(),
            problem: PROBLEM.to_owned(),
        };
        source.load().expect("it is right").value
    }

    #[test]
    fn states_are_told_by_what_changes() {
        let plan = Plan::parse("(a n)\n").expect("a plan");
        let told = replay(&problem(), &plan);
        assert_eq!(told["valid"], true);
        assert_eq!(told["states"][0]["add"], json!([["p", 0], ["p", 1]]));
        let step = json!({"add": [["q", 1]], "del": [["p", 1]]});
        assert_eq!(told["states"][1], step);
    }

    #[test]
    fn a_plan_that_fails_is_shown_up_to_there() {
        let plan = Plan::parse("(a n)\n(a n)\n(a m)\n").expect("a plan");
        let told = replay(&problem(), &plan);
        assert_eq!(told["valid"], false);
        assert_eq!(told["at_step"], 2);
        assert_eq!(told["states"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn an_action_is_written_out_with_its_objects() {
        let plan = Plan::parse("(a n)\n(b)\n").expect("a plan");
        let text = grounded(&problem(), &plan.steps[0]);
        assert!(text.starts_with("(:action a\n"), "{text}");
        assert!(text.contains("(q n)") && !text.contains('?'), "{text}");
        let last = grounded(&problem(), &plan.steps[1]);
        assert_eq!(
            last.matches('(').count(),
            last.matches(')').count(),
            "{last}"
        );
    }
}

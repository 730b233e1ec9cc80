//! Spellings and shapes of PDDL that are read, and what is understood by them.

use homing_pddl::model::{CostTerm, Formula, Requirement, Term};
use homing_pddl::{Diagnostics, Domain, Problem, Severity, Source, read_problem};

fn read(domain: &str, problem: &str) -> (Option<Problem>, Diagnostics) {
    read_problem(
        &Source::new("domain.pddl", domain.as_bytes().to_vec()),
        &Source::new("problem.pddl", problem.as_bytes().to_vec()),
    )
}

/// What is read of two files that must not draw a single message.
fn sound(domain: &str, problem: &str) -> Problem {
    let (problem, messages) = read(domain, problem);
    assert!(messages.messages().is_empty(), "{messages}");
    problem.unwrap()
}

const ROOMS: &str = "(define (domain rooms)
  (:requirements :strips :typing)
  (:types robot room)
  (:predicates (at ?r - robot ?m - room) (lit ?m - room) (dark))
  (:action go
    :parameters (?r - robot ?from ?to - room)
    :precondition (at ?r ?from)
    :effect (and (at ?r ?to) (not (at ?r ?from)))))";

const ROUND: &str = "(define (problem round)
  (:domain rooms)
  (:objects r2 - robot hall attic - room)
  (:init (at r2 hall))
  (:goal (at r2 attic)))";

fn names<'a>(items: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    items.into_iter().map(String::as_str).collect()
}

#[test]
fn case_does_not_matter() {
    let loud = sound(&ROOMS.to_uppercase(), &ROUND.to_uppercase());
    let quiet = sound(ROOMS, ROUND);
    assert_eq!(loud, quiet);
    assert_eq!(
        names(quiet.objects.iter().map(|o| &o.name)),
        ["r2", "hall", "attic"]
    );
    let mixed = sound(
        &ROOMS.replace("define", "DEFINE").replace("?from", "?From"),
        &ROUND
            .replace(":init", ":INIT")
            .replace("(at r2 hall)", "(At R2 Hall)"),
    );
    assert_eq!(mixed, quiet);
}

#[test]
fn comments_fall_away() {
    let domain = ROOMS.replace('\n', " ; (:action) \" 'unclosed ( here\n");
    let problem =
        format!("; before\n;; (define (problem other))\n{ROUND}\n; after, without an end");
    assert_eq!(sound(&domain, &problem), sound(ROOMS, ROUND));
}

#[test]
fn blanks_are_needed_only_between_words() {
    let domain = "(define(domain rooms)(:requirements :strips :typing)(:types robot room)\
        (:predicates(at?r - robot?m - room)(lit?m - room)(dark))\
        (:action go :parameters(?r - robot?from?to - room):precondition(at?r?from)\
        :effect(and(at?r?to)(not(at?r?from)))))";
    assert_eq!(sound(domain, ROUND), sound(ROOMS, ROUND));
    let spread = ROUND.replace(' ', "\n\t  \n");
    assert_eq!(sound(ROOMS, &spread), sound(ROOMS, ROUND));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_read() {
    let domain = format!("\u{feff}{}", ROOMS.replace('\n', "\r\n"));
    let problem = format!("\u{feff}{}", ROUND.replace('\n', "\r\n"));
    assert_eq!(sound(&domain, &problem), sound(ROOMS, ROUND));
}

#[test]
fn text_before_define_is_a_warning() {
    let (problem, messages) = read(&format!("Rooms, version 2 (final)\n{ROOMS}"), ROUND);
    assert_eq!(problem.unwrap(), sound(ROOMS, ROUND));
    assert_eq!(messages.messages().len(), 1);
    assert_eq!(messages.worst(), Some(Severity::Warning));
    assert!(messages.to_string().contains("is ignored"));
}

#[test]
fn requirements_may_be_missing_and_types_without_typing_are_a_warning() {
    let untyped =
        "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))";
    let problem = "(define (problem q) (:domain d) (:objects o) (:init) (:goal (p o)))";
    assert!(sound(untyped, problem).domain.requirements.is_empty());

    let (problem, messages) = read(&ROOMS.replace("(:requirements :strips :typing)", ""), ROUND);
    let problem = problem.unwrap();
    assert_eq!(problem.objects, sound(ROOMS, ROUND).objects);
    assert_eq!(messages.messages().len(), 1, "{messages}");
    assert!(messages.to_string().contains("this needs `:typing`"));
}

#[test]
fn requirements_come_in_canonical_order_without_repetition() {
    let domain = ROOMS.replace(":strips :typing", ":typing :action-costs :strips :typing");
    assert_eq!(
        sound(&domain, ROUND).domain.requirements,
        [
            Requirement::Strips,
            Requirement::Typing,
            Requirement::ActionCosts
        ]
    );
}

#[test]
fn constants_come_before_objects() {
    let domain = ROOMS
        .replace("(:predicates", "(:constants dock - room)\n  (:predicates")
        .replace(
            ":precondition (at ?r ?from)",
            ":precondition (and (at ?r ?from) (lit dock))",
        );
    let problem = sound(&domain, ROUND);
    assert_eq!(
        names(problem.objects.iter().map(|o| &o.name)),
        ["dock", "r2", "hall", "attic"]
    );
    assert_eq!(problem.objects[0], problem.domain.constants[0]);
    let literal = &problem.domain.actions[0].precondition.literals[1];
    assert!(matches!(literal.atom.arguments[0], Term::Object(o) if o.index() == 0));
}

#[test]
fn a_problem_may_repeat_a_constant() {
    let domain = ROOMS.replace("(:predicates", "(:constants hall - room)\n  (:predicates");
    let (problem, messages) = read(&domain, ROUND);
    assert_eq!(
        names(problem.unwrap().objects.iter().map(|o| &o.name)),
        ["hall", "r2", "attic"]
    );
    assert_eq!(messages.messages().len(), 1);
}

#[test]
fn empty_and_missing_parameters_and_preconditions_are_the_same() {
    let nullary = |parameters: &str, precondition: &str| {
        let domain = format!(
            "(define (domain d) (:predicates (p)) (:action a {parameters} {precondition} :effect (p)))"
        );
        sound(
            &domain,
            "(define (problem q) (:domain d) (:init) (:goal (p)))",
        )
    };
    let plain = nullary("", "");
    let action = &plain.domain.actions[0];
    assert!(action.parameters.is_empty() && action.precondition.literals.is_empty());
    assert_eq!(
        (action.add.len(), action.del.len(), action.cost.is_some()),
        (1, 0, false)
    );
    for parameters in ["", ":parameters ()"] {
        for precondition in [
            "",
            ":precondition ()",
            ":precondition (and)",
            ":precondition (and (and))",
        ] {
            assert_eq!(nullary(parameters, precondition), plain);
        }
    }
}

#[test]
fn the_parts_of_an_action_come_in_any_order() {
    let domain = "(define (domain d) (:predicates (p ?x) (q ?x))
      (:action a :effect (p ?x) :precondition (q ?x) :parameters (?x)))";
    let problem = sound(
        domain,
        "(define (problem z) (:goal (p o)) (:init (q o)) (:objects o) (:domain d))",
    );
    assert_eq!(problem.domain.actions[0].parameters.len(), 1);
    assert_eq!((problem.init.len(), problem.goal.literals.len()), (1, 1));
}

#[test]
fn nested_conjunctions_are_flattened_in_order() {
    let domain = ROOMS.replace(
        ":precondition (at ?r ?from)",
        ":precondition (and (at ?r ?from) (and (lit ?from) (and (and) (lit ?to))) (dark))",
    );
    let problem = sound(
        &domain,
        &ROUND.replace(
            "(at r2 attic)",
            "(and (and (lit hall)) (and (at r2 attic)))",
        ),
    );
    let predicates = |literals: &[homing_pddl::model::Literal<Term>]| -> Vec<String> {
        literals
            .iter()
            .map(|l| {
                problem.domain.predicates[l.atom.predicate.index()]
                    .name
                    .clone()
            })
            .collect()
    };
    let literals = &problem.domain.actions[0].precondition.literals;
    assert_eq!(predicates(literals), ["at", "lit", "lit", "dark"]);
    assert_eq!(literals[2].atom.arguments, [Term::Parameter(2)]);
    assert_eq!(problem.goal.literals.len(), 2);
    assert_eq!(problem.goal.literals[0].atom.arguments.len(), 1);
}

#[test]
fn negative_goals_and_preconditions_and_double_negation() {
    let domain = ROOMS
        .replace(":typing)", ":typing :negative-preconditions)")
        .replace(
            ":precondition (at ?r ?from)",
            ":precondition (and (at ?r ?from) (not (lit ?to)) (not (not (dark))))",
        );
    let problem = sound(
        &domain,
        &ROUND.replace("(at r2 attic)", "(and (not (at r2 hall)) (not (dark)))"),
    );
    let signs: Vec<bool> = problem.domain.actions[0]
        .precondition
        .literals
        .iter()
        .map(|literal| literal.positive)
        .collect();
    assert_eq!(signs, [true, false, true]);
    assert!(
        problem
            .goal
            .literals
            .iter()
            .all(|literal| !literal.positive)
    );
}

#[test]
fn equality_of_variables_and_objects() {
    let domain = ROOMS.replace(":typing)", ":typing :equality)").replace(
        ":precondition (at ?r ?from)",
        ":precondition (and (not (= ?from ?to)) (at ?r ?from) (= ?r ?r))",
    );
    let problem = sound(
        &domain,
        &ROUND.replace("(at r2 attic)", "(and (at r2 attic) (not (= hall attic)))"),
    );
    let condition = &problem.domain.actions[0].precondition;
    assert_eq!(
        (condition.literals.len(), condition.equalities.len()),
        (1, 2)
    );
    assert!(!condition.equalities[0].equal && condition.equalities[1].equal);
    assert_eq!(condition.equalities[0].left, Term::Parameter(1));
    assert!(!problem.goal.equalities[0].equal);
}

#[test]
fn either_is_read_in_parameters_objects_and_supertypes() {
    let domain = "(define (domain d)
      (:requirements :strips :typing)
      (:types car boat - (either vehicle toy) vehicle toy - object)
      (:predicates (moved ?x - (either car boat)) (owned ?x - toy))
      (:action move :parameters (?x - (either car boat)) :precondition (owned ?x) :effect (moved ?x)))";
    let problem = sound(
        domain,
        "(define (problem q) (:domain d)
          (:objects duck - boat both - (either car boat))
          (:init (owned duck))
          (:goal (and (moved duck) (moved both))))",
    );
    let domain: &Domain = &problem.domain;
    let [car, boat, vehicle, toy] = ["car", "boat", "vehicle", "toy"].map(|name| {
        let at = domain.types.iter().position(|t| t.name == name).unwrap();
        homing_pddl::model::TypeId::from_index(at)
    });
    assert!(domain.is_subtype(car, vehicle) && domain.is_subtype(boat, toy));
    assert!(domain.is_subtype(car, Domain::OBJECT) && !domain.is_subtype(toy, car));
    assert_eq!(domain.actions[0].parameters[0].types, [car, boat]);
    assert_eq!(problem.objects[1].types, [car, boat]);
}

#[test]
fn a_predicate_declared_again_for_other_types_takes_both() {
    let domain = ROOMS.replace("(dark)", "(lit ?r - robot) (= ?a ?b)");
    let problem = ROUND.replace("(at r2 hall))", "(at r2 hall) (lit r2) (lit attic))");
    let (read_twice, messages) = read(&domain, &problem);
    let read_twice = read_twice.unwrap();
    assert_eq!(messages.messages().len(), 2, "{messages}");
    assert!(
        messages
            .messages()
            .iter()
            .all(|message| message.severity == Severity::Warning)
    );
    let either = ROOMS.replace("(lit ?m - room) (dark)", "(lit ?m - (either room robot))");
    assert_eq!(read_twice, sound(&either, &problem));
}

#[test]
fn costs_by_number_and_by_function_with_either_spelling() {
    let domain = "(define (domain d)
      (:requirements :strips :action-costs)
      (:predicates (p ?x))
      (:functions (total-cost) (weight ?x) - number)
      (:action a :parameters (?x) :effect (and (p ?x) (increase (total-cost) (weight ?x))))
      (:action b :parameters (?x) :effect (and (p ?x) (increase (total-cost) 2.0)))
      (:action c :parameters (?x) :effect (p ?x)))";
    let problem = "(define (problem q) (:domain d) (:objects o)
      (:init (= (weight o) 7) (= (weight o) 7) (= (total-cost) 0))
      (:goal (p o)) (:metric minimize (total-cost)))";
    let read = sound(domain, problem);
    assert_eq!(
        read.domain.functions.len(),
        1,
        "total-cost is no function of its own"
    );
    assert!(
        matches!(&read.domain.actions[0].cost, Some(CostTerm::Function(_, terms)) if terms.len() == 1)
    );
    assert_eq!(read.domain.actions[1].cost, Some(CostTerm::Constant(2)));
    assert_eq!(read.domain.actions[2].cost, None);
    assert_eq!((read.values.len(), read.values[0].value), (1, 7));
    assert!(read.minimize_cost);

    let spell = |text: &str| text.replace("total-cost", "total_cost");
    assert_eq!(sound(&spell(domain), &spell(problem)), read);
    let without = problem.replace("(:metric minimize (total-cost))", "");
    assert!(!sound(domain, &without).minimize_cost);
}

#[test]
fn the_initial_state_may_repeat_negate_and_nest() {
    let problem = sound(
        ROOMS,
        &ROUND.replace(
            "(:init (at r2 hall))",
            "(:init (and (at r2 hall) (dark)) (dark) (not (lit hall)))",
        ),
    );
    assert_eq!(problem.init.len(), 2);
}

#[test]
fn sections_may_be_empty_or_missing() {
    let domain = "(define (domain d) (:requirements :typing) (:types) (:constants) (:predicates (p)) (:functions))";
    let problem = sound(
        domain,
        "(define (problem q) (:domain d) (:objects) (:init) (:goal (and)))",
    );
    assert!(problem.objects.is_empty() && problem.goal.literals.is_empty());
    assert!(problem.domain.actions.is_empty());
    let bare = sound(
        "(define (domain d))",
        "(define (problem q) (:domain d) (:init) (:goal ()))",
    );
    assert!(bare.domain.predicates.is_empty());
}

/// `at`, `assign`, `preference` and the like are words of richer PDDL, and good names here.
#[test]
fn words_of_richer_pddl_may_be_predicates() {
    let words = [
        "at",
        "assign",
        "preference",
        "unknown",
        "oneof",
        "decrease",
        "over",
        "domain",
    ];
    let declared: String = words.iter().map(|word| format!("({word} ?x)")).collect();
    let ground: String = words.iter().map(|word| format!("({word} o)")).collect();
    let lifted = declared.replace("?x", "?y");
    let problem = sound(
        &format!(
            "(define (domain d) (:predicates {declared})
              (:action a :parameters (?y) :precondition (and {lifted}) :effect (and {lifted})))"
        ),
        &format!(
            "(define (problem q) (:domain d) (:objects o) (:init {ground}) (:goal (and {ground})))"
        ),
    );
    assert_eq!(problem.init.len(), words.len());
    assert_eq!(problem.goal.literals.len(), words.len());
    assert_eq!(problem.domain.actions[0].add.len(), words.len());
}

#[test]
fn names_may_hold_digits_signs_and_letters_of_any_alphabet() {
    let problem = sound(
        "(define (domain d-1_x) (:predicates (größer ?x1 ?x-2)))",
        "(define (problem 42) (:domain D-1_X) (:objects 7 a.b x@y Ω)
          (:init (größer 7 a.b)) (:goal (größer x@y Ω)))",
    );
    assert_eq!(problem.name, "42");
    assert_eq!(
        names(problem.objects.iter().map(|o| &o.name)),
        ["7", "a.b", "x@y", "Ω"]
    );
}

#[test]
fn every_valid_fixture_is_read_without_a_message_and_printed_back() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/valid");
    let mut problems = 0;
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let domain = std::fs::read_to_string(folder.join("domain.pddl")).unwrap();
        for file in std::fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            if file.file_name().unwrap() == "domain.pddl" {
                continue;
            }
            let problem = sound(&domain, &std::fs::read_to_string(&file).unwrap());
            let again = sound(&problem.domain.to_string(), &problem.to_string());
            assert_eq!(again, problem, "{}", file.display());
            problems += 1;
        }
    }
    assert!(problems >= 20, "{problems}");
}

#[test]
fn requirements_are_advice() {
    let declared = ":typing :adl :fluents :durative-actions :preferences :constraints";
    let domain = ROOMS.replace(":typing", declared);
    let problem = sound(&domain, ROUND);
    assert_eq!(problem.domain.requirements.len(), 7);
    // What `:adl` includes need not be said again.
    let domain = domain.replace(
        "(at ?r ?from)\n",
        "(and (at ?r ?from) (or (lit ?to) (not (= ?from ?to)) (exists (?m - room) (lit ?m))))\n",
    );
    assert_eq!(
        sound(&domain, ROUND).domain.actions[0]
            .precondition
            .formulas
            .len(),
        1
    );
}

#[test]
fn conditions_are_read_into_negation_normal_form() {
    let domain = ROOMS.replace(":typing", ":adl").replace(
        ":precondition (at ?r ?from)",
        ":precondition (and (at ?r ?from)
           (not (imply (lit ?to) (exists (?m - room) (and (lit ?m) (not (= ?m ?to)))))))",
    );
    let problem = sound(&domain, ROUND);
    let condition = &problem.domain.actions[0].precondition;
    assert_eq!(condition.literals.len(), 2);
    assert!(condition.literals.iter().all(|literal| literal.positive));
    let [Formula::Forall(variables, body)] = condition.formulas.as_slice() else {
        panic!("{condition:?}");
    };
    assert_eq!(variables.len(), 1);
    let Formula::Or(parts) = body.as_ref() else {
        panic!("{body:?}");
    };
    let [Formula::Literal(literal), Formula::Equality(equality)] = parts.as_slice() else {
        panic!("{parts:?}");
    };
    // The variable of the quantifier comes after the three parameters.
    assert_eq!(literal.atom.arguments, [Term::Parameter(3)]);
    assert!(!literal.positive && equality.equal);
}

#[test]
fn effects_inside_one_another_carry_all_conditions() {
    let domain = ROOMS.replace(":typing", ":adl").replace(
        "(not (at ?r ?from))",
        "(not (at ?r ?from))
         (forall (?m - room) (when (or (lit ?m) (exists (?n - room) (lit ?n)))
           (and (not (lit ?m)) (forall (?s - robot) (when (at ?s ?m) (at ?s ?to))))))",
    );
    let problem = sound(&domain, ROUND);
    let [outer, inner] = problem.domain.actions[0].conditional.as_slice() else {
        panic!("two effects");
    };
    assert_eq!((outer.parameters.len(), inner.parameters.len()), (1, 2));
    assert_eq!((outer.del.len(), inner.add.len()), (1, 1));
    assert_eq!(inner.condition.literals.len(), 1);
    // What the outer condition binds is numbered after the variables of the effect around it.
    let exists = |condition: &homing_pddl::model::Condition<Term>| match &condition.formulas[0] {
        Formula::Or(parts) => match &parts[1] {
            Formula::Exists(_, body) => match body.as_ref() {
                Formula::Literal(literal) => literal.atom.arguments[0],
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(exists(&outer.condition), Term::Parameter(4));
    assert_eq!(exists(&inner.condition), Term::Parameter(5));
}

#[test]
fn a_derived_fact_cannot_be_given() {
    let domain = ROOMS
        .replace(":typing", ":adl :derived-predicates")
        .replace(
            "(:action",
            "(:derived (dark) (forall (?m - room) (not (lit ?m)))) (:action",
        );
    sound(&domain, ROUND);
    let (problem, messages) = read(&domain, &ROUND.replace("(:init", "(:init (dark)"));
    assert!(problem.is_none());
    assert!(
        messages
            .to_string()
            .contains("the derived predicate `dark` cannot be given in the initial state"),
        "{messages}"
    );
}

#[test]
fn numbers_that_nothing_asks_for_may_be_any() {
    let domain = ROOMS.replace(
        "(:action",
        "(:functions (fuel ?r - robot) - number) (:action",
    );
    let problem = ROUND.replace("(:init", "(:init (= (fuel r2) -2.5)");
    assert!(sound(&domain, &problem).values.is_empty());
}

#[test]
fn names_may_end_in_a_dash() {
    let problem = ROUND
        .replace("hall attic - room", "hall- attic- - room")
        .replace("hall)", "hall-)")
        .replace("attic)", "attic-)");
    assert_eq!(
        names(sound(ROOMS, &problem).objects.iter().map(|o| &o.name)),
        ["r2", "hall-", "attic-"]
    );
}

#[test]
fn a_type_declared_twice_is_below_the_supertypes_of_both() {
    let domain = ROOMS
        .replace(
            "(:types robot room)",
            "(:types machine thing room - object robot - machine robot - thing)",
        )
        .replace("(dark)", "(heavy ?t - thing) (works ?m - machine)");
    let problem = ROUND.replace("(at r2 hall))", "(at r2 hall) (heavy r2) (works r2))");
    let (problem, messages) = read(&domain, &problem);
    assert_eq!(messages.messages().len(), 1, "{messages}");
    assert_eq!(messages.count(Severity::Warning), 1, "{messages}");
    assert_eq!(problem.unwrap().init.len(), 3);
}

#[test]
fn a_cost_that_is_not_declared_counts_all_the_same() {
    let domain = ROOMS.replace(":typing", ":typing :action-costs").replace(
        "(not (at ?r ?from))",
        "(not (at ?r ?from)) (increase (total-cost) 3)",
    );
    let problem = ROUND.replace("(:goal", "(:metric minimize (total-cost)) (:goal");
    let (problem, messages) = read(&domain, &problem);
    assert_eq!(messages.count(Severity::Warning), 1, "{messages}");
    let problem = problem.unwrap();
    assert!(problem.minimize_cost);
    assert_eq!(problem.domain.actions[0].cost, Some(CostTerm::Constant(3)));
    let (again, messages) = read(&problem.domain.to_string(), &problem.to_string());
    assert!(messages.messages().is_empty(), "{messages}");
    assert_eq!(
        again.unwrap().domain.actions[0].cost,
        problem.domain.actions[0].cost
    );
}

#[test]
fn a_dash_need_not_be_followed_by_a_blank() {
    let glued = ROOMS.replace("?r - robot ?m - room", "?r -robot ?m -room");
    let (problem, messages) = read(&glued, ROUND);
    assert_eq!(messages.count(Severity::Warning), 2, "{messages}");
    assert_eq!(problem.unwrap(), sound(ROOMS, ROUND));
}

#[test]
fn predicates_may_be_called_define_and_either() {
    let domain = ROOMS
        .replace(
            "(dark)",
            "(define ?m - room) (either) (between ?r - robot ?m - (either room robot))",
        )
        .replace(
            ":precondition (at",
            ":precondition (and (define ?to) (either) (at",
        )
        .replace("?from)\n", "?from))\n");
    let problem = ROUND.replace(
        "(:init (at r2 hall))",
        "(:init (define hall) (at r2 hall) (either) (define attic) (between r2 hall))",
    );
    let read = sound(&domain, &problem);
    assert_eq!(
        names(read.domain.predicates.iter().map(|p| &p.name)),
        ["at", "lit", "define", "either", "between"]
    );
    assert_eq!(read.init.len(), 5);
    assert_eq!(read.domain.actions[0].precondition.literals.len(), 3);
}

#[test]
fn a_second_definition_is_none_of_a_predicate_called_define() {
    for text in ["(define (problem other))", "\n(define other)"] {
        let (_, messages) = read(ROOMS, &format!("{ROUND}{text}"));
        assert!(
            messages.to_string().contains("a second definition"),
            "{messages}"
        );
    }
}

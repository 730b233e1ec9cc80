//! `homing solve`: results, plan files, outcomes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::runs::{Run, endless_problem, entries, fixture, root, run};

type Fits = fn(&str) -> bool;

/// Every line that other tools look for, with what may stand behind it.
const LINES: [(&str, Fits); 13] = [
    ("Solution found!", str::is_empty),
    ("Plan length: ", |rest| {
        rest.strip_suffix(" step(s).").is_some_and(is_whole)
    }),
    ("Plan cost: ", is_whole),
    ("Expanded ", is_states),
    ("Reopened ", is_states),
    ("Evaluated ", is_states),
    ("Evaluations: ", is_whole),
    ("Generated ", is_states),
    ("Dead ends: ", is_states),
    ("Search time: ", is_seconds),
    ("Total time: ", is_seconds),
    ("Peak memory: ", |rest| {
        rest.strip_suffix(" KB").is_some_and(is_whole)
    }),
    ("Initial heuristic value for ", |rest| {
        rest.split_once(": ")
            .is_some_and(|(name, value)| name == "add" && is_whole(value))
    }),
];

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_states(text: &str) -> bool {
    text.strip_suffix(" state(s).").is_some_and(is_whole)
}

fn is_seconds(text: &str) -> bool {
    let number = text.strip_suffix('s').and_then(|text| text.split_once('.'));
    number.is_some_and(|(whole, part)| is_whole(whole) && is_whole(part))
}

#[test]
fn the_lines_that_tools_parse_appear_once_each() {
    for search in ["gbfs", "gbfls", "astar", "wastar"] {
        let problem = fixture("valid/delivery/p02.pddl");
        let run = run!["solve", "--search", search, "--heuristic", "add", problem].ends_with(0);
        for (start, fits) in LINES {
            if start == "Peak memory: " && !cfg!(target_os = "linux") {
                continue;
            }
            let rest = run.line(start);
            assert!(fits(rest), "`{start}{rest}`");
        }
        assert_eq!(run.stderr, "");
    }
}

/// The summary with all that depends on the machine taken out.
fn without_measurements(run: &Run) -> String {
    let mut text = String::new();
    for line in run.stdout.lines() {
        let measured = ["Search time: ", "Total time: ", "Peak memory: "];
        match measured.iter().find(|start| line.starts_with(**start)) {
            Some(start) => text += &format!("{start}..\n"),
            None => text += &format!("{line}\n"),
        }
    }
    text
}

#[test]
fn summaries() {
    let solved = run!["solve", fixture("valid/blocks/p03.pddl")].ends_with(0);
    insta::assert_snapshot!("summary-solved", without_measurements(&solved));
    let optimal = run![
        "solve",
        "--search",
        "astar",
        "--heuristic",
        "max",
        fixture("valid/delivery/p01.pddl")
    ]
    .ends_with(0);
    insta::assert_snapshot!("summary-optimal", without_measurements(&optimal));
    let unsolvable = run!["solve", fixture("valid/unsolvable/p02.pddl")].ends_with(11);
    insta::assert_snapshot!("summary-unsolvable", without_measurements(&unsolvable));
    let limit = run![
        "solve",
        "--max-evaluations",
        "5",
        fixture("valid/blocks/p03.pddl")
    ]
    .ends_with(12);
    insta::assert_snapshot!("summary-limit", without_measurements(&limit));
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let run = run![
        "solve",
        "--json",
        "-v",
        "--search",
        "wastar",
        "--weight",
        "3",
        fixture("valid/delivery/p02.pddl")
    ]
    .ends_with(0);
    assert_eq!(run.stdout.matches('\n').count(), 1);
    let record: Value = serde_json::from_str(&run.stdout).expect("one object");
    let record = record.as_object().expect("an object");
    let strings = [
        "outcome",
        "domain",
        "problem",
        "heuristic",
        "search",
        "version",
    ];
    let counts = [
        "plan_length",
        "plan_cost",
        "evaluations",
        "scored",
        "expansions",
        "generated",
        "reopened",
        "dead_ends",
        "stored",
        "peak_open",
        "bytes_per_state",
        "objects",
        "actions",
        "propositions",
        "variables",
        "peak_memory_kb",
    ];
    let numbers = [
        "weight",
        "initial_h",
        "parse_seconds",
        "ground_seconds",
        "search_seconds",
        "total_seconds",
        "ready_cpu_seconds",
        "search_cpu_seconds",
        "total_cpu_seconds",
    ];
    let others = [
        "found_by",
        "learned",
        "model",
        "plan",
        "plans",
        "optimal",
        "unit_cost",
        "validated",
    ];
    let found: BTreeSet<&str> = record.keys().map(String::as_str).collect();
    let expected: BTreeSet<&str> = [&strings[..], &counts, &numbers, &others]
        .concat()
        .into_iter()
        .collect();
    assert_eq!(found, expected);
    assert!(strings.iter().all(|key| record[*key].is_string()));
    let is_count = |key: &&str| {
        record[*key].is_u64() || *key == "peak_memory_kb" && !cfg!(target_os = "linux")
    };
    assert!(counts.iter().all(is_count));
    assert!(numbers.iter().all(|key| record[*key].is_number()));
    assert_eq!(record["outcome"], "solved");
    assert_eq!(record["weight"], 3.0);
    assert_eq!(record["validated"], true);
    let plan = record["plan"].as_array().expect("a plan");
    assert_eq!(record["plan_length"], plan.len());
    assert!(plan.iter().all(|step| {
        step.as_str()
            .is_some_and(|step| step.starts_with('(') && step.ends_with(')'))
    }));

    let formats = std::fs::read_to_string(root().join("docs/formats.md")).expect("docs/formats.md");
    for key in found {
        assert!(
            formats.contains(&format!("| `{key}` |")),
            "docs/formats.md says nothing about `{key}`"
        );
    }
}

#[test]
fn json_of_what_was_not_solved_has_nulls() {
    let outcomes: [(&str, &[&str], &str, i32); 3] = [
        ("valid/unsolvable/p01.pddl", &[], "unsolvable", 11),
        (
            "valid/blocks/p03.pddl",
            &["--max-expansions", "2"],
            "limit",
            12,
        ),
        (
            "valid/blocks/p03.pddl",
            &["--time-limit", "0"],
            "time-limit",
            23,
        ),
    ];
    for (problem, limits, outcome, code) in outcomes {
        let mut arguments = vec!["solve".to_owned(), "--json".to_owned()];
        arguments.extend(limits.iter().map(ToString::to_string));
        arguments.push(fixture(problem).display().to_string());
        let run = crate::runs::run_with(arguments).ends_with(code);
        let record: Value = serde_json::from_str(&run.stdout).expect("one object");
        assert_eq!(record["outcome"], outcome);
        assert_eq!(record["plan"], Value::Null);
        assert_eq!(record["plan_cost"], Value::Null);
        assert_eq!(record["weight"], Value::Null);
        assert_eq!(record["validated"], false);
    }
}

#[test]
fn a_plan_file_holds_a_step_a_line_and_the_cost() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.txt");
    let run = run![
        "solve",
        "--plan-file",
        plan,
        fixture("valid/blocks/p03.pddl")
    ]
    .ends_with(0);
    assert!(!run.stdout.contains("(unstack"), "{run:#?}");
    insta::assert_snapshot!(
        "plan-unit-cost",
        std::fs::read_to_string(&plan).expect("a plan")
    );

    // The old plan is replaced as a whole.
    run![
        "solve",
        "--search",
        "dijkstra",
        "--plan-file",
        plan,
        fixture("valid/delivery/p01.pddl")
    ]
    .ends_with(0);
    insta::assert_snapshot!(
        "plan-general-cost",
        std::fs::read_to_string(&plan).expect("a plan")
    );
    assert_eq!(entries(folder.path()), ["plan.txt"]);
}

#[test]
fn the_empty_plan_is_a_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    let problem = fixture("valid/lamp/p02.pddl");
    let run = run!["solve", "--plan-file", plan, problem].ends_with(0);
    assert_eq!(run.line("Plan length: "), "0 step(s).");
    assert_eq!(
        std::fs::read_to_string(&plan).expect("a plan"),
        "; cost = 0 (unit cost)\n"
    );
    run!["validate", problem, plan].ends_with(0);
}

#[test]
fn without_a_plan_the_old_plan_file_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    std::fs::write(&plan, "old").expect("a file");
    run![
        "solve",
        "--plan-file",
        plan,
        fixture("valid/unsolvable/p02.pddl")
    ]
    .ends_with(11);
    run![
        "solve",
        "--max-evaluations",
        "1",
        "--plan-file",
        plan,
        fixture("valid/blocks/p03.pddl")
    ]
    .ends_with(12);
    assert_eq!(std::fs::read_to_string(&plan).expect("a file"), "old");
    assert_eq!(entries(folder.path()), ["plan"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_plan_file_stays_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, link) = (folder.path().join("plan"), folder.path().join("link"));
    std::fs::write(&plan, "old").expect("a file");
    std::os::unix::fs::symlink(&plan, &link).expect("a link");
    run!["solve", "--plan-file", link, fixture("valid/lamp/p01.pddl")].ends_with(0);
    assert!(link.is_symlink());
    let text = std::fs::read_to_string(&plan).expect("a plan");
    assert!(text.starts_with("(screw-in)\n(press)\n"), "{text}");
    assert_eq!(entries(folder.path()), ["link", "plan"]);
}

#[test]
fn the_domain_beside_the_problem_is_taken() {
    let alone = run!["solve", "--json", fixture("valid/gripper/p01.pddl")].ends_with(0);
    let both = run![
        "solve",
        "--json",
        fixture("valid/gripper/domain.pddl"),
        fixture("valid/gripper/p01.pddl")
    ]
    .ends_with(0);
    let plan = |run: &Run| {
        let record: Value = serde_json::from_str(&run.stdout).expect("one object");
        record["plan"].clone()
    };
    assert_eq!(plan(&alone), plan(&both));

    let folder = tempfile::tempdir().expect("a folder");
    let lonely = folder.path().join("lonely.pddl");
    std::fs::copy(fixture("valid/gripper/p01.pddl"), &lonely).expect("a problem");
    let missing = folder.path().join("domain.pddl");
    run!["solve", lonely].ends_with(33).says(&format!(
        "no domain is given, and there is no {} beside the problem",
        missing.display()
    ));
}

#[test]
fn a_domain_may_be_named_after_its_problem() {
    let own = [
        ("p01.pddl", "domain-p01.pddl"),
        ("p01.pddl", "domain_p01.pddl"),
        ("p01.pddl", "p01-domain.pddl"),
        ("p01-small.pddl", "p01-domain.pddl"),
    ];
    for (problem, domain) in own {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |from: &str, to: &str| {
            std::fs::copy(fixture(from), folder.path().join(to)).expect("a copy");
        };
        put("valid/gripper/p01.pddl", problem);
        put("valid/gripper/domain.pddl", domain);
        // Another problem's domain is no help, and the own one comes first.
        put("valid/lamp/domain.pddl", "domain-p02.pddl");
        put("valid/lamp/domain.pddl", "domain.pddl");
        run!["solve", folder.path().join(problem)].ends_with(0);
    }
}

#[test]
fn unsolvable_by_grounding_says_why() {
    run!["solve", fixture("valid/unsolvable/p01.pddl")]
        .ends_with(11)
        .says("the goal (visited isle) can never be reached");
}

#[test]
fn unsolvable_by_search() {
    for search in ["gbfs", "gbfls", "astar", "wastar", "dijkstra"] {
        let run = run![
            "solve",
            "--search",
            search,
            "--heuristic",
            "blind",
            fixture("valid/unsolvable/p02.pddl")
        ]
        .ends_with(11);
        assert_ne!(run.line("Expanded "), "0 state(s).");
    }
}

#[test]
fn limits_on_work_end_with_12() {
    let problem = fixture("valid/blocks/p03.pddl");
    let run = run!["solve", "--max-evaluations", "7", problem].ends_with(12);
    assert_eq!(run.line("Evaluations: "), "7");
    assert_eq!(
        run.line("No plan found: "),
        "the limit on evaluations was reached."
    );
    let run = run!["solve", "--max-expansions", "3", problem].ends_with(12);
    assert_eq!(run.line("Expanded "), "3 state(s).");
    assert_eq!(
        run.line("No plan found: "),
        "the limit on expansions was reached."
    );
}

#[cfg(target_os = "linux")]
#[test]
fn out_of_memory_ends_with_22_and_statistics() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = endless_problem(folder.path());
    let run = run![
        "solve",
        "--search",
        "dijkstra",
        "--memory-limit",
        "24M",
        "--plan-file",
        folder.path().join("plan"),
        problem
    ]
    .ends_with(22);
    assert_eq!(run.line("No plan found: "), "the memory limit was reached.");
    run.line("Expanded ");
    run.line("Peak memory: ");
    assert_eq!(entries(folder.path()), ["domain.pddl", "endless.pddl"]);
}

#[test]
fn out_of_time_ends_with_23_and_statistics() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = endless_problem(folder.path());
    let run = run![
        "solve",
        "--search",
        "gbfs",
        "--heuristic",
        "blind",
        "--time-limit",
        "0.3",
        "--plan-file",
        folder.path().join("plan"),
        problem
    ]
    .ends_with(23);
    assert_eq!(run.line("No plan found: "), "the time limit was reached.");
    assert_ne!(run.line("Expanded "), "0 state(s).");
    assert_eq!(entries(folder.path()), ["domain.pddl", "endless.pddl"]);
}

#[test]
fn bad_pddl_ends_with_31() {
    let run = run![
        "solve",
        fixture("invalid/_domain.pddl"),
        fixture("invalid/problem-wrong-arity.pddl")
    ]
    .ends_with(31)
    .says("error: ");
    assert_eq!(run.stdout, "");
}

#[test]
fn an_unsupported_construct_ends_with_34() {
    let run = run![
        "solve",
        fixture("invalid/_domain.pddl"),
        fixture("invalid/problem-unsupported-numeric-goal.pddl")
    ]
    .ends_with(34)
    .says("not supported: ");
    assert_eq!(run.stdout, "");
}

#[test]
fn a_cost_that_is_not_given_is_bad_pddl() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = folder.path().join("p.pddl");
    let text = std::fs::read_to_string(fixture("valid/delivery/p01.pddl")).expect("a problem");
    let lines = text.lines().filter(|line| !line.contains("(= (distance"));
    std::fs::write(&problem, lines.collect::<Vec<_>>().join("\n")).expect("a problem");
    run!["solve", fixture("valid/delivery/domain.pddl"), problem]
        .ends_with(31)
        .says("gives no value for (distance ");
}

#[test]
fn unit_cost_is_for_the_search_and_the_plan_costs_what_it_costs() {
    let problem = fixture("valid/delivery/p01.pddl");
    let cheap = run!["solve", "--search", "dijkstra", problem].ends_with(0);
    let short = run!["solve", "--search", "dijkstra", "--unit-cost", problem].ends_with(0);
    let number = |run: &Run, start| {
        let rest = run.line(start);
        let digits = rest.split(' ').next().expect("a number");
        digits.parse::<u64>().expect("a number")
    };
    assert!(number(&short, "Plan length: ") < number(&cheap, "Plan length: "));
    assert!(number(&short, "Plan cost: ") > number(&cheap, "Plan cost: "));
}

#[test]
fn warnings_are_counted_and_verbose_shows_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let domain = folder.path().join("domain.pddl");
    let text = std::fs::read_to_string(fixture("valid/gripper/domain.pddl")).expect("a domain");
    std::fs::write(&domain, text.replace(" :typing", "")).expect("a domain");
    let problem = fixture("valid/gripper/p01.pddl");
    run!["solve", domain, problem]
        .ends_with(0)
        .says("1 warning about the input; `homing check` shows them");
    run!["solve", "-v", domain, problem]
        .ends_with(0)
        .says("warning: ")
        .says("grounded in ");
}

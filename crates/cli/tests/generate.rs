//! `homing generate` and `homing suite` as a user meets them.

#[path = "commands/runs.rs"]
#[allow(dead_code, unused_imports, unused_macros)] // of what the tests of the other commands use
mod runs;

use std::path::Path;

use runs::{contents, fails, succeeds};

fn manifest(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap()
}

#[test]
fn the_same_seeds_give_the_same_folder() {
    let around = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| around.path().join(name));
    for folder in [&one, &two] {
        let folder = folder.to_str().unwrap();
        let arguments = [
            "generate",
            "ferry",
            "--locations",
            "3",
            "--cars",
            "2",
            "--seeds",
            "10..20",
            "--out",
            folder,
        ];
        let said = succeeds(&arguments);
        assert!(
            said.starts_with(folder) && said.contains("problems"),
            "{said}"
        );
    }
    let files = contents(&one);
    assert_eq!(files, contents(&two));
    let manifest = manifest(&one);
    let problems = manifest["problems"].as_array().unwrap();
    let dropped = manifest["dropped"].as_array().unwrap();
    assert_eq!(problems.len() + dropped.len(), 10);
    assert_eq!(files.len(), problems.len() + 2);
    assert_eq!(problems[0]["parameters"]["locations"], 3);
    assert_eq!(problems[0]["objects"], 5);
    // Nothing is left of the way there.
    assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 2);
    let problem = one.join(problems[0]["file"].as_str().unwrap());
    assert!(succeeds(&["solve", problem.to_str().unwrap()]).contains("Solution found!"));
}

#[test]
fn a_suite_has_a_folder_for_each_domain_and_suite_reads_it_back() {
    let around = tempfile::tempdir().unwrap();
    let out = around.path().join("suites/validation");
    let out_name = out.to_str().unwrap();
    let words = [
        "generate",
        "--suite",
        "validation",
        "--domain",
        "gripper",
        "--out",
        out_name,
    ];
    let said = succeeds(&words);
    assert!(said.ends_with("gripper: 108 problems\n"), "{said}");
    let folder = out.join("gripper");
    let before = contents(&folder);
    assert_eq!(manifest(&folder)["suite"], "validation");
    // Both the folder itself and the one around it are understood; nothing changes.
    succeeds(&["suite", out_name]);
    succeeds(&["suite", folder.to_str().unwrap()]);
    assert_eq!(contents(&folder), before);
    // A second suite in its place is refused.
    let said = fails(33, &words);
    assert!(said.contains("is not empty"), "{said}");
}

#[test]
fn impossible_parameters_end_with_33_and_leave_nothing() {
    let around = tempfile::tempdir().unwrap();
    let out = around.path().join("out");
    let out = out.to_str().unwrap();
    let tail = ["--seeds", "0..5", "--out", out];
    for (arguments, reason) in [
        (
            &["parking", "--curbs", "3", "--cars", "5"][..],
            "4 at the most",
        ),
        (
            &["visitall", "--size", "3", "--removed", "8"],
            "two cells must remain",
        ),
        (&["visitall", "--size", "3", "--ratio", "1.5"], "at most 1"),
        (&["blocks", "--blocks", "0"], "from 2 to 1000"),
        (&["blocks"], "--blocks"),
        (&["blocks", "--blocks", "many"], "invalid value"),
        (
            &[
                "logistics",
                "--airplanes",
                "1",
                "--cities",
                "1",
                "--city-size",
                "1",
                "--packages",
                "2",
            ],
            "trivial",
        ),
    ] {
        let all: Vec<&str> = [&["generate"], arguments, &tail].concat();
        let said = fails(33, &all);
        assert!(said.contains(reason), "{said}");
    }
    fails(33, &["generate"]);
    fails(33, &["generate", "--suite", "paper", "--out", out]);
    fails(
        33,
        &[
            "generate", "blocks", "--blocks", "3", "--seeds", "5..5", "--out", out,
        ],
    );
    assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 0);
}

#[test]
fn a_users_folder_gets_a_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    let problem = |name: &str, init: &str| {
        format!(
            "(define (problem {name}) (:domain lamp) (:objects a b) (:init {init}) (:goal (on a)))"
        )
    };
    write(
        "domain.pddl",
        "(define (domain lamp) (:predicates (on ?x) (off ?x))
         (:action press :parameters (?x) :precondition (off ?x)
          :effect (and (on ?x) (not (off ?x)))))",
    );
    write("p1.pddl", &problem("p1", "(off a) (off b)"));
    write(
        "p2.pddl",
        &format!("; the same\n{}", problem("p2", "(off a)  (off b)")),
    );
    write("p3.pddl", &problem("p3", "(on a)"));
    write("p4.pddl", &problem("p4", "(off a)"));
    let name = path.to_str().unwrap();
    let said = succeeds(&["suite", name]);
    assert!(
        said.contains("2 problems, 1 trivial and 1 duplicate dropped"),
        "{said}"
    );
    assert!(
        said.contains("p2.pddl is left out: it equals p1.pddl"),
        "{said}"
    );
    assert!(
        said.contains("p3.pddl is left out: its goal holds at the start"),
        "{said}"
    );
    let manifest = manifest(path);
    assert_eq!(manifest["domain"], "lamp");
    assert_eq!(manifest["problems"][1]["file"], "p4.pddl");
    assert_eq!(
        manifest["problems"][1]["parameters"],
        serde_json::Value::Null
    );

    // One bad problem: everything is said about all of them, and the manifest stays as it was.
    let before = contents(path);
    write("p5.pddl", &problem("p5", "(dim a)"));
    write(
        "p6.pddl",
        "(define (problem p6) (:domain lamp) (:goal (on c)))",
    );
    let said = fails(31, &["suite", name]);
    assert!(
        said.contains("p5.pddl:1") && said.contains("p6.pddl:1"),
        "{said}"
    );
    assert!(said.contains("2 of 6 problems cannot be used"), "{said}");
    assert_eq!(contents(path)["manifest.json"], before["manifest.json"]);
}

#[test]
fn folders_that_are_no_suites_end_with_33() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    assert!(fails(33, &["suite", name]).contains("there is no domain.pddl"));
    assert!(fails(33, &["suite", &format!("{name}/nowhere")]).contains("cannot read"));
    std::fs::write(
        folder.path().join("domain.pddl"),
        "(define (domain d) (:predicates (on)) (:action a :effect (on)))",
    )
    .unwrap();
    assert!(fails(33, &["suite", name]).contains("there is no problem"));
}

#[test]
fn cuts_are_a_folder_of_problems_that_can_be_solved() {
    let around = tempfile::tempdir().unwrap();
    let whole = around.path().join("whole");
    let whole_name = whole.to_str().unwrap();
    let draw = ["generate", "blocks", "--blocks", "12", "--seeds", "3"];
    succeeds(&[&draw[..], &["--out", whole_name]].concat());
    let problem = whole.join("12-s3.pddl");
    let problem = problem.to_str().unwrap();
    let [one, two, other] = ["one", "two", "other"].map(|name| around.path().join(name));
    for (folder, seed) in [(&one, "1"), (&two, "1"), (&other, "2")] {
        let folder = folder.to_str().unwrap();
        let arguments = [
            "cut", "--cuts", "8", "--seed", seed, "--out", folder, problem,
        ];
        let said = succeeds(&arguments);
        assert!(
            said.starts_with(folder) && said.contains("8 problems cut out of"),
            "{said}"
        );
    }
    let files = contents(&one);
    assert_eq!(files.len(), 9);
    assert_eq!(files, contents(&two));
    assert_ne!(files, contents(&other));
    let first = one.join("cut-0001.pddl");
    assert!(succeeds(&["solve", first.to_str().unwrap()]).contains("Solution found!"));
    assert!(succeeds(&["suite", one.to_str().unwrap()]).contains("8 problems"));
    // A second cut in its place is refused.
    let one = one.to_str().unwrap();
    assert!(fails(33, &["cut", "--out", one, problem]).contains("is not empty"));
}

#[test]
fn what_cannot_be_cut_is_said() {
    let around = tempfile::tempdir().unwrap();
    let domain = around.path().join("domain.pddl");
    let text = "(define (domain lamp) (:predicates (on)) (:action press :effect (on)))";
    std::fs::write(&domain, text).unwrap();
    let out = around.path().join("out");
    let out = out.to_str().unwrap();
    for (goal, code, why) in [
        ("(and)", 33, "no small problem"),
        ("(not (on))", 33, "no small"),
    ] {
        let problem = around.path().join("p.pddl");
        let text = format!("(define (problem p) (:domain lamp) (:init) (:goal {goal}))");
        std::fs::write(&problem, text).unwrap();
        let said = fails(code, &["cut", "--out", out, problem.to_str().unwrap()]);
        assert!(said.contains(why), "{said}");
        assert!(!Path::new(out).exists());
    }
}

//! Settings of learning from the problem at hand, out of a file.

use std::path::PathBuf;

use homing::LearnHereConfig;
use serde_json::Value;

use crate::runs::{entries, root, run, run_with};

/// A folder with a drawn problem and a file of settings.
struct Place {
    folder: tempfile::TempDir,
    problem: PathBuf,
    settings: PathBuf,
}

fn place(settings: &str) -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let drawn = folder.path().join("blocks");
    let words = [
        "generate", "blocks", "--blocks", "15", "--seeds", "7", "--out",
    ];
    let words = words.map(std::ffi::OsString::from);
    run_with(words.into_iter().chain([drawn.clone().into()])).ends_with(0);
    let file = folder.path().join("learn.toml");
    std::fs::write(&file, settings).expect("a file");
    Place {
        problem: drawn.join("15-s7.pddl"),
        settings: file,
        folder,
    }
}

/// What is counted of a run, and its plan.
fn counted(record: &str) -> Value {
    let mut record: Value = serde_json::from_str(record).expect("JSON");
    let fields = record.as_object_mut().expect("an object");
    fields.retain(|name, _| !name.ends_with("seconds") && name != "peak_memory_kb");
    let learned = fields["learned"].as_object_mut().expect("it learnt");
    learned.retain(|name, _| !name.ends_with("seconds"));
    record
}

#[test]
fn a_file_changes_what_it_names_and_nothing_else() {
    let place = place("");
    let solve = |more: &[&str]| {
        let words = ["solve", "--json", "--learn", "first"].iter().chain(more);
        let words = words.map(std::ffi::OsString::from);
        counted(
            &run_with(words.chain([place.problem.clone().into()]))
                .ends_with(0)
                .stdout,
        )
    };
    let usual = solve(&[]);
    assert_eq!(usual["learned"]["cuts"], 60);
    let option = ["--learn-config", place.settings.to_str().expect("a name")];
    assert_eq!(solve(&option), usual);
    std::fs::write(&place.settings, "[cut]\ncuts = 5\n").expect("a file");
    assert_eq!(solve(&option)["learned"]["cuts"], 5);
}

#[test]
fn quiet_relations_are_taken_where_they_make_fewer_mistakes() {
    let blocks = place("");
    let drawn = blocks.folder.path().join("visitall");
    run![
        "generate", "visitall", "--size", "7", "--seeds", "3", "--out", drawn
    ]
    .ends_with(0);
    let names = entries(&drawn);
    let name = names.iter().find(|name| *name != "domain.pddl");
    let grid = drawn.join(name.expect("a problem"));
    let is_quiet = |problem: &PathBuf, settings: &str| {
        std::fs::write(&blocks.settings, settings).expect("a file");
        let settings = &blocks.settings;
        let run = run![
            "solve",
            "--json",
            "--learn",
            "first",
            "--learn-config",
            settings,
            problem
        ]
        .ends_with(0);
        counted(&run.stdout)["learned"]["quiet"].clone()
    };
    assert_eq!(is_quiet(&grid, ""), true);
    assert_eq!(is_quiet(&grid, "quiet_below = 0.0\n"), false);
    // There are no static relations in blocks.
    assert_eq!(is_quiet(&blocks.problem, ""), false);
}

#[test]
fn lessons_follow_one_another_until_there_is_a_plan() {
    // Without descents nothing shows that the search gets on, and a lesson of a microsecond is over
    // before it has led anywhere.
    let place = place("lesson_work = 1_000\nlesson_pays = 0.0\n[cut]\ncuts = 5\n");
    let solve = || {
        run![
            "solve",
            "--json",
            "--learn",
            "first",
            "--descent",
            "0",
            "--learn-config",
            place.settings,
            place.problem
        ]
        .ends_with(0)
    };
    let run = solve();
    let record = counted(&run.stdout);
    let lessons = record["learned"]["lessons"].as_u64().expect("a number");
    assert!(lessons > 2, "{lessons} lessons");
    assert!(run.stderr.contains(&format!("lesson {lessons}")));
    assert_eq!(record["validated"], true);
    assert_eq!(counted(&solve().stdout), record);
    std::fs::write(&place.settings, "lesson_work = 0\n[cut]\ncuts = 5\n").expect("a file");
    let once = counted(&solve().stdout);
    assert_eq!(once["learned"]["lessons"], 1);
}

#[test]
fn a_model_that_does_not_get_on_is_replaced() {
    let place = place("first_work = 1\nlesson_work = 1\nmodel_lessons = 1\n[cut]\ncuts = 5\n");
    let solve = |learn: &str| {
        run![
            "solve",
            "--json",
            "--model",
            "auto",
            "--learn",
            learn,
            "--descent",
            "0",
            "--learn-config",
            place.settings,
            place.problem
        ]
        .ends_with(0)
    };
    let record: Value = serde_json::from_str(&solve("never").stdout).expect("JSON");
    assert_eq!(record["learned"], Value::Null);
    let record = counted(&solve("auto").stdout);
    assert!(record["learned"]["lessons"].as_u64() > Some(0), "{record}");
    assert_eq!(record["validated"], true);
}

#[test]
fn cuts_follow_the_same_file() {
    let place = place("[cut]\ncuts = 7\n");
    let out = |name: &str| place.folder.path().join(name);
    let (seven, three) = (out("seven"), out("three"));
    run![
        "cut",
        "--learn-config",
        place.settings,
        "--out",
        seven,
        place.problem
    ]
    .ends_with(0);
    assert_eq!(entries(&seven).len(), 8, "seven problems and the domain");
    let config = &place.settings;
    run![
        "cut",
        "--cuts",
        "3",
        "--learn-config",
        config,
        "--out",
        three,
        place.problem
    ]
    .ends_with(0);
    assert_eq!(entries(&three).len(), 4);
}

#[test]
fn everything_that_is_wrong_with_a_file_is_said() {
    let place = place("first = 3\n[cut]\nrepiar = true\ngoals = 1.5\n");
    for command in ["solve", "cut"] {
        let mut words: Vec<std::ffi::OsString> = vec![command.into(), "--learn-config".into()];
        words.extend([place.settings.clone().into(), place.problem.clone().into()]);
        if command == "cut" {
            words.extend(["--out".into(), place.folder.path().join("out").into()]);
        }
        std::fs::write(
            &place.settings,
            "first = 3\n[cut]\nrepiar = true\ngoals = 1.5\n",
        )
        .expect("a file");
        let run = run_with(&words).ends_with(33).says("learn.toml");
        run.says("`first`").says("`cut.repiar`").says("`cut.goals`");
        let wrong = "few_cuts = 0\nsamples = 0\nquiet_below = 1.5\n[cut]\nattempts = 0\nall_goals = 2.0\n[fit]\nl2 = -1.0\n";
        std::fs::write(&place.settings, wrong).expect("a file");
        let run = run_with(&words).ends_with(33);
        run.says("`samples`")
            .says("`few_cuts`")
            .says("`quiet_below`")
            .says("`attempts`")
            .says("`all_goals`")
            .says("`l2`");
    }
    let nowhere = place.folder.path().join("nowhere.toml");
    run!["solve", "--learn-config", nowhere, place.problem]
        .ends_with(33)
        .says("nowhere.toml");
}

#[test]
fn every_setting_is_in_the_table() {
    let page = std::fs::read_to_string(root().join("docs/cutting.md")).expect("a document");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let usual = serde_json::to_value(LearnHereConfig::default()).expect("JSON");
    let mut names = Vec::new();
    for (field, value) in usual.as_object().expect("an object") {
        match value {
            Value::Object(section) => names.extend(section.keys().map(|k| format!("{field}.{k}"))),
            _ => names.push(field.clone()),
        }
    }
    // It must stay empty, so it is no setting.
    names.retain(|name| name != "function.heuristics");
    assert!(names.len() > 40);
    for name in names {
        let cell = format!("`{name}`");
        assert!(
            rows.iter().any(|row| row.contains(&cell)),
            "no row of {name}"
        );
    }
}

//! Help, version, manual pages, completions, and mistakes on the command line.

use crate::runs::{Run, entries, fixture, homing, run};

/// Commands that have something to do when called by their name alone.
const WITHOUT_ARGUMENTS: [&str; 5] = ["lsp", "man", "model list", "quickstart", "serve"];

/// The words that call each command, from the names of the manual pages.
fn all_commands() -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man1");
    run!["man", "--out", pages].ends_with(0);
    let commands: Vec<Vec<String>> = entries(&pages)
        .iter()
        .map(|page| {
            let words = page.strip_suffix(".1").expect("a manual page").split('-');
            words.skip(1).map(str::to_owned).collect()
        })
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    commands
}

fn in_columns(columns: &str, arguments: &[String]) -> Run {
    let mut command = homing();
    command.env("COLUMNS", columns).args(arguments);
    command.output().expect("homing starts").into()
}

#[test]
fn help_texts() {
    for (name, arguments) in [
        ("help", &["--help"][..]),
        ("help-solve", &["solve", "--help"]),
        ("help-solve-short", &["solve", "-h"]),
        ("help-validate", &["validate", "--help"]),
        ("help-check", &["check", "--help"]),
        ("help-train", &["train", "--help"]),
        ("help-report", &["report", "--help"]),
        ("help-model-show", &["model", "show", "--help"]),
        ("help-generate", &["generate", "--help"]),
        ("help-generate-blocks", &["generate", "blocks", "--help"]),
        ("help-suite", &["suite", "--help"]),
        ("help-cut", &["cut", "--help"]),
        ("help-quickstart", &["quickstart", "--help"]),
        ("help-evaluate", &["evaluate", "--help"]),
        ("help-evaluate-short", &["evaluate", "-h"]),
        ("help-experiment", &["experiment", "--help"]),
        ("help-report", &["report", "--help"]),
        ("help-serve", &["serve", "--help"]),
        ("help-view", &["view", "--help"]),
        ("help-completions", &["completions", "--help"]),
        ("help-man", &["man", "--help"]),
    ] {
        let run = crate::runs::run_with(arguments).ends_with(0);
        assert_eq!(run.stderr, "");
        insta::assert_snapshot!(name, run.stdout);
    }
}

#[test]
fn version() {
    let run = run!["--version"].ends_with(0);
    assert_eq!(
        run.stdout,
        format!("homing {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn no_arguments_show_help_on_standard_error() {
    let run = crate::runs::run_with::<&str>([])
        .ends_with(33)
        .says("Usage: homing")
        .says("solve");
    assert_eq!(run.stdout, "");
}

#[test]
fn wrong_arguments_end_with_33_and_a_hint() {
    let problem = fixture("valid/lamp/p01.pddl");
    let problem = problem.to_str().expect("UTF-8");
    for (arguments, hint) in [
        (&["frobnicate"][..], "unrecognized subcommand 'frobnicate'"),
        (&["solv", problem], "a similar subcommand exists: 'solve'"),
        (&["solve"], "Usage: homing solve [OPTIONS] [DOMAIN] PROBLEM"),
        (
            &["solve", "a", "b", "c"],
            "Usage: homing solve [OPTIONS] [DOMAIN] PROBLEM",
        ),
        (
            &["solve", "--heuristic", "lmcut", problem],
            "[possible values: blind, max, add, ff, landmarks]",
        ),
        (
            &["solve", "--search", "bfs", problem],
            "[possible values: gbfs, gbfls, astar, wastar, dijkstra, lazy, gbfs-h, gbfs-v, gbfls-h, \
             gbfls-v, gbfs-h-found, gbfs-v-found, gbfls-h-found, gbfls-v-found]",
        ),
        (
            &["solve", "--max-evaluations", "many", problem],
            "expected a whole number",
        ),
        (
            &["solve", "--max-expansions", "-5", problem],
            "expected a whole number",
        ),
        (
            &["solve", "--time-limit", "-1", problem],
            "expected a number of seconds",
        ),
        (
            &["solve", "--memory-limit", "lots", problem],
            "expected a size such as 500M or 4G",
        ),
        (
            &["solve", "--weight", "-2", problem],
            "a weight is a number that is not negative",
        ),
        (&["solve", "--plan", "x", problem], "'--plan-file'"),
        (
            &["validate", problem],
            "Usage: homing validate [DOMAIN] PROBLEM PLAN",
        ),
        (&["check"], "Usage: homing check DOMAIN [PROBLEM]"),
        (
            &["evaluate", "--out", "x", problem],
            "nothing to evaluate: name heuristics with --heuristic",
        ),
        (
            &["evaluate", "--heuristic", "ff", problem],
            "--out <RECORDS>",
        ),
        (&["experiment", "x.toml"], "--out <DIR>"),
        (
            &["experiment", "nope.toml", "--out", "x"],
            "cannot read nope.toml",
        ),
        (&["report", "nope"], "cannot read nope"),
        (
            &["report", "--threshold", "few", "nope"],
            "is not a number of evaluations",
        ),
        (
            &["quickstart", "--largest", "0"],
            "'--largest <N>': expected a whole number from 1",
        ),
    ] {
        let run = crate::runs::run_with(arguments).ends_with(33).says(hint);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn every_command_explains_itself_in_any_terminal() {
    for mut command in all_commands() {
        for flag in ["-h", "--help"] {
            command.push(flag.to_owned());
            for columns in ["60", "200"] {
                let run = in_columns(columns, &command).ends_with(0);
                assert_eq!(run.stderr, "", "{command:?}");
                let width = columns.parse::<usize>().expect("a number").min(100);
                for line in run.stdout.lines() {
                    let one_word = line.split_whitespace().count() == 1;
                    let fits = line.chars().count() <= width || one_word;
                    assert!(fits, "{command:?} in {columns} columns: {line}");
                }
            }
            command.pop();
        }
    }
}

#[test]
fn no_colour_where_none_is_wanted() {
    for mut command in all_commands() {
        command.push("--help".to_owned());
        let plain = in_columns("80", &command).ends_with(0);
        assert!(!plain.stdout.contains('\u{1b}'), "{command:?}");
        let output = homing()
            .env("CLICOLOR_FORCE", "1")
            .env("NO_COLOR", "1")
            .args(&command)
            .output();
        let run = Run::from(output.expect("homing starts")).ends_with(0);
        assert!(!run.stdout.contains('\u{1b}'), "{command:?}");
        command.pop();
        command.push("--no-such-option".to_owned());
        let wrong = in_columns("80", &command);
        assert!(!wrong.stderr.contains('\u{1b}'), "{command:?}");
    }
}

#[test]
fn every_command_answers_wrong_and_missing_arguments_with_its_usage() {
    for mut command in all_commands() {
        let usage = if command.is_empty() {
            "Usage: homing <COMMAND>".to_owned()
        } else {
            format!("Usage: homing {}", command.join(" "))
        };
        if !WITHOUT_ARGUMENTS.contains(&command.join(" ").as_str()) {
            let bare = in_columns("80", &command).ends_with(33).says(&usage);
            assert_eq!(bare.stdout, "", "{command:?}");
        }
        for wrong in ["--no-such-option", "--seed=", "-9"] {
            command.push(wrong.to_owned());
            let run = in_columns("80", &command).ends_with(33);
            assert_eq!(run.stdout, "", "{command:?}");
            assert!(
                run.stderr.contains(&usage) || run.stderr.contains("--help"),
                "{run:#?}"
            );
            command.pop();
        }
    }
}

#[test]
fn manual_pages_for_all_commands() {
    let main = run!["man"].ends_with(0).stdout;
    assert!(main.contains(".TH homing 1"), "{main}");
    assert!(main.contains("homing\\-solve(1)"), "{main}");
    let blocks = run!["man", "generate", "blocks"].ends_with(0).stdout;
    assert!(blocks.contains("\\-\\-blocks"), "{blocks}");
    run!["man", "frobnicate"]
        .ends_with(33)
        .says("there is no command `homing frobnicate`; `homing --help` lists the commands");
    run!["man", "solve", "--out", "x"].ends_with(33);
    let folder = tempfile::tempdir().expect("a folder");
    run!["man", "--out", folder.path().join("man1")].ends_with(0);
    run!["man", "--out", folder.path().join("man1")]
        .ends_with(33)
        .says("is not empty");
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run!["completions", shell].ends_with(0).stdout;
        for word in ["solve", "max-evaluations", "visitall"] {
            assert!(script.contains(word), "no {word} for {shell}");
        }
    }
    run!["completions", "dos"]
        .ends_with(33)
        .says("[possible values: bash, elvish, fish, powershell, zsh]");
}

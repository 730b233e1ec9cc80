//! Pages without a server.

use std::process::Command;

use super::client::{DOMAIN, problem};

fn view(arguments: &[&str], folder: &std::path::Path) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_homing"))
        .arg("view")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}

#[test]
fn plans_searches_and_logs_become_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("domain.pddl", DOMAIN);
    write("p.pddl", &problem(1));
    write("plan.txt", "(grasp b0 r g)\n(move r s)\n(release b0 s g)\n");
    write("wrong.txt", "(move s r)\n");
    write("none.txt", "there is no plan\n");
    let line = |step: u64| {
        format!(
            "{{\"H\":1.0,\"goals\":{step},\"h\":1.0,\"h_discounted\":1.0,\"loss\":0.5,\"resets\":0,\"step\":{step},\"stored\":1,\"target\":0.0,\"value\":0.0}}\n"
        )
    };
    write("log.jsonl", &(1..=3).map(line).collect::<String>());
    write("empty.jsonl", "{}\n");
    for (files, wanted) in [
        (&["p.pddl", "plan.txt"][..], "\"valid\":true"),
        (&["domain.pddl", "p.pddl", "wrong.txt"], "\"valid\":false"),
        (&["domain.pddl", "p.pddl"], "\"races\":[{"),
        (&["log.jsonl"], "[3,3,0.5]"),
    ] {
        let (well, said) = view(files, folder.path());
        assert!(well, "{files:?}: {said}");
        let page = std::fs::read_to_string(folder.path().join("view.html")).expect("a page");
        assert!(page.contains(wanted), "{files:?}");
        assert!(page.ends_with("</html>\n"));
    }
    for (files, wanted) in [
        (&["plan.txt"][..], "needs its problem"),
        (&["p.pddl", "none.txt"], "line 1"),
        (&["empty.jsonl"], "neither records of"),
        (&["missing.pddl"], "no such file"),
    ] {
        let (well, said) = view(files, folder.path());
        assert!(!well && said.contains(wanted), "{files:?}: {said}");
    }
}

/// Runs another command; what it prints.
fn homing(arguments: &[&str], folder: &std::path::Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_homing"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder with records of every kind: `ff.json`, `net.json`, `runs.jsonl`, and the folder of an
/// experiment `results`.
pub(crate) fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    let run = |arguments: &[&str]| homing(arguments, folder.path());
    run(&[
        "generate", "blocks", "--blocks", "4", "--seeds", "0..4", "--out", "set",
    ]);
    write("p.pddl", &problem(3));
    write("domain.pddl", DOMAIN);
    let solve = ["solve", "--json", "--search", "gbfs"];
    write("ff.json", &run(&[&solve[..], &["p.pddl"]].concat()));
    let anytime = [
        "solve",
        "--json",
        "--anytime",
        "--max-evaluations",
        "2000",
        "p.pddl",
    ];
    write("anytime.json", &run(&anytime));
    run(&[
        "evaluate",
        "--heuristic",
        "ff,add",
        "--out",
        "runs.jsonl",
        "set",
    ]);
    write(
        "e.toml",
        "title = \"small\"\nheuristics = [\"ff\"]\nseeds = 2\n[evaluate]\nmax_evaluations = 200\n\
         [train]\nconfig.steps = 60\n[own.four]\ndomain = \"set/domain.pddl\"\ntrain = \"set\"\n\
         evaluate = \"set\"\n",
    );
    run(&["experiment", "e.toml", "--out", "results"]);
    folder
}

#[test]
fn records_of_searches_and_experiments_become_pages() {
    let folder = recorded();
    let page = |files: &[&str]| {
        let (well, said) = view(files, folder.path());
        assert!(well, "{files:?}: {said}");
        std::fs::read_to_string(folder.path().join("view.html")).expect("a page")
    };
    let alone = page(&["ff.json", "anytime.json"]);
    assert!(alone.contains("\"solves\":[{") && !alone.contains("\"races\":["));
    // With their problem: the plan with its states, and the search as it was.
    let both = page(&["p.pddl", "ff.json"]);
    assert!(both.contains("\"valid\":true") && both.contains("\"races\":[{"));
    assert!(both.contains("evaluations, as recorded"));
    let runs = page(&["runs.jsonl"]);
    assert!(runs.contains("\"configurations\":[\"add\",\"ff\"]"));
    let results = page(&["results"]);
    assert!(results.contains("\"configurations\":[\"ff\",\"H-ff\"]"));
    assert!(results.contains("\"trainings\":[{"));
    assert_eq!(
        results,
        page(&["results"]),
        "the same records, the same bytes"
    );

    let other = problem(3).replace("(problem p)", "(problem q)");
    std::fs::write(folder.path().join("q.pddl"), other).expect("written");
    for (files, wanted) in [
        (&["q.pddl", "ff.json"][..], "is of the problem p, not of q"),
        (&["p.pddl", "runs.jsonl"], "leave out the problem"),
        (&["ff.json", "p.pddl"], "stands before its records"),
    ] {
        let (well, said) = view(files, folder.path());
        assert!(!well && said.contains(wanted), "{files:?}: {said}");
    }
}

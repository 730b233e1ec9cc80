//! `homing report` as a user meets it, in a terminal and in a browser.

#[path = "commands/runs.rs"]
#[allow(dead_code, unused_imports, unused_macros)] // of what the tests of the other commands use
mod runs;

use std::path::{Path, PathBuf};
use std::process::Command;

use runs::{contents, fails, succeeds};

fn records() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/tests/report/records")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder with copies of the stored records.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["evaluations.jsonl", "training.jsonl"] {
        std::fs::copy(records().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn a_folder_of_records_becomes_a_folder_of_tables() {
    let folder = copied();
    let said = succeeds(&["report", text(folder.path())]);
    assert!(
        said.starts_with("298 runs of 38 problems in 3 domains"),
        "{said}"
    );
    assert!(said.ends_with("report/index.html\n"), "{said}");
    let first = contents(&folder.path().join("report"));
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "coverage.csv",
            "coverage.tex",
            "goals.csv",
            "goals.tex",
            "index.html",
            "runs.csv",
            "solved-by-objects.csv",
            "time.csv",
            "trainings.csv",
            "wins.csv",
            "wins.tex"
        ]
    );
    // Again, over what is there.
    succeeds(&["report", text(folder.path())]);
    assert_eq!(contents(&folder.path().join("report")), first);
}

#[test]
fn files_in_any_order_give_the_same_bytes() {
    let folder = copied();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let [evaluations, training] =
        ["evaluations.jsonl", "training.jsonl"].map(|name| folder.path().join(name));
    succeeds(&["report", "--out", text(&one), text(folder.path())]);
    // The second time also backwards, and half of it in another file.
    let lines = std::fs::read_to_string(&evaluations).unwrap();
    let mut lines: Vec<&str> = lines.lines().rev().collect();
    let half = lines.split_off(lines.len() / 2);
    let more = folder.path().join("more.jsonl");
    std::fs::write(&evaluations, lines.join("\n") + "\n").unwrap();
    std::fs::write(&more, half.join("\n") + "\n").unwrap();
    succeeds(&[
        "report",
        "--out",
        text(&two),
        text(&more),
        text(&training),
        text(&evaluations),
    ]);
    assert_eq!(contents(&one), contents(&two));
}

#[test]
fn title_and_thresholds() {
    let folder = copied();
    succeeds(&[
        "report",
        "--title",
        "Tables <1> & 2",
        "--threshold",
        "blocks=1000",
        "--threshold",
        "50000",
        text(folder.path()),
    ]);
    let report = contents(&folder.path().join("report"));
    let page = std::str::from_utf8(&report["index.html"]).unwrap();
    assert!(page.contains("<h1>Tables &lt;1&gt; &amp; 2</h1>"));
    assert!(page.contains("Solved within 1,000 evaluations, by size"));
    assert!(page.contains("Solved within 50,000 evaluations, by size"));
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let folder = copied();
    let at = |name: &str| folder.path().join(name);
    let said = fails(33, &["report", text(&at("nothing"))]);
    assert!(
        said.contains("nothing: there is no such file or folder"),
        "{said}"
    );

    std::fs::create_dir(at("empty")).unwrap();
    let said = fails(33, &["report", text(&at("empty"))]);
    assert!(
        said.contains("neither evaluations.jsonl nor training.jsonl in"),
        "{said}"
    );

    std::fs::write(at("empty/evaluations.jsonl"), "").unwrap();
    let said = fails(33, &["report", text(&at("empty"))]);
    assert!(said.contains("there are no records in"), "{said}");
    assert!(!at("empty/report").exists());

    let mut broken = std::fs::read_to_string(at("evaluations.jsonl")).unwrap();
    broken.insert_str(broken.find('\n').unwrap() + 1, "{\"format\":1}\n");
    std::fs::write(at("empty/evaluations.jsonl"), &broken).unwrap();
    let said = fails(33, &["report", text(&at("empty"))]);
    assert!(
        said.contains("evaluations.jsonl:2: not a record: missing field"),
        "{said}"
    );
    assert!(!at("empty/report").exists());

    let newer = broken.replacen("\"format\":1", "\"format\":9", 1);
    std::fs::write(at("empty/evaluations.jsonl"), newer).unwrap();
    let said = fails(33, &["report", text(&at("empty"))]);
    assert!(
        said.contains("evaluations.jsonl:1:") && said.contains("use a newer homing"),
        "{said}"
    );

    std::fs::write(at("taken"), "a file").unwrap();
    let said = fails(
        33,
        &["report", "--out", text(&at("taken")), text(folder.path())],
    );
    assert!(
        said.contains("cannot write") && said.contains("taken"),
        "{said}"
    );
    assert_eq!(std::fs::read(at("taken")).unwrap(), b"a file");

    let said = fails(
        33,
        &["report", "--threshold", "blocks=many", text(folder.path())],
    );
    assert!(
        said.contains("`many` is not a number of evaluations"),
        "{said}"
    );
}

/// What a killed run left of its last line is no reason to fail.
#[test]
fn an_unfinished_last_line_is_left_out() {
    let folder = copied();
    let path = folder.path().join("evaluations.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 100);
    std::fs::write(&path, bytes).unwrap();
    let said = succeeds(&["report", text(folder.path())]);
    assert!(said.starts_with("297 runs"), "{said}");
}

/// The page as a browser has it after its scripts have run; `None` where there is no browser.
fn in_browser(page: &Path, hash: &str) -> Option<(String, String)> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = browser else {
        eprintln!("skipped: there is no chromium here to show the page in");
        return None;
    };
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
        ])
        .args([
            "--window-size=1280,2000",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", home.path().display()))
        .arg(format!("file://{}{hash}", page.display()))
        .output()
        .unwrap();
    Some((
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

#[test]
fn a_browser_shows_all_figures_and_the_runs_behind_a_number() {
    let folder = copied();
    succeeds(&["report", text(folder.path())]);
    let page = folder
        .path()
        .join("report/index.html")
        .canonicalize()
        .unwrap();
    for (hash, rows) in [
        ("", 298),
        ("#runs?domain=blocks&configuration=ff", 11),
        ("#runs?domain=blocks&configuration=H-ff&seed=1", 13),
        ("#runs?domain=gripper&heuristic=add&p=0.3", 12),
        ("#trainings?domain=ferry&heuristic=ff", 3),
        ("#runs?domain=no%20such%20domain", 0),
    ] {
        let Some((dom, log)) = in_browser(&page, hash) else {
            return;
        };
        let root = &dom[dom.find("<html").unwrap_or_default()..];
        let root = &root[..root.find('>').unwrap_or_default()];
        for expected in [
            "data-errors=\"0\"",
            "data-figures=\"9\"",
            "data-ready=\"yes\"",
        ] {
            assert!(
                root.contains(expected),
                "{hash}: no {expected} in {root}\n{log}"
            );
        }
        assert!(dom.contains("<main data-figures=\"9\">"));
        assert!(!log.contains("CONSOLE"), "{hash}: {log}");
        let chosen = format!("data-rows=\"{rows}\"");
        assert!(dom.contains(&chosen), "{hash}: no {chosen}");
    }
}

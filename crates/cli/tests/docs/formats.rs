//! `docs/formats.md` names every field of what is written, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::markdown::root;

/// The fields in the first column of the table below a heading.
fn documented(heading: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("docs/formats.md")).expect("a document");
    let section = text
        .split("\n#")
        .map(|section| section.trim_start_matches('#').trim_start())
        .find(|section| section.lines().next() == Some(heading))
        .unwrap_or_else(|| panic!("no section `{heading}`"));
    let table = section
        .split("| Field |")
        .nth(1)
        .expect("a table of fields");
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next())
        .map(str::to_owned)
        .collect()
}

/// The fields of an object, and those of its objects and lists of objects that `inside` names.
fn fields(value: &Value, inside: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, value) in value.as_object().expect("an object") {
        found.insert(name.clone());
        if !inside.contains(&name.as_str()) {
            continue;
        }
        let (mark, parts) = match value {
            Value::Array(parts) => ("[]", parts.iter().collect()),
            other => ("", vec![other]),
        };
        for part in parts {
            let inner = part.as_object().expect("an object");
            found.extend(inner.keys().map(|key| format!("{name}{mark}.{key}")));
        }
    }
    found
}

fn homing(folder: &Path, arguments: &str) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_homing"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("homing starts");
    assert!(output.status.success(), "{arguments}: {output:?}");
    output
}

/// The JSON object in the metadata of a safetensors file.
fn header(path: &Path, key: &str) -> Value {
    let bytes = std::fs::read(path).expect("a file");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let all: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    let text = all["__metadata__"][key].as_str().expect("an entry");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_object_of_a_search() {
    let problem = root().join("fixtures/valid/lamp/p01.pddl");
    let output = homing(&root(), &format!("solve --json {}", problem.display()));
    let object: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(fields(&object, &[]), documented("`homing solve --json`"));
}

#[test]
fn manifests() {
    let folder = tempfile::tempdir().expect("a folder");
    homing(
        folder.path(),
        "generate blocks --blocks 3 --seeds 0..30 --out b",
    );
    let text = std::fs::read(folder.path().join("b/manifest.json")).expect("a manifest");
    let object: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        fields(&object, &["problems", "dropped"]),
        documented("Folders of problems")
    );
}

#[test]
fn models_logs_and_checkpoints() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    homing(place, "generate blocks --blocks 3 --seeds 0..9 --out b");
    homing(
        place,
        "train --learner nlm --steps 150 --layers 4 --out m.safetensors b",
    );
    let model = header(&place.join("m.safetensors"), "homing");
    assert_eq!(
        fields(&model, &["signature", "summary"]),
        documented("Networks")
    );
    let config = std::fs::read_to_string(place.join("m.toml")).expect("a configuration");
    let config: BTreeSet<&str> = config
        .lines()
        .filter_map(|line| line.split(" = ").next())
        .collect();
    let training = std::fs::read_to_string(root().join("docs/training.md")).expect("a document");
    for field in &config {
        assert!(training.contains(&format!("\n| `{field}` |")), "{field}");
    }
    assert!(
        config.iter().copied().eq(model["config"]
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect::<BTreeSet<_>>())
    );

    let log = std::fs::read_to_string(place.join("m.jsonl")).expect("a log");
    for line in log.lines() {
        let object: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(fields(&object, &[]), documented("Training logs"));
    }

    let mut endless = Command::new(env!("CARGO_BIN_EXE_homing"))
        .args([
            "train",
            "--learner",
            "nlm",
            "--steps",
            "100000000",
            "--checkpoint-every",
            "120",
        ])
        .args(["--layers", "4", "--out", "endless", "b"])
        .current_dir(place)
        .stdin(Stdio::null())
        .spawn()
        .expect("homing starts");
    let checkpoint = place.join("endless.checkpoint");
    let start = Instant::now();
    while !checkpoint.exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    endless.kill().expect("it still runs");
    endless.wait().expect("an end");
    assert_eq!(
        fields(&header(&checkpoint, "homing-checkpoint"), &[]),
        documented("Checkpoints")
    );
}

#[test]
fn models_of_counts_and_the_object_of_their_training() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    homing(place, "generate blocks --blocks 3 --seeds 0..9 --out b");
    let object = homing(place, "train --json --out m.safetensors b").stdout;
    let object: Value = serde_json::from_slice(&object).expect("JSON");
    assert_eq!(fields(&object, &[]), documented("Training of counts"));
    let model = header(&place.join("m.safetensors"), "homing");
    assert_eq!(
        fields(&model, &["signature", "report"]),
        documented("Counts")
    );
    assert_eq!(object["report"], model["report"]);
    // Every setting is in the table of its section.
    let learning = std::fs::read_to_string(root().join("docs/learning.md")).expect("a document");
    for (section, settings) in model["config"].as_object().expect("an object") {
        for (field, _) in settings.as_object().expect("a section") {
            let row = format!("\n| `{section}.{field}` |");
            assert!(learning.contains(&row), "{section}.{field}");
        }
    }
}

#[test]
fn hypergraph_networks_and_the_object_of_their_training() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    homing(place, "generate blocks --blocks 3 --seeds 0..9 --out b");
    let settings = "epochs = 2\nfolds = 2\nrounds = 3\nwidth = 8\n";
    std::fs::write(place.join("hgn.toml"), settings).expect("a file");
    let command = "train --learner hgn --json --config hgn.toml --out m.safetensors b";
    let object = homing(place, command).stdout;
    let object: Value = serde_json::from_slice(&object).expect("JSON");
    assert_eq!(
        fields(&object, &[]),
        documented("Training of hypergraph networks")
    );
    let model = header(&place.join("m.safetensors"), "homing");
    assert_eq!(
        fields(&model, &["signature", "report"]),
        documented("Hypergraph networks")
    );
    assert_eq!(object["report"], model["report"]);
    // Every setting is in the table.
    let page = root().join("docs/baselines-learned.md");
    let page = std::fs::read_to_string(page).expect("a document");
    for (field, _) in model["config"].as_object().expect("an object") {
        assert!(page.contains(&format!("\n| `{field}` |")), "{field}");
    }
}

#[test]
fn records_and_the_object_of_training() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    homing(place, "generate blocks --blocks 3 --seeds 0..9 --out b");
    let trained =
        "train --learner nlm --json --steps 120 --layers 4 --no-log --out m.safetensors b";
    let object = homing(place, trained).stdout;
    let object: Value = serde_json::from_slice(&object).expect("JSON");
    assert_eq!(fields(&object, &[]), documented("Training of networks"));

    let records = |path: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(place.join(path)).expect("records");
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("JSON")
    };
    let of_searches = documented("Records of searches");
    homing(
        place,
        "evaluate --heuristic ff --model m.safetensors --out runs.jsonl b/3-s0.pddl",
    );
    let runs = records("runs.jsonl");
    assert_eq!(runs.len(), 2);
    for run in &runs {
        match run["model"].is_null() {
            true => assert!(of_searches.is_superset(&fields(run, &[]))),
            false => assert_eq!(fields(run, &["model"]), of_searches),
        }
    }

    let tiny = "title = \"tiny\"\ndomains = [\"blocks\"]\nheuristics = [\"ff\"]\nseeds = 1\n\
                [train]\nproblems = 5\nconfig.steps = 120\nconfig.layers = 4\n\
                [evaluate]\nproblems = 1\nmax_evaluations = 20\n";
    std::fs::write(place.join("tiny.toml"), tiny).expect("a file");
    homing(place, "experiment tiny.toml --out tiny");
    for run in records("tiny/evaluations.jsonl") {
        assert!(of_searches.is_superset(&fields(&run, &[])));
    }
    let training = records("tiny/training.jsonl");
    assert_eq!(training.len(), 1);
    assert_eq!(fields(&training[0], &[]), documented("Records of training"));
}

//! Training by ranking, and what can be seen of its models.

use serde_json::Value;

use crate::runs::{Run, entries, fixture, homing, run, run_with};
use crate::training::{bytes, folder};

/// Fifteen problems of four blocks, in `small`: one of sixteen draws is a repeat.
fn small(folder: &std::path::Path) -> std::path::PathBuf {
    let out = folder.join("small");
    run![
        "generate", "blocks", "--blocks", "4", "--seeds", "0..16", "--out", out
    ]
    .ends_with(0);
    out
}

#[test]
fn without_options_a_model_named_by_the_domain_comes_of_it() {
    let folder = folder();
    let small = small(folder.path());
    let in_folder = |arguments: &[&std::ffi::OsStr]| -> Run {
        let output = homing().current_dir(folder.path()).args(arguments).output();
        output.expect("homing starts").into()
    };
    let plain = ["train".as_ref(), small.as_os_str()];
    let run = in_folder(&plain).ends_with(0);
    assert_eq!(run.stderr, "");
    for part in [
        "problems walked through",
        "candidate",
        "* ",
        "another seed",
        "features",
    ] {
        assert!(run.stdout.contains(part), "no `{part}` in {run:#?}");
    }
    assert_eq!(
        entries(folder.path()),
        ["blocksworld-4ops.safetensors", "small"]
    );
    // Nobody named it, so it is not written over; unless the same run is asked for again.
    in_folder(&plain).ends_with(33).says("is there already");
    in_folder(&["train".as_ref(), "--resume".as_ref(), small.as_os_str()])
        .ends_with(0)
        .says("is there already, trained with these settings");
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_again_after_a_kill() {
    let folder = folder();
    let small = small(folder.path());
    let model = |name: &str| folder.path().join(name);
    for (name, jobs) in [("one", "1"), ("three", "3")] {
        run!["train", "--jobs", jobs, "--out", model(name), small].ends_with(0);
    }
    assert!(bytes(model("one")) == bytes(model("three")));
    let mut killed = homing()
        .args([
            "train".as_ref(),
            "--out".as_ref(),
            model("k").as_os_str(),
            small.as_os_str(),
        ])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("homing starts");
    std::thread::sleep(std::time::Duration::from_millis(30));
    killed.kill().expect("a signal");
    killed.wait().expect("an end");
    run!["train", "--resume", "--out", model("k"), small].ends_with(0);
    assert!(bytes(model("one")) == bytes(model("k")));
    // Seeds side by side are the runs one by one.
    run!["train", "--seeds", "0..2", "--out", model("both"), small].ends_with(0);
    assert_eq!(
        entries(&model("both")),
        ["seed-0.safetensors", "seed-1.safetensors"]
    );
    assert!(bytes(model("both").join("seed-0.safetensors")) == bytes(model("one")));
    assert!(bytes(model("both").join("seed-1.safetensors")) != bytes(model("one")));
}

#[test]
fn what_was_learnt_guides_searches_and_explains_itself() {
    let folder = folder();
    let small = small(folder.path());
    let model = folder.path().join("m.safetensors");
    let run = run!["train", "--json", "--out", model, small].ends_with(0);
    let record: Value = serde_json::from_str(&run.stdout).expect("one object");
    assert_eq!(record["learner"], "counts");
    assert_eq!(record["problems"], 15);
    assert_eq!(record["report"]["held_out"], 3);

    let large = folder.path().join("large");
    run![
        "generate", "blocks", "--blocks", "15", "--seeds", "3", "--out", large
    ]
    .ends_with(0);
    let problem = large.join("15-s3.pddl");
    for search in ["lazy", "gbfs"] {
        let run = run![
            "solve", "--json", "--search", search, "--model", model, problem
        ];
        let record: Value = serde_json::from_str(&run.ends_with(0).stdout).expect("one object");
        assert_eq!(record["validated"], true);
        assert_eq!(record["heuristic"], "counts");
    }

    let shown = run!["model", "show", "--features", "3", model].ends_with(0);
    assert_eq!(shown.line("domain             "), "blocksworld-4ops");
    for part in [
        "# candidates",
        "# features that weigh most",
        "(on ",
        "[selection]",
    ] {
        assert!(shown.stdout.contains(part), "no `{part}` in {shown:#?}");
    }
    // A model that corrects h_FF says how much of it is in the sum.
    let corrects = folder.path().join("corrects.safetensors");
    run!["train", "--heuristic", "ff", "--out", corrects, small].ends_with(0);
    let shown = run!["model", "show", corrects].ends_with(0);
    let weighted = shown.line("heuristics         ");
    assert!(weighted.starts_with("ff ("), "{weighted}");
    let trust = run!["model", "trust", model, problem].ends_with(0);
    assert!(trust.stdout.contains("round 2: "), "{trust:#?}");
    let trust = run!["model", "trust", "--json", model, problem].ends_with(0);
    let trust: Value = serde_json::from_str(&trust.stdout).expect("one object");
    let share = trust["share"].as_f64().expect("a number");
    assert!((0.9..=1.0).contains(&share), "{share}");
    run!["model", "trust", model, fixture("valid/gripper/p01.pddl")]
        .ends_with(33)
        .says("the model was trained for another domain");
}

#[test]
fn a_model_that_ships_is_found_by_the_domain() {
    let folder = folder();
    let large = folder.path().join("large");
    run![
        "generate", "blocks", "--blocks", "40", "--seeds", "3", "--out", large
    ]
    .ends_with(0);
    let problem = large.join("40-s3.pddl");
    let run = run!["solve", "--json", "--model", "auto", problem].ends_with(0);
    let record: Value = serde_json::from_str(&run.stdout).expect("one object");
    assert_eq!(record["validated"], true);
    assert_eq!(record["model"], "auto");
    assert_eq!(record["found_by"], "learned");
    run!["solve", "--verbose", "--max-evaluations", "5", problem]
        .says("homing has a model for this domain, paper/blocks: --model auto takes it");
    run![
        "solve",
        "--model",
        "auto",
        fixture("valid/night-watch/p01.pddl")
    ]
    .ends_with(33)
    .says("no model ships for domain night-watch");
    let list = run!["model", "list"].ends_with(0);
    assert_eq!(list.stdout.lines().count(), 19);
}

#[test]
fn options_of_the_other_learner_are_refused() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    let blocks = fixture("valid/blocks");
    for options in [
        &["--steps", "5"][..],
        &["--preset", "paper"],
        &["--no-log"],
        &["--select-every", "5"],
        &["--checkpoint-every", "5"],
    ] {
        let mut all: Vec<&std::ffi::OsStr> = vec!["train".as_ref(), "--out".as_ref()];
        all.push(model.as_ref());
        all.extend(options.iter().map(std::ffi::OsStr::new));
        all.push(blocks.as_ref());
        run_with(&all).ends_with(33).says(&format!(
            "{} is for the paper's network: add --learner nlm",
            options[0]
        ));
    }
    run![
        "train",
        "--learner",
        "nlm",
        "--budget",
        "5",
        "--out",
        model,
        blocks
    ]
    .ends_with(33)
    .says("--budget is for --learner counts");
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[test]
fn problems_that_are_too_large_are_said_to_be() {
    let folder = folder();
    let large = folder.path().join("large");
    run![
        "generate", "blocks", "--blocks", "12", "--seeds", "0..3", "--out", large
    ]
    .ends_with(0);
    let model = folder.path().join("m.safetensors");
    let config = folder.path().join("c.toml");
    std::fs::write(
        &config,
        "[data]\nkind = \"exact\"\ncut_from = 0\nstates = 1000\n",
    )
    .expect("a file");
    run!["train", "--config", config, "--out", model, large]
        .ends_with(33)
        .says("no problem could be walked through: 3 too large")
        .says("give smaller problems");
    // By itself, training cuts small ones out of them.
    run!["train", "--budget", "2", "--out", model, large]
        .ends_with(0)
        .says("only 0 of the problems could be walked through, 3 are too large")
        .says("cut out of larger ones");
    // A few small ones among them are used, with a word.
    let few = folder.path().join("few");
    run![
        "generate", "blocks", "--blocks", "4", "--seeds", "0..3", "--out", few
    ]
    .ends_with(0);
    run![
        "train",
        "--budget",
        "2",
        "--out",
        model,
        few.join("domain.pddl"),
        few,
        large
    ]
    .ends_with(0)
    .says("of the problems could be walked through");
}

#[test]
fn a_model_that_has_seen_little_is_said_to() {
    let folder = folder();
    let tiny = folder.path().join("tiny");
    run![
        "generate", "blocks", "--blocks", "2", "--seeds", "0..4", "--out", tiny
    ]
    .ends_with(0);
    let large = folder.path().join("large");
    run![
        "generate", "blocks", "--blocks", "20", "--seeds", "1", "--out", large
    ]
    .ends_with(0);
    let config = folder.path().join("c.toml");
    std::fs::write(&config, "[data]\nkind = \"exact\"\ncut_from = 0\n").expect("a file");
    let model = folder.path().join("m.safetensors");
    run!["train", "--config", config, "--out", model, tiny].ends_with(0);
    run!["solve", "--model", model, large.join("20-s1.pddl")]
        .ends_with(0)
        .says("homing: the model has seen ");
    let known = run!["solve", "--model", "auto", large.join("20-s1.pddl")].ends_with(0);
    assert_eq!(known.stderr, "");
}

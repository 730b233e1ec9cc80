//! Choosing among the snapshots of a run.

use crate::runs::{entries, fixture, run, run_with};
use crate::training::{HASTY, bytes, folder, train};

#[test]
fn the_best_snapshot_is_kept() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    let validation = fixture("valid/blocks");
    let validation = validation.to_str().expect("UTF-8");
    let select = ["--select", validation, "--select-every", "10"];
    train("blocks", &model, 200, &select).ends_with(0);
    assert_eq!(
        entries(folder.path()),
        ["m.events", "m.jsonl", "m.safetensors", "m.toml"]
    );
    let evaluations = |model: &std::path::Path| -> u64 {
        let mut sum = 0;
        for problem in ["p01", "p02", "p03"] {
            let problem = fixture(&format!("valid/blocks/{problem}.pddl"));
            let run = run!["solve", "--model", model, problem].ends_with(0);
            sum += run.line("Evaluations: ").parse::<u64>().expect("a number");
        }
        sum
    };
    // No other snapshot does with fewer evaluations; the last is one of them.
    let kept = evaluations(&model);
    for steps in [50, 100, 150, 200] {
        let other = folder.path().join(format!("{steps}.safetensors"));
        // The same run, ended earlier.
        train("blocks", &other, steps, &["--no-log"]).ends_with(0);
        assert!(kept <= evaluations(&other), "{steps}");
    }
}

/// The validation folder may have no domain of its own.
#[test]
fn selection_uses_the_domain_of_the_training_problems() {
    let folder = folder();
    let validation = folder.path().join("validation");
    std::fs::create_dir(&validation).expect("a folder");
    std::fs::copy(fixture("valid/blocks/p02.pddl"), validation.join("p.pddl")).expect("a problem");
    let model = folder.path().join("m.safetensors");
    let flags = ["--no-log", "--select", validation.to_str().expect("UTF-8")];
    train("blocks", &model, 60, &flags).ends_with(0);
    // Problems of another domain are noticed before the first step.
    let other = fixture("valid/gripper");
    let flags = ["--no-log", "--select", other.to_str().expect("UTF-8")];
    train("blocks", &model, 1_000_000, &flags)
        .ends_with(33)
        .says("for --select: the model was trained for another domain:")
        .says("the model knows no predicate `robot-in`");
}

/// The fixture's domain has another name than ours, and the same predicates and actions.
#[test]
fn selection_without_a_folder_takes_the_validation_suite_of_the_domain() {
    let folder = folder();
    let suite = folder.path().join("suite");
    run![
        "generate",
        "--suite",
        "validation",
        "--domain",
        "blocks",
        "--out",
        &suite
    ]
    .ends_with(0);
    // Every fourth or fifth of the 108 problems, in the order of the manifest.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).expect("a folder");
    let manifest: serde_json::Value =
        serde_json::from_slice(&bytes(suite.join("blocks/manifest.json"))).expect("a manifest");
    let problems = manifest["problems"].as_array().expect("problems");
    for index in 0..24 {
        let file = problems[index * problems.len() / 24]["file"].as_str();
        let file = file.expect("a name");
        let text = String::from_utf8(bytes(suite.join("blocks").join(file))).expect("UTF-8");
        let text = text.replace("(:domain blocksworld-4ops)", "(:domain blocks)");
        std::fs::write(taken.join(file), text).expect("a problem");
    }
    let every = [
        "--no-log",
        "--select-every",
        "20",
        "--select-evaluations",
        "60",
    ];
    let train_with = |name: &str, select: &[&str]| {
        let model = folder.path().join(name);
        let flags = [&every, select].concat();
        let run = train("blocks", &model, 100, &flags).ends_with(0);
        (bytes(model), run)
    };
    let (by_folder, _) = train_with("folder", &["--select", taken.to_str().expect("UTF-8")]);
    let (by_suite, run) = train_with("suite-model", &["--select", "--jobs", "1"]);
    run.says("24 of the 108 problems of `homing generate --suite validation --domain blocks`");
    assert!(by_folder == by_suite);

    // A word behind --select is a folder, but where nothing else is to be trained on.
    let model = folder.path().join("alone");
    let mut alone: Vec<&std::ffi::OsStr> = ["train", "--learner", "nlm", "--out"]
        .map(std::ffi::OsStr::new)
        .to_vec();
    alone.push(model.as_ref());
    let hasty = HASTY.iter().chain(&every).chain(&["--steps", "100"]);
    alone.extend(hasty.map(std::ffi::OsStr::new));
    let problems = fixture("valid/blocks");
    alone.extend(["--select".as_ref(), problems.as_os_str()]);
    run_with(&alone).ends_with(0);
    assert!(bytes(model) == by_suite);
}

#[test]
fn selection_without_a_folder_names_the_domains_that_have_a_suite() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    let one_of = "blocks, ferry, gripper, logistics, miconic, parking, satellite, visitall";
    train("delivery", &model, 1_000_000, &["--select", "--no-log"])
        .ends_with(33)
        .says("has no validation problems: its predicates, types and actions are not those of")
        .says(one_of)
        .says("`--select FOLDER` selects by problems of yours");
    let domain = fixture("valid/blocks/domain.pddl");
    let file = ["--select", domain.to_str().expect("UTF-8")];
    train("blocks", &model, 1_000_000, &file)
        .ends_with(33)
        .says("--select takes a folder, and")
        .says("write --select behind the problems");
    run!["train", "--learner", "nlm", "--out", &model, "--select"]
        .ends_with(33)
        .says("no problems to train on are given");
    assert_eq!(entries(folder.path()), [""; 0]);
}

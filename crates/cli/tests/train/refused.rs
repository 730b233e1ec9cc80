//! Settings that make no sense, files that cannot be used, folders that cannot be written.

use std::path::Path;

use crate::runs::{entries, fixture, run};
use crate::training::{bytes, folder, train};

#[test]
fn settings_that_make_no_sense() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    for (flags, message) in [
        (
            &["--layers", "2"][..],
            "homing: 2 layers cannot come down from arity 3 to 0: layers must be at least max_arity + 1 = 4",
        ),
        (
            &["--layers", "1000000000000"],
            "homing: `layers` must be at most 100",
        ),
        (
            &["--max-arity", "9", "--layers", "12"],
            "max_arity is 9; at most 5 is supported",
        ),
        (
            &["--max-arity", "1"],
            "the input has arity 2 but max_arity is 1",
        ),
        (&["--features", "0"], "features is 0; it must lie in 1..=64"),
        (
            &["--gamma", "1.5"],
            "homing: `gamma` must lie between 0 and 1, both excluded",
        ),
        (&["--gamma", "nan"], "`gamma` must lie between 0 and 1"),
        (
            &["--gamma", "many"],
            "invalid value 'many' for '--gamma <X>'",
        ),
        (&["--temperature", "0"], "`temperature` must be positive"),
        (
            &["--learning-rate", "inf"],
            "`learning_rate` must be positive",
        ),
        (&["--batch-size", "0"], "`batch_size` must be at least 1"),
        (
            &["--batch-size", "61"],
            "`replay_capacity` must be at least the batch size",
        ),
        // Otherwise SGD would never begin.
        (
            &["--warm-up", "61"],
            "`replay_capacity` must be at least the warm-up",
        ),
        (
            &["--max-episode-length", "0"],
            "`max_episode_length` must be at least 1",
        ),
        (
            &["--policy", "random"],
            "[possible values: softmax, greedy]",
        ),
        (
            &["--seeds", "5..5"],
            "expected a range of seeds such as 0..20",
        ),
        (&["--seeds", "0..3", "--seed", "1"], "cannot be used with"),
        (&["--steps", "-5"], "error:"),
        (&["--jobs", "0"], "invalid value '0'"),
    ] {
        // A flag given twice is a mistake of its own: those of the test come alone.
        let hasty = crate::training::HASTY;
        let mut all: Vec<&str> = Vec::new();
        for pair in hasty.chunks(2).filter(|pair| !flags.contains(&pair[0])) {
            all.extend(pair);
        }
        all.extend(flags);
        let run = crate::runs::run_with(crate::training::arguments("blocks", &model, &all));
        let run = run.ends_with(33).says(message);
        assert_eq!(run.stdout, "");
    }
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[test]
fn a_configuration_file_that_cannot_be_used() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    let file = folder.path().join("settings.toml");
    for (text, messages) in [
        (
            "gama = 0.9\n",
            &["settings.toml: ", "unknown field `gama`", "`gamma`"][..],
        ),
        (
            "steps = \"many\"\n",
            &["settings.toml: ", "invalid type", "steps = \"many\""],
        ),
        ("gamma = 1.5\n", &["`gamma` must lie between 0 and 1"]),
        ("steps = -1\n", &["settings.toml: ", "steps = -1"]),
        (
            "reward = \"prize\"\n",
            &["settings.toml: ", "unknown variant `prize`"],
        ),
        ("steps = \n", &["settings.toml: ", "steps = "]),
        (
            "steps = 1\nsteps = 2\n",
            &["settings.toml: ", "duplicate key"],
        ),
        ("\u{0}\u{1}", &["settings.toml: "]),
    ] {
        std::fs::write(&file, text).expect("a file");
        let mut run = run![
            "train",
            "--learner",
            "nlm",
            "--config",
            file,
            "--out",
            model,
            fixture("valid/blocks")
        ]
        .ends_with(33);
        for message in messages {
            run = run.says(message);
        }
    }
    run![
        "train",
        "--learner",
        "nlm",
        "--config",
        "nope.toml",
        "--out",
        model,
        fixture("valid/blocks")
    ]
    .ends_with(33)
    .says("cannot read nope.toml: there is no such file or folder");
    assert_eq!(entries(folder.path()), ["settings.toml"]);
    // Flags go over the file, the file over the preset.
    std::fs::write(&file, "layers = 4\nsteps = 30\nfeatures = 3\n").expect("a file");
    run![
        "train",
        "--learner",
        "nlm",
        "--preset",
        "paper",
        "--config",
        file,
        "--steps",
        "20",
        "--out",
        model,
        fixture("valid/blocks")
    ]
    .ends_with(0);
    let shown = run!["model", "show", model].ends_with(0);
    for (field, value) in [
        ("layers = ", "4"),
        ("steps = ", "20"),
        ("features = ", "3"),
        ("policy = ", "\"greedy\""),
    ] {
        assert_eq!(shown.line(field), value);
    }
}

#[test]
fn problems_that_cannot_be_trained_on() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    run!["train", "--out", model, empty]
        .ends_with(33)
        .says("homing: there are no problems in ");
    run!["train", "--out", model, "nope"]
        .ends_with(33)
        .says("cannot read");
    run!["train", "--seeds", "0..2", fixture("valid/blocks")]
        .ends_with(33)
        .says("--seeds needs --out");
    // Problems without a plan are left out; here nothing is left, but for what is cut out of them.
    let unsolvable = fixture("valid/unsolvable");
    run!["train", "--out", model, unsolvable]
        .ends_with(0)
        .line("0 problems walked through");
    std::fs::remove_file(&model).expect("a model");
    run!["train", "--learner", "nlm", "--out", model, unsolvable].ends_with(33);
    run![
        "train",
        "--out",
        model,
        fixture("valid/blocks"),
        fixture("valid/gripper")
    ]
    .ends_with(31);
    assert_eq!(entries(folder.path()), ["empty"]);
}

#[test]
fn models_that_cannot_be_used() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    train("blocks", &model, 40, &["--no-log"]).ends_with(0);
    run!["solve", "--model", model, fixture("valid/gripper/p01.pddl")]
        .ends_with(33)
        .says(&format!(
            "homing: {}: the model was trained for another domain:",
            model.display()
        ))
        .says("the domain has no predicate `arm-empty`")
        .says("the model knows no type `room`");
    let whole = bytes(&model);
    let cut = folder.path().join("cut.safetensors");
    std::fs::write(&cut, &whole[..whole.len() - 10]).expect("a file");
    run!["solve", "--model", cut, fixture("valid/blocks/p01.pddl")]
        .ends_with(33)
        .says("cut.safetensors: the model file is damaged or cut short");
    run!["model", "show", cut].ends_with(33).says("damaged");
    let mut flipped = whole;
    let last = flipped.len() - 4;
    flipped[last] ^= 1;
    std::fs::write(&cut, &flipped).expect("a file");
    run!["model", "show", cut]
        .ends_with(33)
        .says("its checksum does not fit its content");
    for file in [fixture("valid/blocks/domain.pddl"), fixture("valid/blocks")] {
        run!["model", "show", file].ends_with(33);
    }
    run!["model", "show", "nope"]
        .ends_with(33)
        .says("cannot read nope: there is no such file or folder");
    run![
        "solve",
        "--model",
        model,
        "--heuristic",
        "add",
        fixture("valid/blocks/p01.pddl")
    ]
    .ends_with(33)
    .says("cannot be used with");
}

#[cfg(target_os = "linux")]
#[test]
fn folders_where_nothing_can_be_written() {
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").expect("a file");
    for (out, reason) in [
        (
            folder.path().join("missing/m"),
            "there is no such file or folder",
        ),
        (
            folder.path().to_owned(),
            "it is a folder, which is for --seeds",
        ),
        (file.join("m"), "part of the path is a file, not a folder"),
        // Even for root.
        (Path::new("/proc/m").to_owned(), ""),
    ] {
        let run = train("blocks", &out, 1_000_000, &[]).ends_with(33);
        run.says("homing: cannot write ").says(reason);
        if reason.is_empty() {
            continue;
        }
        // A folder is made for several seeds.
        let seeds = ["--seeds", "0..2"];
        if out.starts_with(&file) {
            train("blocks", &out, 40, &seeds)
                .ends_with(33)
                .says("homing: cannot write ");
        }
    }
    assert_eq!(bytes(&file), b"kept");
}

/// A limit on the size of files fails in the same places as a full disk. The checkpoint written
/// before stays, and can be gone on from once there is room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_last_checkpoint() {
    use crate::runs::{Run, homing};
    use crate::training::{HASTY, arguments};

    let folder = folder();
    let calm = folder.path().join("calm.safetensors");
    let flags = |steps: &'static str| {
        let mut flags = HASTY.to_vec();
        flags.extend(["--steps", steps, "--checkpoint-every", "25"]);
        flags
    };
    crate::runs::run_with(arguments("blocks", &calm, &flags("2000"))).ends_with(0);
    let model = folder.path().join("m.safetensors");
    // In blocks of 512 bytes: a checkpoint and some hundred lines of the log, not all of it.
    let limited = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""])
        .arg(homing().get_program())
        .args(arguments("blocks", &model, &flags("2000")))
        .output();
    let run = Run::from(limited.expect("a shell")).ends_with(33);
    run.says("homing: cannot write ")
        .says("m.jsonl: files may not be that large here");
    assert!(!model.exists());
    assert!(folder.path().join("m.checkpoint").exists());
    let mut more = flags("2000");
    more.push("--resume");
    // With no room at all nothing is lost.
    let files = ["m.checkpoint", "m.jsonl"];
    let before = files.map(|name| bytes(folder.path().join(name)));
    let limited = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(homing().get_program())
        .args(arguments("blocks", &model, &more))
        .output();
    Run::from(limited.expect("a shell"))
        .ends_with(33)
        .says("homing: cannot write ");
    assert!(before == files.map(|name| bytes(folder.path().join(name))));
    crate::runs::run_with(arguments("blocks", &model, &more)).ends_with(0);
    assert!(bytes(&model) == bytes(&calm));
    assert!(bytes(model.with_extension("jsonl")) == bytes(calm.with_extension("jsonl")));
    // No temporary file is left.
    let left = entries(folder.path());
    assert!(!left.iter().any(|name| name.starts_with('.')), "{left:?}");
}

//! A run from start to end: its files, the summary, the model in use.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::runs::{entries, fixture, run};
use crate::training::{arguments, bytes, event_files, folder, log, train};

const FIELDS: [&str; 10] = [
    "step",
    "goals",
    "resets",
    "stored",
    "loss",
    "target",
    "value",
    "h_discounted",
    "h",
    "H",
];

#[test]
fn a_run_leaves_a_model_its_configuration_and_its_log() {
    let folder = folder();
    let model = folder.path().join("blocks.safetensors");
    let run = train(
        "blocks",
        &model,
        120,
        &["--heuristic", "add", "--seed", "4"],
    )
    .ends_with(0);
    assert_eq!(run.stderr, "");
    let summary = run.line(&format!("{}: ", model.display()));
    for part in [
        "seed 4, 120 steps, ",
        " goals in ",
        " episodes, loss ",
        "network ",
        "planning ",
    ] {
        assert!(summary.contains(part), "{summary}");
    }
    assert_eq!(
        entries(folder.path()),
        [
            "blocks.events",
            "blocks.jsonl",
            "blocks.safetensors",
            "blocks.toml"
        ]
    );

    let lines = log(&folder.path().join("blocks.jsonl"));
    assert_eq!(lines.len(), 120);
    let mut goals = 0;
    for (index, line) in lines.iter().enumerate() {
        let line = line.as_object().expect("an object");
        assert_eq!(line.len(), FIELDS.len());
        assert_eq!(line["step"], index as u64 + 1);
        for field in &FIELDS[..4] {
            assert!(line[*field].is_u64(), "{field}: {line:?}");
        }
        let learnt = line["stored"].as_u64() >= Some(20);
        for field in &FIELDS[4..] {
            assert_eq!(line[*field].is_number(), learnt, "{field}: {line:?}");
        }
        assert!(line["goals"].as_u64() >= Some(goals));
        goals = line["goals"].as_u64().expect("a number");
    }
    assert!(goals > 0);
    assert!(
        summary.contains(&format!(", {goals} goals in ")),
        "{summary}"
    );

    let configuration = String::from_utf8(bytes(folder.path().join("blocks.toml"))).expect("UTF-8");
    assert!(configuration.contains("heuristic = \"add\"\n"));
    assert!(configuration.contains("steps = 120\n"));
    // It is a configuration to train with: the same bytes come of it.
    let again = folder.path().join("again.safetensors");
    run![
        "train",
        "--learner",
        "nlm",
        "--config",
        folder.path().join("blocks.toml"),
        "--seed",
        "4",
        "--no-log",
        "--jobs",
        "1",
        "--out",
        again,
        fixture("valid/blocks/domain.pddl"),
        fixture("valid/blocks/p01.pddl"),
        fixture("valid/blocks/p02.pddl"),
        fixture("valid/blocks/p03.pddl")
    ]
    .ends_with(0);
    assert!(bytes(&model) == bytes(&again));
    assert!(!folder.path().join("again.jsonl").exists());
}

/// A reader of event files, as small as it can be: every record's frame and checksums, then each
/// event's step and numbers.
fn read_events(bytes: &[u8]) -> Vec<(u64, BTreeMap<String, f32>)> {
    fn crc32c(bytes: &[u8]) -> u32 {
        let mut sum = !0u32;
        for byte in bytes {
            sum ^= u32::from(*byte);
            for _ in 0..8 {
                sum = if sum & 1 == 1 {
                    sum >> 1 ^ 0x82f6_3b78
                } else {
                    sum >> 1
                };
            }
        }
        !sum
    }
    let masked = |bytes: &[u8]| {
        let sum = crc32c(bytes);
        sum.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
    };
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = bytes.split_first().expect("a number");
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    /// Fields of a message as (number, value or bytes).
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>, u64)> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let (mut content, mut value) = (Vec::new(), 0);
            match key & 7 {
                0 => value = varint(&mut bytes),
                kind => {
                    let length = match kind {
                        1 => 8,
                        2 => varint(&mut bytes) as usize,
                        5 => 4,
                        other => panic!("a field of kind {other}"),
                    };
                    let (now, rest) = bytes.split_at(length);
                    content = now.to_vec();
                    bytes = rest;
                }
            }
            found.push((key >> 3, content, value));
        }
        found
    }
    let mut events = Vec::new();
    let mut rest = bytes;
    let mut first = true;
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().expect("a length")) as usize;
        assert_eq!(rest[8..12], masked(&rest[..8]));
        let event = &rest[12..12 + length];
        assert_eq!(rest[12 + length..16 + length], masked(event));
        rest = &rest[16 + length..];
        let (mut step, mut numbers) = (0, BTreeMap::new());
        for (number, content, value) in fields(event) {
            match number {
                1 => assert!(f64::from_le_bytes(content.try_into().expect("a time")) > 1.7e9),
                2 => step = value,
                3 => assert!(first && content == b"brain.Event:2"),
                5 => {
                    for (_, entry, _) in fields(&content) {
                        let entry = fields(&entry);
                        let tag = String::from_utf8(entry[0].1.clone()).expect("a name");
                        let number = entry[1].1.clone().try_into().expect("four bytes");
                        numbers.insert(tag, f32::from_le_bytes(number));
                    }
                }
                other => panic!("field {other}"),
            }
        }
        if !first {
            events.push((step, numbers));
        }
        first = false;
    }
    events
}

#[test]
fn the_event_file_says_what_the_lines_say() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    train("blocks", &model, 60, &[]).ends_with(0);
    let files = event_files(&folder.path().join("m.events"));
    let [file] = &files[..] else {
        panic!("{files:?}");
    };
    let name = file.file_name().expect("a name").to_string_lossy();
    assert!(
        name.contains("tfevents"),
        "TensorBoard would not find {name}"
    );
    let events = read_events(&bytes(file));
    let lines = log(&folder.path().join("m.jsonl"));
    assert_eq!(events.len(), lines.len());
    for ((step, numbers), line) in events.iter().zip(&lines) {
        assert_eq!(line["step"], *step);
        for field in FIELDS
            .iter()
            .filter(|field| !["step", "stored"].contains(field))
        {
            let logged = match &line[*field] {
                Value::Null => None,
                value => Some(value.as_f64().expect("a number") as f32),
            };
            assert_eq!(
                numbers.get(*field).copied(),
                logged,
                "{field} of step {step}"
            );
        }
    }
}

#[test]
fn the_model_guides_every_search_to_validated_plans() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    for (name, heuristic) in [
        ("blocks", "ff"),
        ("delivery", "blind"),
        ("dead-ends", "max"),
    ] {
        train(name, &model, 120, &["--heuristic", heuristic, "--no-log"]).ends_with(0);
        for problem in ["p01.pddl", "p02.pddl"] {
            let problem = fixture(&format!("valid/{name}/{problem}"));
            for search in ["gbfs", "gbfls", "astar", "wastar", "dijkstra"] {
                let mut counts = Vec::new();
                for threads in ["1", "2"] {
                    let run = run![
                        "solve",
                        "--json",
                        "--model",
                        model,
                        "--search",
                        search,
                        "--threads",
                        threads,
                        problem
                    ]
                    .ends_with(0);
                    let record: Value = serde_json::from_str(&run.stdout).expect("one object");
                    assert_eq!(record["validated"], true);
                    assert_eq!(record["model"], model.display().to_string());
                    if search != "dijkstra" {
                        assert_eq!(record["heuristic"], format!("H-{heuristic}"));
                    }
                    counts.push((record["plan"].clone(), record["evaluations"].clone()));
                }
                assert_eq!(counts[0], counts[1]);
            }
        }
    }
}

#[test]
fn what_is_inside_a_model_can_be_seen() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    train("blocks", &model, 60, &["--seed", "9"]).ends_with(0);
    let run = run!["model", "show", model].ends_with(0);
    assert_eq!(run.stderr, "");
    // What sums of 32-bit numbers lead to depends on the machine in the last digits.
    let text: Vec<&str> = run
        .stdout
        .lines()
        .map(|line| {
            let learnt = ["goals reached", "episodes", "last loss"];
            let learnt = learnt.into_iter().find(|start| line.starts_with(start));
            learnt.unwrap_or(line)
        })
        .collect();
    insta::assert_snapshot!("model-show", text.join("\n"));
}

#[test]
fn seeds_side_by_side_give_the_files_of_runs_one_by_one() {
    let folder = folder();
    let all = folder.path().join("all");
    train("blocks", &all, 100, &["--seeds", "0..3", "--jobs", "2"]).ends_with(0);
    let mut names = Vec::new();
    for seed in 0..3 {
        for end in ["events", "jsonl", "safetensors", "toml"] {
            names.push(format!("seed-{seed}.{end}"));
        }
    }
    assert_eq!(entries(&all), names);
    for seed in ["0", "1", "2"] {
        let one = folder.path().join(format!("one-{seed}.safetensors"));
        train("blocks", &one, 100, &["--seed", seed]).ends_with(0);
        for end in ["jsonl", "safetensors", "toml"] {
            let together = bytes(all.join(format!("seed-{seed}.{end}")));
            assert!(together == bytes(one.with_extension(end)), "{seed}, {end}");
        }
        // One folder a run: TensorBoard takes a folder for a run.
        assert_eq!(
            event_files(&all.join(format!("seed-{seed}.events"))).len(),
            1
        );
    }
}

#[test]
fn exact_values_of_small_problems() {
    let run = run![
        "train",
        "--tabular",
        "--heuristic",
        "ff",
        "--reward",
        "cost",
        "--gamma",
        "0.9",
        fixture("valid/blocks")
    ]
    .ends_with(0);
    insta::assert_snapshot!("tabular", run.stdout);
    run![
        "train",
        "--tabular",
        "--out",
        "x",
        "--reward",
        "prize",
        fixture("valid/blocks")
    ]
    .ends_with(33)
    .says("invalid value 'prize'")
    .says("[possible values: cost, cost-but-last, goal]");
}

#[test]
fn costs_and_dead_ends_are_no_trouble() {
    let folder = folder();
    for name in [
        "delivery",
        "zero-cost",
        "dead-ends",
        "night-watch",
        "lamp",
        "harbour",
    ] {
        for heuristic in ["blind", "ff"] {
            for unit in ["true", "false"] {
                let model = folder.path().join(format!("{name}-{heuristic}-{unit}"));
                let flags = ["--heuristic", heuristic, "--unit-cost", unit];
                let run = train(name, &model, 200, &flags).ends_with(0);
                assert!(run.stdout.contains("200 steps"), "{run:#?}");
            }
        }
    }
}

/// A predicate of four arguments needs a network of arity four, which needs five layers.
#[test]
fn the_network_grows_with_the_domain_unless_it_is_set() {
    let folder = folder();
    let domain = folder.path().join("domain.pddl");
    std::fs::write(
        &domain,
        "(define (domain wide) (:requirements :strips) (:predicates (box ?a ?b ?c ?d) (done))\n\
         (:action close :parameters (?a ?b ?c ?d)\n\
          :precondition (box ?a ?b ?c ?d) :effect (done))\n\
         (:action turn :parameters (?a ?b ?c ?d)\n\
          :precondition (box ?a ?b ?c ?d) :effect (and (box ?b ?c ?d ?a) (not (box ?a ?b ?c ?d)))))",
    )
    .expect("a file");
    let problem = folder.path().join("p.pddl");
    std::fs::write(
        &problem,
        "(define (problem p) (:domain wide) (:objects o1 o2 o3 o4)\n\
         (:init (box o1 o2 o3 o4)) (:goal (and (done) (box o3 o4 o1 o2))))",
    )
    .expect("a file");
    let model = folder.path().join("m.safetensors");
    let steps = ["--steps", "40", "--warm-up", "10", "--batch-size", "8"];
    let run = |flags: &[&str]| {
        let mut all = arguments("lamp", &model, &steps);
        all.pop();
        all.extend(flags.iter().map(std::ffi::OsString::from));
        all.extend([domain.clone().into(), problem.clone().into()]);
        crate::runs::run_with(all)
    };
    let raised = run(&["--layers", "5"]).ends_with(0);
    assert_eq!(
        raised.stderr,
        "homing: max_arity is raised to 4, the least with which a network can read this domain\n"
    );
    // The preset's five layers are enough for four arguments; fewer from a file are as given.
    run(&["--max-arity", "5"])
        .ends_with(0)
        .says("homing: layers is raised to 6, the least");
    run(&["--max-arity", "3"])
        .ends_with(33)
        .says("the input has arity 4 but max_arity is 3");
    run(&["--layers", "4"])
        .ends_with(33)
        .says("4 layers cannot come down from arity 4 to 0");
    // A model remembers what it was raised to.
    let run = run!["model", "show", model].ends_with(0);
    assert_eq!(run.line("max_arity = "), "5");
}

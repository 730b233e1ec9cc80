//! Reports of stored records: every number beside an independent computation of it, snapshots of
//! the tables, and what must hold of any records.
//!
//! `dev/report/fixture.py` makes the records, `dev/report/reference.py` the numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use homing_lab::record::{Evaluation, ModelOfRun, Outcome, Training, read};
use homing_lab::report::{Report, ReportOptions, render};
use homing_lab::statistics::{Method, mean, median, rank_sum, standard_deviation, standard_error};
use proptest::prelude::*;
use serde_json::Value;

fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/report")
        .join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(stored(name)).unwrap()).unwrap()
}

fn records() -> (Vec<Evaluation>, Vec<Training>) {
    (
        read(&stored("records/evaluations.jsonl")).unwrap(),
        read(&stored("records/training.jsonl")).unwrap(),
    )
}

fn stored_report() -> Report {
    let (evaluations, trainings) = records();
    render(&evaluations, &trainings, &ReportOptions::default())
}

fn file<'r>(report: &'r Report, name: &str) -> &'r str {
    let (_, bytes) = report
        .files
        .iter()
        .find(|(found, _)| found == name)
        .unwrap();
    std::str::from_utf8(bytes).unwrap()
}

/// Rows of a CSV file by the names of their columns.
fn table(report: &Report, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut rows = file(report, name).lines().map(fields);
    let header = rows.next().unwrap();
    rows.map(|row| {
        assert_eq!(row.len(), header.len(), "{row:?}");
        header.iter().cloned().zip(row).collect()
    })
    .collect()
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

#[track_caller]
fn agrees(ours: &str, reference: &Value, what: &str) {
    let close = |expected: f64| {
        let ours: f64 = ours.parse().unwrap_or_else(|_| panic!("{what}: {ours:?}"));
        // Tables have six digits after the point.
        assert!(
            (ours - expected).abs() <= 6e-7 * (1.0 + expected.abs()),
            "{what}: {ours} here, {expected} there"
        );
    };
    match reference {
        Value::Null => assert_eq!(ours, "", "{what}"),
        Value::Bool(expected) => assert_eq!(ours, expected.to_string(), "{what}"),
        Value::String(expected) => assert_eq!(ours, expected, "{what}"),
        Value::Number(expected) => close(expected.as_f64().unwrap()),
        other => panic!("{what}: {other}"),
    }
}

/// Compares rows of a file with an object of the reference; returns how many numbers it compared.
fn compare(report: &Report, name: &str, reference: &Value) -> usize {
    let mut compared = 0;
    let rows = table(report, name);
    assert_eq!(rows.len(), reference.as_object().unwrap().len(), "{name}");
    for row in rows {
        let place = format!("{}/{}", row["domain"], row["heuristic"]);
        for (column, value) in reference[&place].as_object().unwrap() {
            agrees(&row[column], value, &format!("{name}, {place}, {column}"));
            compared += 1;
        }
    }
    compared
}

#[test]
fn every_table_agrees_with_an_independent_computation() {
    let report = stored_report();
    let reference = json("reference.json");
    let compared = compare(&report, "coverage.csv", &reference["coverage"])
        + compare(&report, "wins.csv", &reference["wins"])
        + compare(&report, "goals.csv", &reference["goals"])
        + compare(&report, "time.csv", &reference["time"]);
    assert!(compared > 150, "{compared}");
    let mut bins = 0;
    for row in table(&report, "solved-by-objects.csv") {
        let place = format!("{}/{}", row["domain"], row["heuristic"]);
        let bin = &reference["objects"][&place][&row["objects_from"]];
        for (column, value) in bin.as_object().unwrap() {
            agrees(&row[column], value, &format!("{place}, {column}"));
        }
        bins += 1;
    }
    let expected = reference["objects"].as_object().unwrap().values();
    let expected: usize = expected.map(|bins| bins.as_object().unwrap().len()).sum();
    assert_eq!(bins, expected);
}

#[test]
fn statistics_agree_with_scipy() {
    let reference = json("statistics.json");
    let cases = reference["cases"].as_array().unwrap();
    assert!(cases.len() > 80);
    let mut methods = BTreeSet::new();
    for case in cases {
        let sample =
            |name: &str| -> Vec<f64> { serde_json::from_value(case[name].clone()).unwrap() };
        let close = |ours: Option<f64>, name: &str| {
            let expected = case[name].as_f64();
            assert_eq!(ours.is_some(), expected.is_some(), "{name} of {case}");
            if let (Some(ours), Some(expected)) = (ours, expected) {
                let error = (ours - expected).abs();
                assert!(
                    error <= 1e-11 * expected.abs() + 1e-14,
                    "{name}: {ours}, {expected}"
                );
            }
        };
        let (x, y) = (sample("x"), sample("y"));
        close(mean(&x), "mean");
        close(median(&x), "median");
        close(standard_deviation(&x), "standard_deviation");
        close(standard_error(&x), "standard_error");
        let test = rank_sum(&x, &y).unwrap();
        close(Some(test.u), "u");
        close(Some(test.p), "p");
        let method = match test.method {
            Method::Exact => "exact",
            Method::Asymptotic => "asymptotic",
        };
        assert_eq!(method, case["method"], "{case}");
        methods.insert(method);
    }
    assert_eq!(methods.len(), 2);
}

#[test]
fn tables_as_stored() {
    let report = stored_report();
    insta::assert_snapshot!("summary", report.summary);
    for name in [
        "coverage.csv",
        "wins.csv",
        "goals.csv",
        "time.csv",
        "solved-by-objects.csv",
        "coverage.tex",
        "wins.tex",
        "goals.tex",
    ] {
        insta::assert_snapshot!(name, file(&report, name));
    }
}

/// Elements that are opened and closed, in their order, must fit.
fn is_well_formed(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').unwrap();
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n'])
            .next()
            .unwrap();
        if tag.starts_with('/') {
            assert_eq!(
                open.pop(),
                Some(name),
                "near {}",
                &rest[..rest.len().min(80)]
            );
        } else if name == "script" || name == "style" {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap() + name.len() + 3..];
        } else if !tag.ends_with('/') && !["!DOCTYPE", "meta", "link", "br"].contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn the_page_is_whole_and_alone() {
    let report = stored_report();
    let page = file(&report, "index.html");
    is_well_formed(page);
    assert!(
        !page.contains("http://") || page.matches("http").count() == 1,
        "only SVG's name"
    );
    assert!(!page.contains(" src="));
    // Three domains with evaluations and size; blocks, gripper and ferry with goals.
    assert_eq!(page.matches("<figure class=\"plot\">").count(), 3 + 3 + 3);
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), 9);
    for text in [
        "mean ± s.e.",
        "297 of 312 runs are there",
        "2 runs were stopped by time, memory or a failure",
        "1 run is repeated",
        "paper 250",
        "warehouse",
        "seeds left out",
        "3 (2 runs)",
        "#runs?domain=blocks&amp;configuration=H-ff&amp;seed=",
        "#trainings?domain=ferry&amp;heuristic=ff",
        "class=\"worse\"",
        "class=\"better\"",
        "class=\"caution\"",
        "prefers-color-scheme: dark",
        "@media print",
        "<noscript>",
    ] {
        assert!(page.contains(text), "no `{text}`");
    }
    let start = page.find("id=\"records\">").unwrap() + "id=\"records\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    let embedded: Value = serde_json::from_str(&page[start..end]).unwrap();
    assert_eq!(embedded["runs"].as_array().unwrap().len(), 298);
    assert_eq!(embedded["trainings"].as_array().unwrap().len(), 41);
}

/// One kind of record may be missing, or all of one domain; names may be anything.
#[test]
fn parts_of_the_records_make_a_report_too() {
    let (evaluations, trainings) = records();
    let options = ReportOptions::default();
    let bases: Vec<Evaluation> = evaluations
        .iter()
        .filter(|run| run.model.is_none())
        .cloned()
        .collect();
    let learned: Vec<Evaluation> = evaluations
        .iter()
        .filter(|run| run.model.is_some())
        .cloned()
        .collect();
    let mut odd = evaluations.clone();
    for run in &mut odd {
        run.domain = "</script><b>&\"a,b\" %_\\{".to_owned();
        run.problem.push_str("<i>\u{2028}");
        run.heuristic = run
            .heuristic
            .as_ref()
            .map(|name| name.replace("ff", "my own"));
        run.machine = "a \"fast\" <machine>".to_owned();
    }
    // A limit of 0 has once had no place on the axis of a figure.
    let mut none = evaluations.clone();
    for run in &mut none {
        run.max_evaluations = Some(0);
        run.evaluations = 0;
        run.outcome = Outcome::Limit;
    }
    for (evaluations, trainings) in [
        (&evaluations[..], &[][..]),
        (&[], &trainings[..]),
        (&bases, &[]),
        (&learned, &trainings),
        (&evaluations[..1], &trainings[..1]),
        (&odd, &trainings),
        (&none, &trainings),
        (&[], &[]),
    ] {
        let report = render(evaluations, trainings, &options);
        is_well_formed(file(&report, "index.html"));
        for name in [
            "coverage.csv",
            "wins.csv",
            "goals.csv",
            "time.csv",
            "solved-by-objects.csv",
        ] {
            assert!(!file(&report, name).contains("NaN"), "{name}");
        }
    }
}

#[test]
fn several_searches_and_ways_of_training_each_have_their_part() {
    let (mut evaluations, mut trainings) = records();
    for run in evaluations.clone() {
        evaluations.push(Evaluation {
            key: format!("{} again", run.key),
            search: "gbfls".to_owned(),
            ..run
        });
    }
    for run in trainings.clone() {
        let mut run = Training {
            key: format!("{} longer", run.key),
            model_sha256: format!("{} longer", run.model_sha256),
            steps: 50_000,
            ..run
        };
        run.config.insert("seed".to_owned(), 99.into());
        trainings.push(run);
    }
    let longer: Vec<Evaluation> = evaluations
        .iter()
        .filter(|run| run.model.is_some() && run.search == "gbfs" && run.domain == "gripper-strips")
        .map(|run| Evaluation {
            key: format!("{} longer", run.key),
            model: run.model.clone().map(|model| ModelOfRun {
                sha256: format!("{} longer", model.sha256),
                ..model
            }),
            ..run.clone()
        })
        .collect();
    evaluations.extend(longer);
    let report = render(&evaluations, &trainings, &ReportOptions::default());
    let page = file(&report, "index.html");
    is_well_formed(page);
    let groups: BTreeSet<String> = table(&report, "coverage.csv")
        .into_iter()
        .map(|mut row| row.remove("group").unwrap())
        .collect();
    // Warehouse's models have no record of training: no one knows of how many steps they are.
    insta::assert_snapshot!("groups", groups.into_iter().collect::<Vec<_>>().join("\n"));
    let by_search = |name: &str| -> Vec<BTreeMap<String, String>> {
        let rows = table(&report, "wins.csv").into_iter();
        let mut rows: Vec<_> = rows.filter(|row| row["group"].starts_with(name)).collect();
        rows.retain(|row| row["domain"] == "blocks");
        rows
    };
    let column = |rows: &[BTreeMap<String, String>]| -> Vec<String> {
        rows.iter()
            .map(|row| row["mean_learned_wins"].clone())
            .collect()
    };
    assert_eq!(column(&by_search("GBFS")), column(&by_search("GBFLS")));
    assert!(
        by_search("GBFLS")
            .iter()
            .all(|row| row["paper_base_wins"].is_empty())
    );
    assert!(page.contains("#runs?group=4&amp;domain=blocks"));
}

#[test]
fn a_threshold_makes_solving_harder() {
    let (evaluations, trainings) = records();
    let solved = |options: &ReportOptions, domain: &str| -> f64 {
        let report = render(&evaluations, &trainings, options);
        let rows = table(&report, "solved-by-objects.csv").into_iter();
        rows.filter(|row| row["domain"] == domain)
            .map(|row| row["learned_mean"].parse::<f64>().unwrap())
            .sum()
    };
    let all = ReportOptions::default();
    let blocks_only = ReportOptions {
        thresholds: BTreeMap::from([("blocksworld-4ops".to_owned(), 1000)]),
        ..ReportOptions::default()
    };
    let everywhere = ReportOptions {
        threshold: Some(0),
        ..ReportOptions::default()
    };
    assert!(solved(&blocks_only, "blocks") < solved(&all, "blocks"));
    assert_eq!(solved(&blocks_only, "gripper"), solved(&all, "gripper"));
    assert_eq!(solved(&everywhere, "gripper"), 0.0);
}

/// A few runs of small experiments with gaps.
fn experiments() -> impl Strategy<Value = Vec<Evaluation>> {
    let (evaluations, _) = records();
    let template = evaluations[0].clone();
    let run = (
        0..2_usize,
        0..5_usize,
        0..2_usize,
        0..4_u64,
        0..6_usize,
        1..200_000_u64,
    );
    proptest::collection::vec(run, 1..80).prop_map(move |runs| {
        let outcomes = [
            Outcome::Solved,
            Outcome::Solved,
            Outcome::Limit,
            Outcome::TimeLimit,
            Outcome::Failed,
            Outcome::Unsolvable,
        ];
        runs.into_iter()
            .map(
                |(domain, problem, heuristic, seed, outcome, evaluations)| Evaluation {
                    key: format!("{domain}/{problem}/{heuristic}/{seed}/{outcome}"),
                    domain: ["ferry", "mine"][domain].to_owned(),
                    problem: format!("p{problem}"),
                    problem_sha256: format!("p{problem}"),
                    objects: 5 + problem / 2,
                    heuristic: Some(["add", "ff"][heuristic].to_owned()),
                    model: (seed > 0).then(|| ModelOfRun {
                        file: "m".to_owned(),
                        sha256: format!("{domain}{heuristic}{seed}"),
                        seed,
                        steps: 10,
                    }),
                    outcome: outcomes[outcome],
                    evaluations,
                    ..template.clone()
                },
            )
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_order_of_records_changes_no_byte(
        runs in experiments().prop_flat_map(|runs| (Just(runs.clone()), Just(runs).prop_shuffle())),
        turn in 0..41_usize,
    ) {
        let (_, mut trainings) = records();
        let options = ReportOptions::default();
        let one = render(&runs.0, &trainings, &options);
        trainings.rotate_left(turn);
        prop_assert!(one == render(&runs.1, &trainings, &options));
    }

    #[test]
    fn numbers_stay_within_their_bounds(runs in experiments()) {
        let report = render(&runs, &[], &ReportOptions::default());
        is_well_formed(file(&report, "index.html"));
        let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().ok();
        for row in table(&report, "coverage.csv") {
            let problems = number(&row, "problems").unwrap();
            prop_assert!(problems >= 1.0);
            if let Some(base) = number(&row, "base_solved") {
                prop_assert!(base <= problems);
            }
            if let Some(mean) = number(&row, "mean_solved") {
                let best = number(&row, "best_solved").unwrap();
                prop_assert!(mean <= best && best <= problems);
                let seeds = number(&row, "seeds").unwrap();
                prop_assert_eq!(seeds > 1.0, !row["standard_error"].is_empty());
            }
            prop_assert!(number(&row, "missing_runs").unwrap() >= 0.0);
        }
        for row in table(&report, "wins.csv") {
            let wins = number(&row, "learned_wins").unwrap() + number(&row, "base_wins").unwrap();
            prop_assert!(wins <= number(&row, "problems").unwrap());
        }
        for row in table(&report, "solved-by-objects.csv") {
            if let Some(mean) = number(&row, "learned_mean") {
                prop_assert!(number(&row, "learned_least").unwrap() <= mean + 1e-6);
                prop_assert!(mean <= number(&row, "learned_most").unwrap() + 1e-6);
            }
        }
    }
}

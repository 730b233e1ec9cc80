//! Our problems against those of the field's generators, at equal parameters.

mod common;

use common::{field_instances, settings};
use homing_lab::compare::{CompareError, Setting, compare, compare_with};
use homing_lab::domains::blocks;
use homing_lab::{DomainName, ParameterError, Parameters, Random};
use homing_pddl::Problem;

/// Collections drawn by us: their standard deviations are known to 9 per cent.
const COLLECTIONS: usize = 60;

/// 114 numbers that vary are compared. With normal tails one is beyond this once in about 3,000
/// times all is drawn anew; the averages of squares have somewhat longer tails.
const FARTHEST: f64 = 4.7;

#[test]
fn features_agree_with_the_fields_generators() {
    let Some(folder) = field_instances() else {
        return;
    };
    let mut wrong = Vec::new();
    for domain in DomainName::ALL {
        let settings = settings(&folder, domain);
        let problems: usize = settings.iter().map(|s| s.problems.len()).sum();
        let rows = compare(&settings, COLLECTIONS).unwrap();
        let varying = rows.iter().filter(|row| row.our_variance > 0.0).count();
        assert!(varying >= 5, "{domain}: only {varying} features vary");
        eprintln!("{domain}: {problems} problems, {} settings", settings.len());
        for row in rows {
            eprintln!(
                "  {:<44} {:8.3} {:8.3} {:6.2}   {:8.3} {:8.3} {:6.2}",
                row.feature,
                row.their_mean,
                row.our_mean,
                row.mean_z,
                row.their_variance,
                row.our_variance,
                row.variance_z
            );
            // Not `>`: a number that is none must not pass.
            let near = row.mean_z.abs() < FARTHEST && row.variance_z.abs() < FARTHEST;
            if !near {
                wrong.push(format!("{domain}: {row:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Blocks by random insertion: the plausible mistake.
fn by_insertion(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    let Parameters::Blocks(blocks::Parameters { blocks: count }) = *parameters else {
        panic!("blocks only")
    };
    let mut random = Random::new("insertion", seed * 1000 + count as u64);
    let mut configuration = || {
        let mut order: Vec<usize> = (1..=count).collect();
        random.shuffle(&mut order);
        let mut towers: Vec<Vec<usize>> = Vec::new();
        for block in order {
            match random.below(towers.len() + 1) {
                choice if choice == towers.len() => towers.push(vec![block]),
                choice => towers[choice].push(block),
            }
        }
        towers
    };
    let mut init = String::from("(arm-empty)");
    for tower in configuration() {
        init += &format!(
            "(on-table b{})(clear b{})",
            tower[0],
            tower[tower.len() - 1]
        );
        for pair in tower.windows(2) {
            init += &format!("(on b{} b{})", pair[1], pair[0]);
        }
    }
    let mut goal = String::new();
    for tower in configuration() {
        for pair in tower.windows(2) {
            goal += &format!("(on b{} b{})", pair[1], pair[0]);
        }
    }
    let objects: Vec<String> = (1..=count).map(|block| format!("b{block}")).collect();
    let text = format!(
        "(define (problem p) (:domain blocksworld-4ops) (:objects {}) (:init {init}) \
         (:goal (and {goal})))",
        objects.join(" ")
    );
    let domain = DomainName::Blocks.text();
    Ok(common::read(domain, "insertion", text.into_bytes()))
}

/// Settings like the field's, with problems of the given kind.
fn imitation(
    problems: u64,
    generate: fn(&Parameters, u64) -> Result<Problem, ParameterError>,
) -> Vec<Setting> {
    let mut settings = Vec::new();
    for count in [5, 6] {
        let parameters = Parameters::from(blocks::Parameters { blocks: count });
        let drawn = (10_000..10_000 + problems)
            .map(|seed| generate(&parameters, seed).unwrap())
            .filter(|problem| !homing_lab::suite::is_trivial(problem))
            .map(std::sync::Arc::new)
            .collect();
        settings.push(Setting {
            parameters,
            drawn: problems as usize,
            problems: drawn,
        });
    }
    settings
}

#[test]
fn a_wrong_distribution_is_found_out() {
    let farthest = |settings: &[Setting]| -> f64 {
        let rows = compare(settings, 40).unwrap();
        rows.iter()
            .flat_map(|row| [row.mean_z.abs(), row.variance_z.abs()])
            .fold(0.0, f64::max)
    };
    let right = imitation(300, Parameters::generate);
    assert!(farthest(&right) < FARTHEST);
    let wrong = imitation(300, by_insertion);
    assert!(farthest(&wrong) > 2.0 * FARTHEST);
}

#[test]
fn the_fields_blocks_are_not_made_by_insertion() {
    let Some(folder) = field_instances() else {
        return;
    };
    let settings = settings(&folder, DomainName::Blocks);
    let rows = compare_with(&settings, 60, &by_insertion).unwrap();
    let towers = rows
        .iter()
        .filter(|row| row.feature.starts_with("towers"))
        .map(|row| row.mean_z.abs())
        .fold(0.0, f64::max);
    // With 50 problems of theirs the mistake shows, though not beyond all doubt.
    assert!(towers > 2.5, "{rows:#?}");
}

/// A generator that leaves nothing where it must go: another plausible mistake.
fn everything_must_move(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    let settled = |problem: &Problem| {
        let goals = problem.goal.literals.iter();
        goals
            .filter(|goal| problem.init.contains(&goal.atom))
            .count()
    };
    for attempt in 0..100_000 {
        let problem = parameters.generate(seed + (attempt << 32))?;
        if settled(&problem) == 0 {
            return Ok(problem);
        }
    }
    panic!("no such problem in 100,000")
}

#[test]
fn the_field_leaves_some_things_where_they_are() {
    let Some(folder) = field_instances() else {
        return;
    };
    for domain in [DomainName::Ferry, DomainName::Logistics] {
        let mut settings = settings(&folder, domain);
        // One place is nowhere to go.
        settings.retain(|setting| !setting.parameters.label().starts_with("1-1-1"));
        let rows = compare_with(&settings, 20, &everything_must_move).unwrap();
        let farthest = rows.iter().map(|row| row.mean_z.abs()).fold(0.0, f64::max);
        assert!(farthest > FARTHEST, "{domain}: {rows:#?}");
    }
}

#[test]
fn nothing_to_compare_is_an_error() {
    assert_eq!(compare(&[], 2), Err(CompareError::Nothing));
}

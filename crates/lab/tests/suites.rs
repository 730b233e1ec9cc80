//! The suites: the paper's table, seeds that never overlap, the same bytes for ever.

mod common;

use std::collections::BTreeMap;

use homing_lab::suite::{Draw, draw, text_hash};
use homing_lab::{DomainName, Parameters, Suite};

#[test]
fn the_table_is_the_papers() {
    let expected: [(DomainName, usize, usize); 8] = [
        // Settings times seeds, before duplicates and trivial problems are dropped.
        (DomainName::Blocks, 5 * 50, 5 * 50),
        (DomainName::Ferry, 25 * 50, 5 * 50),
        (DomainName::Gripper, 5 * 50, 5 * 50),
        (DomainName::Logistics, 81 * 10, 5 * 50),
        (DomainName::Miconic, 9 * 50, 9 * 50),
        // Of 25 and 16 pairs of curbs and cars, 6 and 2 have too many cars.
        (DomainName::Parking, 19 * 50, 14 * 50),
        (DomainName::Satellite, 243, 5 * 50),
        (DomainName::Visitall, 6 * 50, 6 * 50),
    ];
    for (domain, train, test) in expected {
        assert_eq!(Suite::PaperTrain.draws(domain).len(), train, "{domain}");
        assert_eq!(Suite::PaperTest.draws(domain).len(), test, "{domain}");
        let validation = Suite::Validation.draws(domain).len();
        assert!((100..=110).contains(&validation), "{domain}: {validation}");
    }
}

#[test]
fn suites_share_no_seed_and_no_setting() {
    for domain in DomainName::ALL {
        for (index, one) in Suite::ALL.iter().enumerate() {
            for other in &Suite::ALL[index + 1..] {
                let (a, b) = (one.seeds(domain), other.seeds(domain));
                assert!(a.end <= b.start || b.end <= a.start, "{domain}");
                let settings = other.parameters(domain);
                for setting in one.parameters(domain) {
                    assert!(!settings.contains(&setting), "{setting:?}");
                }
            }
        }
    }
}

/// The mean number of objects of a setting.
fn objects(parameters: &Parameters) -> f64 {
    let total: usize = (0..20)
        .map(|seed| parameters.generate(seed).unwrap().objects.len())
        .sum();
    total as f64 / 20.0
}

#[test]
fn validation_lies_between_training_and_test() {
    for domain in DomainName::ALL {
        let sizes =
            |suite: Suite| -> Vec<f64> { suite.parameters(domain).iter().map(objects).collect() };
        let largest = |sizes: &[f64]| sizes.iter().copied().fold(0.0, f64::max);
        let least = |sizes: &[f64]| sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let train = sizes(Suite::PaperTrain);
        let validation = sizes(Suite::Validation);
        let test = sizes(Suite::PaperTest);
        assert!(
            largest(&train) < least(&validation),
            "{domain}: {train:?} {validation:?}"
        );
        assert!(
            largest(&validation) < least(&test),
            "{domain}: {validation:?} {test:?}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_ever() {
    let settings = [
        ("blocks", "7"),
        ("ferry", "4-3"),
        ("gripper", "6"),
        ("logistics", "2-3-3-4"),
        ("miconic", "5-4"),
        ("parking", "12-15"),
        ("satellite", "3-4-5-6-3"),
        ("visitall", "6-05"),
    ];
    let hashes: Vec<String> = settings
        .iter()
        .map(|(domain, label)| {
            let domain: DomainName = domain.parse().unwrap();
            let parameters = Parameters::from_label(domain, label).unwrap();
            let texts: String = (0..10)
                .map(|seed| parameters.generate(seed).unwrap().to_string())
                .collect();
            format!("{domain} {}", &text_hash(texts.as_bytes())[..16])
        })
        .collect();
    // A change here is a change of every suite: it needs a new version of the suites.
    let expected: [&str; 8] = [
        "blocks 9b58077c38537d6f",
        "ferry 15108f3e8b3c86be",
        "gripper bc242a6e2907986e",
        "logistics 01dca1f81142a4ef",
        "miconic 7972c0b45f1c38b8",
        "parking 12b26ba13c2cfdbf",
        "satellite 520accf546780bc4",
        "visitall 3701e399520cb614",
    ];
    assert_eq!(hashes, expected);
}

#[test]
fn trivial_problems_and_duplicates_are_dropped() {
    let parameters = Parameters::from_label(DomainName::Blocks, "2").unwrap();
    let draws: Vec<Draw> = (0..50).map(|seed| Draw { parameters, seed }).collect();
    let mut steps = 0;
    let collection = draw(&draws, |_| steps += 1).unwrap();
    assert_eq!(steps, 50);
    // Two blocks: 3 configurations each; of the 9 pairs, 3 have an empty goal and 2 hold.
    assert_eq!(collection.instances.len(), 4);
    assert_eq!(collection.dropped.len(), 46);
    let manifest = collection.manifest(None, DomainName::Blocks);
    assert_eq!(manifest.problems[0].objects, 2);
    assert_eq!(
        manifest.problems[0].objects_by_type,
        BTreeMap::from([("object".to_owned(), 2)])
    );
    let again: homing_lab::Manifest = serde_json::from_str(&manifest.to_json()).unwrap();
    assert_eq!(again, manifest);
}

#[test]
fn what_one_suite_has_no_other_has() {
    // The small domains could meet by chance; they do not even share settings.
    let mut contents = BTreeMap::new();
    for suite in Suite::ALL {
        let draws = suite.draws(DomainName::Gripper);
        for instance in draw(&draws, |_| ()).unwrap().instances {
            let earlier = contents.insert(instance.content, suite);
            assert!(earlier.is_none());
        }
    }
}

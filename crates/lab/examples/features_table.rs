//! The tables of `docs/domains.md`: features of the field's problems and of ours.
//!
//! ```text
//! cargo run --release -p homing-lab --example features_table -- FOLDER 300
//! ```
//!
//! FOLDER holds a folder for each domain with the field's problems; the number says how many
//! collections of ours each is compared with.
#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;

use homing_lab::DomainName;
use homing_lab::compare::compare;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .unwrap_or_else(|| "../shared/instances".to_owned());
    let collections = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(60);
    for domain in DomainName::ALL {
        let settings = common::settings(Path::new(&folder), domain);
        let problems: usize = settings.iter().map(|setting| setting.problems.len()).sum();
        let rows = match compare(&settings, collections) {
            Ok(rows) => rows,
            Err(error) => {
                eprintln!("features_table: {domain}: {error}");
                continue;
            }
        };
        println!(
            "\n**{domain}**, {problems} problems of the field in {} settings\n",
            settings.len()
        );
        println!("| feature | mean: field | ours | z | variance: field | ours | z |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for row in rows {
            println!(
                "| {} | {:.3} | {:.3} | {:.2} | {:.3} | {:.3} | {:.2} |",
                row.feature,
                row.their_mean,
                row.our_mean,
                row.mean_z,
                row.their_variance,
                row.our_variance,
                row.variance_z
            );
        }
    }
}

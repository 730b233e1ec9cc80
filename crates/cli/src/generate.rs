//! `homing generate`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use homing::files::NewFolder;
use homing_lab::domains::{
    blocks, ferry, gripper, logistics, miconic, parking, satellite, visitall,
};
use homing_lab::layout::DOMAIN_FILE;
use homing_lab::suite::{Draw, MANIFEST_FILE, draw};
use homing_lab::{DomainName, Parameters, Suite};

use crate::exit::{Exit, Failure};
use crate::folder::{Counter, summary};
use crate::output::print;

/// Draw random problems of the paper's eight domains
///
/// Makes a folder with the domain, a file for each problem and a manifest. The same seed gives the
/// same problem everywhere. Problems whose goal holds at the start, and problems equal to an earlier
/// one, are left out.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    subcommand_help_heading = "Domains",
    subcommand_value_name = "DOMAIN",
    override_usage = "homing generate DOMAIN SIZES --seeds A..B --out DIR\n       \
                      homing generate --suite SUITE [--domain D] --out DIR",
    after_help = "Examples:\n  \
                  homing generate blocks --blocks 8 --seeds 0..20 --out b8\n  \
                  homing generate --suite paper-train --out train\n\n\
                  `homing generate DOMAIN --help` lists the sizes of a domain; docs/domains.md \
                  says how problems are drawn."
)]
pub(crate) struct Generate {
    /// A whole suite: the paper's training or test problems, or those to choose models by
    #[arg(long, required = true, value_parser = suite_parser(), help_heading = "Suites")]
    suite: Option<Suite>,

    /// Only this domain of the suite [default: all eight]
    #[arg(long, value_parser = domain_parser(), help_heading = "Suites")]
    domain: Option<DomainName>,

    /// The folder to make; a suite gets a folder for each domain in it
    #[arg(long, required = true, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,

    #[command(subcommand)]
    problems: Option<Problems>,
}

fn suite_parser() -> impl TypedValueParser<Value = Suite> {
    PossibleValuesParser::new(Suite::ALL.map(Suite::as_str)).try_map(|text| text.parse::<Suite>())
}

fn domain_parser() -> impl TypedValueParser<Value = DomainName> {
    PossibleValuesParser::new(DomainName::ALL.map(DomainName::as_str))
        .try_map(|text| text.parse::<DomainName>())
}

/// What every domain asks for.
#[derive(Debug, Args)]
struct Common {
    /// Seeds: one problem for each number from A up to, not including, B; or one number
    #[arg(long, value_name = "A..B", value_parser = parse_seeds, help_heading = "Drawing")]
    seeds: Range<u64>,

    /// The folder to make
    #[arg(long, value_name = "DIR", help_heading = "Drawing")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Problems {
    /// Towers of blocks, rebuilt by a hand
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate blocks --blocks 8 --seeds 0..20 --out b8"
    )]
    Blocks {
        /// Number of blocks
        #[arg(long, value_name = "N")]
        blocks: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A ferry that takes one car at a time
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate ferry --locations 4 --cars 3 \\\n    --seeds 0..20 --out ferry"
    )]
    Ferry {
        /// Number of places
        #[arg(long, value_name = "N")]
        locations: usize,
        /// Number of cars
        #[arg(long, value_name = "N")]
        cars: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A robot that carries balls between two rooms
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate gripper --balls 6 --seeds 0..20 --out g6"
    )]
    Gripper {
        /// Number of balls
        #[arg(long, value_name = "N")]
        balls: usize,
        #[command(flatten)]
        common: Common,
    },
    /// Packages carried by trucks and airplanes
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate logistics --airplanes 1 --cities 2 \\\n    --city-size 2 --packages 3 --seeds 0..20 --out logistics"
    )]
    Logistics {
        /// Number of airplanes
        #[arg(long, value_name = "N")]
        airplanes: usize,
        /// Number of cities, each with a truck
        #[arg(long, value_name = "N")]
        cities: usize,
        /// Number of places in each city
        #[arg(long, value_name = "N")]
        city_size: usize,
        /// Number of packages
        #[arg(long, value_name = "N")]
        packages: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A lift and its passengers
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate miconic --floors 4 --passengers 3 \\\n    --seeds 0..20 --out miconic"
    )]
    Miconic {
        /// Number of floors
        #[arg(long, value_name = "N")]
        floors: usize,
        /// Number of passengers
        #[arg(long, value_name = "N")]
        passengers: usize,
        #[command(flatten)]
        common: Common,
    },
    /// Cars parked at curbs and behind each other
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate parking --curbs 4 --cars 5 \\\n    --seeds 0..20 --out parking"
    )]
    Parking {
        /// Number of curbs
        #[arg(long, value_name = "N")]
        curbs: usize,
        /// Number of cars, 2 (curbs - 1) at the most
        #[arg(long, value_name = "N")]
        cars: usize,
        #[command(flatten)]
        common: Common,
    },
    /// Satellites that take images
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate satellite --satellites 2 --instruments 2 \\\n    --modes 3 --targets 3 --observations 4 \\\n    --seeds 0..20 --out satellite"
    )]
    Satellite {
        /// Number of satellites
        #[arg(long, value_name = "N")]
        satellites: usize,
        /// Number of instruments on a satellite at the most
        #[arg(long, value_name = "N")]
        instruments: usize,
        /// Number of modes
        #[arg(long, value_name = "N")]
        modes: usize,
        /// Number of targets to calibrate on
        #[arg(long, value_name = "N")]
        targets: usize,
        /// Number of things to observe
        #[arg(long, value_name = "N")]
        observations: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A robot that visits cells of a grid
    #[command(
        next_help_heading = "Size",
        after_help = "Example:\n  homing generate visitall --size 4 --ratio 0.5 \\\n    --seeds 0..20 --out visitall"
    )]
    Visitall {
        /// Number of cells on a side
        #[arg(long, value_name = "N")]
        size: usize,
        /// Number of cells that are not there [default: SIZE]
        #[arg(long, value_name = "N")]
        removed: Option<usize>,
        /// Probability of a cell to be a goal
        #[arg(long, value_name = "R", default_value_t = 1.0)]
        ratio: f64,
        #[command(flatten)]
        common: Common,
    },
}

/// Problems are drawn in memory before anything is written.
const MOST_SEEDS: u64 = 100_000;

fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| {
        let number = text.parse::<u64>();
        number.map_err(|_| format!("`{text}` is no seed: expected A..B, for example 0..50"))
    };
    let seeds = match text.split_once("..") {
        Some((first, end)) => number(first)?..number(end)?,
        None => {
            let seed = number(text)?;
            seed..seed.checked_add(1).ok_or("the seed is too large")?
        }
    };
    if seeds.is_empty() {
        return Err(format!(
            "no seed is from {} up to, not including, {}",
            seeds.start, seeds.end
        ));
    }
    if seeds.end - seeds.start > MOST_SEEDS {
        return Err(format!("more than {MOST_SEEDS} seeds at once"));
    }
    Ok(seeds)
}

impl Problems {
    fn parts(&self) -> (Parameters, &Common) {
        match *self {
            Self::Blocks { blocks, ref common } => (blocks::Parameters { blocks }.into(), common),
            Self::Ferry {
                locations,
                cars,
                ref common,
            } => (ferry::Parameters { locations, cars }.into(), common),
            Self::Gripper { balls, ref common } => (gripper::Parameters { balls }.into(), common),
            Self::Logistics {
                airplanes,
                cities,
                city_size,
                packages,
                ref common,
            } => (
                logistics::Parameters {
                    airplanes,
                    cities,
                    city_size,
                    packages,
                }
                .into(),
                common,
            ),
            Self::Miconic {
                floors,
                passengers,
                ref common,
            } => (miconic::Parameters { floors, passengers }.into(), common),
            Self::Parking {
                curbs,
                cars,
                ref common,
            } => (parking::Parameters { curbs, cars }.into(), common),
            Self::Satellite {
                satellites,
                instruments,
                modes,
                targets,
                observations,
                ref common,
            } => (
                satellite::Parameters {
                    satellites,
                    instruments,
                    modes,
                    targets,
                    observations,
                }
                .into(),
                common,
            ),
            Self::Visitall {
                size,
                removed,
                ratio,
                ref common,
            } => (
                visitall::Parameters {
                    size,
                    ratio,
                    removed: removed.unwrap_or(size),
                }
                .into(),
                common,
            ),
        }
    }
}

pub(crate) fn run(arguments: &Generate) -> anyhow::Result<Exit> {
    if let Some(problems) = &arguments.problems {
        let (parameters, common) = problems.parts();
        // Impossible parameters are to be named before a folder is made or a million are drawn.
        if let Err(error) = parameters.generate(common.seeds.start) {
            return Err(Failure::because(Exit::BadInput, error.to_string()));
        }
        let seeds = common.seeds.clone();
        let draws: Vec<Draw> = seeds.map(|seed| Draw { parameters, seed }).collect();
        write(None, parameters.domain(), &draws, &common.out)?;
        return Ok(Exit::Success);
    }
    let (Some(suite), Some(out)) = (arguments.suite, &arguments.out) else {
        return Err(Failure::because(
            Exit::BadInput,
            "name a domain, or a suite and a folder; see `homing generate --help`",
        ));
    };
    let domains = match arguments.domain {
        Some(domain) => vec![domain],
        None => DomainName::ALL.to_vec(),
    };
    for domain in &domains {
        NewFolder::refuse_if_taken(&out.join(domain.as_str()))?;
    }
    for domain in domains {
        let folder = out.join(domain.as_str());
        write(Some(suite), domain, &suite.draws(domain), &folder)?;
    }
    Ok(Exit::Success)
}

/// Draws problems of a domain and writes a folder of them.
fn write(
    suite: Option<Suite>,
    domain: DomainName,
    draws: &[Draw],
    path: &Path,
) -> anyhow::Result<()> {
    let folder = NewFolder::prepare(path)?;
    let mut counter = Counter::new(domain.as_str(), draws.len());
    let collection = draw(draws, |done| counter.update(done))
        .map_err(|error| Failure::because(Exit::BadInput, error.to_string()))?;
    drop(counter);
    let kept = summary(collection.instances.len(), &collection.dropped);
    if collection.instances.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            format!("nothing is left to write: {kept}; ask for more seeds or larger problems"),
        ));
    }
    folder.write(DOMAIN_FILE, domain.text())?;
    for instance in &collection.instances {
        folder.write(&instance.draw.file(), &instance.problem.to_string())?;
    }
    let manifest = collection.manifest(suite, domain);
    folder.write(MANIFEST_FILE, &manifest.to_json())?;
    folder.finish()?;
    print(&format!("{}: {kept}\n", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_ranges_or_numbers() {
        assert_eq!(parse_seeds("3..7"), Ok(3..7));
        assert_eq!(parse_seeds("5"), Ok(5..6));
        for wrong in [
            "7..3",
            "3..3",
            "a..b",
            "",
            "-1..2",
            "18446744073709551615",
            "0..100001",
        ] {
            assert!(parse_seeds(wrong).is_err(), "{wrong}");
        }
    }
}

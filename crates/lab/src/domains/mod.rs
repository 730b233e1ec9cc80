//! The eight domains of the paper, and generators of random problems for each.
//!
//! Each module has the parameters of its problems and `generate`, which draws one. The
//! distributions are those of the generators the field uses, as found in their problems;
//! `docs/domains.md` describes each and compares them. Every problem drawn is solvable: the reason
//! stands at the head of its module. A problem may be trivial (its goal holds at the start):
//! suites drop those.

pub mod blocks;
pub mod ferry;
pub mod gripper;
pub mod logistics;
pub mod miconic;
pub mod parking;
pub mod satellite;
pub mod visitall;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use homing_pddl::{Domain, Problem, Source, check_domain, parse};
use serde::{Deserialize, Serialize};

use crate::problem_builder::ProblemBuilder;
use crate::random::Random;

/// More of anything than this is refused: some domains write a fact for each pair.
pub const MOST: usize = 1000;

/// Why no problem can be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// A number is too small or too large.
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// What was asked for.
        given: usize,
        /// The least that is possible.
        least: usize,
        /// The most that is possible.
        most: usize,
    },
    /// With so many cars nothing could move.
    TooManyCars {
        /// Cars asked for.
        cars: usize,
        /// Curbs asked for.
        curbs: usize,
    },
    /// Packages cannot leave their cities.
    NoAirplane {
        /// Cities asked for.
        cities: usize,
    },
    /// Too many cells are removed to leave two.
    EmptyGrid {
        /// Cells on a side.
        size: usize,
        /// Cells to be removed.
        removed: usize,
    },
    /// The ratio of goals is not above 0 and at most 1.
    BadRatio {
        /// What was asked for.
        ratio: f64,
    },
    /// Again and again some goal could not be reached.
    NothingConnected {
        /// Cells on a side.
        size: usize,
        /// Cells to be removed.
        removed: usize,
        /// How often it was tried.
        attempts: usize,
    },
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange {
                name,
                given,
                least,
                most,
            } => write!(
                f,
                "the number of {name} must be from {least} to {most}, but it is {given}"
            ),
            Self::TooManyCars { cars, curbs } => write!(
                f,
                "{cars} cars are too many for {curbs} curbs: two places must stay free, so there \
                 can be {} at the most",
                parking::most_cars(*curbs)
            ),
            Self::NoAirplane { cities } => write!(
                f,
                "{cities} cities need an airplane, or packages could not leave theirs"
            ),
            Self::EmptyGrid { size, removed } => write!(
                f,
                "a grid of {size} x {size} without {removed} cells is empty: two cells must \
                 remain, so {} can be removed at the most",
                (size * size).saturating_sub(2)
            ),
            Self::BadRatio { ratio } => write!(
                f,
                "the ratio of cells in the goal must be above 0 and at most 1, but it is {ratio}"
            ),
            Self::NothingConnected {
                size,
                removed,
                attempts,
            } => write!(
                f,
                "in {attempts} grids of {size} x {size} without {removed} cells some goal was out \
                 of reach: remove fewer cells or ask for fewer goals"
            ),
        }
    }
}

impl std::error::Error for ParameterError {}

/// Refuses numbers outside `least..=`[`MOST`].
fn check(name: &'static str, given: usize, least: usize) -> Result<(), ParameterError> {
    if (least..=MOST).contains(&given) {
        return Ok(());
    }
    Err(ParameterError::OutOfRange {
        name,
        given,
        least,
        most: MOST,
    })
}

macro_rules! domain_names {
    ($($(#[$doc:meta])* $name:ident = $module:ident),+ $(,)?) => {
        /// One of the eight domains.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "lowercase")]
        pub enum DomainName {
            $($(#[$doc])* $name,)+
        }

        /// What a problem of a domain is drawn from.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "domain", rename_all = "lowercase")]
        pub enum Parameters {
            $($(#[$doc])* $name($module::Parameters),)+
        }

        impl DomainName {
            /// All of them, in alphabetical order.
            pub const ALL: [Self; 8] = [$(Self::$name),+];

            /// As users type it, and as the domain's folder is called.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($module),)+
                }
            }

            /// The text of `domains/<name>/domain.pddl`.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!(
                        "../../../../domains/", stringify!($module), "/domain.pddl"
                    )),)+
                }
            }

            /// The checked domain.
            pub fn domain(self) -> &'static Arc<Domain> {
                match self {
                    $(Self::$name => {
                        static DOMAIN: LazyLock<Arc<Domain>> =
                            LazyLock::new(|| read(DomainName::$name));
                        &DOMAIN
                    })+
                }
            }
        }

        impl Parameters {
            /// Their domain.
            pub fn domain(&self) -> DomainName {
                match self {
                    $(Self::$name(_) => DomainName::$name,)+
                }
            }

            /// The parameters as file names carry them: `4-2` for 4 locations and 2 cars.
            pub fn label(&self) -> String {
                match self {
                    $(Self::$name(parameters) => parameters.label(),)+
                }
            }

            /// Draws a problem: the same one for the same seed on every machine.
            ///
            /// # Errors
            ///
            /// If there is no problem with such parameters.
            pub fn generate(&self, seed: u64) -> Result<Problem, ParameterError> {
                match self {
                    $(Self::$name(parameters) => $module::generate(parameters, seed),)+
                }
            }
        }

        $(impl From<$module::Parameters> for Parameters {
            fn from(parameters: $module::Parameters) -> Self {
                Self::$name(parameters)
            }
        })+
    };
}

domain_names! {
    /// Blocks on a table, moved by a hand.
    Blocks = blocks,
    /// A ferry that takes one car at a time.
    Ferry = ferry,
    /// A robot that carries balls between two rooms.
    Gripper = gripper,
    /// Packages carried by trucks and airplanes.
    Logistics = logistics,
    /// A lift.
    Miconic = miconic,
    /// Cars parked at curbs and behind each other.
    Parking = parking,
    /// Satellites that take images.
    Satellite = satellite,
    /// A robot that visits cells of a grid.
    Visitall = visitall,
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no domain of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDomain {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<&str> = DomainName::ALL.iter().map(|name| name.as_str()).collect();
        write!(
            f,
            "there is no domain `{}` here; there are {}",
            self.name,
            all.join(", ")
        )
    }
}

impl std::error::Error for UnknownDomain {}

impl FromStr for DomainName {
    type Err = UnknownDomain;

    fn from_str(text: &str) -> Result<Self, UnknownDomain> {
        let found = Self::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| UnknownDomain {
            name: text.to_owned(),
        })
    }
}

fn read(name: DomainName) -> Arc<Domain> {
    let source = Source::new(
        format!("domains/{name}/domain.pddl"),
        name.text().as_bytes().to_vec(),
    );
    let (tree, mut messages) = parse(&source);
    let (domain, more) = check_domain(&tree);
    messages.append(more);
    assert!(messages.messages().is_empty(), "{messages}");
    Arc::new(domain.expect("a domain without messages is there"))
}

impl Parameters {
    /// The name of the problem and, with `.pddl`, of its file.
    pub fn stem(&self, seed: u64) -> String {
        format!("{}-s{seed}", self.label())
    }

    /// The parameters of a domain from their [`label`](Self::label).
    pub fn from_label(domain: DomainName, label: &str) -> Option<Self> {
        let parts: Vec<&str> = label.split('-').collect();
        let number = |at: usize| parts.get(at)?.parse::<usize>().ok();
        let found: Self = match domain {
            DomainName::Blocks => blocks::Parameters { blocks: number(0)? }.into(),
            DomainName::Ferry => ferry::Parameters {
                locations: number(0)?,
                cars: number(1)?,
            }
            .into(),
            DomainName::Gripper => gripper::Parameters { balls: number(0)? }.into(),
            DomainName::Logistics => logistics::Parameters {
                airplanes: number(0)?,
                cities: number(1)?,
                city_size: number(2)?,
                packages: number(3)?,
            }
            .into(),
            DomainName::Miconic => miconic::Parameters {
                floors: number(0)?,
                passengers: number(1)?,
            }
            .into(),
            DomainName::Parking => parking::Parameters {
                curbs: number(0)?,
                cars: number(1)?,
            }
            .into(),
            DomainName::Satellite => satellite::Parameters {
                satellites: number(0)?,
                instruments: number(1)?,
                modes: number(2)?,
                targets: number(3)?,
                observations: number(4)?,
            }
            .into(),
            DomainName::Visitall => {
                let (whole, fraction) = parts.get(1)?.split_at_checked(1)?;
                let size = number(0)?;
                let removed = match parts.get(2) {
                    Some(part) => part.strip_prefix('u')?.parse().ok()?,
                    None => size,
                };
                visitall::Parameters {
                    size,
                    ratio: format!("{whole}.{fraction}").parse().ok()?,
                    removed,
                }
                .into()
            }
        };
        // Nothing may be left over.
        (found.label() == label).then_some(found)
    }

    fn problem_name(&self, seed: u64) -> String {
        format!("{}-{}", self.domain(), self.stem(seed))
    }

    /// The stream of random numbers of a problem.
    fn random(&self, seed: u64) -> Random {
        Random::new(&format!("{}-{}", self.domain(), self.label()), seed)
    }

    /// An empty problem of the domain.
    fn builder(&self) -> ProblemBuilder {
        ProblemBuilder::new(self.domain().domain())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(parameters: impl Into<Parameters>) -> String {
        let parameters: Parameters = parameters.into();
        parameters.generate(0).unwrap_err().to_string()
    }

    #[test]
    fn impossible_parameters_are_refused_with_a_reason() {
        assert_eq!(
            refusal(parking::Parameters { curbs: 4, cars: 7 }),
            "7 cars are too many for 4 curbs: two places must stay free, so there can be 6 at the \
             most"
        );
        assert_eq!(
            refusal(visitall::Parameters {
                size: 3,
                ratio: 0.5,
                removed: 9
            }),
            "a grid of 3 x 3 without 9 cells is empty: two cells must remain, so 7 can be removed \
             at the most"
        );
        assert_eq!(
            refusal(visitall::Parameters {
                size: 3,
                ratio: f64::NAN,
                removed: 1
            }),
            "the ratio of cells in the goal must be above 0 and at most 1, but it is NaN"
        );
        assert!(
            refusal(visitall::Parameters {
                size: 30,
                ratio: 1.0,
                removed: 450
            })
            .contains("remove fewer cells")
        );
        assert_eq!(
            refusal(logistics::Parameters {
                airplanes: 0,
                cities: 2,
                city_size: 1,
                packages: 1
            }),
            "2 cities need an airplane, or packages could not leave theirs"
        );
        assert_eq!(
            refusal(blocks::Parameters { blocks: 1 }),
            "the number of blocks must be from 2 to 1000, but it is 1"
        );
        for wrong in [
            Parameters::from(ferry::Parameters {
                locations: 1,
                cars: 1,
            }),
            gripper::Parameters { balls: 0 }.into(),
            gripper::Parameters { balls: usize::MAX }.into(),
            miconic::Parameters {
                floors: 1,
                passengers: 3,
            }
            .into(),
            parking::Parameters { curbs: 1, cars: 2 }.into(),
            satellite::Parameters {
                satellites: 1,
                instruments: 0,
                modes: 1,
                targets: 1,
                observations: 1,
            }
            .into(),
            visitall::Parameters {
                size: 1,
                ratio: 1.0,
                removed: 0,
            }
            .into(),
        ] {
            let error = wrong.generate(0).unwrap_err();
            assert!(
                matches!(error, ParameterError::OutOfRange { .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn labels_carry_all_parameters() {
        let several = [
            Parameters::from(visitall::Parameters {
                size: 4,
                ratio: 0.25,
                removed: 6,
            }),
            visitall::Parameters {
                size: 5,
                ratio: 1.0,
                removed: 5,
            }
            .into(),
            satellite::Parameters {
                satellites: 1,
                instruments: 2,
                modes: 3,
                targets: 4,
                observations: 50,
            }
            .into(),
        ];
        for parameters in several {
            let label = parameters.label();
            let again = Parameters::from_label(parameters.domain(), &label);
            assert_eq!(again, Some(parameters), "{label}");
        }
        assert_eq!(several[1].label(), "5-10");
        assert_eq!(Parameters::from_label(DomainName::Blocks, "4-5"), None);
        assert_eq!(Parameters::from_label(DomainName::Ferry, "4"), None);
    }

    #[test]
    fn names_are_read_back() {
        for name in DomainName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        let error = "block".parse::<DomainName>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("there is no domain `block` here; there are blocks,")
        );
    }
}

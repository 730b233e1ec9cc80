//! The laboratory of homing: random problems of the paper's eight domains, suites of them, records
//! of runs and reports of records.
//!
//! [`domains`] draws problems, [`suite`] makes the paper's sets of them and manifests of any
//! folder, [`features`] and [`compare`] tell whether two ways to make problems agree.
//! [`record`] keeps what runs leave behind, [`report`] makes tables and figures of it with the
//! [`statistics`] of the field, beside the numbers of the [`paper`]; [`properties`] writes it for the
//! reports of downward-lab. The lab knows neither flags nor terminals.

pub mod compare;
pub mod domains;
pub mod experiment;
pub mod features;
pub mod layout;
pub mod paper;
mod problem_builder;
pub mod properties;
mod random;
pub mod record;
pub mod report;
pub mod schedule;
pub mod statistics;
pub mod suite;

pub use domains::{DomainName, ParameterError, Parameters};
pub use random::Random;
pub use suite::{Manifest, Suite};

//! The neural logic machine: shapes, parameters, forward, backward, Adam.
//!
//! A network reads a [`Structure`] (objects and the propositions true of them) and gives one value.
//! It knows nothing of planning.
//!
//! ```
//! use homing_nlm::{Adam, Nlm, NlmConfig, Simd, Structure, Workspace};
//!
//! // One nullary, two unary and one binary predicate.
//! let nlm = Nlm::new(NlmConfig {
//!     input_channels: vec![1, 2, 1],
//!     layers: 4,
//!     ..NlmConfig::default()
//! })?;
//! let mut parameters = nlm.init(42);
//!
//! let mut tower = Structure::new(3);
//! tower.insert(0, &[]);
//! tower.insert(0, &[2]);
//! tower.insert(0, &[0, 1]);
//! tower.insert(0, &[1, 2]);
//!
//! let simd = Simd::best();
//! let mut workspace = Workspace::default();
//! let mut adam = Adam::new(nlm.parameter_count());
//! let mut gradient = vec![0.0; nlm.parameter_count()];
//! for _ in 0..300 {
//!     // Half the squared distance to -2.
//!     let prepared = nlm.prepare(&parameters, simd);
//!     prepared.backward(&[&tower], &mut workspace, |_, v| v + 2.0, &mut gradient)?;
//!     adam.step(&mut parameters, &gradient);
//! }
//! let values = nlm.prepare(&parameters, simd).evaluate(&[&tower], &mut workspace)?;
//! assert!((values[0] + 2.0).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adam;
mod by_class;
mod by_tuple;
mod classes;
mod config;
mod functions;
mod index;
mod inputs;
mod interner;
#[allow(unsafe_code)] // vector instructions on raw pointers
mod kernels;
mod nlm;
mod params;
mod plan;
mod prepared;
mod random;
pub mod reference;
mod simd;
#[cfg(test)]
mod small_cases;
mod structure;
mod tuning;
mod twins;

pub use adam::Adam;
pub use config::{
    ConfigError, ConfigErrors, MAX_ARITY, MAX_FEATURES, NlmConfig, Quantifiers, Readout,
};
pub use functions::{exp, ln, sigmoid, tanh};
pub use kernels::product::{multiply_add, multiply_transposed_add, transposed_multiply_add};
#[doc(hidden)]
pub use nlm::Way;
pub use nlm::{Nlm, Prepared, Workspace};
pub use params::ParamView;
pub use random::SplitMix64;
pub use simd::{Simd, SimdError};
pub use structure::{InputError, MAX_OBJECTS, Structure};

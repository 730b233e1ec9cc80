//! Model files.

use std::path::Path;

use homing_learner::{AnyModel, Model, ModelError};
use homing_pddl::Domain;

use crate::error::Error;
use crate::input::read_bytes;

fn of_file(path: &Path) -> impl Fn(ModelError) -> Error {
    move |error| Error::Model {
        path: Some(path.to_owned()),
        error,
    }
}

/// Reads a model file, whatever its kind.
///
/// # Errors
///
/// If it cannot be read or is no model.
pub fn load_model(path: &Path) -> Result<AnyModel, Error> {
    AnyModel::from_file(&read_bytes(path)?).map_err(of_file(path))
}

/// Reads a model file and makes sure it was trained for this domain.
///
/// # Errors
///
/// If it cannot be read, is no model, or is one for another domain.
pub fn load_model_for(path: &Path, domain: &Domain) -> Result<AnyModel, Error> {
    let model = load_model(path)?;
    let fits = model.function().check_domain(domain);
    fits.map_err(of_file(path))?;
    Ok(model)
}

/// Reads a model of the paper's network.
pub(crate) fn load_network(path: &Path) -> Result<Model, Error> {
    Model::from_file(&read_bytes(path)?).map_err(of_file(path))
}

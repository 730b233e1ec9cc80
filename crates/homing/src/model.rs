//! Model files.

use std::path::Path;

use homing_learner::{AnyModel, Model};
use homing_pddl::Domain;

use crate::error::Error;
use crate::input::read_bytes;

/// Reads a model file.
///
/// # Errors
///
/// If it cannot be read or is no model.
pub fn load_model(path: &Path) -> Result<Model, Error> {
    Model::from_file(&read_bytes(path)?).map_err(|error| Error::Model {
        path: Some(path.to_owned()),
        error,
    })
}

/// Reads a model file and makes sure it was trained for this domain.
///
/// # Errors
///
/// If it cannot be read, is no model, or is one for another domain.
pub fn load_model_for(path: &Path, domain: &Domain) -> Result<Model, Error> {
    let model = load_model(path)?;
    model.check_domain(domain).map_err(|error| Error::Model {
        path: Some(path.to_owned()),
        error,
    })?;
    Ok(model)
}

/// Reads a model file of any kind and makes sure it was trained for this domain.
///
/// # Errors
///
/// If it cannot be read, is no model, or is one for another domain.
pub fn load_any_model_for(path: &Path, domain: &Domain) -> Result<AnyModel, Error> {
    let wrong = |error| Error::Model {
        path: Some(path.to_owned()),
        error,
    };
    let model = AnyModel::from_file(&read_bytes(path)?).map_err(wrong)?;
    model.function().check_domain(domain).map_err(wrong)?;
    Ok(model)
}

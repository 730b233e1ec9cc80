//! Requests and records between Python and Rust, by way of serde: a new field of either comes
//! through without a word here.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::errors::bug;

/// A value of serde as Python's dictionaries, lists and scalars.
fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => value.into_pyobject(py)?.into_any(),
            (None, Some(value)) => value.into_pyobject(py)?.into_any(),
            (None, None) => number
                .as_f64()
                .unwrap_or(f64::NAN)
                .into_pyobject(py)?
                .into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(to_python(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// A record as a dictionary.
pub(crate) fn record<'py>(py: Python<'py>, record: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &serde_json::to_value(record).map_err(bug)?)
}

/// A value of Python for serde. A path becomes its text.
fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(value) = value.cast::<PyString>() {
        return Ok(Value::String(value.to_cow()?.into_owned()));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(match value.extract::<u64>() {
            Ok(value) => Value::Number(value.into()),
            Err(_) => Value::Number(value.extract::<i64>()?.into()),
        });
    }
    if value.is_instance_of::<PyFloat>() {
        let float: f64 = value.extract()?;
        return Number::from_f64(float)
            .map(Value::Number)
            .ok_or_else(|| PyValueError::new_err(format!("{float} is not a finite number")));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(Value::Object(map_from_python(dict)?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let mut values = Vec::new();
        for item in value.try_iter()? {
            values.push(from_python(&item?)?);
        }
        return Ok(Value::Array(values));
    }
    if let Ok(path) = value.call_method0("__fspath__") {
        return from_python(&path);
    }
    // Scalars of other libraries, such as NumPy's, know which of Python's they are.
    if let Ok(scalar) = value.call_method0("item") {
        return from_python(&scalar);
    }
    Err(PyTypeError::new_err(format!(
        "a {} cannot be part of a request",
        value.get_type().name()?
    )))
}

fn map_from_python(dict: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let mut map = Map::new();
    for (key, value) in dict {
        map.insert(key.extract()?, from_python(&value)?);
    }
    Ok(map)
}

/// Keyword arguments as a map; `None` stands for "as usual" and is left out.
pub(crate) fn options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Map<String, Value>> {
    let mut map = match keywords {
        Some(keywords) => map_from_python(keywords)?,
        None => Map::new(),
    };
    map.retain(|_, value| !value.is_null());
    Ok(map)
}

/// A request with options put over its fields and over those of its parts. Fields named in
/// `reserved` have arguments of their own.
pub(crate) fn with_options<R: Serialize + DeserializeOwned>(
    request: &R,
    options: Map<String, Value>,
    reserved: &[&str],
) -> PyResult<R> {
    let mut whole = serde_json::to_value(request).map_err(bug)?;
    let fields = whole.as_object_mut().ok_or_else(|| bug("no fields"))?;
    for (name, value) in options {
        if reserved.contains(&name.as_str()) {
            return Err(unknown(&name, fields, reserved));
        }
        let part = fields
            .iter_mut()
            .filter(|(part, _)| !reserved.contains(&part.as_str()))
            .find_map(|(_, part)| part.as_object_mut().filter(|part| part.contains_key(&name)));
        if let Some(part) = part {
            part.insert(name, value);
        } else if fields.contains_key(&name) {
            fields.insert(name, value);
        } else {
            return Err(unknown(&name, fields, reserved));
        }
    }
    serde_json::from_value(whole).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn unknown(name: &str, fields: &Map<String, Value>, reserved: &[&str]) -> PyErr {
    let mut known: Vec<&str> = Vec::new();
    for (field, value) in fields {
        if reserved.contains(&field.as_str()) {
            continue;
        }
        match value.as_object() {
            Some(part) => known.extend(part.keys().map(String::as_str)),
            None => known.push(field),
        }
    }
    known.sort_unstable();
    PyTypeError::new_err(format!(
        "there is no option `{name}`; there are {}",
        known.join(", ")
    ))
}

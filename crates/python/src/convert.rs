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

/// A request with options put over its fields and over those of its parts, the outermost first.
/// What stands at the pointers in `closed` has arguments of its own and is left alone.
pub(crate) fn with_options<R: Serialize + DeserializeOwned>(
    request: &R,
    options: Map<String, Value>,
    closed: &[&str],
) -> PyResult<R> {
    let mut whole = serde_json::to_value(request).map_err(bug)?;
    let fields = fields(&whole, closed);
    for (name, value) in options {
        // A part may be called like a field within it, as `search` is: a dictionary is for the
        // part, and anything else for the field.
        let place = fields
            .iter()
            .find(|field| field.name == name && (!field.is_part || value.is_object()));
        match (
            place.and_then(|field| whole.pointer_mut(&field.pointer)),
            value,
        ) {
            (Some(Value::Object(part)), Value::Object(given)) => part.extend(given),
            (Some(place), value) => *place = value,
            (None, _) => return Err(unknown(&name, &fields)),
        }
    }
    serde_json::from_value(whole).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A field of a request or of a part of it.
struct Field {
    name: String,
    /// The JSON pointer to it.
    pointer: String,
    /// Whether it has fields itself.
    is_part: bool,
}

/// The fields of a request and of its parts, the outermost first.
fn fields(request: &Value, closed: &[&str]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut level = vec![(String::new(), request)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (pointer, value) in level {
            for (name, inner) in value.as_object().into_iter().flatten() {
                let pointer = format!("{pointer}/{name}");
                if !closed.contains(&pointer.as_str()) {
                    fields.push(Field {
                        name: name.clone(),
                        pointer: pointer.clone(),
                        is_part: inner.is_object(),
                    });
                    next.push((pointer, inner));
                }
            }
        }
        level = next;
    }
    fields
}

fn unknown(name: &str, fields: &[Field]) -> PyErr {
    let mut known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    PyTypeError::new_err(format!(
        "there is no option `{name}`; there are {}",
        known.join(", ")
    ))
}

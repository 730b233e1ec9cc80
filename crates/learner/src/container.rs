//! What all model files share: safetensors, and a sealed header in its metadata.

use std::collections::HashMap;

use homing_tape::{Layout, Named};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{FORMAT_VERSION, ModelError, from_bytes};
use crate::seal::{holds, seal, unseal};
use crate::value::ValueKind;

/// The key of the header in the file's metadata.
pub(crate) const HEADER_KEY: &str = "homing";

/// The field of the header that says which kind of value function it is. Files of the first kind,
/// the neural logic machine, do not have it.
const KIND: &str = "kind";

/// A model file whose frame is sound.
pub(crate) struct Opened<'b> {
    pub(crate) tensors: SafeTensors<'b>,
    /// The header without its checksum.
    pub(crate) header: Value,
    pub(crate) sum: Option<Value>,
}

fn broken(error: &safetensors::SafeTensorError) -> ModelError {
    ModelError::Broken(error.to_string())
}

fn bad_header(error: &serde_json::Error) -> ModelError {
    ModelError::BadHeader(error.to_string())
}

fn header_text(header: &impl Serialize) -> Result<String, ModelError> {
    serde_json::to_string(header).map_err(|error| bad_header(&error))
}

impl<'b> Opened<'b> {
    /// Reads the frame of a file.
    pub(crate) fn new(bytes: &'b [u8]) -> Result<Self, ModelError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(HEADER_KEY))
            .ok_or(ModelError::NoHeader)?;
        let mut header: Value = serde_json::from_str(header).map_err(|error| bad_header(&error))?;
        let sum = unseal(&mut header);
        // The version first: the rest may look different in a newer one.
        match header.get("format_version").and_then(Value::as_u64) {
            Some(found) if found > u64::from(FORMAT_VERSION) => {
                return Err(ModelError::NewerFormat {
                    found: u32::try_from(found).unwrap_or(u32::MAX),
                });
            }
            Some(_) => {}
            None => return Err(ModelError::BadHeader("it has no format version".to_owned())),
        }
        Ok(Self {
            tensors,
            header,
            sum,
        })
    }

    /// The kind of value function it holds.
    pub(crate) fn kind(&self) -> Result<ValueKind, ModelError> {
        match self.header.get(KIND) {
            None => Ok(ValueKind::Nlm),
            Some(kind) => serde_json::from_value(kind.clone()).map_err(|_| {
                let found = kind
                    .as_str()
                    .map_or_else(|| kind.to_string(), str::to_owned);
                ModelError::UnknownKind { found }
            }),
        }
    }

    /// Makes sure that it holds this kind.
    pub(crate) fn expect_kind(&self, expected: ValueKind) -> Result<(), ModelError> {
        let found = self.kind()?;
        if found == expected {
            Ok(())
        } else {
            Err(ModelError::OtherKind { found, expected })
        }
    }

    /// The header, as the kind of model has it.
    pub(crate) fn header<H: DeserializeOwned>(&self) -> Result<H, ModelError> {
        serde_json::from_value(self.header.clone()).map_err(|error| bad_header(&error))
    }

    /// The weights of a network, one array for each of its matrices.
    pub(crate) fn weights(&self, layout: &Layout) -> Result<Vec<f32>, ModelError> {
        let mut weights = vec![0.0; layout.len()];
        for named in layout.named() {
            let shape = [named.matrix.rows(), named.matrix.columns()];
            let read = read_weights(&self.tensors, &named.name, &shape)?;
            weights[named.matrix.range()].copy_from_slice(&read);
        }
        Ok(weights)
    }

    /// Whether the checksum is that of this header and these arrays; a file without one is taken.
    pub(crate) fn check_sum(
        &self,
        header: &impl Serialize,
        arrays: &[&[u8]],
    ) -> Result<(), ModelError> {
        let Some(sum) = &self.sum else {
            return Ok(());
        };
        if holds(sum, &header_text(header)?, arrays.iter().copied()) {
            Ok(())
        } else {
            Err(ModelError::Corrupted)
        }
    }
}

/// One array of a file.
pub(crate) struct Array<'a> {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: &'a [u8],
}

/// The bytes of a file. The seal covers the header and then `sealed`, in order.
pub(crate) fn write(
    arrays: Vec<Array<'_>>,
    header: &impl Serialize,
    sealed: &[&[u8]],
) -> Result<Vec<u8>, ModelError> {
    let mut tensors = Vec::with_capacity(arrays.len());
    for array in arrays {
        let tensor = TensorView::new(array.dtype, array.shape, array.bytes);
        tensors.push((array.name, tensor.map_err(|error| broken(&error))?));
    }
    let header = seal(&header_text(header)?, sealed.iter().copied());
    // One entry alone: a map has no order, and the same model gives the same bytes.
    let metadata = HashMap::from([(HEADER_KEY.to_owned(), header)]);
    safetensors::serialize(tensors, Some(metadata)).map_err(|error| broken(&error))
}

/// The array of weights of this name and shape.
pub(crate) fn read_weights(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: &[usize],
) -> Result<Vec<f32>, ModelError> {
    let wrong = |reason: String| ModelError::Weights {
        name: name.to_owned(),
        reason,
    };
    let tensor = tensors
        .tensor(name)
        .map_err(|_| wrong("it is missing".to_owned()))?;
    if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
        return Err(wrong(format!(
            "expected F32 {shape:?}, found {:?} {:?}",
            tensor.dtype(),
            tensor.shape()
        )));
    }
    let weights = from_bytes(tensor.data());
    if weights.iter().any(|weight| !weight.is_finite()) {
        return Err(wrong("it holds numbers that are not finite".to_owned()));
    }
    Ok(weights)
}

/// One array for each matrix of a network whose weights are these bytes.
pub(crate) fn matrices<'b>(layout: &Layout, bytes: &'b [u8]) -> Vec<Array<'b>> {
    let array = |named: &Named| {
        let range = named.matrix.range();
        Array {
            name: named.name.clone(),
            dtype: Dtype::F32,
            shape: vec![named.matrix.rows(), named.matrix.columns()],
            bytes: &bytes[range.start * 4..range.end * 4],
        }
    };
    layout.named().iter().map(array).collect()
}

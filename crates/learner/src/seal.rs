//! A checksum inside the header of a file: a flipped bit in a weight is still a number, and nothing
//! else would notice it.

use serde_json::Value;

/// The field of a header that holds the checksum (CRC-32C, as eight hexadecimal digits).
const FIELD: &str = "crc32c";

/// Of the header without its checksum, and of the arrays' bytes in order.
fn checksum<'b>(header: &str, arrays: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut sum = crc32c::crc32c(header.as_bytes());
    for array in arrays {
        sum = crc32c::crc32c_append(sum, array);
    }
    format!("{sum:08x}")
}

/// Puts the checksum into a header, which is a JSON object with at least one field.
pub(crate) fn seal<'b>(header: &str, arrays: impl IntoIterator<Item = &'b [u8]>) -> String {
    let sum = checksum(header, arrays);
    let open = header.strip_suffix('}').expect("a header is an object");
    format!("{open},\"{FIELD}\":\"{sum}\"}}")
}

/// Takes the checksum out of a header.
pub(crate) fn unseal(header: &mut Value) -> Option<Value> {
    header.as_object_mut()?.remove(FIELD)
}

/// Whether a checksum taken out of a file is that of a header, as it was before it was sealed, and
/// of arrays.
pub(crate) fn holds<'b>(
    sum: &Value,
    header: &str,
    arrays: impl IntoIterator<Item = &'b [u8]>,
) -> bool {
    sum.as_str() == Some(checksum(header, arrays).as_str())
}

//! Event files that TensorBoard reads: records of a length, a checksum, and a small protocol
//! buffer.

/// Writes the protocol buffer's integers.
fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field that holds bytes: its number, kind 2, its length, its bytes.
fn bytes_field(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint(number << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The checksum of a record, rotated and shifted as the format wants it.
fn masked_checksum(bytes: &[u8]) -> u32 {
    let checksum = crc32c::crc32c(bytes);
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

fn record(event: &[u8], out: &mut Vec<u8>) {
    let length = (event.len() as u64).to_le_bytes();
    out.extend_from_slice(&length);
    out.extend_from_slice(&masked_checksum(&length).to_le_bytes());
    out.extend_from_slice(event);
    out.extend_from_slice(&masked_checksum(event).to_le_bytes());
}

fn event_head(wall_time: f64, step: u64) -> Vec<u8> {
    let mut event = Vec::new();
    event.push(1 << 3 | 1);
    event.extend_from_slice(&wall_time.to_le_bytes());
    event.push(2 << 3);
    varint(step, &mut event);
    event
}

/// What an event file begins with.
pub fn file_header(wall_time: f64) -> Vec<u8> {
    let mut event = event_head(wall_time, 0);
    bytes_field(3, b"brain.Event:2", &mut event);
    let mut out = Vec::new();
    record(&event, &mut out);
    out
}

/// One event: named numbers at a step. `wall_time` is in seconds since 1970.
pub fn scalars(wall_time: f64, step: u64, values: &[(&str, f64)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in values {
        let mut entry = Vec::new();
        bytes_field(1, tag.as_bytes(), &mut entry);
        entry.push(2 << 3 | 5);
        entry.extend_from_slice(&(*value as f32).to_le_bytes());
        bytes_field(1, &entry, &mut summary);
    }
    let mut event = event_head(wall_time, step);
    bytes_field(5, &summary, &mut event);
    let mut out = Vec::new();
    record(&event, &mut out);
    out
}

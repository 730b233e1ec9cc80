//! Messages of the protocol: a length, an empty line, and JSON.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

/// Bytes of a message at the most.
const MOST_BYTES: usize = 64 << 20;

fn wrong(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The next message; `None` where the other side has ended.
pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        // A header is short: what has no end is none.
        if input.take(4096).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(wrong("a header without a colon: this is for editors"));
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length = length.ok_or_else(|| wrong("a message without its length"))?;
    if length > MOST_BYTES {
        return Err(wrong("a message of more than 64 MiB"));
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    let message = serde_json::from_slice(&bytes);
    message
        .map(Some)
        .map_err(|_| wrong("a message that is no JSON"))
}

/// Writes a message.
pub(super) fn write(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let mut message = message.clone();
    message["jsonrpc"] = json!("2.0");
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

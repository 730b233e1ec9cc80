//! Positions: editors count lines and UTF-16 units from 0, homing counts bytes.

use homing_pddl::Span;
use serde_json::{Value, json};

/// The offset of an editor's position; past the end of a line or a text, their end.
pub(super) fn offset(text: &str, position: &Value) -> u32 {
    let number = |name: &str| position[name].as_u64().unwrap_or(0);
    let (line, character) = (number("line"), number("character"));
    let mut start = 0;
    for _ in 0..line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len() as u32,
        }
    }
    let mut units = 0;
    for (at, letter) in text[start..].char_indices() {
        if units >= character || letter == '\n' || letter == '\r' {
            return (start + at) as u32;
        }
        units += letter.len_utf16() as u64;
    }
    text.len() as u32
}

/// An editor's position of an offset.
fn position(text: &str, offset: u32) -> Value {
    let mut end = (offset as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

/// An editor's range of a place.
pub(super) fn range(text: &str, span: Span) -> Value {
    json!({
        "start": position(text, span.start), "end": position(text, span.end.max(span.start)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units() {
        let text = "ab\r\n; ä 😀 x\n";
        let at = |line: u64, character: u64| {
            offset(text, &json!({"line": line, "character": character}))
        };
        let x = text.find('x').expect("there") as u32;
        assert_eq!(at(1, 7), x);
        assert_eq!(position(text, x), json!({"line": 1, "character": 7}));
        // Past the end of a line, and of the text.
        assert_eq!(at(0, 99), 2);
        assert_eq!(at(9, 0), text.len() as u32);
        assert_eq!(position(text, 999), json!({"line": 2, "character": 0}));
        assert_eq!(position(text, x - 3), json!({"line": 1, "character": 4}));
    }
}

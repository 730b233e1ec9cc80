//! Numbers and names as tables show them, and what HTML, CSV, LaTeX and links must escape.

/// Digits in groups of three: 100,000.
pub fn integer(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One digit after the point, none where it would be a 0.
pub(super) fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Three digits that count: 0.00512, 1.23, 45.6, 1,234.
pub(super) fn three_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() >= 999.5 {
        return integer(value.round() as u64);
    }
    let whole = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(2 - whole).unwrap_or(0).min(9);
    format!("{value:.decimals$}")
}

/// "1 run", "3 runs"
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        integer(count as u64),
        if count == 1 { one } else { many }
    )
}

/// Text in HTML, also between double quotes.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A value in the part of an address after `?`.
pub(super) fn link(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Text in LaTeX.
pub(super) fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A field of CSV (RFC 4180).
pub(super) fn csv(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// JSON inside a `<script>` element, which the letters `</script` would end.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(integer(0), "0");
        assert_eq!(integer(999), "999");
        assert_eq!(integer(1_234_567), "1,234,567");
        assert_eq!(tenths(104.0), "104");
        assert_eq!(tenths(73.14), "73.1");
        assert_eq!(three_digits(0.005_123), "0.00512");
        assert_eq!(three_digits(45.61), "45.6");
        assert_eq!(three_digits(1234.4), "1,234");
        assert_eq!(three_digits(999.7), "1,000");
    }

    #[test]
    fn names_with_odd_letters() {
        assert_eq!(html("a<b&\"c\""), "a&lt;b&amp;&quot;c&quot;");
        assert_eq!(link("a b&c=é"), "a%20b%26c%3D%C3%A9");
        assert_eq!(latex("50%_{x}"), "50\\%\\_\\{x\\}");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(json_in_script("\"</script>\""), "\"\\u003c/script>\"");
    }
}

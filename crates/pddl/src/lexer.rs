//! Text to tokens.

use crate::source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Open,
    Close,
    /// `block`, `on-table`, `=`, `12`, `0.5`.
    Name,
    /// `?x`.
    Variable,
    /// `:action`.
    Keyword,
    /// `-` alone.
    Dash,
    /// A run of characters that mean nothing in PDDL.
    Strange,
}

/// Yields tokens with their spans; comments and blanks fall away.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }
}

/// Characters that may stand inside a name. `?` is none of them, so that `aircraft?a` is two tokens.
fn in_name(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(
            character,
            '-' | '_'
                | '.'
                | '@'
                | '='
                | '<'
                | '>'
                | '+'
                | '*'
                | '/'
                | '#'
                | '!'
                | '%'
                | '&'
                | '$'
                | '~'
                | '^'
                | '|'
                | '\''
        )
}

impl Iterator for Lexer<'_> {
    type Item = (Token, Span);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.at..];
        let mut characters = rest.char_indices();
        let (offset, first) = loop {
            match characters.next()? {
                (_, ';') => {
                    for (_, character) in characters.by_ref() {
                        if character == '\n' {
                            break;
                        }
                    }
                }
                (_, blank) if blank.is_whitespace() || blank == '\u{feff}' => {}
                found => break found,
            }
        };
        let start = self.at + offset;
        let after_first = start + first.len_utf8();
        let run = |belongs: fn(char) -> bool| {
            let tail = &self.text[after_first..];
            after_first + tail.find(|c| !belongs(c)).unwrap_or(tail.len())
        };
        let (token, end) = match first {
            '(' => (Token::Open, after_first),
            ')' => (Token::Close, after_first),
            '?' => (Token::Variable, run(in_name)),
            ':' => (Token::Keyword, run(in_name)),
            c if in_name(c) => {
                let end = run(|c| in_name(c) || c == ':');
                let token = if &self.text[start..end] == "-" {
                    Token::Dash
                } else {
                    Token::Name
                };
                (token, end)
            }
            _ => (
                Token::Strange,
                run(|c| {
                    !in_name(c) && !c.is_whitespace() && !matches!(c, '(' | ')' | '?' | ':' | ';')
                }),
            ),
        };
        self.at = end;
        Some((token, Span::new(start, end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        Lexer::new(text, 0)
            .map(|(_, span)| &text[span.range()])
            .collect()
    }

    #[test]
    fn tokens_need_no_blanks_between_them() {
        assert_eq!(
            texts("(p ?x)(q?y)"),
            ["(", "p", "?x", ")", "(", "q", "?y", ")"]
        );
        assert_eq!(
            texts("aircraft?a -b - c"),
            ["aircraft", "?a", "-b", "-", "c"]
        );
    }

    #[test]
    fn comments_end_with_their_line() {
        assert_eq!(texts("a ; (b\nc;d"), ["a", "c"]);
    }
}

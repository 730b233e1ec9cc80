//! Printing, and lines of progress.

use std::io::Write;

use homing::files::{forgive_broken_pipe, reason};

use crate::exit::{Exit, Failure};

/// Prints to standard output. A reader that has gone away (`| head`) is no failure of ours.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .or_else(forgive_broken_pipe)
        .map_err(|error| Failure::because(Exit::BadInput, stdout_failure(&error)))
}

/// What to say when standard output takes no more.
pub(crate) fn stdout_failure(error: &std::io::Error) -> String {
    format!("cannot write to standard output: {}", reason(error))
}

/// Puts a line of progress in the place of the last one. It is cut at the edge of the terminal: a
/// line that goes over it could not be taken away again.
pub(crate) fn show_line(text: &str) {
    #[cfg(unix)]
    let width = columns(std::io::stderr()).unwrap_or(0);
    #[cfg(not(unix))]
    let width = 0;
    say(&format!("\r\x1b[2K{}", cut(text, width)));
}

/// Columns of a terminal that tells.
#[cfg(unix)]
fn columns(of: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(of).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Columns of standard output, if it is a terminal that tells.
pub(crate) fn width() -> Option<usize> {
    #[cfg(unix)]
    return columns(std::io::stdout());
    #[cfg(not(unix))]
    None
}

/// A paragraph with its lines broken between words, if standard output is a terminal that tells its
/// width; elsewhere as it is.
pub(crate) fn wrapped(text: &str) -> String {
    width().map_or_else(|| text.to_owned(), |columns| wrap(text, columns))
}

fn wrap(text: &str, columns: usize) -> String {
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > columns {
            wrapped.push('\n');
            used = 0;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

/// Takes the line of progress away.
pub(crate) fn clear_line() {
    say("\r\x1b[2K");
}

/// As much of the text as fits in one line and leaves the cursor in it; 0 is no width at all, but a
/// terminal that does not tell.
fn cut(text: &str, width: usize) -> &str {
    let width = if width == 0 { 80 } else { width };
    match text.char_indices().nth(width - 1) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Tells the user something on standard error. If nobody listens, the work goes on all the same:
/// `eprintln!` would panic.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{cut, wrap};

    #[test]
    fn paragraphs_break_between_words() {
        assert_eq!(wrap("one two three", 7), "one two\nthree");
        assert_eq!(wrap("one two three", 80), "one two three");
        assert_eq!(wrap("immeasurable x", 5), "immeasurable\nx");
    }

    #[test]
    fn lines_of_progress_are_cut_at_the_edge() {
        assert_eq!(cut("█░ 10 steps", 6), "█░ 10");
        assert_eq!(cut("█░ 10 steps", 12), "█░ 10 steps");
        assert_eq!(cut("█░ 10 steps", 0), "█░ 10 steps");
        assert_eq!(cut("x", 1), "");
    }
}

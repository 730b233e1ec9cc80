//! Writing results so that a file is there whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure};
use crate::input::reason;

/// A file to be written at the end, known to be writable from the start.
pub(crate) struct PlanFile {
    /// As the user calls it.
    name: PathBuf,
    /// The file itself, links followed.
    path: PathBuf,
    /// A device or a pipe: there is nothing to rename, and it must not be replaced.
    in_place: bool,
}

impl PlanFile {
    /// Makes sure, before hours of search, that the file can be written.
    pub(crate) fn prepare(path: &Path) -> anyhow::Result<Self> {
        if path.is_dir() {
            return Err(Failure::because(
                Exit::BadInput,
                format!(
                    "cannot write the plan to {}: it is a folder",
                    path.display()
                ),
            ));
        }
        let mut file = Self {
            name: path.to_owned(),
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            in_place: false,
        };
        match std::fs::metadata(path) {
            Ok(found) => file.in_place = !found.is_file(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(file.failure(&error)),
        }
        if !file.in_place {
            // Removed again when dropped.
            file.temporary()?;
        }
        Ok(file)
    }

    fn failure(&self, error: &std::io::Error) -> anyhow::Error {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("there is no folder {}", self.folder().display())
            }
            _ => reason(error),
        };
        Failure::because(
            Exit::BadInput,
            format!("cannot write the plan to {}: {reason}", self.name.display()),
        )
    }

    fn folder(&self) -> &Path {
        parent(&self.path)
    }

    fn temporary(&self) -> anyhow::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        // A plan is as readable as any file its owner makes, not as private as a temporary one.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder
            .prefix(".homing-plan-")
            .tempfile_in(self.folder())
            .map_err(|error| self.failure(&error))
    }

    /// Writes to a temporary file, then renames it.
    pub(crate) fn write(&self, text: &str) -> anyhow::Result<()> {
        if self.in_place {
            return std::fs::OpenOptions::new()
                .write(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .or_else(forgive_broken_pipe)
                .map_err(|error| self.failure(&error));
        }
        let mut file = self.temporary()?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.as_file().sync_all())
            .map_err(|error| self.failure(&error))?;
        file.persist(&self.path)
            .map_err(|error| self.failure(&error.error))?;
        Ok(())
    }
}

/// Writes a file whole or not at all: a temporary one beside it, then renamed.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let written = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.prefix(".homing-").tempfile_in(parent(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(|error| cannot_write(path, &error))
}

/// Makes a folder and those it is in, where they are missing.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))
}

/// The folder that a path is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let message = format!("cannot write {}: {}", path.display(), reason(error));
    Failure::because(Exit::BadInput, message)
}

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

pub(crate) fn forgive_broken_pipe(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
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

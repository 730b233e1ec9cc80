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
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
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
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let written = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.prefix(".homing-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(|error| {
        let message = format!("cannot write {}: {}", path.display(), reason(&error));
        Failure::because(Exit::BadInput, message)
    })
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
    let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |size| size.ws_col);
    #[cfg(not(unix))]
    let width = 0;
    say(&format!("\r\x1b[2K{}", cut(text, width.into())));
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
    use super::cut;

    #[test]
    fn lines_of_progress_are_cut_at_the_edge() {
        assert_eq!(cut("█░ 10 steps", 6), "█░ 10");
        assert_eq!(cut("█░ 10 steps", 12), "█░ 10 steps");
        assert_eq!(cut("█░ 10 steps", 0), "█░ 10 steps");
        assert_eq!(cut("x", 1), "");
    }
}

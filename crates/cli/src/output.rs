//! Writing results so that a file is there whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure};
use crate::input::reason;

/// A file to be written at the end, known to be writable from the start.
pub(crate) struct PlanFile {
    path: PathBuf,
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
        let file = Self {
            path: path.to_owned(),
        };
        // Removed again when dropped.
        file.temporary()?;
        Ok(file)
    }

    fn failure(&self, error: &std::io::Error) -> anyhow::Error {
        Failure::because(
            Exit::BadInput,
            format!(
                "cannot write the plan to {}: {}",
                self.path.display(),
                reason(error)
            ),
        )
    }

    fn temporary(&self) -> anyhow::Result<NamedTempFile> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        // A plan is as readable as any file its owner makes, not as private as a temporary one.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder
            .prefix(".homing-plan-")
            .tempfile_in(folder)
            .map_err(|error| self.failure(&error))
    }

    /// Writes to a temporary file, then renames it.
    pub(crate) fn write(&self, text: &str) -> anyhow::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.as_file().sync_all())
            .map_err(|error| self.failure(&error))?;
        file.persist(&self.path)
            .map_err(|error| self.failure(&error.error))?;
        Ok(())
    }
}

/// Prints to standard output. A reader that has gone away (`| head`) is no failure of ours.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::because(
            Exit::BadInput,
            format!("cannot write to standard output: {}", reason(&error)),
        )),
        _ => Ok(()),
    }
}

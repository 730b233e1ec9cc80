//! Writing results so that a file or folder is there whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use homing_lab::layout::TEMPORARY_PREFIX;
use tempfile::{NamedTempFile, TempDir};

use crate::error::Error;
pub use crate::error::reason;

/// A temporary file is as readable as any file its owner makes, not as private as such files are.
fn builder() -> tempfile::Builder<'static, 'static> {
    #[allow(unused_mut)] // only where there are permissions to set
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// A file to be written at the end, known to be writable from the start.
#[derive(Debug)]
pub struct PlanFile {
    /// As the user calls it.
    name: PathBuf,
    /// The file itself, links followed.
    path: PathBuf,
    /// A device or a pipe: there is nothing to rename, and it must not be replaced.
    in_place: bool,
}

impl PlanFile {
    /// Makes sure, before hours of search, that the file can be written.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub fn prepare(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::Request(format!(
                "cannot write the plan to {}: it is a folder",
                path.display()
            )));
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

    fn failure(&self, error: &std::io::Error) -> Error {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("there is no folder {}", parent(&self.path).display())
            }
            _ => reason(error),
        };
        Error::Request(format!(
            "cannot write the plan to {}: {reason}",
            self.name.display()
        ))
    }

    fn temporary(&self) -> Result<NamedTempFile, Error> {
        builder()
            .prefix(&format!("{TEMPORARY_PREFIX}plan-"))
            .tempfile_in(parent(&self.path))
            .map_err(|error| self.failure(&error))
    }

    /// Writes to a temporary file, then renames it.
    ///
    /// # Errors
    ///
    /// If it cannot be written after all.
    pub fn write(&self, text: &str) -> Result<(), Error> {
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

/// Plans one after the other, in `NAME.1`, `NAME.2` and so on.
#[derive(Debug)]
pub struct NumberedPlanFiles {
    name: PathBuf,
}

impl NumberedPlanFiles {
    /// Makes sure that such files can be written. Those of an earlier run go: a plan of theirs
    /// would pass for the best of this one.
    ///
    /// # Errors
    ///
    /// If they cannot be written, or an old one cannot be removed.
    pub fn prepare(name: &Path) -> Result<Self, Error> {
        let files = Self {
            name: name.to_owned(),
        };
        PlanFile::prepare(&files.path(1))?;
        let old = (1..).map(|number| files.path(number));
        for path in old.take_while(|path| path.is_file()) {
            std::fs::remove_file(&path).map_err(|error| Error::write(&path, error))?;
        }
        Ok(files)
    }

    fn path(&self, number: usize) -> PathBuf {
        let mut name = self.name.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    /// Writes the plan of a number, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written after all.
    pub fn write(&self, number: usize, text: &str) -> Result<(), Error> {
        PlanFile::prepare(&self.path(number))?.write(text)
    }
}

/// A reader that has gone away (`| head`) is no failure.
///
/// # Errors
///
/// Every other error.
pub fn forgive_broken_pipe(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}

/// Writes a file whole or not at all: a temporary one beside it, then renamed.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = || -> std::io::Result<()> {
        let mut file = builder()
            .prefix(TEMPORARY_PREFIX)
            .tempfile_in(parent(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(|error| Error::write(path, error))
}

/// Writes a file whole unless there is one of this name, also if others try to at the same time;
/// whether it did.
pub(crate) fn write_first(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let written = || -> std::io::Result<bool> {
        let mut file = builder()
            .prefix(TEMPORARY_PREFIX)
            .tempfile_in(parent(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    };
    written().map_err(|error| Error::write(path, error))
}

/// Writes files of a folder beside their places and then moves them there, so that a full disk
/// leaves what was there before.
pub(crate) fn write_together(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), Error> {
    make_folder(folder)?;
    let temporary = tempfile::Builder::new()
        .prefix(&format!("{TEMPORARY_PREFIX}report-"))
        .tempdir_in(folder)
        .map_err(|error| Error::write(folder, error))?;
    for (name, bytes) in files {
        write_whole(&temporary.path().join(name), bytes)?;
    }
    for (name, _) in files {
        let path = folder.join(name);
        std::fs::rename(temporary.path().join(name), &path)
            .map_err(|error| Error::write(&path, error))?;
    }
    Ok(())
}

/// Makes a folder and those it is in, where they are missing.
///
/// # Errors
///
/// If it cannot be made.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|error| Error::write(path, error))
}

/// The folder that a path is in.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A folder that appears under its name when it is complete.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    temporary: TempDir,
}

impl NewFolder {
    /// Refuses a path under which something is already.
    ///
    /// # Errors
    ///
    /// If something is.
    pub fn refuse_if_taken(path: &Path) -> Result<(), Error> {
        let taken = match std::fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(Error::write(path, error)),
        };
        if taken {
            return Err(Error::Request(format!(
                "the folder {} is not empty: name a new one, or empty it",
                path.display()
            )));
        }
        Ok(())
    }

    /// Begins a folder.
    ///
    /// # Errors
    ///
    /// If the path is taken or cannot be written.
    pub fn prepare(path: &Path) -> Result<Self, Error> {
        Self::refuse_if_taken(path)?;
        let around = parent(path);
        make_folder(around)?;
        let mut builder = tempfile::Builder::new();
        // As readable as any folder its owner makes.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let temporary = builder
            .prefix(&format!("{TEMPORARY_PREFIX}folder-"))
            .tempdir_in(around)
            .map_err(|error| Error::write(around, error))?;
        Ok(Self {
            path: path.to_owned(),
            temporary,
        })
    }

    /// Writes a file of the folder.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, file: &str, text: &str) -> Result<(), Error> {
        std::fs::write(self.temporary.path().join(file), text)
            .map_err(|error| Error::write(&self.path.join(file), error))
    }

    /// Lets the folder appear.
    ///
    /// # Errors
    ///
    /// If somebody took its place meanwhile.
    pub fn finish(self) -> Result<(), Error> {
        // An empty folder makes room; one that is not empty does not.
        let _ = std::fs::remove_dir(&self.path);
        std::fs::rename(self.temporary.path(), &self.path)
            .map_err(|error| Error::write(&self.path, error))?;
        // It bears another name now: nothing to remove.
        let _ = self.temporary.keep();
        Ok(())
    }
}

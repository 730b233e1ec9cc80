//! Folders of problems: there whole or not at all.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use homing_lab::suite::{Dropped, Reason};
use tempfile::TempDir;

use crate::exit::{Exit, Failure};
use crate::output::{cannot_write, clear_line, make_folder, parent, show_line};
use crate::progress::bar;

/// A folder that appears under its name when it is complete.
pub(crate) struct NewFolder {
    path: PathBuf,
    temporary: TempDir,
}

impl NewFolder {
    /// Refuses a path under which something is already.
    pub(crate) fn refuse_if_taken(path: &Path) -> anyhow::Result<()> {
        let taken = match std::fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(cannot_write(path, &error)),
        };
        if taken {
            return Err(Failure::because(
                Exit::BadInput,
                format!(
                    "the folder {} is not empty: name a new one, or empty it",
                    path.display()
                ),
            ));
        }
        Ok(())
    }

    pub(crate) fn prepare(path: &Path) -> anyhow::Result<Self> {
        Self::refuse_if_taken(path)?;
        let around = parent(path);
        make_folder(around)?;
        let mut builder = tempfile::Builder::new();
        // As readable as any folder its owner makes.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let temporary = builder
            .prefix(".homing-folder-")
            .tempdir_in(around)
            .map_err(|error| cannot_write(around, &error))?;
        Ok(Self {
            path: path.to_owned(),
            temporary,
        })
    }

    /// Writes a file of the folder.
    pub(crate) fn write(&self, file: &str, text: &str) -> anyhow::Result<()> {
        std::fs::write(self.temporary.path().join(file), text)
            .map_err(|error| cannot_write(&self.path.join(file), &error))
    }

    /// Lets the folder appear.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        // An empty folder makes room; one that is not empty does not.
        let _ = std::fs::remove_dir(&self.path);
        std::fs::rename(self.temporary.path(), &self.path)
            .map_err(|error| cannot_write(&self.path, &error))?;
        // It bears another name now: nothing to remove.
        let _ = self.temporary.keep();
        Ok(())
    }
}

/// "240 problems, 3 trivial and 7 duplicate ones dropped"
pub(crate) fn summary(kept: usize, dropped: &[Dropped]) -> String {
    let trivial = dropped
        .iter()
        .filter(|dropped| dropped.reason == Reason::Trivial)
        .count();
    let plural = if kept == 1 { "" } else { "s" };
    let mut text = format!("{kept} problem{plural}");
    match (trivial, dropped.len() - trivial) {
        (0, 0) => {}
        (trivial, 0) => text.push_str(&format!(", {trivial} trivial dropped")),
        (0, equal) => text.push_str(&format!(", {equal} duplicate dropped")),
        (trivial, equal) => {
            text.push_str(&format!(
                ", {trivial} trivial and {equal} duplicate dropped"
            ));
        }
    }
    text
}

/// A line of progress on standard error, if that is a terminal.
pub(crate) struct Counter {
    title: String,
    total: usize,
    show: bool,
    last: Option<std::time::Instant>,
}

impl Counter {
    pub(crate) fn new(title: impl Into<String>, total: usize) -> Self {
        Self {
            title: title.into(),
            total,
            show: std::io::stderr().is_terminal(),
            last: None,
        }
    }

    pub(crate) fn update(&mut self, done: usize) {
        let due = self
            .last
            .is_none_or(|last| last.elapsed() >= std::time::Duration::from_millis(100));
        if self.show && due {
            self.last = Some(std::time::Instant::now());
            let bar = bar(done as u64, self.total as u64, 24);
            show_line(&format!("{bar} {done}/{} {}", self.total, self.title));
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if self.last.is_some() {
            clear_line();
        }
    }
}

//! Sharing a folder: who is at work in it, and files that only one process writes.
//!
//! Appending to one file from several machines is not safe on every file system, so each process
//! writes its records to files of its own, in `parts/`, which nobody else writes, renames or
//! removes. Locks keep two processes from training one model side by side.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use homing_lab::layout::{ExperimentFolder, TEMPORARY_PREFIX};
use homing_lab::record::{Appender, Record};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::files::{make_folder, parent};
use crate::observe::Observer;

/// What files of failures are called.
pub(super) const FAILURES: &str = "failures.jsonl";

/// What the file is called that a process holds as long as it is at work.
const ALIVE: &str = "alive.json";

/// Holds the folder of an experiment: two at work in one would write over one another.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the folder, and removes what a killed run had begun to write.
    ///
    /// # Errors
    ///
    /// If another process holds it, or it cannot be written.
    pub fn take(folder: &ExperimentFolder) -> Result<Self, Error> {
        let file = open(&folder.lock())?;
        if file.try_lock().is_err() {
            return Err(Self::taken(folder));
        }
        // Nobody else is at work here.
        let [models, problems, report] = [folder.models(), folder.problems(), folder.report()];
        for place in [&folder.path, &models, &problems, &report] {
            remove_files(place, |name| name.starts_with(TEMPORARY_PREFIX));
        }
        remove_files(&folder.parts(), |name| name.ends_with(ALIVE));
        Ok(Self { _file: file })
    }

    /// Takes the folder together with others who share the work. A file system that has no locks
    /// is shared without one.
    ///
    /// # Errors
    ///
    /// If a process holds it alone, or it cannot be written.
    pub fn share(folder: &ExperimentFolder) -> Result<Self, Error> {
        /// Who only tidies up has it alone for a moment.
        const MOMENTS: usize = 300;
        let file = open(&folder.lock())?;
        for _ in 0..MOMENTS {
            match file.try_lock_shared() {
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(100)),
                _ => return Ok(Self { _file: file }),
            }
        }
        Err(Self::taken(folder))
    }

    fn taken(folder: &ExperimentFolder) -> Error {
        Error::Request(format!(
            "another homing is at work in {}: wait for it, or name another folder",
            folder.path.display()
        ))
    }
}

fn open(path: &Path) -> Result<File, Error> {
    make_folder(parent(path))?;
    File::create(path).map_err(|error| Error::write(path, error))
}

fn remove_files(folder: &Path, old: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if old(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_file(entry.path());
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The lock of a file, for as long as this lives.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits until nobody else has it; `None` if the work is stopped before.
    pub(super) fn wait(path: &Path, observer: &dyn Observer) -> Result<Option<Self>, Error> {
        let file = open(path)?;
        let mut pause = Duration::from_millis(1);
        loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if observer.stopped() => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
                // Also where the file system has no locks: then a task that is started twice at the
                // same time is the user's to avoid (docs/cluster.md).
                _ => return Ok(Some(Self { _file: file })),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// A process that is at work, as it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtWork {
    /// What it does, in words.
    pub work: String,
    /// Its machine.
    pub host: String,
    /// Its number there.
    pub process: u32,
    /// Tasks at a time.
    pub jobs: usize,
}

/// The files of one process, in a folder that many share.
#[derive(Debug)]
pub(super) struct Part {
    /// How their names begin.
    stem: PathBuf,
    /// Removed in the end; locked until then.
    _alive: NamedTempFile,
}

impl Part {
    /// Begins the files of this process; `label` says for people what it does.
    pub(super) fn begin(
        folder: &ExperimentFolder,
        label: &str,
        jobs: usize,
    ) -> Result<Self, Error> {
        let parts = folder.parts();
        make_folder(&parts)?;
        let wrong = |error| Error::write(&parts, error);
        let suffix = format!(".{ALIVE}");
        let alive = tempfile::Builder::new()
            .prefix(&format!("{}-", label.replace([' ', '/'], "-")))
            .rand_bytes(8)
            .suffix(&suffix)
            .tempfile_in(&parts)
            .map_err(wrong)?;
        let _ = alive.as_file().lock();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let about = AtWork {
            work: label.to_owned(),
            host: host.trim().to_owned(),
            process: std::process::id(),
            jobs,
        };
        std::fs::write(
            alive.path(),
            serde_json::to_vec(&about).map_err(Error::bug)?,
        )
        .map_err(wrong)?;
        let name = alive.path().to_string_lossy().into_owned();
        Ok(Self {
            stem: name.trim_end_matches(&suffix).into(),
            _alive: alive,
        })
    }

    /// A file of records of this process.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        let mut path = self.stem.clone().into_os_string();
        path.push(".");
        path.push(name);
        path.into()
    }
}

/// The files of all parts that bear this name, the oldest first.
pub(super) fn part_files(folder: &ExperimentFolder, name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.parts()).into_iter().flatten();
    let mut files: Vec<_> = entries
        .flatten()
        .filter(|entry| {
            let file = entry.file_name();
            let stem = file.to_string_lossy();
            let stem = stem.strip_suffix(name);
            stem.is_some_and(|stem| stem.ends_with('.'))
        })
        .map(|entry| {
            let changed = entry.metadata().and_then(|data| data.modified()).ok();
            (changed, entry.path())
        })
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Who is at work in the folder, as far as locks tell.
pub(super) fn at_work(folder: &ExperimentFolder) -> Vec<AtWork> {
    let files = part_files(folder, ALIVE).into_iter();
    let alive = files.filter_map(|path| {
        let held = matches!(
            File::open(&path).ok()?.try_lock_shared(),
            Err(TryLockError::WouldBlock)
        );
        let text = held.then(|| std::fs::read(path).ok()).flatten()?;
        serde_json::from_slice(&text).ok()
    });
    alive.collect()
}

/// A file of records that is made when there is one to write.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    file: Option<Appender>,
}

impl Records {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    pub(super) fn append(&mut self, record: &impl Record) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(Appender::open(&self.path)?),
        };
        Ok(file.append(record)?)
    }
}

//! The server's folder for files. A server that is killed leaves it behind; the next one removes it.
//!
//! Whoever uses a folder holds the lock of a file in it, which the system gives up with the process,
//! however that ends. So a folder whose lock can be had is nobody's.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// How the names of these folders begin.
const PREFIX: &str = "homing-serve-";

/// The file whose lock is held.
const LOCK: &str = "lock";

/// A folder in use; it is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// A new folder for temporary files. Those that killed servers left there are removed.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // It is locked before it bears its name: nobody finds it without its lock being held.
        let path = folder.path().join("lock.new");
        let lock = File::create(&path)?;
        lock.lock()?;
        fs::rename(&path, folder.path().join(LOCK))?;
        remove_stale(parent, folder.path());
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders of the same user that nobody uses. What cannot be removed stays.
fn remove_stale(parent: &Path, own: &Path) {
    let Ok(mine) = fs::symlink_metadata(own) else {
        return;
    };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let Ok(found) = fs::symlink_metadata(entry.path()) else {
            continue;
        };
        if !named || !found.is_dir() || !same_user(&found, &mine) {
            continue;
        }
        let lock = entry.path().join(LOCK);
        let is_file = fs::symlink_metadata(&lock).is_ok_and(|found| found.is_file());
        if is_file && File::open(&lock).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(unix)]
fn same_user(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    a.uid() == b.uid()
}

#[cfg(not(unix))]
fn same_user(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_uses_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().expect("a folder");
        let used = Folder::new(parent.path()).expect("a folder");
        // As a killed server leaves it: files, and a lock that nobody holds.
        let left = parent.path().join("homing-serve-left");
        fs::create_dir(&left).expect("made");
        fs::write(left.join(LOCK), "").expect("written");
        fs::write(left.join("trained-1.safetensors"), "x").expect("written");
        let other = parent.path().join("homing-serve-other");
        fs::create_dir(&other).expect("made");
        let strange = parent.path().join("mine");
        fs::create_dir(&strange).expect("made");
        fs::write(strange.join(LOCK), "").expect("written");
        let new = Folder::new(parent.path()).expect("a folder");
        assert!(!left.exists());
        for kept in [used.path(), new.path(), &other, &strange] {
            assert!(kept.is_dir(), "{}", kept.display());
        }
        let gone = new.path().to_owned();
        drop(new);
        assert!(!gone.exists());
    }
}

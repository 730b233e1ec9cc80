//! Running the command and looking at what came of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command, with nothing of the caller's terminal in its surroundings.
pub(crate) fn homing() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homing"));
    command.env("COLUMNS", "100").stdin(Stdio::null());
    command
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

impl Run {
    /// Fails with everything there is to see unless the run ended with this code.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Fails unless standard error holds this.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no `{text}` in {self:#?}");
        self
    }

    /// The rest of the one line of standard output that begins with this.
    #[track_caller]
    pub(crate) fn line(&self, start: &str) -> &str {
        let mut found = self
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix(start));
        match (found.next(), found.next()) {
            (Some(rest), None) => rest,
            (None, _) => panic!("no line begins with `{start}`: {self:#?}"),
            (Some(_), Some(_)) => panic!("two lines begin with `{start}`: {self:#?}"),
        }
    }
}

/// Runs `homing` with these arguments.
pub(crate) fn run_with<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Run {
    homing()
        .args(arguments)
        .output()
        .expect("homing starts")
        .into()
}

/// Arguments of different kinds in one list.
macro_rules! run {
    ($($argument:expr),* $(,)?) => {
        $crate::runs::run_with([$(std::ffi::OsString::from(&$argument)),*])
    };
}
pub(crate) use run;

/// What a run prints that ends well and has nothing else to say.
#[track_caller]
pub(crate) fn succeeds(arguments: &[&str]) -> String {
    let run = run_with(arguments).ends_with(0);
    assert_eq!(run.stderr, "");
    run.stdout
}

/// What a run says that ends with this code and prints nothing.
#[track_caller]
pub(crate) fn fails(code: i32, arguments: &[&str]) -> String {
    let run = run_with(arguments).ends_with(code);
    assert_eq!(run.stdout, "");
    run.stderr
}

/// Every file of a folder.
pub(crate) fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    entries(folder)
        .into_iter()
        .map(|name| {
            let bytes = std::fs::read(folder.join(&name)).expect("a file");
            (name, bytes)
        })
        .collect()
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("a root").to_owned()
}

/// A file under `fixtures/`.
pub(crate) fn fixture(path: &str) -> PathBuf {
    let path = root().join("fixtures").join(path);
    assert!(path.exists(), "{}", path.display());
    path
}

/// Names of everything in a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// Writes a gripper problem far too large for a blind search; the domain is written beside it.
pub(crate) fn endless_problem(folder: &Path) -> PathBuf {
    std::fs::copy(
        fixture("valid/gripper/domain.pddl"),
        folder.join("domain.pddl"),
    )
    .expect("a domain");
    let balls: Vec<String> = (0..40).map(|ball| format!("b{ball}")).collect();
    let all = |predicate: &str, room: &str| -> String {
        balls
            .iter()
            .map(|ball| format!("({predicate} {ball} {room}) "))
            .collect()
    };
    let text = format!(
        "(define (problem endless) (:domain gripper)\n\
         (:objects here there - room {} - ball left right - gripper)\n\
         (:init (robot-in here) (free left) (free right) {})\n\
         (:goal (and {})))\n",
        balls.join(" "),
        all("ball-in", "here"),
        all("ball-in", "there"),
    );
    let path = folder.join("endless.pddl");
    std::fs::write(&path, text).expect("a problem");
    path
}

//! Runs of homing as processes of their own: one that crashes or takes too much memory takes nobody
//! with it, and its CPU time and memory are its own.

use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::watch::interrupted;

/// Names the process that a run works for.
const PARENT: &str = "HOMING_CHILD_OF";

/// What a run left behind.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// In a line: how it ended and the last it said.
    pub(crate) fn reason(&self) -> String {
        let said = self.stderr.trim().lines().last().unwrap_or("").trim();
        let said = said.strip_prefix("homing: ").unwrap_or(said);
        if said.is_empty() {
            self.status.to_string()
        } else {
            format!("{} ({said})", self.status)
        }
    }
}

/// Runs homing with these arguments. `None` if the work was interrupted: the run is ended then.
pub(crate) fn run(arguments: &[OsString]) -> std::io::Result<Option<Finished>> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(arguments)
        .env(PARENT, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C is for the one that the user started; it ends the others.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let mut stdout = child.stdout.take().expect("it was asked for");
    let mut stderr = child.stderr.take().expect("it was asked for");
    // Read all the while: a full pipe would make the run wait for ever.
    let reader = |source: &mut dyn Read| {
        let mut bytes = Vec::new();
        let _ = source.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    std::thread::scope(|scope| {
        let out = scope.spawn(|| reader(&mut stdout));
        let err = scope.spawn(|| reader(&mut stderr));
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if interrupted() {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(Duration::from_millis(50));
        };
        let (stdout, stderr) = (
            out.join().expect("reading does not panic"),
            err.join().expect("reading does not panic"),
        );
        Ok(status.map(|status| Finished {
            status,
            stdout,
            stderr,
        }))
    })
}

/// To be called first thing: a run that works for another process ends with it, even if that is
/// killed without a chance to say so.
pub(crate) fn follow_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        let parent = std::env::var(PARENT)
            .ok()
            .and_then(|text| text.parse().ok());
        let Some(parent): Option<i32> = parent else {
            return;
        };
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // It may have ended before the line above.
        if getppid().is_none_or(|now| now.as_raw_nonzero().get() != parent) {
            std::process::exit(crate::exit::Exit::Interrupted as i32);
        }
    }
}

//! What the process has used: CPU time and memory; and the machine it runs on.

use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds of this process so far, all threads together.
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A line of `/proc/self/status` in bytes; `None` where there is no such file.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line
        .trim_start_matches(':')
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(kilobytes * 1024)
}

/// Tells the memory in use, and quickly: it keeps the system's file open.
#[derive(Debug)]
pub struct MemoryGauge {
    file: Option<std::fs::File>,
    page: u64,
}

impl Default for MemoryGauge {
    fn default() -> Self {
        Self {
            file: std::fs::File::open("/proc/self/statm").ok(),
            page: rustix::param::page_size() as u64,
        }
    }
}

impl MemoryGauge {
    /// The resident set now; `None` where the system does not tell.
    pub fn resident(&self) -> Option<u64> {
        use std::os::unix::fs::FileExt;
        let mut text = [0; 128];
        let length = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page)
    }
}

/// Memory in use now.
pub fn resident_bytes() -> Option<u64> {
    MemoryGauge::default().resident()
}

/// The most memory that was in use.
pub fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM")
}

/// The machine in words: processor, cores, system.
pub fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let plural = if cores == 1 { "" } else { "s" };
        let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = known.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == "model name").then(|| value.trim().to_owned())
        });
        let processor = model.unwrap_or_else(|| "unknown processor".to_owned());
        let system = (std::env::consts::OS, std::env::consts::ARCH);
        format!(
            "{processor}, {cores} core{plural}, {} {}",
            system.0, system.1
        )
    })
}

/// Threads to use: as asked for, else all cores.
pub fn threads(asked: Option<std::num::NonZeroUsize>) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    asked.map_or_else(all, std::num::NonZeroUsize::get)
}

/// The version of homing, and the revision it was built from where that is known.
pub const REVISION: &str = env!("HOMING_REVISION");

/// The version of homing.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

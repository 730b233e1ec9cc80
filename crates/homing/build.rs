//! Tells the program which revision of the repository it was built from, where that is known: records
//! of runs carry it.

#![allow(clippy::print_stdout)] // how a build script speaks to Cargo

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // Of a package that lies in some other repository, that one's revision would say nothing.
    let ours = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let revision = ours
        .then(|| git(&["rev-parse", "--short=9", "HEAD"]))
        .flatten();
    let revision = revision.map_or_else(|| version.clone(), |hash| format!("{version}+{hash}"));
    println!("cargo:rustc-env=HOMING_REVISION={revision}");
    println!("cargo:rerun-if-changed=build.rs");
    // The log of HEAD grows with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
}

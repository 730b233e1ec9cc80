//! The `homing` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    homing_cli::run(std::env::args_os().collect()).into()
}

//! The `homing` command.

mod args;
mod check;
mod exit;
mod input;
mod output;
mod resources;
mod solve;
mod validate;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::exit::{Exit, Failure};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version are asked for; everything else is a mistake.
            let _ = message.print();
            let exit = if message.use_stderr() {
                Exit::BadInput
            } else {
                Exit::Success
            };
            return exit.into();
        }
    };
    let result = std::panic::catch_unwind(|| match &cli.command {
        Command::Solve(arguments) => solve::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Check(arguments) => check::run(arguments),
    });
    match result {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => {
            let message = error.to_string();
            if !message.is_empty() {
                eprintln!("homing: {message}");
            }
            error
                .downcast_ref::<Failure>()
                .map_or(Exit::Bug, |failure| failure.exit)
                .into()
        }
        Err(_) => {
            eprintln!(
                "homing: this is a bug in homing; please report it with the files that show it"
            );
            Exit::Bug.into()
        }
    }
}

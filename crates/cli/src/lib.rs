//! The `homing` command, as a function: the binary and the Python package both call [`run`].

mod anytime;
mod args;
mod check;
mod cluster;
mod cut;
mod evaluate;
mod exit;
mod experiment;
mod folder;
mod generate;
mod guard;
mod input;
mod lsp;
mod manual;
mod model;
mod output;
mod progress;
mod quickstart;
mod report;
mod serve;
mod solve;
mod suite;
mod train;
mod validate;
mod view;
mod watch;
mod work;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::output::{say, stdout_failure};
use homing::files::forgive_broken_pipe;

/// The file that starts this command once more, where it is not the program that runs.
static COMMAND: OnceLock<PathBuf> = OnceLock::new();

/// The file that starts this command once more: runs of `homing evaluate` are processes.
pub(crate) fn command_file() -> std::io::Result<PathBuf> {
    match COMMAND.get() {
        Some(file) => Ok(file.clone()),
        None => std::env::current_exe(),
    }
}

/// [`run`] in a program that is not `homing` itself: `command` is a file that starts it, which runs
/// of `homing evaluate` and of experiments need. The first call decides.
pub fn run_within(command: PathBuf, arguments: Vec<OsString>) -> u8 {
    let _ = COMMAND.set(command);
    run(arguments)
}

/// Does what the command line says, whose first word is the name of the program; the exit code.
pub fn run(arguments: Vec<OsString>) -> u8 {
    let exit = carry_out(arguments);
    // In another program nobody else does, and a line may be without its end.
    let _ = std::io::stdout().flush();
    exit as u8
}

fn carry_out(arguments: Vec<OsString>) -> Exit {
    watch::follow_parent();
    let cli = match manual::parse(arguments) {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version are asked for; everything else is a mistake.
            let printed = message.print().or_else(forgive_broken_pipe);
            if message.use_stderr() {
                return Exit::BadInput;
            }
            return match printed {
                Ok(()) => Exit::Success,
                Err(error) => {
                    say(&format!("homing: {}\n", stdout_failure(&error)));
                    Exit::BadInput
                }
            };
        }
    };
    let result = std::panic::catch_unwind(|| match &cli.command {
        Command::Quickstart(arguments) => quickstart::run(arguments),
        Command::Solve(arguments) => solve::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Train(arguments) => train::run(arguments),
        Command::Model(arguments) => model::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Suite(arguments) => suite::run(arguments),
        Command::Cut(arguments) => cut::run(arguments),
        Command::Evaluate(arguments) => evaluate::run(arguments),
        Command::Experiment(arguments) => experiment::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::View(arguments) => view::run(arguments),
        Command::Lsp(arguments) => lsp::run(arguments),
        Command::Work(arguments) => work::run(arguments),
        Command::Completions(arguments) => manual::completions(arguments),
        Command::Man(arguments) => manual::man(arguments),
    });
    match result {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => fail(&error),
        Err(_) => {
            say("homing: this is a bug in homing; please report it with the files that show it\n");
            Exit::Bug
        }
    }
}

/// Says what went wrong; the exit code for it.
fn fail(error: &anyhow::Error) -> Exit {
    let known = error.downcast_ref::<homing::Error>();
    if let Some(homing::Error::Pddl(diagnostics)) = known {
        say(&format!("{diagnostics}\n"));
    } else {
        let message = match known {
            Some(known) => in_terms_of_flags(known),
            None => error.to_string(),
        };
        if !message.is_empty() {
            say(&format!("homing: {message}\n"));
        }
    }
    match (known, error.downcast_ref::<Failure>()) {
        (Some(known), _) => known.blame().into(),
        (None, Some(failure)) => failure.exit,
        (None, None) => Exit::Bug,
    }
}

/// The message of an error, where a flag has to do with it in words that name the flag.
fn in_terms_of_flags(error: &homing::Error) -> String {
    match error {
        homing::Error::ModelIsFolder { .. } => format!("{error}, which is for --seeds"),
        homing::Error::Selection { problem, error } => {
            format!("problem {problem} for --select: {error}")
        }
        homing::Error::NoValidationSuite { .. } => {
            format!("{error}; `--select FOLDER` selects by problems of yours")
        }
        _ => error.to_string(),
    }
}

//! `homing lsp`.

use std::io::{BufReader, stdin, stdout};

use clap::Args;
use homing_serve::language_server;

use crate::exit::{Exit, Failure};

/// Check PDDL in editors: a language server on standard input and output
///
/// For editors that speak the Language Server Protocol: mistakes as you type, in the words of `homing
/// check`; the declaration of a name where the mouse rests; the way to it; completion of names.
/// The domain of a problem is one that is open, or the file beside it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  homing lsp",
    after_long_help = "Examples:\n  \
                       homing lsp\n  \
                       homing lsp --stdio\n\n\
                       docs/serve.md has the settings of editors."
)]
pub(crate) struct Lsp {
    /// Taken for editors that say so; there is no other way
    #[arg(long, help_heading = "Serving")]
    stdio: bool,
}

pub(crate) fn run(_: &Lsp) -> anyhow::Result<Exit> {
    let mut input = BufReader::new(stdin());
    match language_server(&mut input, &mut stdout()) {
        Ok(true) => Ok(Exit::Success),
        // The editor went without saying goodbye.
        Ok(false) => Ok(Exit::Interrupted),
        Err(error) => Err(Failure::because(Exit::BadInput, error.to_string())),
    }
}

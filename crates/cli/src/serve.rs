//! `homing serve`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use homing_serve::{ServeOptions, Server};

use crate::args::{parse_seconds, parse_size};
use crate::command_file;
use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::watch::{catch_signals, interrupted};

/// Plan in the browser and in editors
///
/// Serves a page for modelling, solving and training, and what editors ask of a planning service, on
/// this machine only. Every request is worked on in a process of its own, with limits. Ctrl-C ends
/// it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  homing serve --port 5001",
    after_long_help = "Examples:\n  \
                       homing serve\n  \
                       homing serve --port 5001 --models models\n  \
                       homing serve --origin https://editor.planning.domains\n\n\
                       docs/serve.md has the settings for VS Code and what is spoken."
)]
pub(crate) struct Serve {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(
        long,
        default_value_t = 5001,
        value_name = "N",
        help_heading = "Serving"
    )]
    port: u16,

    /// Offer the models of this folder, beside those that ship
    #[arg(long, value_name = "DIR", help_heading = "Serving")]
    models: Option<PathBuf>,

    /// Let pages of this origin ask, such as https://editor.planning.domains; may be repeated
    #[arg(long, value_name = "ORIGIN", help_heading = "Serving")]
    origin: Vec<String>,

    /// Searches and trainings at the same time [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    jobs: Option<NonZeroUsize>,

    /// Requests that may wait
    #[arg(long, default_value_t = 256, value_name = "N", help_heading = "Limits")]
    queue: usize,

    /// Seconds of a search at the most
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    time_limit: f64,

    /// Seconds of a training at the most
    #[arg(long, default_value_t = 600.0, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    train_time_limit: f64,

    /// Memory of each process at the most: 500M, 4G; a bare number is MiB
    #[arg(long, default_value = "2G", value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    memory_limit: u64,
}

pub(crate) fn run(arguments: &Serve) -> anyhow::Result<Exit> {
    catch_signals();
    let failed = |error: String| Failure::because(Exit::BadInput, error);
    let options = ServeOptions {
        port: arguments.port,
        models: arguments.models.clone(),
        origins: arguments.origin.clone(),
        jobs: homing::resources::threads(arguments.jobs),
        queue: arguments.queue,
        time_limit: arguments.time_limit,
        train_time_limit: arguments.train_time_limit,
        memory_limit: arguments.memory_limit,
        command: command_file()?,
    };
    let server = Server::bind(options).map_err(|error| failed(error.to_string()))?;
    print(&format!(
        "homing serves at http://localhost:{}/ (Ctrl-C ends it)\n",
        server.port()
    ))?;
    server.run(&interrupted);
    Ok(Exit::Success)
}

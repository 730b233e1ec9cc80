//! Planning for browsers and editors: a server for one machine, its page, and the child processes
//! that do its work.
//!
//! [`Server`] listens on 127.0.0.1. Each request becomes a [`Job`] for a process of its own, which
//! [`carry_out`] does on the other side: it reads the job, and answers with [`Event`]s. Clients name
//! models and send texts; they never name files. `docs/serve.md` describes what is spoken.

mod child;
mod choices;
mod debugger;
mod findings;
mod folder;
mod http;
mod job;
mod lsp;
mod model;
mod model_records;
mod models;
mod package;
mod page;
mod queue;
mod replay;
mod results;
mod runs;
mod server;
mod services;
mod stream;
mod work;

pub use debugger::{BadAddress, Debugger, port_of};
pub use job::{Event, Finding, Job, JobLimits, ModelPlace, StateKind};
pub use lsp::language_server;
pub use page::with_data;
pub use replay::replay;
pub use runs::{curve, runs, trainings};
pub use server::{ServeError, ServeOptions, Server};
pub use work::{Events, carry_out};

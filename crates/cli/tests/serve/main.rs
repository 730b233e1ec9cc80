//! `homing serve` as its clients see it.

mod browser;
mod client;
mod debugger;
mod hostile;
mod load;
mod lsp;
mod models;
mod protocols;
mod recorded;
mod view;

//! `homing train`, `homing model` and `homing solve --model` as a user meets them.

mod counts;
mod everyday;
mod gnn;
mod interrupted;
mod refused;
#[path = "../commands/runs.rs"]
#[allow(dead_code)] // of what the tests of the other commands use
mod runs;
mod selection;
mod shared;
mod training;

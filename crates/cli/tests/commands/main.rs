//! The `homing` command as a user meets it: what it prints, what it writes, how it ends.

mod anytime;
mod check;
mod help;
mod learn_config;
mod nonsense;
#[allow(dead_code)] // of what the tests of the other commands use
mod runs;
mod solve;
mod streams;
mod validate;

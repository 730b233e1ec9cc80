//! The documents are kept true: every command in them is run or says why not, every link leads
//! somewhere, and every item of the code that they name is there.

#![cfg(unix)]

mod commands;
mod formats;
mod links;
mod markdown;

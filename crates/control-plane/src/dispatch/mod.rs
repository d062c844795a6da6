//! Loops and commands on their way to a desktop.
//!
//! Owns the start, launch and end of a loop, the table of commands, and the choice of the desktop.

pub mod cancel;
pub mod command;
pub mod kill;
pub mod launch;
pub mod presence;
pub mod run_document;
pub mod signing;
pub mod target;

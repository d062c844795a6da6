//! Dispatch of loops and commands to desktops.
//!
//! Owns starting, launching and cancelling loops, the table of commands, and the selection of the desktop.

pub mod cancel;
pub mod command;
pub mod forward;
pub mod kill;
pub mod launch;
mod launch_content;
pub mod launch_queue;
pub mod message;
pub mod presence;
pub mod run_document;
pub mod signing;
pub mod target;

//! Loops and commands on their way to a desktop, and what comes back.
//!
//! Owns the launch of a loop, the table of commands, and the control plane's end of the
//! connection to the desktops.

pub mod command;
pub mod host;
pub mod kill;
pub mod launch;
pub mod presence;
pub mod register;
pub mod results;
pub mod target;

pub use host::Desktops;

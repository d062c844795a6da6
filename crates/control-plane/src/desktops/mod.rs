//! The control plane's side of the link: registration, acknowledgements, events.
//!
//! Stores reports of desktops; [`crate::dispatch`] decides what is sent to them.

pub mod connections;
pub mod credentials;
mod diagnostics;
pub mod host;
pub mod register;
mod results;

pub use host::{Desktops, OutstandingCommand};

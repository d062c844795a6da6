//! The control plane's end of the connections to the desktops: registration, acknowledgements, events.
//!
//! Stores what desktops report; what is sent to them is decided by [`crate::dispatch`].

pub mod credentials;
mod diagnostics;
pub mod host;
pub mod register;
mod results;

pub use host::Desktops;

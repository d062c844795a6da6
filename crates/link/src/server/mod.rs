//! The control plane's end of the connection.
//!
//! The [`Switchboard`] keeps one connection a desktop, speaks the protocol and its timers, and
//! hands out commands. It stores nothing: what a desktop reports goes to the [`Host`], which
//! decides what is new, and what was outstanding when a desktop comes back.

mod connection;
mod host;
mod lanes;
mod switchboard;
mod telemetry;
mod upgrade;

pub use host::{Host, Identity, Ingested, Outstanding, Placement, Registration, Session};
pub use switchboard::{Switchboard, Timing, Undelivered};
pub use upgrade::{Refusal, accept, admit};

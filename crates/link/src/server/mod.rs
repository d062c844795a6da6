//! The control plane's end of the connection.
//!
//! The [`ConnectionRegistry`] keeps one connection a desktop and hands out commands; a connection speaks the
//! protocol and keeps its time limits. Nothing is stored: what a desktop reports goes to the [`Host`], which
//! decides what is new, and what was outstanding when a desktop comes back.

mod byte_budget;
mod connection;
mod host;
mod keyed_tasks;
mod registry;
mod telemetry;
mod timing;
mod upgrade;

pub use host::{
    AcceptedHello, DesktopSession, EventOutcome, Host, Identity, OutstandingCommands, SequenceCheck,
};
pub use registry::{ConnectionRegistry, SendError};
pub use timing::ServerTiming;
pub use upgrade::{UpgradeError, accept, admit};

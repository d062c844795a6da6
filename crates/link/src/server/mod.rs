//! The control plane's end of the link.
//!
//! The [`ConnectionRegistry`] keeps at most one current connection per desktop and sends commands on it. Each
//! connection implements the protocol and its timeouts. This module has no storage: reports are passed to the
//! [`Host`], which deduplicates them and returns outstanding commands when a desktop reconnects.

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

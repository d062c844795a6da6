//! The desktop's end of the connection.
//!
//! The client connects out, stays connected, and publishes its state. It carries frames between the control
//! plane and the [`crate::executor`]; what a command does is none of its business.

mod analytics;
#[expect(clippy::module_inception, reason = "named for its type")]
mod client;
mod context;
mod dial;
mod hello;
mod queue_report;
mod session;
mod timing;

pub use client::Client;
pub use context::{ClientConfig, FixedSettings, LinkSettings, LinkState};
pub use hello::HelloInfo;
pub use timing::ClientTiming;

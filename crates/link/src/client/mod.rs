//! The desktop's end of the link.
//!
//! The client dials out, reconnects, and publishes its state. It transports frames between the control plane
//! and the [`crate::executor`], and does not interpret commands.

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

//! Runs the control plane's commands against this desktop's gateway.
//!
//! Commands are queued in order; at most two run concurrently, and never two with the same lock key. Their
//! events are retained until they are acknowledged. The executor is independent of connections: running
//! commands continue while the link is down.

mod answer;
mod browser_key_command;
mod command_log;
mod event_log;
#[expect(clippy::module_inception, reason = "named for its type")]
mod executor;
mod gateway;
mod lock;
mod rejection;
mod request;
mod run;
mod signing;
mod state;
mod timing;

pub(crate) use browser_key_command::BROWSER_KEY_OPERATIONS;
pub use command_log::{CommandLog, CommandProgress, InMemoryCommandLog};
pub use executor::{Executor, ExecutorConfig};
pub use gateway::{CommandHandler, InProcess};
pub use signing::{LoopCredentials, Signing};
pub(crate) use state::ExecutorReport;
pub use state::{MAX_IN_FLIGHT, QueueStats};
pub use timing::ExecutorTiming;

#[cfg(test)]
mod tests;

//! Runs the commands of the control plane against this desktop's own gateway.
//!
//! Commands wait in order, two run at a time, and those with one lock never beside each other.
//! Their events are kept until they are acknowledged. The executor lives longer than any
//! connection: what runs goes on while there is none.

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

//! Durable progress of commands, for deduplication after a restart.
//!
//! A command that the server sends again after a restart must not run twice. If it was started, it is ended
//! as interrupted; if it had ended, its last events are sent again. The start of a loop is an exception: the
//! loop's id prevents a second start, so the request is repeated.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, ready};

pub use loopgate_api::link::CommandProgress;

/// Upper bound of the event bytes that are logged per ended command. Above it only the terminal event is
/// logged.
pub(crate) const MAX_LOGGED_BYTES: usize = 256 * 1024;

/// Durable progress of commands. Entries are kept for [`CommandProgress::RETENTION`].
pub trait CommandLog: Send + Sync + 'static {
    /// Returns the progress of a command, or `None` if it is unknown.
    ///
    /// # Errors
    /// Fails when the log cannot be read.
    fn find<'a>(&'a self, command_id: &'a str) -> BoxFuture<'a, io::Result<Option<CommandProgress>>>;

    /// Stores the progress of a command. It is durable when the future completes.
    ///
    /// # Errors
    /// Fails when the log cannot be written.
    fn record(&self, command_id: String, progress: CommandProgress) -> BoxFuture<'_, io::Result<()>>;
}

/// A log in memory, for tests.
#[derive(Default)]
pub struct InMemoryCommandLog(Mutex<HashMap<String, CommandProgress>>);

impl CommandLog for InMemoryCommandLog {
    fn find<'a>(&'a self, command_id: &'a str) -> BoxFuture<'a, io::Result<Option<CommandProgress>>> {
        let commands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(Ok(commands.get(command_id).cloned())))
    }

    fn record(&self, command_id: String, progress: CommandProgress) -> BoxFuture<'_, io::Result<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(command_id, progress);
        Box::pin(ready(Ok(())))
    }
}

//! Which commands were started and how they ended, also after a restart.
//!
//! A command that is sent again after a restart must not run twice: one that was started is answered as
//! interrupted, one that ended with its last events. The start of a loop is the exception: the loop's id
//! guards it, so it is asked for again.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, ready};

pub use loopgate_api::link::CommandProgress;

/// Bytes of events that are logged with one ended command.
pub(crate) const MAX_LOGGED_BYTES: usize = 256 * 1024;

/// Durable progress of commands. Entries are kept for [`CommandProgress::RETENTION`].
pub trait CommandLog: Send + Sync + 'static {
    /// The progress of a command; none when it is unknown.
    ///
    /// # Errors
    /// The log cannot be read.
    fn find<'a>(&'a self, command_id: &'a str) -> BoxFuture<'a, io::Result<Option<CommandProgress>>>;

    /// Stores the progress of a command; durable when the future completes.
    ///
    /// # Errors
    /// The log cannot be written.
    fn record(&self, command_id: String, progress: CommandProgress) -> BoxFuture<'_, io::Result<()>>;
}

/// A log that ends with the process, for tests.
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

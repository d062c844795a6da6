//! Stores the link's command log in the desktop's database.

use std::io;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use loopgate_link::executor::{CommandLog, CommandProgress};
use loopgate_runtime::jobs::store::CommandLogTable;

/// Adapts the command log table of the runtime's store to the executor's [`CommandLog`].
pub struct DesktopCommandLog(pub CommandLogTable);

impl CommandLog for DesktopCommandLog {
    fn find<'a>(&'a self, command_id: &'a str) -> BoxFuture<'a, io::Result<Option<CommandProgress>>> {
        async move { self.0.find(command_id).await.map_err(io::Error::other) }.boxed()
    }

    fn record(&self, command_id: String, progress: CommandProgress) -> BoxFuture<'_, io::Result<()>> {
        async move { self.0.record(command_id, &progress).await.map_err(io::Error::other) }.boxed()
    }
}

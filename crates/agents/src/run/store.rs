//! Stores for the output of runs.

use std::io;
use std::time::Duration;

use loopgate_api::chat_event::ChatEvent;
use serde_json::Value;

use std::sync::Arc;

use loopgate_api::provider::ProviderId;

use super::RunHandle;
use super::progress::RunEnd;
use crate::provider::{Provider, TurnOutput};
use crate::registry::ProviderRegistry;

/// Store of a run's output. Called sequentially by the run's task on a blocking thread.
pub trait RunStore: Send + Sync + 'static {
    /// Returns the maximum delay before new output is stored.
    fn interval(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// Returns whether the store needs events. If not, [`RunStore::store`] receives none.
    fn takes_events(&self) -> bool {
        false
    }

    /// Returns whether a turn without an answer is a failure.
    fn requires_answer(&self) -> bool {
        true
    }

    /// Stores the pid of the program.
    ///
    /// # Errors
    /// Fails on any I/O error; the run continues.
    fn store_pid(&mut self, _pid: u32) -> io::Result<()> {
        Ok(())
    }

    /// Stores the output so far and the events since the last call. `end` is set on the last call.
    ///
    /// # Errors
    /// Fails on any I/O error; the run continues.
    fn store(&mut self, output: &TurnOutput, events: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()>;

    /// Discards stored output, because the output is read from the start again: by a second attempt, or by
    /// another process after a restart.
    ///
    /// # Errors
    /// Fails on any I/O error; the run continues.
    fn reset(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns the events sent to clients after the program has exited.
    fn last_events(&self, _output: &TurnOutput, end: &RunEnd) -> Vec<ChatEvent> {
        let error = end.error.clone().map(ChatEvent::error);
        let result = end.was_started.then_some(ChatEvent::Result { success: end.success });
        error.into_iter().chain(result).chain([ChatEvent::DONE]).collect()
    }
}

/// Stores nothing, for callers that await the outcome.
pub struct NoStore;

impl RunStore for NoStore {
    fn store(&mut self, _: &TurnOutput, _: &[ChatEvent], _: Option<&RunEnd>) -> io::Result<()> {
        Ok(())
    }
}

/// Reopens the stores of runs that an earlier process started.
pub trait RunStoreFactory {
    /// Returns the kind under which runs are recorded.
    fn kind(&self) -> &'static str;

    /// Reopens a store with the data of [`super::RunRequest::owner`]; `None` if the data is not valid.
    fn reopen(&self, owner: serde_json::Map<String, Value>) -> Option<Box<dyn RunStore>>;

    /// Returns the provider that parses the output of a run; `None` if it is not available.
    fn provider(
        &self,
        registry: &ProviderRegistry,
        id: &ProviderId,
        _owner: &serde_json::Map<String, Value>,
    ) -> Option<Arc<dyn Provider>> {
        registry.get(id)
    }

    /// Called for each recovered run. No-op by default.
    fn on_recovery(&self, _owner: &serde_json::Map<String, Value>, _run: &RunHandle) {}
}

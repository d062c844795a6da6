//! Where a run's output goes.

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

/// Stores what a run produces. The run's task calls it on a thread that may block, one call at a time.
pub trait RunStore: Send + Sync + 'static {
    /// How long output may wait until it is stored.
    fn interval(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// Whether it stores events; without, [`RunStore::store`] is given none.
    fn takes_events(&self) -> bool {
        false
    }

    /// Notes the pid of the program.
    ///
    /// # Errors
    /// Any failure of the file system; the run goes on.
    fn store_pid(&mut self, _pid: u32) -> io::Result<()> {
        Ok(())
    }

    /// Stores the output so far, and the events since the last call; at the last call with the end.
    ///
    /// # Errors
    /// Any failure of the file system; the run goes on.
    fn store(&mut self, output: &TurnOutput, events: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()>;

    /// Forgets what is stored, because the run begins anew with its fallback.
    ///
    /// # Errors
    /// Any failure of the file system; the run goes on.
    fn reset(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// The events after the end of the program.
    fn last_events(&self, _output: &TurnOutput, end: &RunEnd) -> Vec<ChatEvent> {
        let error = end.error.clone().map(ChatEvent::error);
        let result = end.was_started.then_some(ChatEvent::Result { success: end.success });
        error.into_iter().chain(result).chain([ChatEvent::DONE]).collect()
    }
}

/// Stores nothing: somebody waits for the outcome.
pub struct NoStore;

impl RunStore for NoStore {
    fn store(&mut self, _: &TurnOutput, _: &[ChatEvent], _: Option<&RunEnd>) -> io::Result<()> {
        Ok(())
    }
}

/// Opens the stores of runs that an earlier process started.
pub trait RunStoreFactory {
    /// The name under which its runs are recorded.
    fn kind(&self) -> &'static str;

    /// The store of a run, from what [`super::RunRequest::owner`] recorded; `None` when it makes no sense.
    fn reopen(&self, owner: serde_json::Map<String, Value>) -> Option<Box<dyn RunStore>>;

    /// Who reads the output of a run; `None` when nobody can any more.
    fn provider(
        &self,
        registry: &ProviderRegistry,
        id: &ProviderId,
        _owner: &serde_json::Map<String, Value>,
    ) -> Option<Arc<dyn Provider>> {
        registry.get(id)
    }

    /// Takes notice of a run that goes on.
    fn recovered(&self, _owner: &serde_json::Map<String, Value>, _run: &RunHandle) {}
}

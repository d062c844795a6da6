//! `state.json` of a work directory, and the status of a directory.

use std::fs::File;

use loopgate_api::names::STATE_JSON;
use loopgate_api::ticket::DirectoryStatus;
use serde_json::{Map, Value};

use super::files::{TicketFiles, text_of};

/// Statuses after which nothing runs.
const ENDED: [&str; 4] = ["COMPLETED", "ERROR", "FAILED", "CANCELLED"];

impl TicketFiles {
    /// Returns the state; `None` when there is none yet. The error is a text for the response.
    pub(super) fn state(&self) -> Result<Option<Map<String, Value>>, String> {
        let file = self.document(STATE_JSON).map_err(|error| error.to_string())?;
        file.map(|file| read(&file)).transpose()
    }

    /// Returns whether a loop is running in this directory.
    ///
    /// # Errors
    /// Fails with a description of what is wrong with the state.
    pub fn directory_status(&self) -> Result<DirectoryStatus, String> {
        let Some(state) = self.state()? else {
            return Ok(DirectoryStatus {
                reason: Some("state.json not found"),
                ..DirectoryStatus::default()
            });
        };
        let member = |name: &str| state.get(name).cloned();
        let status = state.get("status").and_then(Value::as_str).unwrap_or_default().to_uppercase();
        Ok(DirectoryStatus {
            is_running: !ENDED.contains(&status.as_str()),
            reason: None,
            phase: member("phase"),
            status: member("status"),
            iteration: member("iteration"),
            last_update: member("timestamp"),
            latest_loop: None,
        })
    }
}

fn read(file: &File) -> Result<Map<String, Value>, String> {
    let text = text_of(file, STATE_JSON).map_err(|error| error.to_string())?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(state)) => Ok(state),
        Ok(_) => Err("state.json is not an object".to_owned()),
        Err(error) => Err(format!("state.json is malformed: {error}")),
    }
}

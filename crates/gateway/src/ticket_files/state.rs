//! `state.json` of a work directory, and the short answer about a directory.

use std::fs::File;

use loopgate_api::names::STATE_JSON;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{TicketFiles, text_of};
use crate::routes::orchestrator::loop_facts::LoopFacts;

/// Statuses after which nothing runs.
const ENDED: [&str; 4] = ["COMPLETED", "ERROR", "FAILED", "CANCELLED"];

/// Whether work goes on in a directory. Members of the state are copied as they are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DirectoryStatus {
    is_running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    phase: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    status: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    iteration: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    last_update: Option<Value>,
    /// The loop that works there, or did last.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    facts: Option<LoopFacts>,
}

impl DirectoryStatus {
    /// Adds what the loop's record tells.
    pub(crate) fn with(self, facts: Option<LoopFacts>) -> Self {
        Self { facts, ..self }
    }
}

impl TicketFiles {
    /// The state, `None` when there is none yet; the error is a text for the answer.
    pub(super) fn state(&self) -> Result<Option<Map<String, Value>>, String> {
        let file = self.document(STATE_JSON).map_err(|error| error.to_string())?;
        file.map(|file| read(&file)).transpose()
    }

    /// Whether work goes on here.
    ///
    /// # Errors
    /// The text of what is wrong with the state.
    pub(crate) fn directory_status(&self) -> Result<DirectoryStatus, String> {
        let Some(state) = self.state()? else {
            return Ok(DirectoryStatus {
                is_running: false,
                reason: Some("state.json not found"),
                phase: None,
                status: None,
                iteration: None,
                last_update: None,
                facts: None,
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
            facts: None,
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

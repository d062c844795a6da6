//! What the judges of a ticket said.

use loopgate_api::names::JUDGES_JSON;
use loopgate_api::plan;
use loopgate_api::ticket::JudgesReport;

use super::files::TicketFiles;

/// Why there is no report to show; each with its cause.
#[derive(Debug)]
pub enum JudgesError {
    /// The report is no JSON.
    Corrupted(String),
    /// The file cannot be read.
    Unreadable(String),
}

impl TicketFiles {
    /// What the judges said of this ticket.
    ///
    /// # Errors
    /// See [`JudgesError`].
    pub fn judges_report(&self) -> Result<JudgesReport, JudgesError> {
        let worktree_dir = self.worktree().to_string_lossy().into_owned();
        let text = self.text(JUDGES_JSON).map_err(|error| JudgesError::Unreadable(error.to_string()))?;
        let Some(text) = text else {
            let message = "Awaiting LLM judges feedback";
            return Ok(JudgesReport::Pending { exists: false, is_mock: false, message, worktree_dir });
        };
        // As it is first: a comma before a bracket may also be part of what they said.
        let data = serde_json::from_str(&text).or_else(|_| plan::parse(&text));
        let data = data.map_err(|error| JudgesError::Corrupted(error.to_string()))?;
        Ok(JudgesReport::Present { exists: true, is_mock: false, data, worktree_dir })
    }
}

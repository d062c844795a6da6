//! Reports of the judges about a ticket.

use loopgate_api::names::JUDGES_JSON;
use loopgate_api::plan;
use loopgate_api::ticket::JudgesReport;

use super::files::TicketFiles;

/// Error of reading the judges' report, with its cause.
#[derive(Debug)]
pub enum JudgesError {
    /// The report is not valid JSON.
    Corrupted(String),
    /// The file cannot be read.
    Unreadable(String),
}

impl TicketFiles {
    /// Returns the judges' report about this ticket.
    ///
    /// # Errors
    /// Fails with [`JudgesError`] when the report cannot be read or parsed.
    pub fn judges_report(&self) -> Result<JudgesReport, JudgesError> {
        let worktree_dir = self.worktree().to_string_lossy().into_owned();
        let text = self.text(JUDGES_JSON).map_err(|error| JudgesError::Unreadable(error.to_string()))?;
        let Some(text) = text else {
            let message = "Awaiting LLM judges feedback";
            return Ok(JudgesReport::Pending { exists: false, is_mock: false, message, worktree_dir });
        };
        // Strict JSON first: the lenient parser removes commas before brackets, also inside strings.
        let data = serde_json::from_str(&text).or_else(|_| plan::parse(&text));
        let data = data.map_err(|error| JudgesError::Corrupted(error.to_string()))?;
        Ok(JudgesReport::Present { exists: true, is_mock: false, data, worktree_dir })
    }
}

//! Reports of the judges about a ticket.

use loopgate_api::names::JUDGES_JSON;
use loopgate_api::plan;
use loopgate_api::ticket::JudgesReport;

use super::files::TicketFiles;

/// Report of `loopgate judges run` about a plan.
const PLAN_JUDGES_JSON: &str = "plan-judges.json";

/// Error of reading the judges' report, with its cause.
#[derive(Debug)]
pub enum JudgesError {
    /// The report is not valid JSON.
    Corrupted(String),
    /// The file cannot be read.
    Unreadable(String),
}

impl TicketFiles {
    /// Returns the judges' report about this ticket: that of `loopgate judges run`, else that of its loop.
    ///
    /// # Errors
    /// Fails with [`JudgesError`] when the report cannot be read or parsed.
    pub fn judges_report(&self) -> Result<JudgesReport, JudgesError> {
        let worktree_dir = self.worktree().to_string_lossy().into_owned();
        let read = |name| self.text(name).map_err(|error| JudgesError::Unreadable(error.to_string()));
        let text = match read(PLAN_JUDGES_JSON)? {
            Some(text) => Some(text),
            None => read(JUDGES_JSON)?,
        };
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

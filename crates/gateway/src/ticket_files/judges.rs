//! What the judges of a ticket said.

use loopgate_api::names::JUDGES_JSON;
use loopgate_api::plan;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::TicketFiles;

/// What the judges said, or that they have not spoken yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Judgement {
    /// Their report.
    #[serde(rename_all = "camelCase")]
    Spoken {
        exists: bool,
        /// Always false: nothing here is made up.
        is_mock: bool,
        /// As it was written, whatever its shape.
        #[schema(value_type = Object)]
        data: Value,
        worktree_dir: String,
    },
    /// None yet.
    #[serde(rename_all = "camelCase")]
    Awaited {
        exists: bool,
        /// Always false.
        is_mock: bool,
        #[schema(example = "Awaiting LLM judges feedback")]
        message: &'static str,
        worktree_dir: String,
    },
}

/// Why there is no judgement to show.
pub(crate) enum Unjudged {
    /// The report is no JSON.
    Corrupted(String),
    /// The file cannot be read.
    Unreadable(String),
}

impl TicketFiles {
    /// What the judges said of this ticket.
    pub(crate) fn judgement(&self) -> Result<Judgement, Unjudged> {
        let worktree_dir = self.worktree().to_string_lossy().into_owned();
        let text = self.text(JUDGES_JSON).map_err(|error| Unjudged::Unreadable(error.to_string()))?;
        let Some(text) = text else {
            let message = "Awaiting LLM judges feedback";
            return Ok(Judgement::Awaited { exists: false, is_mock: false, message, worktree_dir });
        };
        // As it stands first: a comma before a bracket may also be part of what they said.
        let data = serde_json::from_str(&text).or_else(|_| plan::parse(&text));
        let data = data.map_err(|error| Unjudged::Corrupted(error.to_string()))?;
        Ok(Judgement::Spoken { exists: true, is_mock: false, data, worktree_dir })
    }
}

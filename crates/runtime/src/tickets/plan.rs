//! The plan of a ticket.

use std::fs::File;
use std::io;

use loopgate_api::names::{PLAN_JSON, PLAN_MD};
use loopgate_api::plan::{self, TaskProgress};
use loopgate_api::ticket::TicketPlan;

use super::files::{TicketFiles, text_of};

/// Progress of the plan's tasks, and the id of the current task.
type Progress = (TaskProgress, Option<String>);

impl TicketFiles {
    /// Returns the plan; `None` when there is none yet. The error is a text for the response.
    ///
    /// # Errors
    /// Fails with a description of what is wrong with the plan.
    pub fn plan(&self) -> Result<Option<TicketPlan>, String> {
        let Some(text) = self.text(PLAN_JSON).map_err(|error| error.to_string())? else { return Ok(None) };
        let raw = plan::parse(&text).map_err(|error| format!("plan.json is malformed: {error}"))?;
        if !raw.is_object() {
            return Err("plan.json is not an object".to_owned());
        }
        let markdown_file = self.text(PLAN_MD).ok().flatten();
        Ok(Some(TicketPlan {
            exists: true,
            plan_exists: true,
            content: plan::markdown(&raw, markdown_file.as_deref()),
            raw,
            worktree_dir: self.worktree().to_string_lossy().into_owned(),
        }))
    }

    /// Returns whether a plan exists, and the progress of its tasks; a malformed plan has no progress.
    pub(super) fn plan_progress(&self) -> (bool, Option<Progress>) {
        match self.document(PLAN_JSON) {
            Ok(Some(file)) => (true, progress(&file).unwrap_or_default()),
            Ok(None) => (false, None),
            Err(_) => (true, None),
        }
    }
}

fn progress(file: &File) -> io::Result<Option<Progress>> {
    let plan = plan::parse(&text_of(file, PLAN_JSON)?).ok();
    Ok(plan.and_then(|plan| plan::progress(&plan)))
}

//! The state file that a loop writes about itself. All functions perform blocking I/O.

use std::path::Path;

use loopgate_api::job::JobStatus;
use loopgate_api::names::{STATE_JSON, WAITING_UNTIL};
use loopgate_home::untrusted;
use serde_json::Value;

use crate::jobs::Job;

/// Returns the state if this run wrote it; an older file belongs to an earlier run.
pub(crate) fn of_run(job: &Job, work_dir: &Path) -> Option<Value> {
    let path = work_dir.join(STATE_JSON);
    written_since(job, &path).then(|| untrusted::read_json(&path)).flatten()
}

/// Returns whether this run wrote a file.
pub(crate) fn written_since(job: &Job, path: &Path) -> bool {
    let modified = untrusted::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified.zip(job.spawned()).is_some_and(|(modified, spawned)| modified >= spawned)
}

/// Returns the reset time of the usage limit that the loop waits for, if this run wrote the state.
pub(crate) fn waiting_until(job: &Job, work_dir: &Path) -> Option<String> {
    of_run(job, work_dir)?.get(WAITING_UNTIL)?.as_str().map(str::to_owned)
}

/// Returns the status that the state file reports, whichever run wrote it.
pub(crate) fn status(work_dir: &Path) -> Option<JobStatus> {
    let state: Value = serde_json::from_str(&untrusted::read_text(&work_dir.join(STATE_JSON)).ok()?).ok()?;
    match state.get("status")?.as_str()?.to_uppercase().as_str() {
        "IN_PROGRESS" => Some(JobStatus::Running),
        "AWAITING_USER" => Some(JobStatus::AwaitingUser),
        "COMPLETED" => Some(JobStatus::Completed),
        "FAILED" => Some(JobStatus::Failed),
        "CANCELLED" => Some(JobStatus::Cancelled),
        "STOPPED" => Some(JobStatus::Stopped),
        _ => None,
    }
}

//! The state file that a loop writes about itself. Everything here blocks on the disk.

use std::path::Path;

use loopgate_api::job::JobStatus;
use loopgate_api::names::{STATE_JSON, WAITING_UNTIL};
use loopgate_home::untrusted;
use serde_json::Value;

use crate::jobs::Job;

/// The document, when it was written by this run.
pub(crate) fn of_run(job: &Job, work_dir: &Path) -> Option<Value> {
    let path = work_dir.join(STATE_JSON);
    written_since(job, &path).then(|| untrusted::read_json(&path)).flatten()
}

/// Whether a file was written by this run.
pub(crate) fn written_since(job: &Job, path: &Path) -> bool {
    let modified = untrusted::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified.zip(job.spawned()).is_some_and(|(modified, spawned)| modified >= spawned)
}

/// The end of the limit that the loop waits for, when its state was written by this run.
pub(crate) fn waiting_until(job: &Job, work_dir: &Path) -> Option<String> {
    of_run(job, work_dir)?.get(WAITING_UNTIL)?.as_str().map(str::to_owned)
}

/// The status that the loop claims.
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

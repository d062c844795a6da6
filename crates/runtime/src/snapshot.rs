//! A job as a status reader sees it: the record, and what its process and files say at this moment.
//!
//! Looking changes nothing: whoever follows the loop is the only one to end it.

use std::path::PathBuf;

use loopgate_api::job::JobStatus;
use loopgate_api::names::{PLAN_JSON, STATE_JSON};
use loopgate_api::plan::{self, TaskProgress};
use loopgate_tools::process::{ProcessStart, alive};
use serde::Serialize;
use serde_json::Value;

use crate::job::Job;
use crate::runtime::Runtime;
use crate::stillness::Stillness;
use crate::store::StoreError;

/// A job that was accepted and has no process after this long is a ghost, in seconds.
const GHOST_AGE: i64 = 60;

/// A job at this moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The record; its status is the one to show.
    #[serde(flatten)]
    pub job: Job,
    /// Whether its process lives.
    pub process_running: bool,
    /// Its place among the loops that wait, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_place: Option<usize>,
    /// What it does, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stillness: Option<Stillness>,
}

impl Runtime {
    /// The loops that have not ended: those that run, then those that wait, in their order.
    ///
    /// # Errors
    /// [`StoreError`] when the records cannot be read.
    pub async fn under_way(&self) -> Result<Vec<Snapshot>, StoreError> {
        let mut snapshots = Vec::new();
        for job in self.store.active().await? {
            snapshots.push(self.snapshot(job).await);
        }
        snapshots.sort_by_key(|snapshot| snapshot.queue_place);
        Ok(snapshots)
    }

    /// The job as it is at this moment.
    pub async fn snapshot(&self, job: Job) -> Snapshot {
        let followed = self.is_followed(job.id);
        let (queue_place, stillness) = (self.queue.place(job.id), self.pulses.of(job.id));
        let stored = job.clone();
        let looked = tokio::task::spawn_blocking(move || look(stored, followed)).await;
        let snapshot = looked.unwrap_or_else(|_| Snapshot::of(job, false));
        Snapshot { queue_place, stillness, ..snapshot }
    }
}

impl Snapshot {
    const fn of(job: Job, process_running: bool) -> Self {
        Self { job, process_running, queue_place: None, stillness: None }
    }
}

fn look(mut job: Job, followed: bool) -> Snapshot {
    job.facts.phase = None;
    job.facts.sealed_failure_secret = None;
    let process_running = match (job.facts.pid, job.facts.pid_started_at) {
        (Some(pid), Some(started)) => alive(pid, ProcessStart(started)),
        _ => false,
    };
    if job.status.is_terminal() {
        return Snapshot::of(job, process_running);
    }
    let work_dir = PathBuf::from(job.facts.work_dir.clone().unwrap_or_default());
    let read = |name: &str| std::fs::read_to_string(work_dir.join(name)).ok();
    if let Some((progress, current)) = read(PLAN_JSON).and_then(|text| progress_of(&text)) {
        job.facts.task_progress = Some(progress);
        job.facts.current_task_id = current;
    }
    let said = read(STATE_JSON).and_then(|text| status_of(&text));
    job.status = status(&job, said, process_running, followed);
    Snapshot::of(job, process_running)
}

fn progress_of(text: &str) -> Option<(TaskProgress, Option<String>)> {
    plan::progress(&plan::parse(text).ok()?)
}

/// The status that a loop's own state file claims.
fn status_of(text: &str) -> Option<JobStatus> {
    let state: Value = serde_json::from_str(text).ok()?;
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

fn status(job: &Job, said: Option<JobStatus>, process_running: bool, followed: bool) -> JobStatus {
    // Somebody works on the loop: what it claims about its own end is not yet the whole truth.
    if followed || process_running {
        return match said {
            Some(JobStatus::AwaitingUser) if job.status == JobStatus::Running && process_running => {
                JobStatus::AwaitingUser
            }
            _ => job.status,
        };
    }
    match (job.status, said) {
        (JobStatus::CancelPending, _) => JobStatus::Cancelled,
        (JobStatus::Queued | JobStatus::Starting, _) => {
            if age(job) > GHOST_AGE {
                JobStatus::Failed
            } else {
                job.status
            }
        }
        (_, Some(said)) if said != JobStatus::Running => said,
        (JobStatus::AwaitingUser, _) => JobStatus::AwaitingUser,
        _ => JobStatus::Stopped,
    }
}

/// Seconds since the job was accepted.
fn age(job: &Job) -> i64 {
    let started: Option<jiff::Timestamp> = job.started_at.parse().ok();
    started.map_or(i64::MAX, |at| jiff::Timestamp::now().as_second() - at.as_second())
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::LoopCommand;
    use loopgate_api::ids::LoopId;
    use uuid::Uuid;

    use super::*;

    fn job(status: JobStatus) -> Job {
        let mut job = Job::starting(LoopId(Uuid::nil()), LoopCommand::Plan);
        job.status = status;
        job
    }

    #[test]
    fn a_loop_that_is_worked_on_never_looks_stopped() {
        let completed = Some(JobStatus::Completed);
        assert_eq!(status(&job(JobStatus::Running), completed, false, true), JobStatus::Running);
        assert_eq!(status(&job(JobStatus::Running), None, false, false), JobStatus::Stopped);
        assert_eq!(status(&job(JobStatus::Running), completed, false, false), JobStatus::Completed);
        assert_eq!(status(&job(JobStatus::CancelPending), completed, false, false), JobStatus::Cancelled);
    }

    #[test]
    fn a_job_without_a_process_becomes_a_ghost() {
        let mut ghost = job(JobStatus::Starting);
        assert_eq!(status(&ghost, None, false, false), JobStatus::Starting);
        ghost.started_at = "2020-01-01T00:00:00.000Z".to_owned();
        assert_eq!(status(&ghost, None, false, false), JobStatus::Failed);
    }
}

//! Current state of a job: its record combined with the state of its process and files.
//!
//! Read-only: only the supervision task changes the record of a loop.

use std::sync::Arc;

use loopgate_api::job::JobStatus;
use loopgate_api::names::PLAN_JSON;
use loopgate_api::plan::{self, TaskProgress};
use loopgate_home::untrusted;
use loopgate_tools::process::{ProcessStart, alive};
use serde::Serialize;

use crate::jobs::Job;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::Reservations;
use crate::jobs::store::{JobStore, StoreError};
use crate::launch::launch_queue::LaunchQueue;
use crate::process::stall_detection::{Activities, Activity};
use crate::transcript::state_file;

/// Seconds after which an accepted job without a process is shown as failed: its launch was interrupted.
const GHOST_AGE: i64 = 60;

/// The current state of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The record, with the status to display.
    #[serde(flatten)]
    pub job: Job,
    /// Whether the loop's process is alive.
    pub process_running: bool,
    /// Position in the launch queue, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_place: Option<usize>,
    /// Activity of a running loop.
    #[serde(rename = "stall", skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
    /// Error of a report that the control plane rejected permanently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_report: Option<String>,
}

/// Reads the current state of jobs.
pub struct Snapshots {
    pub(crate) store: JobStore,
    pub(crate) reservations: Reservations,
    pub(crate) queue: Arc<LaunchQueue>,
    pub(crate) activities: Activities,
}

impl Snapshots {
    /// Returns the active loops, running ones before queued ones in queue order, and ended loops with a
    /// rejected report.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn active(&self) -> Result<Vec<Snapshot>, StoreError> {
        let mut jobs = self.store.active().await?;
        let mut refusals = self.store.rejections().await?;
        // The user would not learn of a rejection otherwise, because ended loops are not listed.
        for id in refusals.keys() {
            jobs.extend(self.store.job(*id).await?.filter(|job| job.status().is_terminal()));
        }
        let mut snapshots = Vec::new();
        for job in jobs {
            let refused_report = refusals.remove(&job.id);
            snapshots.push(Snapshot { refused_report, ..self.of(job).await });
        }
        // Stable: loops without a queue position come first and retain the order of the query.
        snapshots.sort_by_key(|snapshot| snapshot.queue_place);
        Ok(snapshots)
    }

    /// Returns the current state of a job.
    pub async fn of(&self, job: Job) -> Snapshot {
        let followed = self.reservations.is_followed(job.id);
        let (queue_place, activity) = (self.queue.position(job.id), self.activities.of(job.id));
        let record = job.clone();
        // Reads the loop's files and the process table.
        let observed = tokio::task::spawn_blocking(move || observe(record, followed)).await;
        let snapshot = observed.unwrap_or_else(|_| Snapshot::of(job, false));
        Snapshot { queue_place, activity, ..snapshot }
    }
}

impl Snapshot {
    const fn of(job: Job, process_running: bool) -> Self {
        Self { job, process_running, queue_place: None, activity: None, refused_report: None }
    }
}

fn observe(mut job: Job, followed: bool) -> Snapshot {
    job.progress.phase = None;
    // Sealed secrets never leave the runtime, even though they are encrypted.
    job.run.sealed_failure_secret = None;
    job.run.sealed_driver_launch = None;
    let process_running = match (job.run.pid, job.run.pid_started_at) {
        (Some(pid), Some(started)) => alive(pid, ProcessStart(started)),
        _ => false,
    };
    if job.status().is_terminal() {
        return Snapshot::of(job, process_running);
    }
    let work_dir = job.work_dir();
    let read = |name: &str| untrusted::read_text(&work_dir.join(name)).ok();
    if let Some((progress, current)) = read(PLAN_JSON).and_then(|text| progress_of(&text)) {
        job.progress.task_progress = Some(progress);
        job.progress.current_task_id = current;
    }
    let file_status = state_file::status(&work_dir);
    if let Some(event) = event(&job, file_status, process_running, followed) {
        // An event that the state machine rejects does not change the displayed status.
        let _ = job.apply(event);
    }
    Snapshot::of(job, process_running)
}

fn progress_of(text: &str) -> Option<(TaskProgress, Option<String>)> {
    plan::progress(&plan::parse(text).ok()?)
}

/// Derives an event that has happened but is not recorded yet.
fn event(
    job: &Job,
    file_status: Option<JobStatus>,
    process_running: bool,
    followed: bool,
) -> Option<JobEvent> {
    // The loop is followed or its process is alive. Its state file may report the end before the delivery is
    // done, so only a question counts.
    if followed || process_running {
        let awaits_user = file_status == Some(JobStatus::AwaitingUser) && process_running;
        return (awaits_user && job.status() == JobStatus::Running).then_some(JobEvent::QuestionAsked);
    }
    match (job.status(), file_status) {
        (JobStatus::CancelPending, _) => Some(JobEvent::Cancelled),
        (JobStatus::Queued | JobStatus::Starting, _) => (age(job) > GHOST_AGE).then_some(JobEvent::Failed),
        (_, Some(JobStatus::AwaitingUser)) => Some(JobEvent::QuestionAsked),
        (_, Some(JobStatus::Completed)) => Some(JobEvent::Completed),
        (_, Some(JobStatus::Failed)) => Some(JobEvent::Failed),
        _ => Some(JobEvent::Vanished),
    }
}

/// Returns the seconds since the job was accepted.
fn age(job: &Job) -> i64 {
    let started: Option<jiff::Timestamp> = job.started_at.parse().ok();
    started.map_or(i64::MAX, |at| jiff::Timestamp::now().as_second() - at.as_second())
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::LoopCommand;
    use loopgate_api::ids::LoopId;
    use loopgate_api::names::STATE_JSON;
    use uuid::Uuid;

    use super::*;

    fn job(events: &[JobEvent]) -> Job {
        let mut job = Job::starting(LoopId(Uuid::nil()), LoopCommand::Plan);
        events.iter().for_each(|event| job.apply(*event).unwrap());
        job
    }

    fn shown(mut job: Job, file_status: Option<JobStatus>, followed: bool) -> JobStatus {
        if let Some(event) = event(&job, file_status, false, followed) {
            job.apply(event).unwrap();
        }
        job.status()
    }

    #[test]
    fn followed_loop_is_never_shown_as_stopped() {
        let completed = Some(JobStatus::Completed);
        let running = || job(&[JobEvent::Spawned]);
        assert_eq!(shown(running(), completed, true), JobStatus::Running);
        assert_eq!(shown(running(), None, false), JobStatus::Stopped);
        assert_eq!(shown(running(), completed, false), JobStatus::Completed);
        assert_eq!(shown(running(), Some(JobStatus::AwaitingUser), false), JobStatus::AwaitingUser);
        let cancelled = job(&[JobEvent::Spawned, JobEvent::CancelRequested]);
        assert_eq!(shown(cancelled, completed, false), JobStatus::Cancelled);
    }

    #[test]
    fn job_without_a_process_fails_after_the_ghost_age() {
        let mut ghost = job(&[]);
        assert_eq!(shown(ghost.clone(), None, false), JobStatus::Starting);
        ghost.started_at = "2020-01-01T00:00:00.000Z".to_owned();
        assert_eq!(shown(ghost, None, false), JobStatus::Failed);
    }

    #[test]
    fn planted_state_file_is_ignored_and_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let work_dir = dir.path().join("tree/.loopgate/work");
        std::fs::create_dir_all(&work_dir).unwrap();
        let state = work_dir.join(STATE_JSON);
        std::fs::write(&state, r#"{"status":"AWAITING_USER"}"#).unwrap();
        let asks = || state_file::status(&work_dir) == Some(JobStatus::AwaitingUser);
        assert!(asks());
        let outside = dir.path().join("state");
        std::fs::rename(&state, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &state).unwrap();
        assert!(!asks(), "a symbolic link is not followed");
        std::fs::remove_file(&state).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &state, mode).unwrap();
        // An unbounded read of this file would never end.
        std::os::unix::fs::symlink("/dev/zero", work_dir.join(PLAN_JSON)).unwrap();
        assert!(!asks(), "a FIFO is not opened");
        let mut job = job(&[JobEvent::Spawned]);
        job.workspace.work_dir = Some(work_dir.to_string_lossy().into_owned());
        assert_eq!(observe(job, true).job.progress.task_progress, None);
    }
}

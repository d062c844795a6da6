//! Restarts a loop driver that was killed while it waited for a usage limit of the assistant to reset.
//!
//! The progress of the loop is in the driver's state file. Arguments and environment are stored in the job
//! record, sealed, because they contain the secret for the failure marker.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_api::names::{ASSISTANT_STDERR, LOOP_LOG, LOOP_STATE, STATE_DIR};
use loopgate_home::{Credentials, SettingsStore, untrusted};
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::shim::{ShimError, ShimHandle, Shims, Spec};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::delivery::ExitKind;
use crate::jobs::store::StoreError;
use crate::jobs::{Job, Jobs, ProcessKind, ProcessRecord};
use crate::process::spawn;
use crate::transcript::state_file;

// A driver that is killed again and again, for example by the OOM killer, must fail eventually.
const MAX_RESTARTS: u32 = 10;
// Between SIGTERM and SIGKILL, when the loop was cancelled during the restart.
const KILL_GRACE: Duration = Duration::from_secs(3);

/// Arguments and environment of a driver that resumes its loop.
#[derive(Serialize, Deserialize)]
pub(crate) struct DriverLaunch {
    pub cwd: PathBuf,
    pub args: Vec<OsString>,
    /// Variables that are set in addition to the inherited ones.
    pub variables: Vec<(OsString, OsString)>,
}

impl DriverLaunch {
    /// Serializes and encrypts the value for the job record. Returns `None` when it cannot be encrypted.
    pub fn seal(&self, credentials: &Credentials) -> Option<String> {
        credentials.seal(&serde_json::to_vec(self).ok()?).map(|sealed| STANDARD.encode(sealed))
    }

    fn of(job: &Job, credentials: &Credentials) -> Option<Self> {
        let sealed = STANDARD.decode(job.run.sealed_driver_launch.as_ref()?).ok()?;
        serde_json::from_slice(&credentials.open_sealed(&sealed)?).ok()
    }
}

/// Error while restarting a driver.
#[derive(Debug, Error)]
enum RestartError {
    #[error(transparent)]
    Shim(#[from] ShimError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Restarts loop drivers that were killed while waiting.
#[derive(Clone)]
pub(crate) struct DriverRestarts {
    pub jobs: Jobs,
    pub shims: Shims,
    pub environment: ProcessEnvironment,
    pub credentials: Arc<Credentials>,
    pub settings: Arc<SettingsStore>,
}

impl DriverRestarts {
    /// Restarts the driver of a loop if it was killed while waiting. Returns `None` when the loop is finished
    /// instead.
    pub async fn restart(&self, id: LoopId, end: &ExitKind) -> Option<ShimHandle> {
        // A driver that exited with a code has reported the result of the loop itself.
        let was_killed = matches!(end, ExitKind::Lost | ExitKind::Exit { signal: Some(_), .. });
        if !was_killed || !self.settings.get().wait_for_limits {
            return None;
        }
        let job = self.jobs.store.job(id).await.ok().flatten()?;
        if job.status() != JobStatus::Running || job.run.driver_restarts >= MAX_RESTARTS {
            return None;
        }
        let launch = DriverLaunch::of(&job, &self.credentials)?;
        let (waiting, cwd) = (job.clone(), launch.cwd.clone());
        let is_waiting = tokio::task::spawn_blocking(move || is_waiting(&waiting, &cwd)).await;
        if !is_waiting.unwrap_or(false) {
            return None;
        }
        match self.spawn(&job, launch).await {
            Ok(shim) => Some(shim),
            Err(error) => {
                tracing::error!(loop_id = %id, %error, "failed to restart the loop driver");
                None
            }
        }
    }

    async fn spawn(&self, job: &Job, launch: DriverLaunch) -> Result<ShimHandle, RestartError> {
        let work_dir = job.work_dir();
        let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| Path::new(&peer.dir));
        let checkouts: Vec<&Path> = std::iter::once(launch.cwd.as_path()).chain(peers).collect();
        // The inherited environment is read again: the user may have changed it since the loop was started.
        let (mut env, _) = self.environment.guarded(&checkouts).await;
        env.extend(launch.variables);
        let process = ProcessRecord::new(&self.shims, job.id, ProcessKind::Main, &work_dir);
        let spec = Spec {
            program: self.shims.exe.clone(),
            args: launch.args,
            cwd: launch.cwd,
            env,
            stdin_file: None,
            stdout: work_dir.join(LOOP_LOG),
            stderr: work_dir.join(ASSISTANT_STDERR),
            jsonl: None,
            exit_file: PathBuf::from(&process.exit_file),
            socket: PathBuf::from(&process.socket),
            loop_id: job.id,
        };
        let (shim, state) = self.shims.spawn(&spec).await?;
        let pid_files = (work_dir, state.clone());
        let written =
            tokio::task::spawn_blocking(move || spawn::write_pid_files(&pid_files.0, &pid_files.1)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(loop_id = %job.id, %error, "failed to write the pid files");
        }
        let job = self
            .jobs
            .change(job.id, |now| {
                now.job.run.process = Some(process);
                now.job.run.pid = Some(state.pid);
                now.job.run.pid_started_at = state.started.map(|started| started.0);
                now.job.run.driver_restarts += 1;
                Ok(())
            })
            .await?;
        if job.is_cancelled() {
            // The cancellation found no process to terminate, because it arrived before the pid was stored.
            let _ = shim.kill(KILL_GRACE).await;
        }
        let text =
            "The loop driver was killed while it waited for a usage limit to reset, and has been restarted";
        let event = LoopEvent::note(text);
        self.jobs.enqueue_event(job.id, &event).await?;
        Ok(shim)
    }
}

/// Returns whether the loop's state files report a wait and allow the driver to resume. Performs blocking
/// I/O.
fn is_waiting(job: &Job, cwd: &Path) -> bool {
    state_file::waiting_until(job, &job.work_dir()).is_some()
        && untrusted::is_file(&cwd.join(STATE_DIR).join(LOOP_STATE))
}

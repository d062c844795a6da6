//! Starts a loop's driver again that died while it waited for the end of a limit of the assistant.
//!
//! Where the loop stands is in the driver's own state file. What the driver is started with is stored with the
//! job, sealed, because a part of it is secret.

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
use serde_json::json;
use thiserror::Error;

use crate::delivery::ExitKind;
use crate::jobs::store::StoreError;
use crate::jobs::{Job, Jobs, ProcessKind, ProcessRecord};
use crate::process::spawn;
use crate::transcript::state_file;

/// Times that the driver of a loop is started again: what kills it may do so each time.
const MAX_RESTARTS: u32 = 10;
/// Between SIGTERM and SIGKILL when the loop was cancelled meanwhile.
const KILL_GRACE: Duration = Duration::from_secs(3);

/// What a driver that goes on with its loop is started with.
#[derive(Serialize, Deserialize)]
pub(crate) struct DriverLaunch {
    /// Its directory.
    pub cwd: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its variables beside those of every program.
    pub variables: Vec<(OsString, OsString)>,
}

impl DriverLaunch {
    /// The form in which it is stored; `None` when it cannot be sealed.
    pub fn seal(&self, credentials: &Credentials) -> Option<String> {
        credentials.seal(&serde_json::to_vec(self).ok()?).map(|sealed| STANDARD.encode(sealed))
    }

    fn of(job: &Job, credentials: &Credentials) -> Option<Self> {
        let sealed = STANDARD.decode(job.run.sealed_driver_launch.as_ref()?).ok()?;
        serde_json::from_slice(&credentials.open_sealed(&sealed)?).ok()
    }
}

/// Why a driver was not started again.
#[derive(Debug, Error)]
enum RestartError {
    #[error(transparent)]
    Shim(#[from] ShimError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Starts drivers again.
#[derive(Clone)]
pub(crate) struct DriverRestarts {
    pub jobs: Jobs,
    pub shims: Shims,
    pub environment: ProcessEnvironment,
    pub credentials: Arc<Credentials>,
    pub settings: Arc<SettingsStore>,
}

impl DriverRestarts {
    /// Starts the driver of a loop again when it died while it waited; `None` when the loop is over.
    pub async fn restart(&self, id: LoopId, end: &ExitKind) -> Option<ShimHandle> {
        let died = matches!(end, ExitKind::Lost | ExitKind::Exit { signal: Some(_), .. });
        if !died || !self.settings.get().wait_for_limits {
            return None;
        }
        let job = self.jobs.store.job(id).await.ok().flatten()?;
        if job.status() != JobStatus::Running || job.run.driver_restarts >= MAX_RESTARTS {
            return None;
        }
        let launch = DriverLaunch::of(&job, &self.credentials)?;
        let (waiting, cwd) = (job.clone(), launch.cwd.clone());
        let waits = tokio::task::spawn_blocking(move || is_waiting(&waiting, &cwd)).await;
        if !waits.unwrap_or(false) {
            return None;
        }
        match self.spawn(&job, launch).await {
            Ok(shim) => Some(shim),
            Err(error) => {
                tracing::error!(loop_id = %id, %error, "a driver that had waited for a limit did not start again");
                None
            }
        }
    }

    async fn spawn(&self, job: &Job, launch: DriverLaunch) -> Result<ShimHandle, RestartError> {
        let work_dir = job.work_dir();
        let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| Path::new(&peer.dir));
        let checkouts: Vec<&Path> = std::iter::once(launch.cwd.as_path()).chain(peers).collect();
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
        let traces = (work_dir, state.clone());
        let written = tokio::task::spawn_blocking(move || spawn::write_pid_files(&traces.0, &traces.1)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(loop_id = %job.id, %error, "the files with the loop's pid could not be written");
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
            // The request to stop it found no process.
            let _ = shim.kill(KILL_GRACE).await;
        }
        let text = "The loop's driver had died while it waited for the end of a limit; it was started again";
        let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
        self.jobs.enqueue_event(job.id, &event).await?;
        Ok(shim)
    }
}

/// Whether a loop's own files say that it waits, and where it goes on. Blocks on the disk.
fn is_waiting(job: &Job, cwd: &Path) -> bool {
    state_file::waiting_until(job, &job.work_dir()).is_some()
        && untrusted::is_file(&cwd.join(STATE_DIR).join(LOOP_STATE))
}

//! PLAN loops that a page creates at the control plane: context for the request, confirmation and
//! cancellation.
//!
//! A loop that was only confirmed has a record without a process: it is announced. Its launch replaces the
//! record; if Loopgate is restarted before that, the record is closed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::command::LoopCommand;
use loopgate_api::ids::{LoopId, TicketId};
use loopgate_api::names::PROCESS_PID;
use loopgate_api::time::now_iso;
use loopgate_home::{Credentials, Repository, Sandbox, SandboxedPath};
use loopgate_tools::git::Git;
use thiserror::Error;

use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::Reservations;
use crate::jobs::store::StoreError;
use crate::jobs::{Job, Jobs};
use crate::reporting::control_plane::{CallError, ControlPlaneClient};
use crate::stop::{GRACE, ProcessOwner, StopError, StopMode, StopOutcome, Stopper};
use crate::tickets::launch::{get_of_work_dir, merge_launch_metadata};
use crate::workspace::naming::WorktreeNames;
use crate::workspace::worktree_layout::WorktreeLayout;

/// Time that the response to a cancellation waits for the final record of the loop.
const RECORD_TIME: Duration = Duration::from_secs(5);

/// Local context for the request of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanContext {
    /// The ticket's worktree, which may not exist yet.
    pub worktree: PathBuf,
    /// `<org>/<repo>` of the remote, or empty.
    pub full_name: String,
    /// Branch to start from; empty when the repository has none.
    pub branch: String,
}

/// A PLAN loop that a page created at the control plane.
#[derive(Debug, Clone)]
pub struct PlanConfirmation {
    pub repository: SandboxedPath,
    pub ticket: TicketId,
    /// Id of the created loop.
    pub loop_id: Option<LoopId>,
    /// Id of the loop's document.
    pub artifact_id: Option<String>,
    /// Slug that names the document's worktree.
    pub artifact_slug: Option<String>,
    /// Id of the ticket in its tracker.
    pub issue_id: Option<String>,
    /// Title of the ticket.
    pub ticket_title: Option<String>,
    /// Whether the loop is already running.
    pub runs: bool,
}

/// Error of a step of a plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The worktree would be outside the sandbox.
    #[error("directory not allowed")]
    NotAllowed,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// Effect of a cancellation on the local process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The process has ended.
    Ended,
    /// No local process is known.
    Unknown,
    /// The process is still running.
    StillRunning,
}

impl CancelOutcome {
    /// Returns the warning for the response.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Ended => None,
            Self::Unknown => Some("process-unknown"),
            Self::StillRunning => Some("process-still-running"),
        }
    }
}

/// Error of cancelling a loop.
#[derive(Debug, Error)]
pub enum CancelError {
    /// No API key is configured.
    #[error("API key not configured")]
    NoKey,
    /// The control plane refused, with this status and text.
    #[error("DB cancel failed: {1}")]
    Refused(u16, String),
    /// The control plane could not be reached. The local process was stopped anyway.
    #[error("Failed to reach API: {0}")]
    Unreachable(String),
    /// The recorded process was not started by Loopgate.
    #[error("process not managed by this gateway")]
    OtherProcess,
    /// The process could not be stopped, or its record could not be changed.
    #[error(transparent)]
    Stop(#[from] StopError),
}

impl From<StoreError> for CancelError {
    fn from(error: StoreError) -> Self {
        Self::Stop(error.into())
    }
}

/// Steps of a page to create and cancel a PLAN loop.
pub struct PlanLoops {
    pub(crate) jobs: Jobs,
    pub(crate) cloud: ControlPlaneClient,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) git: Git,
    pub(crate) layout: WorktreeLayout,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) reservations: Reservations,
    pub(crate) stopper: Arc<Stopper>,
}

impl PlanLoops {
    /// Returns whether a control plane is configured.
    #[must_use]
    pub fn has_control_plane(&self) -> bool {
        self.cloud.origin().is_some()
    }

    /// Returns the local context of a ticket's repository.
    ///
    /// # Errors
    /// Fails with [`PlanError::NotAllowed`] or [`PlanError::Io`].
    pub async fn context(
        &self,
        repository: &SandboxedPath,
        ticket: &TicketId,
        base: Option<String>,
    ) -> Result<PlanContext, PlanError> {
        let branch = match base {
            Some(base) => Some(base),
            None => self.git.current_branch(repository.as_path()).await.ok().flatten(),
        };
        let (layout, sandbox) = (self.layout.clone(), self.sandbox.clone());
        let (repository, ticket) = (repository.clone(), ticket.clone());
        blocking(move || {
            let worktree = match layout.ticket_worktree(&repository, &ticket) {
                Some(worktree) => worktree,
                None => layout.for_ticket(&repository, &ticket).map_err(|_| PlanError::NotAllowed)?,
            };
            let clone = sandbox.repository_at(repository.as_path());
            let origin = clone.as_ref().and_then(Repository::origin);
            Ok(PlanContext {
                worktree: worktree.as_path().to_owned(),
                full_name: origin.map(|name| name.to_string()).unwrap_or_default(),
                branch: branch.or_else(|| clone?.default_branch()).unwrap_or_default(),
            })
        })
        .await
    }

    /// Records a confirmed loop and returns its worktree. An existing record of the loop is not changed.
    ///
    /// # Errors
    /// Fails with [`PlanError`] when the worktree is not allowed or the record cannot be written.
    pub async fn confirm(&self, confirmation: PlanConfirmation) -> Result<PathBuf, PlanError> {
        let layout = self.layout.clone();
        let (worktree, confirmation) = blocking(move || {
            let repository = &confirmation.repository;
            let name = confirmation
                .artifact_slug
                .as_deref()
                .and_then(WorktreeNames::of_document)
                .map(|key| format!("{}-loop-{key}", repository.base_name()));
            let (existing, new) = match &name {
                Some(name) => (layout.find(repository, name), layout.for_new(repository, name)),
                None => {
                    let ticket = &confirmation.ticket;
                    (layout.ticket_worktree(repository, ticket), layout.for_ticket(repository, ticket))
                }
            };
            let worktree = existing.map_or(new, Ok).map_err(|_| PlanError::NotAllowed)?;
            if let Some(loop_id) = confirmation.loop_id.filter(|_| confirmation.artifact_id.is_some()) {
                let facts = [
                    ("issueId", confirmation.issue_id.clone()),
                    ("ticketTitle", confirmation.ticket_title.clone()),
                    ("artifactId", confirmation.artifact_id.clone()),
                    ("loopId", Some(loop_id.to_string())),
                ];
                merge_launch_metadata(&worktree, facts)?;
            }
            Ok((worktree.as_path().to_owned(), confirmation))
        })
        .await?;
        if let Some(loop_id) = confirmation.loop_id {
            self.jobs.store.add(&announced(loop_id, &confirmation, &worktree)).await?;
        }
        Ok(worktree)
    }

    /// Cancels a loop at the control plane, and its process on this desktop.
    ///
    /// # Errors
    /// Fails with [`CancelError`] when either cannot be done.
    pub async fn cancel(
        &self,
        repository: &SandboxedPath,
        ticket: &TicketId,
        id: LoopId,
    ) -> Result<CancelOutcome, CancelError> {
        let key = self.credentials.api_key().ok_or(CancelError::NoKey)?;
        match self.cloud.cancel(id, &key).await {
            Ok(()) => self.cancel_here(repository, ticket, id).await,
            Err(CallError::Http { status, text, .. }) => Err(CancelError::Refused(status, text)),
            Err(unreachable) => {
                // The local process is stopped even when the control plane is unreachable.
                self.cancel_here(repository, ticket, id).await?;
                Err(CancelError::Unreachable(unreachable.to_string()))
            }
        }
    }

    async fn cancel_here(
        &self,
        repository: &SandboxedPath,
        ticket: &TicketId,
        id: LoopId,
    ) -> Result<CancelOutcome, CancelError> {
        let job = self.jobs.store.job(id).await?;
        if job.as_ref().is_some_and(|job| job.status().is_terminal()) {
            return Ok(CancelOutcome::Ended);
        }
        if self.reservations.is_followed(id) || job.as_ref().is_some_and(|job| job.run.process.is_some()) {
            return self.cancel_started(id).await;
        }
        let recorded_worktree =
            job.as_ref().and_then(|job| job.workspace.worktree_dir.clone()).map(PathBuf::from);
        let outcome = self.cancel_recorded(recorded_worktree, repository, ticket, id).await?;
        if job.is_some() {
            self.close_announced(id, outcome).await?;
        }
        Ok(outcome)
    }

    /// Cancels a loop that is in preparation or has a process under its shim.
    async fn cancel_started(&self, id: LoopId) -> Result<CancelOutcome, CancelError> {
        let outcome = match self.stopper.stop_loop(id, StopMode::Cancel, GRACE).await? {
            StopOutcome::AlreadyEnded | StopOutcome::Stopped => CancelOutcome::Ended,
            StopOutcome::StillRunning | StopOutcome::Busy => CancelOutcome::StillRunning,
        };
        if outcome == CancelOutcome::Ended {
            // The supervision task records the end. The response should follow it, but a timeout is
            // acceptable.
            let _ = tokio::time::timeout(RECORD_TIME, self.reservations.free(id)).await;
        } else {
            self.jobs
                .store
                .update(id, |job| outcome.warning().into_iter().for_each(|code| job.warn(code)))
                .await?;
        }
        Ok(outcome)
    }

    /// Stops the process that the pid file in the worktree names, unless it belongs to another loop.
    async fn cancel_recorded(
        &self,
        recorded_worktree: Option<PathBuf>,
        repository: &SandboxedPath,
        ticket: &TicketId,
        id: LoopId,
    ) -> Result<CancelOutcome, CancelError> {
        let (layout, repository, ticket) = (self.layout.clone(), repository.clone(), ticket.clone());
        let recorded_pid = tokio::task::spawn_blocking(move || {
            let worktree = match recorded_worktree {
                Some(recorded_worktree) => layout.allowed(&recorded_worktree),
                None => layout.ticket_worktree(&repository, &ticket),
            };
            let pid = get_of_work_dir(&worktree?, PROCESS_PID)?.trim().parse::<u32>().ok();
            pid.filter(|pid| *pid != 0)
        });
        let Some(pid) = recorded_pid.await.ok().flatten() else { return Ok(CancelOutcome::Unknown) };
        match self.stopper.owner_of(pid).await? {
            ProcessOwner::None => Ok(CancelOutcome::Ended),
            ProcessOwner::Other => Err(CancelError::OtherProcess),
            ProcessOwner::Loopgate(process) if process.is_of_another(id) => Ok(CancelOutcome::Unknown),
            ProcessOwner::Loopgate(process) => match self.stopper.stop(process).await {
                Ok(_) => Ok(CancelOutcome::Ended),
                Err(StopError::Shim(_)) => Ok(CancelOutcome::StillRunning),
                Err(error) => Err(error.into()),
            },
        }
    }

    async fn close_announced(&self, id: LoopId, outcome: CancelOutcome) -> Result<(), StoreError> {
        let update = self.jobs.change(id, |now| {
            if now.job.status().is_terminal() {
                return Ok(());
            }
            now.apply(JobEvent::CancelRequested)?;
            match outcome.warning() {
                Some(code) => now.job.warn(code),
                None => {
                    now.apply(JobEvent::Cancelled)?;
                    // Already reported: the loop was cancelled at the control plane first.
                    now.job.report.cloud_finalized_at = Some(now_iso());
                }
            }
            Ok(())
        });
        update.await.map(drop)
    }
}

/// Closes the record of a loop that was announced before this start. Its outcome is unknown, and the control
/// plane has received no events of it from this desktop.
pub(crate) async fn close_unstarted(jobs: &Jobs, id: LoopId) -> Result<(), StoreError> {
    let update = jobs.change(id, |now| {
        let event = if now.job.is_cancelled() { JobEvent::Cancelled } else { JobEvent::Lost };
        now.apply(event)?;
        now.job.report.cloud_finalized_at = Some(now_iso());
        Ok(())
    });
    update.await.map(drop)
}

fn announced(id: LoopId, confirmation: &PlanConfirmation, worktree: &Path) -> Job {
    let text = |path: &Path| Some(path.to_string_lossy().into_owned());
    let mut job = Job::waiting(id, LoopCommand::Plan);
    if confirmation.runs {
        // The loop runs elsewhere. A queued job always accepts this event, so there is no error.
        let _ = job.apply(JobEvent::Spawned);
    }
    job.launch.announced = true;
    job.launch.ticket_id = Some(confirmation.ticket.as_str().to_owned());
    job.launch.artifact_id.clone_from(&confirmation.artifact_id);
    job.launch.artifact_slug.clone_from(&confirmation.artifact_slug);
    job.launch.issue_id.clone_from(&confirmation.issue_id);
    job.workspace.repo_path = text(confirmation.repository.as_path());
    job.workspace.local_repo_path.clone_from(&job.workspace.repo_path);
    job.workspace.worktree_dir = text(worktree);
    job
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PlanError> + Send + 'static,
) -> Result<T, PlanError> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}

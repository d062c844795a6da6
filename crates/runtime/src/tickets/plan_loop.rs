//! The three steps by which a page comes to a plan: what is known here, what it agreed on with the
//! control plane, and taking it back.
//!
//! A loop that was only agreed on has a record without a process. Whoever starts the loop takes the
//! record over; when Loopgate starts again before that, it is closed.

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

/// How long the answer to a cancellation waits until the record says so.
const RECORD_TIME: Duration = Duration::from_secs(5);

/// What is known here before a plan is ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanContext {
    /// The ticket's worktree, which may not be there yet.
    pub worktree: PathBuf,
    /// `<org>/<repo>` of the remote, else empty.
    pub full_name: String,
    /// The branch to start from; empty when the repository has none.
    pub branch: String,
}

/// What a page agreed on with the control plane.
#[derive(Debug, Clone)]
pub struct PlanConfirmation {
    /// The ticket's repository.
    pub repository: SandboxedPath,
    /// The ticket.
    pub ticket: TicketId,
    /// The loop that was made.
    pub loop_id: Option<LoopId>,
    /// Its document.
    pub artifact_id: Option<String>,
    /// What names the document's worktree.
    pub artifact_slug: Option<String>,
    /// Id of the ticket in its tracker.
    pub issue_id: Option<String>,
    /// Title of the ticket.
    pub ticket_title: Option<String>,
    /// Whether the loop ran already.
    pub runs: bool,
}

/// Why a step of a plan fails.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The worktree would be outside the sandbox.
    #[error("directory not allowed")]
    NotAllowed,
    /// The records.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// What became of the process of a loop that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It has ended.
    Ended,
    /// Nobody knows of one.
    Unknown,
    /// It does not end.
    StillRunning,
}

impl CancelOutcome {
    /// What the answer warns of.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Ended => None,
            Self::Unknown => Some("process-unknown"),
            Self::StillRunning => Some("process-still-running"),
        }
    }
}

/// Why a loop could not be taken back.
#[derive(Debug, Error)]
pub enum CancelError {
    /// There is no key for the control plane.
    #[error("API key not configured")]
    NoKey,
    /// The control plane refused, with this status and text.
    #[error("DB cancel failed: {1}")]
    Refused(u16, String),
    /// The control plane could not be asked. What ran here was ended all the same.
    #[error("Failed to reach API: {0}")]
    Unreachable(String),
    /// The recorded process is not ours.
    #[error("process not managed by this gateway")]
    OtherProcess,
    /// The records, or the process.
    #[error(transparent)]
    Stop(#[from] StopError),
}

impl From<StoreError> for CancelError {
    fn from(error: StoreError) -> Self {
        Self::Stop(error.into())
    }
}

/// The steps by which a page comes to a plan.
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
    /// Whether a control plane is configured.
    #[must_use]
    pub fn has_control_plane(&self) -> bool {
        self.cloud.origin().is_some()
    }

    /// What is known here of a ticket's repository.
    ///
    /// # Errors
    /// [`PlanError::NotAllowed`], [`PlanError::Io`].
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

    /// Notes what was agreed on; answers the worktree. A loop that is known is left as it is.
    ///
    /// # Errors
    /// [`PlanError`].
    pub async fn confirm(&self, agreed: PlanConfirmation) -> Result<PathBuf, PlanError> {
        let layout = self.layout.clone();
        let (worktree, agreed) = blocking(move || {
            let repository = &agreed.repository;
            let name = agreed
                .artifact_slug
                .as_deref()
                .and_then(WorktreeNames::of_document)
                .map(|key| format!("{}-loop-{key}", repository.base_name()));
            let (known, wanted) = match &name {
                Some(name) => (layout.find(repository, name), layout.for_new(repository, name)),
                None => {
                    let ticket = &agreed.ticket;
                    (layout.ticket_worktree(repository, ticket), layout.for_ticket(repository, ticket))
                }
            };
            let worktree = known.map_or(wanted, Ok).map_err(|_| PlanError::NotAllowed)?;
            if let Some(loop_id) = agreed.loop_id.filter(|_| agreed.artifact_id.is_some()) {
                let facts = [
                    ("issueId", agreed.issue_id.clone()),
                    ("ticketTitle", agreed.ticket_title.clone()),
                    ("artifactId", agreed.artifact_id.clone()),
                    ("loopId", Some(loop_id.to_string())),
                ];
                merge_launch_metadata(&worktree, facts)?;
            }
            Ok((worktree.as_path().to_owned(), agreed))
        })
        .await?;
        if let Some(loop_id) = agreed.loop_id {
            self.jobs.store.add(&announced(loop_id, &agreed, &worktree)).await?;
        }
        Ok(worktree)
    }

    /// Takes a loop back: at the control plane, and whatever works on it here.
    ///
    /// # Errors
    /// [`CancelError`].
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
        let named = job.as_ref().and_then(|job| job.workspace.worktree_dir.clone()).map(PathBuf::from);
        let outcome = self.cancel_recorded(named, repository, ticket, id).await?;
        if job.is_some() {
            self.close_announced(id, outcome).await?;
        }
        Ok(outcome)
    }

    /// A loop that is prepared or was started here, whose record says where its process is.
    async fn cancel_started(&self, id: LoopId) -> Result<CancelOutcome, CancelError> {
        let outcome = match self.stopper.stop_loop(id, StopMode::Cancel, GRACE).await? {
            StopOutcome::AlreadyEnded | StopOutcome::Stopped => CancelOutcome::Ended,
            StopOutcome::StillRunning | StopOutcome::Busy => CancelOutcome::StillRunning,
        };
        if outcome == CancelOutcome::Ended {
            // Whoever follows it records its end; the answer may say so when that is done.
            let _ = tokio::time::timeout(RECORD_TIME, self.reservations.free(id)).await;
        } else {
            self.jobs
                .store
                .update(id, |job| outcome.warning().into_iter().for_each(|code| job.warn(code)))
                .await?;
        }
        Ok(outcome)
    }

    /// The process that the files of the worktree name, when it is not another loop's.
    async fn cancel_recorded(
        &self,
        named: Option<PathBuf>,
        repository: &SandboxedPath,
        ticket: &TicketId,
        id: LoopId,
    ) -> Result<CancelOutcome, CancelError> {
        let (layout, repository, ticket) = (self.layout.clone(), repository.clone(), ticket.clone());
        let recorded = tokio::task::spawn_blocking(move || {
            let worktree = match named {
                Some(named) => layout.allowed(&named),
                None => layout.ticket_worktree(&repository, &ticket),
            };
            let pid = get_of_work_dir(&worktree?, PROCESS_PID)?.trim().parse::<u32>().ok();
            pid.filter(|pid| *pid != 0)
        });
        let Some(pid) = recorded.await.ok().flatten() else { return Ok(CancelOutcome::Unknown) };
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
        let closed = self.jobs.change(id, |now| {
            if now.job.status().is_terminal() {
                return Ok(());
            }
            now.apply(JobEvent::CancelRequested)?;
            match outcome.warning() {
                Some(code) => now.job.warn(code),
                None => {
                    now.apply(JobEvent::Cancelled)?;
                    now.job.report.cloud_finalized_at = Some(now_iso());
                }
            }
            Ok(())
        });
        closed.await.map(drop)
    }
}

/// Closes the record of a loop that was agreed on before this start: nobody can tell any more
/// what becomes of it, and the control plane never heard of it from here.
pub(crate) async fn close_unstarted(jobs: &Jobs, id: LoopId) -> Result<(), StoreError> {
    let forgotten = jobs.change(id, |now| {
        let event = if now.job.is_cancelled() { JobEvent::Cancelled } else { JobEvent::Lost };
        now.apply(event)?;
        now.job.report.cloud_finalized_at = Some(now_iso());
        Ok(())
    });
    forgotten.await.map(drop)
}

fn announced(id: LoopId, agreed: &PlanConfirmation, worktree: &Path) -> Job {
    let text = |path: &Path| Some(path.to_string_lossy().into_owned());
    let mut job = Job::waiting(id, LoopCommand::Plan);
    if agreed.runs {
        // Elsewhere; a job that waits may always begin to run.
        let _ = job.apply(JobEvent::Spawned);
    }
    job.launch.announced = true;
    job.launch.ticket_id = Some(agreed.ticket.as_str().to_owned());
    job.launch.artifact_id.clone_from(&agreed.artifact_id);
    job.launch.artifact_slug.clone_from(&agreed.artifact_slug);
    job.launch.issue_id.clone_from(&agreed.issue_id);
    job.workspace.repo_path = text(agreed.repository.as_path());
    job.workspace.local_repo_path.clone_from(&job.workspace.repo_path);
    job.workspace.worktree_dir = text(worktree);
    job
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PlanError> + Send + 'static,
) -> Result<T, PlanError> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}

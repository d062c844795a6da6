//! Launches loops: checks the request, prepares the workspace, records the job and starts the process.
//!
//! The request is answered when the process runs, or after a timeout as accepted; later failures are reported
//! by events. A launch continues when its caller disconnects. A failed launch releases its reservation, so
//! that the same loop can be requested again.

mod announce;
mod approval;
mod attachments;
mod command_line;
mod dispatch;
pub(crate) mod driver_restart;
mod inputs;
pub(crate) mod launch_queue;
mod prompt;
pub(crate) mod queue;
mod record;
mod script;
mod spawn_process;
pub(crate) mod staging;
mod url_policy;

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::command::{InputRequirement, Peers};
use loopgate_api::ids::{LoopId, RepoFullName};
use loopgate_api::launch::Harness;
use loopgate_api::redact;
use loopgate_home::{Credentials, SettingsStore};
use loopgate_tools::mcp::{Detector, McpHost};
use loopgate_tools::programs::Programs;
use loopgate_tools::shim::ShimHandle;
use tokio::sync::oneshot;

use crate::commands::bootstrap::AgentBootstrap;
use crate::error::LoopRequestError;
use crate::jobs::reservations::{Reservation, Reservations};
use crate::jobs::store::{LaunchRequest, PreviousJob, StoreError, StoredToken};
use crate::jobs::{FinalizationSource, Jobs};
pub use crate::launch::approval::Unapproved;
use crate::launch::launch_queue::LaunchQueue;
pub use crate::launch::launch_queue::LoopStart;
use crate::refusal::Refusal;
use crate::reporting::control_plane::ControlPlaneClient;
use crate::reporting::outbox::Outbox;
use crate::reporting::telemetry::TelemetrySender;
use crate::reporting::tokens::Tokens;
use crate::request::{LoopHeaders, LoopRequest};
use crate::supervision::{ProcessState, Supervisor};
use crate::tasks::Tasks;
use crate::timing::RuntimeTiming;
use crate::workspace::Workspaces;
use crate::workspace::peers::{self, Peer};
use crate::workspace::repository::{self, ClonePlace, LoopRepository, Repositories};
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::shim::Shims;

/// Launches loops, directly or through the queue.
pub struct Launcher {
    pub(crate) queue: Arc<LaunchQueue>,
    pub(crate) jobs: Jobs,
    pub(crate) cloud: ControlPlaneClient,
    pub(crate) tokens: Tokens,
    pub(crate) outbox: Outbox,
    pub(crate) telemetry: TelemetrySender,
    pub(crate) reservations: Reservations,
    pub(crate) repositories: Repositories,
    pub(crate) workspaces: Workspaces,
    pub(crate) supervisor: Supervisor,
    pub(crate) shims: Shims,
    pub(crate) environment: ProcessEnvironment,
    pub(crate) bootstrap: AgentBootstrap,
    pub(crate) programs: Arc<Programs>,
    pub(crate) mcp: Detector,
    pub(crate) settings: Arc<SettingsStore>,
    pub(crate) credentials: Arc<Credentials>,
    /// Data directory of this desktop.
    pub(crate) data_dir: PathBuf,
    /// Directory with the bundled plugins, one subdirectory each.
    pub(crate) plugin_dirs: PathBuf,
    pub(crate) timing: RuntimeTiming,
    pub(crate) tasks: Tasks,
}

impl Launcher {
    /// Launches a loop. The response is [`LoopStart`] without a pid if the process does not run within
    /// [`RuntimeTiming::launch_answer`].
    ///
    /// # Errors
    /// Fails with the status and exact text of the first check or step that fails.
    pub async fn start_loop(
        self: &Arc<Self>,
        body: &[u8],
        headers: LoopHeaders,
    ) -> Result<LoopStart, LoopRequestError> {
        let (request, reservation) = self.accept(body, &headers).await?;
        let (id, launcher) = (request.loop_id, self.clone());
        let (answer, mut answered) = oneshot::channel();
        let stored =
            LaunchRequest { body: String::from_utf8_lossy(body).into_owned(), headers: headers.clone() };
        // A separate task: a launch must not be cancelled halfway when the client disconnects.
        self.tasks.spawn(async move {
            let request_stored = launcher.queue.store_request(id, &stored).await;
            if launcher.queue.must_wait().await {
                let queued = match request_stored {
                    Ok(()) => Box::pin(launcher.queue.enqueue(&request, &headers, reservation)).await,
                    Err(error) => Err(error),
                };
                let _ = answer.send(queued);
                return;
            }
            Box::pin(launcher.start(request, headers, reservation, answer)).await;
            launcher.queue.delete_request(id).await;
        });
        if let Ok(answer) = tokio::time::timeout(self.timing.launch_answer, &mut answered).await {
            return answer.unwrap_or_else(|_| {
                tracing::error!("launch task ended without a response");
                Err(LoopRequestError::internal())
            });
        }
        // `close` makes later sends fail, so that the task reports failures by events. A response that was
        // sent before is still delivered.
        answered.close();
        answered.try_recv().unwrap_or(Ok(LoopStart::accepted(id)))
    }

    /// Determines where a loop on a repository would work. Changes nothing.
    pub async fn locate(&self, name: &RepoFullName) -> ClonePlace {
        repository::locate(&self.repositories, name).await
    }

    /// Returns whether this process is preparing, following or finishing the loop, or has it in the queue.
    #[must_use]
    pub fn is_followed(&self, id: LoopId) -> bool {
        self.reservations.is_followed(id)
    }

    /// Waits until this process has released the loop.
    pub async fn wait_until_released(&self, id: LoopId) {
        self.reservations.free(id).await;
    }

    /// Validates a launch request and reserves its loop.
    pub(crate) async fn accept(
        &self,
        body: &[u8],
        headers: &LoopHeaders,
    ) -> Result<(LoopRequest, Reservation), LoopRequestError> {
        if self.cloud.origin().is_none() {
            return Err(LoopRequestError::new(503, "API origin not configured"));
        }
        let request = LoopRequest::parse(body)?;
        check_implemented(&request)?;
        // Reserve before reading the record: two requests for the same loop must not both pass the check.
        let reservation =
            self.reservations.reserve(request.loop_id).ok_or_else(LoopRequestError::already_running)?;
        if let Some(job) = self.jobs.store.job(request.loop_id).await? {
            // The link redelivers commands after a reconnect. A command with a known id has been executed
            // already.
            let is_redelivered = headers.command_id.is_some() && job.launch.command_id == headers.command_id;
            if is_redelivered || !job.can_be_restarted() {
                return Err(LoopRequestError::already_running());
            }
        }
        Ok((request, reservation))
    }

    /// Prepares and starts a loop that has capacity. The loop is recorded first, so that a restarted runtime
    /// continues the launch after a crash.
    async fn start(
        self: &Arc<Self>,
        request: LoopRequest,
        headers: LoopHeaders,
        reservation: Reservation,
        answer: oneshot::Sender<Result<LoopStart, LoopRequestError>>,
    ) {
        let previous = match self.record_preparation(&request, &headers).await {
            Ok(previous) => previous,
            Err(error) if error.is_transient() => {
                let text = format!("The loop could not be recorded: {}", redact::message(&error.to_string()));
                return drop(answer.send(Err(LoopRequestError::new(500, text))));
            }
            Err(error) => return drop(answer.send(Err(error.into()))),
        };
        // Reserved until the records are consistent: recovery must not take the loop for one that no task follows.
        let (refusal, mut reservation) = match self.prepare_and_spawn(&request, &headers, reservation).await {
            Ok(started) => return drop(answer.send(Ok(started))),
            Err((refusal, reservation)) => (refusal, Some(reservation)),
        };
        self.report_refusal(&request, &headers, &refusal);
        tracing::info!(loop_id = %request.loop_id, status = refusal.error.status,
            reason = refusal.error.message, "loop launch refused");
        if refusal.is_cancelled() {
            // The loop was accepted and cancelled later, so the request itself succeeded.
            let _ = answer.send(Ok(LoopStart::accepted(request.loop_id)));
        } else if !answer.is_closed() {
            self.restore_previous(&request, &previous).await;
            // Not while the disk is full: a caller that has timed out by now gets the event of an accepted loop instead.
            if let Some(event) = refusal.event.as_ref().filter(|_| !answer.is_closed()) {
                self.post_refusal(request.loop_id, &request.token, event).await;
            }
            // Released first: the caller may launch the loop again at once.
            drop(reservation.take());
            if answer.send(Err(refusal.error.clone())).is_ok() {
                return;
            }
            // The caller timed out and was answered with "accepted". Record the loop again to fail it by an
            // event, unless another launch has replaced it.
            reservation = self.reservations.reserve(request.loop_id);
            if reservation.is_none() {
                return;
            }
            let record = || async { self.record_preparation(&request, &headers).await.map(drop) };
            self.queue.until_stored(request.loop_id, "refused loop", record).await;
        }
        self.queue.refuse(request.loop_id, Some(request.token), &refusal).await;
    }

    /// Records a loop that is being prepared as queued, with its position.
    async fn record_preparation(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
    ) -> Result<PreviousJob, StoreError> {
        let mut job = launch_queue::queued_job(request, headers, self.queue.entries.number());
        job.progress.live_activity = Some("Preparing the repository and worktree".to_owned());
        if let Some(previous) = self.jobs.store.job(request.loop_id).await? {
            record::carry_over(&mut job, &previous);
        }
        self.jobs.store.create(&job).await
    }

    /// Restores the record that existed before a failed launch.
    async fn restore_previous(&self, request: &LoopRequest, previous: &PreviousJob) {
        let id = request.loop_id;
        self.queue.until_stored(id, "previous record", || self.jobs.store.abandon(id, previous)).await;
        if previous.outgoing.is_empty() {
            self.tokens.remove(id).await;
            return;
        }
        // The new token also authorizes unsent events of the previous run.
        match self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            Ok(()) => self.outbox.wake(id),
            Err(error) => tracing::warn!(loop_id = %id, %error, "failed to store the runner token"),
        }
    }

    /// Prepares a loop and starts its process. Once the loop is cancelled, any failure is reported as the
    /// cancellation. A refused loop stays reserved.
    pub(crate) async fn prepare_and_spawn(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: Reservation,
    ) -> Result<LoopStart, (Refusal, Reservation)> {
        // Boxed: the future of a whole launch is large.
        let (shim, started) = match Box::pin(self.prepare(request, headers, &reservation)).await {
            Ok(prepared) => prepared,
            Err(_) if reservation.is_cancelled() => return Err((Refusal::cancelled(), reservation)),
            Err(refusal) => return Err((refusal, reservation)),
        };
        reservation.running();
        let state = ProcessState::Running(shim);
        self.supervisor.follow(request.loop_id, state, FinalizationSource::LiveExit, reservation);
        Ok(started)
    }

    async fn prepare(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: &Reservation,
    ) -> Result<(ShimHandle, LoopStart), Refusal> {
        // Start the detection early: it runs a program and takes as long as preparing the worktree.
        if let Some(url) = &request.expected_mcp_url {
            self.mcp.start(McpHost::Assistant, url);
        }
        // Cloning can take minutes and must not delay a cancellation.
        let resolved = reservation.unless_cancelled(Box::pin(self.resolve(request))).await;
        let (request, repository, peers) = resolved.unwrap_or_else(|| Err(Refusal::cancelled()))?;
        let workspace = self.workspaces.prepare(&request, repository.as_ref(), peers, reservation).await?;
        match Box::pin(self.spawn_on(&request, headers, repository.as_ref(), &workspace)).await {
            Ok((shim, pid)) => {
                let worktree_path = workspace.worktree.map(|worktree| worktree.as_path().to_owned());
                let accepted = LoopStart::accepted(request.loop_id);
                Ok((shim, LoopStart { pid: Some(pid), worktree_path, ..accepted }))
            }
            Err(refusal) => {
                self.workspaces.discard(&workspace, repository.as_ref()).await;
                Err(refusal)
            }
        }
    }

    /// Resolves the repositories of a request. Clones repositories that are missing.
    async fn resolve(
        &self,
        request: &LoopRequest,
    ) -> Result<(LoopRequest, Option<LoopRepository>, Vec<Peer>), Refusal> {
        let repository = repository::resolve(&self.repositories, request).await?;
        let request = self.with_default_branch(request, repository.as_ref()).await;
        let peers = peers::resolve(&self.repositories, &request, repository.as_ref()).await?;
        if repository.is_none() && request.command.spec().repository == InputRequirement::Required {
            return Err(repository::required().into());
        }
        // Changes are delivered only by commands that deliver those in peers, too.
        if request.command.spec().peers == Peers::ReadWrite {
            let clones = repository.iter().chain(peers.iter().map(|peer| &peer.repository));
            repository::check_delivery(&self.repositories, clones).await?;
        }
        Ok((request, repository, peers))
    }

    /// Returns the request with the repository's default branch filled in, unless it names a branch.
    async fn with_default_branch(
        &self,
        request: &LoopRequest,
        repository: Option<&LoopRepository>,
    ) -> LoopRequest {
        let mut request = request.clone();
        if let Some(repository) = repository.filter(|_| !request.names_branch()) {
            let default_branch = self.repositories.git.default_base(repository.path.as_path()).await;
            request.default_branch = default_branch.unwrap_or_else(|error| {
                tracing::info!(%error, "failed to determine the default branch");
                None
            });
        }
        request
    }
}

/// Rejects requests for features that this runtime does not implement. Commands that never support the
/// reviewer are rejected later, with another error.
fn check_implemented(request: &LoopRequest) -> Result<(), LoopRequestError> {
    let uses_reviewer = request.harness == Harness::Reviewer;
    if uses_reviewer && request.command.spec().harnesses.contains(&Harness::Reviewer) {
        return Err(LoopRequestError::not_implemented("the reviewer cannot run loops yet"));
    }
    if request.branch_materialization.is_some() {
        return Err(LoopRequestError::not_implemented("branches created by the control plane"));
    }
    Ok(())
}

//! From a request to a running loop: everything is checked, prepared and recorded in one order. The
//! answer is given when the process runs, or after a while: the loop is then accepted, and what becomes
//! of it is reported by its events.
//!
//! A caller that goes away stops nothing half-way. Whatever fails gives the reservation back, so
//! that the same loop can be ordered again.

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

use loopgate_api::command::InputRequirement;
use loopgate_api::ids::LoopId;
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
use crate::workspace::repository::{self, LoopRepository, Repositories};
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::shim::Shims;

/// Starts loops.
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
    /// Directory with one folder a plugin.
    pub(crate) plugin_dirs: PathBuf,
    pub(crate) timing: RuntimeTiming,
    pub(crate) tasks: Tasks,
}

impl Launcher {
    /// Starts a loop. One that does not run within [`RuntimeTiming::launch_answer`] is answered as accepted.
    ///
    /// # Errors
    /// Status and exact text of the first check or step that fails.
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
        self.tasks.spawn(async move {
            let kept = launcher.queue.store_request(id, &stored).await;
            if launcher.queue.must_wait().await {
                let queued = match kept {
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
                tracing::error!("starting a loop ended unexpectedly");
                Err(LoopRequestError::internal())
            });
        }
        // From here on nothing can be answered any more; what was answered a moment ago counts.
        answered.close();
        answered.try_recv().unwrap_or(Ok(LoopStart::accepted(id)))
    }

    /// Whether a loop waits, is prepared, followed or finished by this process.
    #[must_use]
    pub fn is_followed(&self, id: LoopId) -> bool {
        self.reservations.is_followed(id)
    }

    /// Waits until this process has nothing to do with a loop any more.
    pub async fn wait_until_released(&self, id: LoopId) {
        self.reservations.free(id).await;
    }

    /// Checks an order and reserves its loop.
    pub(crate) async fn accept(
        &self,
        body: &[u8],
        headers: &LoopHeaders,
    ) -> Result<(LoopRequest, Reservation), LoopRequestError> {
        if self.cloud.origin().is_none() {
            return Err(LoopRequestError::new(503, "API origin not configured"));
        }
        let request = LoopRequest::parse(body)?;
        check_built(&request)?;
        let reservation =
            self.reservations.reserve(request.loop_id).ok_or_else(LoopRequestError::already_running)?;
        if let Some(job) = self.jobs.store.job(request.loop_id).await? {
            // An order that comes again after a restart was carried out already, whatever came of it.
            let same_order = headers.command_id.is_some() && job.launch.command_id == headers.command_id;
            if same_order || !job.may_be_started() {
                return Err(LoopRequestError::already_running());
            }
        }
        Ok((request, reservation))
    }

    /// Prepares and starts a loop that has a place. Its record exists from the beginning, so that the
    /// next process starts it when this one dies.
    async fn start(
        self: &Arc<Self>,
        request: LoopRequest,
        headers: LoopHeaders,
        reservation: Reservation,
        answer: oneshot::Sender<Result<LoopStart, LoopRequestError>>,
    ) {
        let previous = match self.record_preparation(&request, &headers).await {
            Ok(previous) => previous,
            Err(error) if error.may_pass() => {
                let text = format!("The loop could not be recorded: {}", redact::message(&error.to_string()));
                return drop(answer.send(Err(LoopRequestError::new(500, text))));
            }
            Err(error) => return drop(answer.send(Err(error.into()))),
        };
        let refusal = match self.prepare_and_spawn(&request, &headers, reservation).await {
            Ok(started) => return drop(answer.send(Ok(started))),
            Err(refusal) => refusal,
        };
        self.report_refusal(&request, &headers, &refusal);
        tracing::info!(loop_id = %request.loop_id, status = refusal.error.status,
            reason = refusal.error.message, "the loop is not started");
        if refusal.is_cancelled() {
            // It was accepted, and then it was cancelled.
            let _ = answer.send(Ok(LoopStart::accepted(request.loop_id)));
        } else if !answer.is_closed() {
            if let Some((code, message)) = &refusal.event {
                self.post_refusal(request.loop_id, &request.token, code, message).await;
            }
            self.take_back(&request, &previous).await;
            if answer.send(Err(refusal.error.clone())).is_ok() {
                return;
            }
            // Nobody waits for the answer any more.
            if let Err(error) = self.record_preparation(&request, &headers).await {
                tracing::error!(loop_id = %request.loop_id, %error, "a loop that was not started could not be recorded");
            }
        }
        self.queue.refuse(request.loop_id, Some(request.token), &refusal).await;
    }

    /// Records a loop that is being prepared as one that waits, with its number in the queue.
    async fn record_preparation(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
    ) -> Result<PreviousJob, StoreError> {
        let mut job = launch_queue::queued_job(request, headers, self.queue.entries.number());
        job.progress.live_activity = Some("Its repository and worktree are being prepared".to_owned());
        if let Some(previous) = self.jobs.store.job(request.loop_id).await? {
            record::keep(&mut job, &previous);
        }
        self.jobs.store.create(&job).await
    }

    /// Restores the record of a loop as it was before the start that failed.
    async fn take_back(&self, request: &LoopRequest, previous: &PreviousJob) {
        let id = request.loop_id;
        if let Err(error) = self.jobs.store.abandon(id, previous).await {
            tracing::error!(loop_id = %id, %error, "the record of a loop that did not start could not be removed");
        }
        if previous.outgoing.is_empty() {
            self.tokens.forget(id).await;
            return;
        }
        // The newer token serves the earlier run's last words as well.
        match self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            Ok(()) => self.outbox.wake(id),
            Err(error) => tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored"),
        }
    }

    /// Prepares a loop and starts its process. Whatever fails after the loop was cancelled fails for that.
    pub(crate) async fn prepare_and_spawn(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: Reservation,
    ) -> Result<LoopStart, Refusal> {
        // On the heap: the future of a whole start is large.
        let begun = Box::pin(self.prepare(request, headers, &reservation)).await;
        let (shim, started) = begun
            .map_err(|refusal| if reservation.is_cancelled() { Refusal::cancelled() } else { refusal })?;
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
        if let Some(url) = &request.expected_mcp_url {
            self.mcp.expect(McpHost::Assistant, url);
        }
        let resolved = reservation.unless_cancelled(self.resolve(request)).await;
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

    /// The repositories that a request means; one that is not here is cloned.
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
        Ok((request, repository, peers))
    }

    /// The request with what it leaves to the repository: the branch to start from.
    async fn with_default_branch(
        &self,
        request: &LoopRequest,
        repository: Option<&LoopRepository>,
    ) -> LoopRequest {
        let mut request = request.clone();
        if let Some(repository) = repository.filter(|_| !request.names_branch()) {
            let found = self.repositories.git.usual_base(repository.path.as_path()).await;
            request.default_branch = found.unwrap_or_else(|error| {
                tracing::info!(%error, "the default branch of a repository is not known");
                None
            });
        }
        request
    }
}

/// What this runtime runs today. Commands that know no reviewer are refused where they start.
fn check_built(request: &LoopRequest) -> Result<(), LoopRequestError> {
    let by_reviewer = request.harness == Harness::Reviewer;
    if by_reviewer && request.command.spec().harnesses.contains(&Harness::Reviewer) {
        return Err(LoopRequestError::not_implemented("the reviewer cannot run loops yet"));
    }
    if request.branch_materialization.is_some() {
        return Err(LoopRequestError::not_implemented("branches made by the control plane"));
    }
    Ok(())
}

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
mod inputs;
pub(crate) mod launch_queue;
mod prompt;
pub(crate) mod queue;
mod record;
mod script;
pub(crate) mod staging;
mod url_policy;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loopgate_api::command::{LoopCommand, Need, Plugin, Runner};
use loopgate_api::event::{LoopEvent, code};
use loopgate_api::ids::LoopId;
use loopgate_api::launch::Harness;
use loopgate_api::link::Severity;
use loopgate_api::mcp::McpRecord;
use loopgate_api::redact;
use loopgate_home::{Credentials, Program, SettingsStore};
use loopgate_tools::mcp::{Detector, Provider};
use loopgate_tools::programs::{Programs, Source};
use loopgate_tools::shim::ShimHandle;
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::commands::bootstrap::{AgentBootstrap, Target};
use crate::commands::plugins;
use crate::commands::review;
use crate::delivery::diagnostics;
use crate::delivery::failure_marker;
use crate::error::LoopError;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::{Reservation, Reservations};
use crate::jobs::store::{LaunchRequest, PreviousJob, StoreError, StoredToken};
use crate::jobs::{FinalizationSource, Jobs, ProcessKind, ProcessRecord, StartAttempt};
use crate::launch::command_line::{ProcessCommand, ProcessRequest};
use crate::launch::launch_queue::LaunchQueue;
pub use crate::launch::launch_queue::LoopStart;
use crate::launch::staging::Staged;
use crate::process::environment::ProcessEnvironment;
use crate::process::shims::Shims;
use crate::process::spawn;
use crate::refusal::Refusal;
use crate::reporting::control_plane::ControlPlane;
use crate::reporting::outbox::Outbox;
use crate::reporting::telemetry::{self, TelemetrySender};
use crate::reporting::tokens::Tokens;
use crate::request::{LoopHeaders, LoopRequest};
use crate::supervision::{ProcessState, Supervisor};
use crate::tasks::Tasks;
use crate::timing::Timing;
use crate::workspace::peers::{self, Peer};
use crate::workspace::repository::{self, Repositories, Repository};
use crate::workspace::{Workspace, Workspaces};

/// Starts loops.
pub struct Launcher {
    pub(crate) queue: Arc<LaunchQueue>,
    pub(crate) jobs: Jobs,
    pub(crate) cloud: ControlPlane,
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
    /// Directory with one folder a plugin.
    pub(crate) plugin_dirs: PathBuf,
    pub(crate) timing: Timing,
    pub(crate) tasks: Tasks,
}

impl Launcher {
    /// Starts a loop. One that does not run within [`Timing::launch_answer`] is answered as accepted.
    ///
    /// # Errors
    /// Status and exact text of the first check or step that fails.
    pub async fn start_loop(
        self: &Arc<Self>,
        body: &[u8],
        headers: LoopHeaders,
    ) -> Result<LoopStart, LoopError> {
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
                Err(LoopError::internal())
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
    ) -> Result<(LoopRequest, Reservation), LoopError> {
        if self.cloud.origin().is_none() {
            return Err(LoopError::new(503, "API origin not configured"));
        }
        let request = LoopRequest::parse(body)?;
        check_built(&request)?;
        let reservation =
            self.reservations.reserve(request.loop_id).ok_or_else(LoopError::already_running)?;
        if let Some(job) = self.jobs.store.job(request.loop_id).await? {
            // An order that comes again after a restart was carried out already, whatever came of it.
            let same_order = headers.command_id.is_some() && job.launch.command_id == headers.command_id;
            if same_order || !job.may_be_started() {
                return Err(LoopError::already_running());
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
        answer: oneshot::Sender<Result<LoopStart, LoopError>>,
    ) {
        let previous = match self.record_preparation(&request, &headers).await {
            Ok(previous) => previous,
            Err(error) if error.may_pass() => {
                let text = format!("The loop could not be recorded: {}", redact::message(&error.to_string()));
                return drop(answer.send(Err(LoopError::new(500, text))));
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
        self.jobs.store.begin(&job).await
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
            self.mcp.expect(Provider::Assistant, url);
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
    ) -> Result<(LoopRequest, Option<Repository>, Vec<Peer>), Refusal> {
        let repository = repository::resolve(&self.repositories, request).await?;
        let request = self.with_default_branch(request, repository.as_ref()).await;
        let peers = peers::resolve(&self.repositories, &request, repository.as_ref()).await?;
        if repository.is_none() && request.command.spec().repository == Need::Required {
            return Err(repository::required().into());
        }
        Ok((request, repository, peers))
    }

    /// The request with what it leaves to the repository: the branch to start from.
    async fn with_default_branch(
        &self,
        request: &LoopRequest,
        repository: Option<&Repository>,
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

    async fn spawn_on(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        repository: Option<&Repository>,
        workspace: &Workspace,
    ) -> Result<(ShimHandle, u32), Refusal> {
        let work_dir = &workspace.work_dir;
        let staged = self.stage(request, repository, workspace).await?;
        check_harness(request)?;
        let assistant = self.assistant().await?;
        let plugin = self.plugin(request.command).await?;
        let is_review = review::is_review(&request.command.spec());
        let reviewed = match workspace.worktree.as_ref().filter(|_| is_review) {
            Some(worktree) => review::tracked_state(&self.repositories.git, worktree.as_path()).await,
            None => None,
        };
        let mcp = self.expected_mcp(request).await;
        let guard = self.environment.guard(&checkouts(workspace, &staged)).await;
        let script = self.script(request, repository, workspace, &staged, plugin.as_deref(), &mcp).await?;

        let process = self.shims.record(request.loop_id, ProcessKind::Main, work_dir);
        let secret = failure_marker::new_secret();
        let launch = ProcessRequest {
            id: request.loop_id,
            command: request.command,
            workspace,
            assistant: &assistant,
            plugin: plugin.as_deref(),
            staged: &staged,
            committer: request.committer.as_ref(),
            failure_secret: &secret,
            script: script.as_deref(),
            mcp: &mcp,
            session: request.parent_session_id.as_deref(),
            guard: &guard,
        };
        let previous = self.jobs.store.job(request.loop_id).await.map_err(LoopError::from)?;
        let mut job = self.record(request, headers, repository, workspace, previous.as_ref());
        let start_attempt = StartAttempt::after(previous.as_ref());
        job.run.start_attempt = Some(start_attempt);
        job.run.process = Some(process.clone());
        job.workspace.reviewed_state = reviewed;
        job.run.assistant_path = Some(assistant.to_string_lossy().into_owned());
        job.run.sealed_failure_secret =
            self.credentials.seal(secret.expose_secret().as_bytes()).map(|sealed| STANDARD.encode(sealed));
        let start = command_line::build(&self.shims, &self.environment, &launch).await;
        job.run.spawn_meta = Some(diagnostics::spawn_meta(
            &start.program,
            &start.args,
            &workspace.dir,
            &assistant,
            &start.environment,
        ));
        let traces = work_dir.clone();
        let earlier = tokio::task::spawn_blocking(move || spawn::clear_traces(&traces)).await;
        let earlier = earlier.map_err(|_| LoopError::internal())?.map_err(|error| {
            let error = LoopError::new(500, format!("Cannot open log file: {}", error.kind()));
            Refusal::with_same_event(error, code::SPAWN_FAILED)
        })?;
        job.transcript.stream_file = earlier.file;
        job.transcript.stream_start = earlier.bytes;
        job.transcript.last_observed_jsonl_offset = Some(earlier.bytes);
        let driven = matches!(request.command.spec().runner, Runner::Driver(_));
        job.transcript.perf = driven.then(|| Box::new(earlier.perf));
        job.run.spawned_at = Some(earlier.until);

        // From here on the record exists: a crash finds it, a failure takes it back.
        let previous = self.jobs.store.begin(&job).await.map_err(LoopError::from)?;
        let spawned =
            self.announce_and_spawn(request, headers, &launch, start, &process, start_attempt.nonce).await;
        if spawned.is_err()
            && let Err(error) = self.jobs.store.abandon(request.loop_id, &previous).await
        {
            tracing::error!(%error, "the record of a loop that did not start could not be restored");
        }
        spawned
    }

    async fn announce_and_spawn(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        launch: &ProcessRequest<'_>,
        start: ProcessCommand,
        process: &ProcessRecord,
        nonce: Uuid,
    ) -> Result<(ShimHandle, u32), Refusal> {
        let id = request.loop_id;
        if let Err(error) = self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored");
        }
        self.announce_start(request, headers, nonce).await?;
        for note in &launch.workspace.notes {
            let told = LoopEvent::new("output", &json!({"data": {"chunk": note}}));
            self.jobs.enqueue_event(id, &told).await.map_err(LoopError::from)?;
        }
        if matches!(request.command.spec().runner, Runner::Driver(_)) {
            self.bootstrap.prepare(id, launch.workspace, launch.assistant).await;
        }
        let (shim, state) =
            command_line::run(&self.shims, launch, start, process).await.map_err(|error| {
                let error = LoopError::new(
                    500,
                    format!("Failed to spawn process: {}", redact::cause(&error.to_string())),
                );
                Refusal::with_same_event(error, code::SPAWN_FAILED)
            })?;
        let (traces, written) = (launch.workspace.work_dir.clone(), state.clone());
        let pid_files = tokio::task::spawn_blocking(move || spawn::write_pid_files(&traces, &written)).await;
        if let Ok(Err(error)) = pid_files {
            tracing::warn!(loop_id = %id, %error, "the files with the loop's pid could not be written");
        }
        let recorded = self
            .jobs
            .change(id, |now| {
                now.apply(JobEvent::Spawned)?;
                now.job.run.pid = Some(state.pid);
                now.job.run.pid_started_at = state.started.map(|started| started.0);
                Ok(())
            })
            .await;
        match recorded {
            Ok(job) => {
                let meta = json!({"lifecycle": {"command": job.command}, "spawnMeta": job.run.spawn_meta});
                let trace = telemetry::of_job(&job);
                self.telemetry.report(trace, Severity::Info, "job.started", "loop started", meta);
                Ok((shim, state.pid))
            }
            Err(error) => {
                tracing::error!(loop_id = %id, %error, "the loop could not be recorded; it is ended");
                let _ = shim.kill(self.timing.kill_grace).await;
                Err(LoopError::internal().into())
            }
        }
    }

    /// What the assistant has of the expected MCP server. The loop starts without what is not known
    /// in time.
    async fn expected_mcp(&self, request: &LoopRequest) -> McpRecord {
        match request.expected_mcp_url.as_deref() {
            Some(url) => self.mcp.look(Provider::Assistant, Some(url), self.timing.mcp).await,
            None => McpRecord::negative(),
        }
    }

    async fn assistant(&self) -> Result<PathBuf, Refusal> {
        let found = self.programs.resolve(Program::Assistant).await;
        match found.source {
            Source::Fallback | Source::OverrideInvalid => {
                let name = Program::Assistant.executable();
                let error = LoopError::new(500, format!("{name} CLI not found in PATH"));
                let message = format!(
                    "{}; install it ({}), or set its path in the settings",
                    error.message,
                    Program::Assistant.installation()
                );
                Err(Refusal::with_event(error, code::BINARY_NOT_FOUND, message))
            }
            Source::Override | Source::Path => Ok(found.path),
        }
    }

    /// The folder of a command's plugin: ours, else the one that the user has installed.
    async fn plugin(&self, command: LoopCommand) -> Result<Option<PathBuf>, Refusal> {
        let (name, needed) = match command.spec().plugin {
            Plugin::None => return Ok(None),
            Plugin::Needed(name) => (name, true),
            Plugin::Welcome(name) => (name, false),
        };
        let ours = self.plugin_dirs.clone();
        let found = tokio::task::spawn_blocking(move || plugins::find(&ours, name)).await.unwrap_or_default();
        if found.is_none() && needed {
            let wanted = if name == "code" { "run-loop.sh".to_owned() } else { format!("plugin {name}") };
            let error = LoopError::new(500, format!("{wanted} not found in plugin cache"));
            return Err(Refusal::with_same_event(error, code::SCRIPT_NOT_FOUND));
        }
        Ok(found)
    }
}

/// What this runtime runs today. Commands that know no reviewer are refused where they start.
fn check_built(request: &LoopRequest) -> Result<(), LoopError> {
    let by_reviewer = request.harness == Harness::Reviewer;
    if by_reviewer && request.command.spec().harnesses.contains(&Harness::Reviewer) {
        return Err(LoopError::not_implemented("the reviewer cannot run loops yet"));
    }
    if request.branch_materialization.is_some() {
        return Err(LoopError::not_implemented("branches made by the control plane"));
    }
    Ok(())
}

/// Whether the command can be run by the provider that was asked for.
fn check_harness(request: &LoopRequest) -> Result<(), Refusal> {
    let (command, harnesses) = (request.command, request.command.spec().harnesses);
    if harnesses.contains(&request.harness) {
        return Ok(());
    }
    let supported: Vec<&str> = harnesses.iter().map(|harness| harness.as_str()).collect();
    let text = format!(
        "{command} does not support harness '{}' in loopgate. Supported: {}",
        request.harness.as_str(),
        supported.join(", ")
    );
    Err(Refusal::with_same_event(LoopError::bad_request(text), code::PRE_RUN_VALIDATION_FAILED))
}

/// Every checkout that a loop works in.
fn checkouts<'a>(workspace: &'a Workspace, staged: &'a Staged) -> Vec<&'a Path> {
    let peers = workspace.peers.iter().map(|place| place.prepared.dir.as_path());
    let visited = staged.targets.iter().filter_map(Target::visited);
    std::iter::once(workspace.dir.as_path()).chain(peers).chain(visited).collect()
}

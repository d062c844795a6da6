//! From a request to a running loop: everything is checked, prepared and recorded in one order, and
//! the answer is given only when the process runs.
//!
//! A caller that goes away stops nothing half-way. Whatever fails gives the reservation back, so
//! that the same loop can be ordered again.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loopgate_api::command::LoopCommand;
use loopgate_api::event::{ErrorEvent, LoopEvent, code};
use loopgate_api::ids::LoopId;
use loopgate_api::launch::Harness;
use loopgate_api::names::{ASSISTANT_OUTPUT, LOOP_LOG, STATE_JSON, WORK_DIR};
use loopgate_api::redact;
use loopgate_home::Program;
use loopgate_tools::programs::Source;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::attachments;
use crate::cloud::{CallError, EVENT_TIME, SHORT_EVENT_TIME};
use crate::diagnostics;
use crate::error::LoopError;
use crate::failure_marker;
use crate::job::{Job, Stage};
use crate::lifecycle::JobEvent;
use crate::refusal::Refusal;
use crate::repository::{self, Repository};
use crate::request::{LoopHeaders, LoopRequest};
use crate::reservations::Reservation;
use crate::runtime::Runtime;
use crate::spawn::{self, Launch};
use crate::staging;
use crate::store::{Outgoing, StoredToken};
use crate::supervise;
use crate::worktree::{self, Prepared};

/// Tries to say that a local loop starts.
const STARTED_TRIES: u32 = 2;
const STARTED_PAUSE: Duration = Duration::from_millis(250);
const MAX_PEERS: usize = 5;

/// A loop that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The loop.
    pub loop_id: LoopId,
    /// Pid of its process.
    pub pid: u32,
    /// Its worktree.
    pub worktree_path: Option<PathBuf>,
}

impl Runtime {
    /// Starts a loop.
    ///
    /// # Errors
    /// Status and exact text of the first check or step that fails.
    pub async fn start_loop(
        self: &Arc<Self>,
        body: &[u8],
        headers: LoopHeaders,
    ) -> Result<Started, LoopError> {
        if self.cloud.origin().is_none() {
            return Err(LoopError::new(503, "API origin not configured"));
        }
        let request = LoopRequest::parse(body)?;
        check_built(&request)?;
        let running = || LoopError::new(409, "Loop is already running on this machine");
        let reservation = self.reservations.reserve(request.loop_id).ok_or_else(running)?;
        if let Some(job) = self.store.job(request.loop_id).await? {
            // An order that comes again after a restart was carried out already, whatever came of it.
            let same_order = headers.command_id.is_some() && job.facts.command_id == headers.command_id;
            if same_order || !job.status.is_terminal() {
                return Err(running());
            }
        }
        let runtime = self.clone();
        let start = self.tasks.spawn(async move { runtime.start(request, headers, reservation).await });
        start.await.unwrap_or_else(|error| {
            tracing::error!(%error, "starting a loop ended unexpectedly");
            Err(LoopError::internal())
        })
    }

    async fn start(
        self: &Arc<Self>,
        request: LoopRequest,
        headers: LoopHeaders,
        reservation: Reservation,
    ) -> Result<Started, LoopError> {
        let token = request.token.clone();
        match self.prepare_and_spawn(&request, &headers, reservation).await {
            Ok(started) => Ok(started),
            Err(refusal) => {
                if let Some((code, message)) = &refusal.event {
                    self.tell_refusal(request.loop_id, &token, code, message).await;
                }
                tracing::info!(loop_id = %request.loop_id, status = refusal.error.status,
                    reason = refusal.error.message, "the loop is not started");
                Err(refusal.error)
            }
        }
    }

    async fn prepare_and_spawn(
        self: &Arc<Self>,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: Reservation,
    ) -> Result<Started, Refusal> {
        let repository = repository::resolve(self, request).await?;
        check_peers(request)?;
        let repository = repository.ok_or_else(repository::required)?;
        let prepared =
            worktree::prepare(self, request, &repository.path, |dir| reservation.claim(dir)).await?;
        let work_dir = prepared.dir.as_path().join(WORK_DIR);
        let staged = self.stage(request, &repository, &prepared, &work_dir).await?;
        let assistant = self.assistant().await?;
        let plugin = self.plugin()?;

        let process = spawn::stage_process(self, request.loop_id, Stage::Main, &work_dir);
        let secret = failure_marker::new_secret();
        let launch = Launch {
            id: request.loop_id,
            command: request.command,
            worktree: prepared.dir.as_path(),
            work_dir: &work_dir,
            assistant: &assistant,
            plugin: &plugin,
            plan_file: staged.plan_file.as_deref(),
            prd: staged.prd.as_deref(),
            committer: request.committer.as_ref(),
            failure_secret: &secret,
        };
        let mut job = self.record(request, headers, &repository, &prepared, &work_dir);
        job.facts.process = Some(process.clone());
        job.facts.assistant_path = Some(assistant.to_string_lossy().into_owned());
        job.facts.sealed_failure_secret =
            self.credentials.seal(secret.expose_secret().as_bytes()).map(|sealed| STANDARD.encode(sealed));
        let start = spawn::driver(self, &launch).await;
        job.facts.spawn_meta = Some(diagnostics::spawn_meta(
            &self.loopgate_exe,
            &start.args,
            launch.worktree,
            &assistant,
            &start.environment,
        ));
        let traces = work_dir.clone();
        let earlier = tokio::task::spawn_blocking(move || spawn::clear_traces(&traces)).await;
        let earlier = earlier.map_err(|_| LoopError::internal())?.map_err(|error| {
            let error = LoopError::new(500, format!("Cannot open log file: {}", error.kind()));
            Refusal::said(error, code::SPAWN_FAILED)
        })?;
        job.facts.stream_file = earlier.file;
        job.facts.stream_start = earlier.bytes;
        job.facts.last_observed_jsonl_offset = Some(earlier.bytes);
        job.facts.spawned_at = u64::try_from(jiff::Timestamp::now().as_millisecond()).ok();

        // From here on the record exists: a crash finds it, a failure takes it back.
        let former = self.store.begin(&job).await.map_err(LoopError::from)?;
        let spawned = self.announce_and_spawn(request, headers, &launch, start, &process).await;
        match spawned {
            Ok((shim, pid)) => {
                reservation.running();
                supervise::live(self, request.loop_id, shim, reservation);
                Ok(Started {
                    loop_id: request.loop_id,
                    pid,
                    worktree_path: Some(prepared.dir.as_path().to_owned()),
                })
            }
            Err(refusal) => {
                if let Err(error) = self.store.abandon(request.loop_id, &former).await {
                    tracing::error!(%error, "the record of a loop that did not start could not be removed");
                }
                if former.outgoing.is_empty() {
                    self.tokens.forget(request.loop_id).await;
                } else {
                    // The newer token serves the earlier run's last words as well.
                    self.outbox.wake(request.loop_id);
                }
                Err(refusal)
            }
        }
    }

    async fn announce_and_spawn(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        launch: &Launch<'_>,
        start: spawn::Start,
        process: &crate::job::StageProcess,
    ) -> Result<(loopgate_tools::shim::ShimHandle, u32), Refusal> {
        let id = request.loop_id;
        if let Err(error) = self.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored");
        }
        self.announce_start(request, headers).await?;
        let (shim, state) = spawn::start_driver(self, launch, start, process).await.map_err(|error| {
            let error = LoopError::new(
                500,
                format!("Failed to spawn process: {}", redact::cause(&error.to_string())),
            );
            Refusal::said(error, code::SPAWN_FAILED)
        })?;
        let (traces, written) = (launch.work_dir.to_owned(), state.clone());
        let pid_files = tokio::task::spawn_blocking(move || spawn::write_pid_files(&traces, &written)).await;
        if let Ok(Err(error)) = pid_files {
            tracing::warn!(loop_id = %id, %error, "the files with the loop's pid could not be written");
        }
        let recorded = self
            .change(id, |now| {
                now.apply(JobEvent::Spawned)?;
                now.job.facts.pid = Some(state.pid);
                now.job.facts.pid_started_at = state.started.map(|started| started.0);
                Ok(())
            })
            .await;
        match recorded {
            Ok(job) => {
                let meta = json!({"lifecycle": {"command": job.command}, "spawnMeta": job.facts.spawn_meta});
                self.telemetry(&job, "info", "job.started", "loop started", meta);
                Ok((shim, state.pid))
            }
            Err(error) => {
                tracing::error!(loop_id = %id, %error, "the loop could not be recorded; it is ended");
                let _ = shim.kill(self.pace.kill_grace).await;
                Err(LoopError::internal().into())
            }
        }
    }

    /// Says that the loop starts. A local loop is not started when nobody can hear of it; over the
    /// link the control plane was there a moment ago, and the event waits in the queue.
    async fn announce_start(&self, request: &LoopRequest, headers: &LoopHeaders) -> Result<(), Refusal> {
        let id = request.loop_id;
        let event = LoopEvent::new("started", &json!({"loopId": id}));
        self.announce(id, event.clone());
        if headers.from_cloud {
            self.change(id, |now| {
                now.send(Outgoing::event(&event));
                Ok(())
            })
            .await
            .map_err(LoopError::from)?;
            return Ok(());
        }
        let delivered = tokio::time::timeout(EVENT_TIME, self.post_started(id, &event)).await;
        delivered.unwrap_or(Err(CallError::Timeout)).map_err(|cause| {
            let text = format!(
                "Cannot start local loop: cloud callback path is unavailable. Check connectivity and retry. ({cause})"
            );
            LoopError::new(503, text).into()
        })
    }

    async fn post_started(&self, id: LoopId, event: &LoopEvent) -> Result<(), CallError> {
        let (nonce, body) = (Uuid::new_v4(), serde_json::to_string(event).unwrap_or_default());
        let mut tries = 1;
        loop {
            let cloud = &self.cloud;
            let body = &body;
            let posted = self
                .tokens
                .call(id, |token| async move {
                    cloud.post_event(id, &token, nonce, body.clone(), EVENT_TIME).await
                })
                .await;
            match posted {
                Err(error) if error.is_retryable() && tries < STARTED_TRIES => {
                    tries += 1;
                    tokio::time::sleep(STARTED_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    async fn stage(
        &self,
        request: &LoopRequest,
        repository: &Repository,
        prepared: &Prepared,
        work_dir: &std::path::Path,
    ) -> Result<staging::Staged, Refusal> {
        let unwritable = |cause: String| {
            let answer = LoopError::new(500, "Failed to write artifacts to workdir");
            Refusal::told(answer, code::ARTIFACT_WRITE_FAILED, cause)
        };
        // A link in the repository could lead every file of the loop elsewhere.
        let inside = self.places.allowed(work_dir);
        if !inside.is_some_and(|place| place.canonical().starts_with(prepared.dir.canonical())) {
            return Err(unwritable("the work directory leads out of the worktree".to_owned()));
        }
        let mut tracked = Vec::new();
        for agent in request.agent_definitions() {
            let path = format!(".claude/agents/{}.md", loopgate_api::ids::slug(&agent.slug));
            if self.git.tracks(prepared.dir.as_path(), &path).await.unwrap_or(true) {
                tracked.push(path);
            }
        }
        let name = repository.full_name.as_ref().map(|name| name.as_str().to_owned());
        let (staging, worktree, place) =
            (request.clone(), prepared.dir.as_path().to_owned(), work_dir.to_owned());
        let staged = tokio::task::spawn_blocking(move || {
            let is_tracked = |path: &str| tracked.iter().any(|known| known == path);
            if let Err(error) = staging::materialize(&staging, name.as_deref(), &worktree, &is_tracked) {
                tracing::warn!(%error, "agents or critic gates could not be written");
            }
            staging::stage(&staging, &place)
        })
        .await;
        let staged = staged
            .map_err(|_| LoopError::internal())?
            .map_err(|error| unwritable(redact::cause(&error.to_string())))?;
        attachments::fetch(&request.attachments, work_dir, self.cloud.origin().as_deref()).await;
        Ok(staged)
    }

    async fn assistant(&self) -> Result<PathBuf, Refusal> {
        let found = self.programs.resolve(Program::Assistant).await;
        match found.source {
            Source::Fallback | Source::OverrideInvalid => {
                let name = Program::Assistant.executable();
                let error = LoopError::new(500, format!("{name} CLI not found in PATH"));
                Err(Refusal::said(error, code::BINARY_NOT_FOUND))
            }
            Source::Override | Source::Path => Ok(found.path),
        }
    }

    fn plugin(&self) -> Result<PathBuf, Refusal> {
        let plugin = self.plugin_dirs.join("code");
        if plugin.is_dir() {
            return Ok(plugin);
        }
        let error = LoopError::new(500, "run-loop.sh not found in plugin cache");
        Err(Refusal::said(error, code::SCRIPT_NOT_FOUND))
    }

    fn record(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        repository: &Repository,
        prepared: &Prepared,
        work_dir: &std::path::Path,
    ) -> Job {
        let text = |path: &std::path::Path| Some(path.to_string_lossy().into_owned());
        let mut job = Job::starting(request.loop_id, request.command);
        let facts = &mut job.facts;
        facts.command_id.clone_from(&headers.command_id);
        facts.operation_id.clone_from(&headers.operation_id);
        facts.ticket_id.clone_from(&request.ticket_id);
        facts.artifact_id = request.artifact_id.clone().or_else(|| request.primary_artifact_id.clone());
        facts.artifact_slug.clone_from(&request.artifact_slug);
        facts.issue_id.clone_from(&request.issue_id);
        facts.base_branch = Some(request.base_branch());
        facts.primary_repo_full_name = repository.full_name.as_ref().map(ToString::to_string);
        facts.web_app_origin.clone_from(&self.settings.get().web_app_origin);
        facts.expected_mcp_url.clone_from(&request.expected_mcp_url);
        facts.api_base_url = self.cloud.origin();
        facts.committer.clone_from(&request.committer);
        facts.repo_path = text(repository.path.as_path());
        facts.local_repo_path.clone_from(&request.local_repo_path);
        facts.worktree_dir = text(prepared.dir.as_path());
        facts.work_dir = text(work_dir);
        facts.s3_state_key.clone_from(&request.s3_state_key);
        facts.log_path = text(&work_dir.join(LOOP_LOG));
        facts.jsonl_path = text(&work_dir.join(ASSISTANT_OUTPUT));
        facts.state_path = text(&work_dir.join(STATE_JSON));
        facts.start_sha.clone_from(&prepared.start_sha);
        job
    }

    /// Tells the control plane why nothing starts; it must not hold up the answer.
    async fn tell_refusal(&self, id: LoopId, token: &SecretString, code: &str, message: &str) {
        let error =
            ErrorEvent { code: code.to_owned(), message: redact::message(message), ..ErrorEvent::default() };
        let mut event = LoopEvent::new("error", &error);
        event.members.insert("loopId".to_owned(), json!(id));
        self.announce(id, event.clone());
        let body = serde_json::to_string(&event).unwrap_or_default();
        if let Err(error) = self.cloud.post_event(id, token, Uuid::new_v4(), body, SHORT_EVENT_TIME).await {
            tracing::info!(loop_id = %id, %error, "the control plane did not hear why the loop is not started");
        }
    }
}

/// What this runtime runs today.
fn check_built(request: &LoopRequest) -> Result<(), LoopError> {
    if !matches!(request.command, LoopCommand::Plan | LoopCommand::Execute) {
        return Err(LoopError::not_implemented(""));
    }
    if request.harness == Harness::Reviewer {
        return Err(LoopError::not_implemented("the reviewer cannot run loops yet"));
    }
    if (1..=MAX_PEERS).contains(&request.additional_repos.len()) {
        return Err(LoopError::not_implemented("loops with several repositories"));
    }
    if request.branch_materialization.is_some() {
        return Err(LoopError::not_implemented("branches made by the control plane"));
    }
    Ok(())
}

fn check_peers(request: &LoopRequest) -> Result<(), Refusal> {
    let given = request.additional_repos.len();
    if given > MAX_PEERS {
        let text = format!("additionalRepos exceeds maximum of {MAX_PEERS} entries (got {given})");
        return Err(Refusal::said(LoopError::bad_request(text), code::PRE_RUN_VALIDATION_FAILED));
    }
    Ok(())
}

//! From a request to a running loop: everything is checked, prepared and recorded in one order, and
//! the answer is given only when the process runs.
//!
//! A caller that goes away stops nothing half-way. Whatever fails gives the reservation back, so
//! that the same loop can be ordered again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loopgate_api::command::{Inputs, Judged, LoopCommand, Need, Place, Plugin, Runner};
use loopgate_api::event::{ErrorEvent, LoopEvent, code};
use loopgate_api::ids::{LoopId, RepoFullName};
use loopgate_api::launch::Harness;
use loopgate_api::names::{ASSISTANT_OUTPUT, LOOP_LOG, STATE_JSON, WORK_DIR};
use loopgate_api::redact;
use loopgate_home::files::write_private;
use loopgate_home::{Program, SandboxedPath};
use loopgate_tools::programs::Source;
use loopgate_tools::shim::ShimHandle;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::attachments;
use crate::cloud::{CallError, EVENT_TIME, SHORT_EVENT_TIME};
use crate::diagnostics;
use crate::error::LoopError;
use crate::failure_marker;
use crate::ground::Ground;
use crate::job::{Job, Stage};
use crate::lifecycle::JobEvent;
use crate::peers::{self, PeerPlace};
use crate::plugins;
use crate::prompt::Prompt;
use crate::refusal::Refusal;
use crate::repository::{self, Repository};
use crate::request::{LoopHeaders, LoopRequest};
use crate::reservations::Reservation;
use crate::review;
use crate::runtime::Runtime;
use crate::spawn::{self, Launch};
use crate::staging;
use crate::store::{Outgoing, StoredToken};
use crate::supervise;

/// Tries to say that a local loop starts.
const STARTED_TRIES: u32 = 2;
const STARTED_PAUSE: Duration = Duration::from_millis(250);

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
        let peers = peers::resolve(self, request, repository.as_ref()).await?;
        if repository.is_none() && request.command.spec().repository == Need::Required {
            return Err(repository::required().into());
        }
        let ground = Ground::prepare(self, request, repository.as_ref(), peers, &reservation).await?;
        match self.spawn_on(request, headers, repository.as_ref(), &ground).await {
            Ok((shim, pid)) => {
                reservation.running();
                supervise::live(self, request.loop_id, shim, reservation);
                let worktree_path = ground.worktree.map(|worktree| worktree.as_path().to_owned());
                Ok(Started { loop_id: request.loop_id, pid, worktree_path })
            }
            Err(refusal) => {
                ground.leave(self, repository.as_ref()).await;
                Err(refusal)
            }
        }
    }

    async fn spawn_on(
        self: &Arc<Self>,
        request: &LoopRequest,
        headers: &LoopHeaders,
        repository: Option<&Repository>,
        ground: &Ground,
    ) -> Result<(ShimHandle, u32), Refusal> {
        let work_dir = &ground.work_dir;
        let staged = self.stage(request, repository, ground).await?;
        let assistant = self.assistant().await?;
        let plugin = self.plugin(request.command).await?;
        let is_review = review::is_review(&request.command.spec());
        let reviewed = match ground.worktree.as_ref().filter(|_| is_review) {
            Some(worktree) => review::tracked_state(&self.git, worktree.as_path()).await,
            None => None,
        };
        let script = self.script(request, repository, ground, &staged, plugin.is_some()).await?;

        let process = spawn::stage_process(self, request.loop_id, Stage::Main, work_dir);
        let secret = failure_marker::new_secret();
        let launch = Launch {
            id: request.loop_id,
            command: request.command,
            ground,
            assistant: &assistant,
            plugin: plugin.as_deref(),
            staged: &staged,
            committer: request.committer.as_ref(),
            failure_secret: &secret,
            script: script.as_deref(),
            session: request.parent_session_id.as_deref(),
        };
        let mut job = self.record(request, headers, repository, ground);
        job.facts.process = Some(process.clone());
        job.facts.reviewed_state = reviewed;
        job.facts.assistant_path = Some(assistant.to_string_lossy().into_owned());
        job.facts.sealed_failure_secret =
            self.credentials.seal(secret.expose_secret().as_bytes()).map(|sealed| STANDARD.encode(sealed));
        let start = spawn::start(self, &launch).await;
        job.facts.spawn_meta = Some(diagnostics::spawn_meta(
            &start.program,
            &start.args,
            &ground.dir,
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
        if spawned.is_err() {
            if let Err(error) = self.store.abandon(request.loop_id, &former).await {
                tracing::error!(%error, "the record of a loop that did not start could not be removed");
            }
            if former.outgoing.is_empty() {
                self.tokens.forget(request.loop_id).await;
            } else {
                // The newer token serves the earlier run's last words as well.
                self.outbox.wake(request.loop_id);
            }
        }
        spawned
    }

    async fn announce_and_spawn(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        launch: &Launch<'_>,
        start: spawn::Start,
        process: &crate::job::StageProcess,
    ) -> Result<(ShimHandle, u32), Refusal> {
        let id = request.loop_id;
        if let Err(error) = self.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored");
        }
        self.announce_start(request, headers).await?;
        let (shim, state) = spawn::run(self, launch, start, process).await.map_err(|error| {
            let error = LoopError::new(
                500,
                format!("Failed to spawn process: {}", redact::cause(&error.to_string())),
            );
            Refusal::said(error, code::SPAWN_FAILED)
        })?;
        let (traces, written) = (launch.ground.work_dir.clone(), state.clone());
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

    /// Says that the loop starts. A local loop that changes something is not started when nobody can
    /// hear of it; over the link the control plane was there a moment ago, and the event waits in
    /// the queue.
    async fn announce_start(&self, request: &LoopRequest, headers: &LoopHeaders) -> Result<(), Refusal> {
        let id = request.loop_id;
        let event = LoopEvent::new("started", &json!({"loopId": id}));
        self.announce(id, event.clone());
        if headers.from_cloud || !request.command.spec().fail_fast {
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
        repository: Option<&Repository>,
        ground: &Ground,
    ) -> Result<staging::Staged, Refusal> {
        let unwritable = |cause: String| {
            let answer = LoopError::new(500, "Failed to write artifacts to workdir");
            Refusal::told(answer, code::ARTIFACT_WRITE_FAILED, cause)
        };
        for (worktree, dir) in own_dirs(ground) {
            // A link in the repository could lead every file of the loop elsewhere.
            let inside = self.places.allowed(&dir);
            if !inside.is_some_and(|place| place.canonical().starts_with(worktree.canonical())) {
                return Err(unwritable("the work directory leads out of the worktree".to_owned()));
            }
        }
        self.materialize(request, repository, ground).await?;
        let judges_code = request.command.spec().inputs == Inputs::Judged(Judged::Code);
        let detected = match repository.filter(|_| judges_code) {
            Some(repository) => Some(staging::detect(&self.git, repository.path.as_path()).await),
            None => None,
        };
        let (staging, place) = (request.clone(), ground.clone());
        let staged = tokio::task::spawn_blocking(move || {
            let peers = place.mounted();
            for place in &place.peers {
                staging::begin_peer(&staging, &place.prepared.dir.as_path().join(WORK_DIR))?;
            }
            let (root, work_dir) = (place.dir.as_path(), place.work_dir.as_path());
            staging::stage(&staging, &staging::Site { root, work_dir, peers: &peers, detected })
        })
        .await;
        let mut staged = staged
            .map_err(|_| LoopError::internal())?
            .map_err(|error| unwritable(redact::cause(&error.to_string())))?;
        let attached = match request.command.spec().place {
            Place::Worktree(_) => ground.work_dir.clone(),
            Place::TempDir => ground.work_dir.join(WORK_DIR),
        };
        let origin = self.cloud.origin();
        staged.inputs.extend(attachments::fetch(&request.attachments, &attached, origin.as_deref()).await);
        Ok(staged)
    }

    /// Agents and critic gates, in the worktree and in those beside it.
    async fn materialize(
        &self,
        request: &LoopRequest,
        repository: Option<&Repository>,
        ground: &Ground,
    ) -> Result<(), Refusal> {
        let name = repository.and_then(|repository| repository.full_name.as_ref());
        if let Some(worktree) = &ground.worktree
            && let Err(error) = self.materialize_in(request, name, worktree).await
        {
            tracing::warn!(%error, "agents or critic gates could not be written");
        }
        for PeerPlace { peer, prepared } in &ground.peers {
            let name = peer.repository.full_name.as_ref();
            let Err(error) = self.materialize_in(request, name, &prepared.dir).await else { continue };
            tracing::warn!(%error, "agents or critic gates of a repository beside could not be written");
            if request.command == LoopCommand::Execute {
                let text = "Context-pack materialization failed for additional repo worktree";
                return Err(Refusal::said(LoopError::new(500, text), code::BRANCH_CREATE_FAILED));
            }
        }
        Ok(())
    }

    async fn materialize_in(
        &self,
        request: &LoopRequest,
        name: Option<&RepoFullName>,
        worktree: &SandboxedPath,
    ) -> std::io::Result<()> {
        let mut tracked = Vec::new();
        for agent in request.agent_definitions() {
            let path = format!(".claude/agents/{}.md", loopgate_api::ids::slug(&agent.slug));
            if self.git.tracks(worktree.as_path(), &path).await.unwrap_or(true) {
                tracked.push(path);
            }
        }
        let name = name.map(ToString::to_string);
        let (staging, place) = (request.clone(), worktree.as_path().to_owned());
        let written = tokio::task::spawn_blocking(move || {
            let is_tracked = |path: &str| tracked.iter().any(|known| known == path);
            staging::materialize(&staging, name.as_deref(), &place, &is_tracked)
        });
        written.await.map_err(std::io::Error::other)?
    }

    /// The file that the assistant reads, or that is run, when there is one.
    async fn script(
        &self,
        request: &LoopRequest,
        repository: Option<&Repository>,
        ground: &Ground,
        staged: &staging::Staged,
        has_plugin: bool,
    ) -> Result<Option<PathBuf>, Refusal> {
        let command = request.command;
        if command.spec().runner != Runner::Prompt {
            return Ok(None);
        }
        let base = if review::is_review(&command.spec()) {
            Some(review::base(self, request, repository, ground).await?)
        } else {
            None
        };
        let peers = ground.mounted();
        let prompt = Prompt {
            command,
            directory: &ground.dir,
            work_dir: &ground.work_dir,
            repository: repository.map(|repository| repository.path.as_path()),
            inputs: &staged.inputs,
            wish: request.prompt.as_deref(),
            has_plugin,
            base: base.as_deref(),
            peers: &peers,
        };
        let text = prompt.text().map_err(|error| {
            tracing::error!(%error, "a prompt could not be written");
            LoopError::internal()
        })?;
        let path = ground.work_dir.join(format!("{}-prompt.txt", command.lower().replace('_', "-")));
        let file = path.clone();
        let written = tokio::task::spawn_blocking(move || write_private(&file, text.as_bytes())).await;
        written.map_err(|_| LoopError::internal())?.map_err(|error| {
            let answer = LoopError::new(500, "Failed to write artifacts to workdir");
            Refusal::told(answer, code::ARTIFACT_WRITE_FAILED, error.kind().to_string())
        })?;
        Ok(Some(path))
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
            return Err(Refusal::said(error, code::SCRIPT_NOT_FOUND));
        }
        Ok(found)
    }

    fn record(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        repository: Option<&Repository>,
        ground: &Ground,
    ) -> Job {
        let work_dir = &ground.work_dir;
        let text = |path: &Path| Some(path.to_string_lossy().into_owned());
        let mut job = Job::starting(request.loop_id, request.command);
        let facts = &mut job.facts;
        facts.command_id.clone_from(&headers.command_id);
        facts.operation_id.clone_from(&headers.operation_id);
        facts.ticket_id.clone_from(&request.ticket_id);
        facts.artifact_id = request.artifact_id.clone().or_else(|| request.primary_artifact_id.clone());
        facts.artifact_slug.clone_from(&request.artifact_slug);
        facts.issue_id.clone_from(&request.issue_id);
        facts.base_branch = Some(request.base_branch());
        let name = repository.and_then(|repository| repository.full_name.as_ref());
        facts.primary_repo_full_name = name.map(ToString::to_string);
        facts.web_app_origin.clone_from(&self.settings.get().web_app_origin);
        facts.expected_mcp_url.clone_from(&request.expected_mcp_url);
        facts.api_base_url = self.cloud.origin();
        facts.committer.clone_from(&request.committer);
        facts.repo_path = repository.and_then(|repository| text(repository.path.as_path()));
        facts.local_repo_path.clone_from(&request.local_repo_path);
        facts.worktree_dir = ground.worktree.as_ref().and_then(|worktree| text(worktree.as_path()));
        facts.additional_worktree_dirs = ground.recorded();
        facts.passing_dir = if ground.passing { text(&ground.dir) } else { None };
        facts.work_dir = text(work_dir);
        facts.s3_state_key.clone_from(&request.s3_state_key);
        facts.log_path = text(&work_dir.join(LOOP_LOG));
        facts.jsonl_path = text(&work_dir.join(ASSISTANT_OUTPUT));
        facts.state_path = text(&work_dir.join(STATE_JSON));
        facts.start_sha.clone_from(&ground.start_sha);
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

/// Each worktree with the directories for the loop's files in it.
fn own_dirs(ground: &Ground) -> impl Iterator<Item = (&SandboxedPath, PathBuf)> {
    let beside = ground.peers.iter().map(|place| &place.prepared.dir);
    let worktrees = ground.worktree.iter().chain(beside);
    worktrees.flat_map(|worktree| {
        [WORK_DIR, staging::CONTEXT_DIR].map(|dir| (worktree, worktree.as_path().join(dir)))
    })
}

/// What this runtime runs today.
fn check_built(request: &LoopRequest) -> Result<(), LoopError> {
    if request.command == LoopCommand::Bootstrap {
        return Err(LoopError::not_implemented(""));
    }
    if request.harness == Harness::Reviewer {
        return Err(LoopError::not_implemented("the reviewer cannot run loops yet"));
    }
    if request.branch_materialization.is_some() {
        return Err(LoopError::not_implemented("branches made by the control plane"));
    }
    Ok(())
}

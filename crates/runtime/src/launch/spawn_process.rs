//! The last phase of a launch: stages inputs, stores the job record, announces the start and spawns the
//! process.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loopgate_api::command::{LoopCommand, Plugin, Runner};
use loopgate_api::event::{LoopEvent, code, subcode, warning};
use loopgate_api::link::Severity;
use loopgate_api::mcp::McpRecord;
use loopgate_api::redact;
use loopgate_api::usd::Usd;
use loopgate_home::Program;
use loopgate_tools::mcp::McpHost;
use loopgate_tools::programs::ProgramSource;
use loopgate_tools::shim::ShimHandle;
use secrecy::ExposeSecret as _;
use serde_json::json;
use uuid::Uuid;

use super::Launcher;
use super::command_line::{self, ProcessCommand, ProcessRequest};
use super::staging::StagedInputs;
use crate::commands::bootstrap::BootstrapTarget;
use crate::commands::plugins;
use crate::commands::review::{self, ReviewLaunch};
use crate::delivery::{contradiction, diagnostics, failure_marker};
use crate::error::LoopRequestError;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::store::StoredToken;
use crate::jobs::{Job, ProcessKind, ProcessRecord, StartAttempt};
use crate::process::spawn;
use crate::refusal::Refusal;
use crate::reporting::telemetry;
use crate::request::{LoopHeaders, LoopRequest};
use crate::workspace::Workspace;
use crate::workspace::repository::LoopRepository;

impl Launcher {
    pub(super) async fn spawn_on(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        repository: Option<&LoopRepository>,
        workspace: &Workspace,
    ) -> Result<(ShimHandle, u32), Refusal> {
        let work_dir = &workspace.work_dir;
        let staged = self.stage(request, repository, workspace).await?;
        check_harness(request)?;
        let assistant = self.assistant().await?;
        let plugin = self.plugin(request.command).await?;
        let is_review = review::is_review(&request.command.spec());
        // Compared after the review, which must not change tracked files.
        let reviewed_state = match workspace.worktree.as_ref().filter(|_| is_review) {
            Some(worktree) => review::tracked_state(&self.repositories.git, worktree.as_path()).await,
            None => None,
        };
        let mcp = self.expected_mcp(request).await;
        let judged = repository.filter(|_| request.command.spec().runner == Runner::Judges);
        let judged = judged.map(|repository| repository.path.as_path());
        let guard = self.environment.guard(&checkouts(workspace, &staged, judged)).await;
        let script = self.script(request, repository, workspace, &staged, plugin.as_deref(), &mcp).await?;

        let review = match is_review {
            true => {
                let base = review::base(&self.repositories.git, request, repository, workspace).await?;
                Some(ReviewLaunch::new(base, request.prompt.clone()))
            }
            false => None,
        };
        let process = ProcessRecord::new(&self.shims, request.loop_id, ProcessKind::Main, work_dir);
        let secret = failure_marker::new_secret();
        let settings = self.settings.get();
        let launch = ProcessRequest {
            id: request.loop_id,
            command: request.command,
            workspace,
            assistant: &assistant,
            only_delivers: request.approved_commits.is_some(),
            self_learning: request.self_learning,
            plugin: plugin.as_deref(),
            staged: &staged,
            judged,
            committer: request.committer.as_ref(),
            failure_secret: &secret,
            script: script.as_deref(),
            review: review.as_ref(),
            mcp: &mcp,
            session: request.parent_session_id.as_deref(),
            guard: &guard,
            data_dir: &self.data_dir,
            wait_for_limits: settings.wait_for_limits,
            model: request.model.as_deref().unwrap_or(&settings.loop_model),
            effort: &settings.loop_effort,
            max_spend: max_spend(settings.max_spend_usd, request.max_spend),
        };
        let previous = self.jobs.store.job(request.loop_id).await.map_err(LoopRequestError::from)?;
        let mut job = self.record(request, headers, repository, workspace, previous.as_ref());
        let start_attempt = StartAttempt::after(previous.as_ref());
        job.run.start_attempt = Some(start_attempt);
        job.run.process = Some(process.clone());
        job.workspace.reviewed_state = reviewed_state;
        job.workspace.review_session = review.as_ref().map(|review| review.session.clone());
        // A loop that only delivers completes no tasks.
        if request.command == LoopCommand::Execute && !launch.only_delivers {
            let staged_plan = work_dir.clone();
            let tasks = tokio::task::spawn_blocking(move || contradiction::plan_tasks(&staged_plan)).await;
            job.workspace.start_tasks = Some(Box::new(tasks.unwrap_or_default()));
        }
        job.run.assistant_path = Some(assistant.to_string_lossy().into_owned());
        job.run.sealed_failure_secret =
            self.credentials.seal(secret.expose_secret().as_bytes()).map(|sealed| STANDARD.encode(sealed));
        let start = command_line::build(&self.shims, &self.environment, &launch).await;
        job.run.sealed_driver_launch =
            start.restart.as_ref().and_then(|launch| launch.seal(&self.credentials));
        job.run.spawn_meta = Some(diagnostics::spawn_meta(
            &start.program,
            &start.args,
            &workspace.dir,
            &assistant,
            &start.environment,
        ));
        let traces = work_dir.clone();
        let previous_output = tokio::task::spawn_blocking(move || spawn::reset_output_files(&traces)).await;
        // The exact text is part of the interface: clients display it.
        let previous_output =
            previous_output.map_err(|_| LoopRequestError::internal())?.map_err(|error| {
                let error = LoopRequestError::new(500, format!("Cannot open log file: {}", error.kind()));
                Refusal::with_same_event(error, code::SPAWN_FAILED)
            })?;
        // The assistant's stream may contain the output of earlier runs. Tail it from the current end.
        job.transcript.stream_file = previous_output.file;
        job.transcript.stream_start = previous_output.bytes;
        job.transcript.last_observed_jsonl_offset = Some(previous_output.bytes);
        let driven = matches!(request.command.spec().runner, Runner::Driver(_));
        job.transcript.perf = driven.then(|| Box::new(previous_output.perf));
        job.run.spawned_at = Some(previous_output.until);

        // Write-ahead: a crash from here on is recovered from the record, and a failure restores the previous
        // one.
        let previous = self.jobs.store.create(&job).await.map_err(LoopRequestError::from)?;
        let spawned =
            self.announce_and_spawn(request, headers, &launch, start, &process, start_attempt.nonce).await;
        // Not repeated: the caller stores the end of the launch.
        if spawned.is_err()
            && let Err(error) = self.jobs.store.abandon(request.loop_id, &previous).await
        {
            tracing::warn!(%error, "failed to restore the previous job record");
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
        // The stored request, which also contains the token, is deleted when the process runs.
        let token = StoredToken::new(request.token.clone());
        self.jobs.store.put_token(id, &token).await.map_err(LoopRequestError::from)?;
        self.announce_start(request, headers, nonce).await?;
        if !launch.workspace.gaps.is_empty() {
            let warn = |job: &mut Job| job.warn(warning::WORKTREE_INCOMPLETE);
            self.jobs.store.update(id, warn).await.map_err(LoopRequestError::from)?;
        }
        for note in launch.workspace.notes.iter().chain(&launch.workspace.gaps) {
            let event = LoopEvent::note(note);
            self.jobs.enqueue_event(id, &event).await.map_err(LoopRequestError::from)?;
        }
        // Only the driver runs the agents of a worktree, which must exist before it starts.
        if matches!(request.command.spec().runner, Runner::Driver(_)) {
            self.bootstrap.prepare(id, launch.workspace, launch.assistant).await;
        }
        let (shim, state) =
            command_line::run(&self.shims, launch, start, process).await.map_err(|error| {
                let error = LoopRequestError::new(
                    500,
                    format!("Failed to spawn process: {}", redact::cause(&error.to_string())),
                );
                Refusal::with_same_event(error, code::SPAWN_FAILED)
            })?;
        let (traces, written) = (launch.workspace.work_dir.clone(), state.clone());
        // Best-effort: the pid files only help other programs.
        let pid_files = tokio::task::spawn_blocking(move || spawn::write_pid_files(&traces, &written)).await;
        if let Ok(Err(error)) = pid_files {
            tracing::warn!(loop_id = %id, %error, "failed to write the pid files");
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
                // A process without a record could not be stopped or followed.
                tracing::error!(loop_id = %id, %error, "failed to record the started loop; terminating it");
                let _ = shim.kill(self.timing.kill_grace).await;
                Err(LoopRequestError::internal().into())
            }
        }
    }

    /// Returns the availability of the expected MCP server. The loop starts without it if the detection does
    /// not finish in time.
    async fn expected_mcp(&self, request: &LoopRequest) -> McpRecord {
        match request.expected_mcp_url.as_deref() {
            Some(url) => self.mcp.detect(McpHost::Assistant, Some(url), self.timing.mcp).await,
            None => McpRecord::negative(),
        }
    }

    async fn assistant(&self) -> Result<PathBuf, Refusal> {
        let resolved = self.programs.resolve(Program::Assistant).await;
        match resolved.source {
            ProgramSource::Fallback | ProgramSource::OverrideInvalid => {
                let name = Program::Assistant.executable();
                let error = LoopRequestError::new(500, format!("{name} CLI not found in PATH"));
                let message = if resolved.source == ProgramSource::OverrideInvalid {
                    let path = resolved.path.display();
                    format!(
                        "{path}, the path of {name} in the settings, is missing or not executable; correct it there, or \
                         remove it so that PATH is searched"
                    )
                } else {
                    let installation = Program::Assistant.installation();
                    format!(
                        "{}, which is {}; install it ({installation}), or set its path in the settings",
                        error.message,
                        self.programs.search_path().await
                    )
                };
                let refusal = Refusal::with_event(error, code::BINARY_NOT_FOUND, message);
                Err(refusal.lacking(subcode::ASSISTANT_MISSING))
            }
            ProgramSource::Override | ProgramSource::Path => Ok(resolved.path),
        }
    }

    /// Returns the directory of a command's plugin: bundled with Loopgate, or installed by the user.
    async fn plugin(&self, command: LoopCommand) -> Result<Option<PathBuf>, Refusal> {
        let Plugin::Required(name) = command.spec().plugin else { return Ok(None) };
        let bundled = self.plugin_dirs.clone();
        let plugin =
            tokio::task::spawn_blocking(move || plugins::find(&bundled, name)).await.unwrap_or_default();
        if plugin.is_none() {
            // The driver has replaced this script, but the text is part of the interface.
            let missing = if name == "code" { "run-loop.sh".to_owned() } else { format!("plugin {name}") };
            let error = LoopRequestError::new(500, format!("{missing} not found in plugin cache"));
            return Err(Refusal::with_same_event(error, code::SCRIPT_NOT_FOUND));
        }
        Ok(plugin)
    }
}

/// Rejects a harness that the command does not support.
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
    Err(Refusal::with_same_event(LoopRequestError::bad_request(text), code::PRE_RUN_VALIDATION_FAILED))
}

/// Returns the lower of the configured and the requested limit. A setting of 0 means unlimited.
fn max_spend(setting: Option<Usd>, request: Option<Usd>) -> Option<Usd> {
    setting.filter(|limit| !limit.is_zero()).into_iter().chain(request).min()
}

/// Returns all checkouts that a loop works in, or whose history its judges read.
fn checkouts<'a>(
    workspace: &'a Workspace,
    staged: &'a StagedInputs,
    judged: Option<&'a Path>,
) -> Vec<&'a Path> {
    let peers = workspace.peers.iter().map(|place| place.prepared.dir.as_path());
    let visited = staged.targets.iter().filter_map(BootstrapTarget::visited);
    std::iter::once(workspace.dir.as_path()).chain(peers).chain(visited).chain(judged).collect()
}

//! Classifies why a loop failed, and builds its `error` event.

use std::io::ErrorKind;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loopgate_api::assistant_stream::{is_auth_failure, is_context_limit};
use loopgate_api::command::{LoopCommand, Runner};
use loopgate_api::event::{AbortReason, ErrorEvent, LoopEvent, code};
use loopgate_api::execution_result::ResultEntry;
use loopgate_api::link::Severity;
use loopgate_api::names::STATE_DIR;
use loopgate_api::redact;
use loopgate_api::usd::SPENDING_LIMIT_EXIT;
use loopgate_home::disk::{self, DISK_FULL_EXIT};
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::diagnostics::{self, OutputTails};
use super::failure_marker;
use super::outcome::{ExitKind, LoopOutcome, worktree};
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::{Job, UserVisibleFailure};

// Exit code that reports an exhausted context window, in addition to the patterns in the output.
const CONTEXT_EXIT_CODE: i32 = 2;
const WORK_RETAINED: &str = "Changes are kept in the worktree; the next execution continues from them";
// 128 + SIGINT: the loop driver exits with it after a signal or when its state file was removed.
const INTERRUPTED_EXIT_CODE: i32 = 130;
const INTERRUPTED: &str =
    "The loop was interrupted: its process was terminated, or its state file was removed";
const CONTEXT_LIMIT: &str = "Context limit exceeded";
const SPENDING_LIMIT: &str = "The loop reached its spending limit before it finished";
// Limit of the log tail in telemetry, in bytes. The `error` event contains a longer one.
const REPORTED_LOG: usize = 4096;
const AUTH_HINT: &str =
    "The assistant's account cannot be used. Sign in again, or wait until its usage limit resets.";

/// Failure of a loop, as reported by its `error` event and stored in the job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoopFailure {
    pub code: String,
    pub message: String,
    pub abort_reason: AbortReason,
    pub result: Option<Map<String, Value>>,
    pub live_activity: Option<String>,
    pub job_event: JobEvent,
    /// Pull requests that were opened before the loop failed.
    pub results: Option<Vec<ResultEntry>>,
}

impl LoopFailure {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            abort_reason: AbortReason::ProcessExit,
            result: None,
            live_activity: None,
            job_event: JobEvent::Failed,
            results: None,
        }
    }

    pub fn cancelled() -> Self {
        Self {
            abort_reason: AbortReason::Cancelled,
            job_event: JobEvent::Cancelled,
            ..Self::new(code::CANCELLED, "Loop cancelled")
        }
    }

    /// The user stopped the process without cancelling the loop.
    pub fn stopped() -> Self {
        Self {
            abort_reason: AbortReason::Cancelled,
            job_event: JobEvent::Stopped,
            ..Self::new(code::PROCESS_STOPPED, "Process ended with terminal status STOPPED")
        }
    }

    pub fn no_work() -> Self {
        Self {
            abort_reason: AbortReason::GhostLoop,
            live_activity: Some("Error: Loop produced no output (0 tokens)".to_owned()),
            ..Self::new(code::NO_WORK_PRODUCED, "EXECUTE loop completed with 0 tokens -- no work was done")
        }
    }

    /// The assistant needs an answer from the user before it can continue.
    pub fn awaiting_user(question: String) -> Self {
        Self {
            live_activity: Some(question.clone()),
            job_event: JobEvent::QuestionAsked,
            ..Self::new(code::AWAITING_USER, question)
        }
    }

    /// Tests that passed at the base fail at the head. The work has been delivered; a later EXECUTE continues
    /// from it.
    pub fn new_test_failures(message: String, results: Option<Vec<ResultEntry>>) -> Self {
        Self { live_activity: Some(message.clone()), results, ..Self::new(code::NEW_TEST_FAILURES, message) }
    }

    /// The loop reports tasks as done, but there is nothing to deliver.
    pub fn nothing_delivered(message: &str, results: Option<Vec<ResultEntry>>) -> Self {
        let message = redact::credentials(message);
        Self { live_activity: Some(message.clone()), results, ..Self::new(code::NOTHING_DELIVERED, message) }
    }

    pub fn auth(text: &str) -> Self {
        let message = redact::message(text);
        let message = if message.is_empty() { AUTH_HINT.to_owned() } else { message };
        Self {
            live_activity: Some(format!("Auth challenge: {message}")),
            ..Self::new(code::AUTH_CHALLENGE, message)
        }
    }

    /// The worktree was deleted while the loop was running.
    fn worktree_deleted(worktree: &Path, branch: Option<&str>) -> Self {
        let branch = branch.map(|name| format!("; earlier commits are on branch {name}"));
        let name = worktree.file_name().unwrap_or_default().to_string_lossy();
        let message =
            format!("the worktree {name} was deleted while the loop ran{}", branch.unwrap_or_default());
        Self { live_activity: Some(message.clone()), ..Self::new(code::PROCESS_FAILED, message) }
    }

    fn context_limit(text: &str) -> Self {
        let message = if text.is_empty() { CONTEXT_LIMIT.to_owned() } else { redact::message(text) };
        Self {
            live_activity: Some(CONTEXT_LIMIT.to_owned()),
            ..Self::new(code::CONTEXT_LIMIT_EXCEEDED, message)
        }
    }

    /// The driver could not store why the loop failed, because the disk was full.
    fn disk_full(job: &Job) -> Self {
        let full = disk::describe_full(&job.work_dir());
        let message = format!(
            "The loop ended because its output or the reason of its failure could not be stored. {full}. Then start the \
             loop again; its changes are kept"
        );
        let result = json!({"subcode": "DISK_FULL"}).as_object().cloned();
        Self { live_activity: Some(message.clone()), result, ..Self::new(code::RUNNER_ERROR, message) }
    }

    fn marked(marker: UserVisibleFailure) -> Self {
        let subcode = marker.result.get("subcode").and_then(Value::as_str);
        // The driver reports all limits with one code. Two subcodes are error codes of their own, because
        // clients offer different actions for them.
        let limits = [code::ITERATION_LIMIT, code::SPENDING_LIMIT];
        let code = limits.into_iter().find(|limit| subcode == Some(limit)).unwrap_or(&marker.code);
        let failure = Self::new(code, &marker.message);
        Self { live_activity: Some(marker.message), result: Some(marker.result), ..failure }
    }

    /// Returns whether the loop reached its iteration or spending limit. Its work is unfinished but worth
    /// committing.
    pub fn is_limit_of_loop(&self) -> bool {
        [code::ITERATION_LIMIT, code::SPENDING_LIMIT].contains(&self.code.as_str())
    }

    /// Returns severity and category for telemetry.
    pub fn report(&self) -> (Severity, &'static str) {
        match self.code.as_str() {
            code::AUTH_CHALLENGE => (Severity::Error, "job.auth_challenge"),
            code::AWAITING_USER => (Severity::Info, "job.awaiting_user"),
            _ => (Severity::Error, "job.failed"),
        }
    }
}

/// Returns the failure of a loop whose worktree was deleted. The driver recreates `.loopgate` when it writes
/// its state, so a directory with nothing else in it counts as deleted.
pub(super) async fn detect_deleted_worktree(job: &Job) -> Option<LoopFailure> {
    let worktree = worktree(job)?.to_owned();
    let path = worktree.clone();
    let is_deleted = tokio::task::spawn_blocking(move || match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().all(|entry| entry.file_name() == STATE_DIR),
        Err(error) => error.kind() == ErrorKind::NotFound,
    });
    let is_deleted = is_deleted.await.unwrap_or(false);
    is_deleted.then(|| LoopFailure::worktree_deleted(&worktree, job.workspace.worktree_branch.as_deref()))
}

/// Determines why a loop failed. A marker that the driver signed takes precedence and is stored before the
/// failure is reported: after a crash in between, the next process reports the same failure even if the file
/// has changed.
pub(super) async fn classify(job: &Job, outcome: &LoopOutcome<'_>) -> LoopFailure {
    if let Some(marker) = trusted_marker(job, outcome).await {
        let stored = marker.clone();
        let result = outcome
            .finalizer
            .jobs
            .store
            .update(job.id, |job| job.progress.user_visible_loop_failure = Some(stored))
            .await;
        if let Err(error) = result {
            tracing::warn!(loop_id = %job.id, %error, "failed to store the failure reported by the driver");
        }
        return LoopFailure::marked(marker);
    }
    // Checked from the most to the least specific source: the structured stream, then exit codes, then
    // patterns in the printed text. Any of these failures also exits with a generic code.
    let exit_code = outcome.exit.exit_code().or(job.run.exit_code);
    let used_up_budget = match job.command.spec().runner {
        // A judge can use up its share of a limit that is not reached.
        Runner::Judges => exit_code == Some(SPENDING_LIMIT_EXIT.into()),
        _ => outcome.summary.used_up_budget,
    };
    if used_up_budget {
        return LoopFailure::new(code::SPENDING_LIMIT, SPENDING_LIMIT);
    }
    let tails = read_tails(job).await;
    let printed = [tails.log, tails.stderr].map(Option::unwrap_or_default).join("\n");
    let summary = outcome.summary;
    if let Some(text) = &summary.context_failure {
        return LoopFailure::context_limit(text);
    }
    if exit_code == Some(CONTEXT_EXIT_CODE) || is_context_limit(&printed) {
        return LoopFailure::context_limit("");
    }
    if let Some(text) = &summary.auth_failure {
        return LoopFailure::auth(text);
    }
    if is_auth_failure(&printed) {
        return LoopFailure::auth("");
    }
    if exit_code == Some(DISK_FULL_EXIT.into()) {
        return LoopFailure::disk_full(job);
    }
    let is_driven = matches!(job.command.spec().runner, Runner::Driver(_));
    match outcome.exit {
        ExitKind::Lost => LoopFailure {
            job_event: JobEvent::Lost,
            live_activity: (job.command == LoopCommand::Execute).then(|| WORK_RETAINED.to_owned()),
            // The processes vanished without an exit status, for example by a reboot. Reassure the user that
            // the changes of an EXECUTE are not lost.
            ..LoopFailure::new(code::PROCESS_STOPPED, "Process ended with terminal status UNKNOWN")
        },
        ExitKind::ReportedStop => LoopFailure {
            job_event: JobEvent::Vanished,
            ..LoopFailure::new(code::PROCESS_STOPPED, "Process ended with terminal status STOPPED")
        },
        _ if exit_code == Some(INTERRUPTED_EXIT_CODE) && is_driven => {
            LoopFailure::new(code::PROCESS_FAILED, INTERRUPTED)
        }
        _ => LoopFailure::new(
            code::PROCESS_FAILED,
            format!("Process exited with code {}", exit_code.unwrap_or(1)),
        ),
    }
}

async fn trusted_marker(job: &Job, outcome: &LoopOutcome<'_>) -> Option<UserVisibleFailure> {
    if let Some(stored) = &job.progress.user_visible_loop_failure {
        return Some(stored.clone());
    }
    // The secret is stored sealed, because the marker's signature must be verifiable after a restart.
    let sealed = STANDARD.decode(job.run.sealed_failure_secret.as_ref()?).ok()?;
    let secret = String::from_utf8(outcome.finalizer.credentials.open_sealed(&sealed)?).ok()?;
    let spawned = job.spawned()?;
    let directory = job.work_dir();
    tokio::task::spawn_blocking(move || {
        failure_marker::read(&directory, &SecretString::from(secret), spawned)
    })
    .await
    .ok()
    .flatten()
}

async fn read_tails(job: &Job) -> OutputTails {
    let directory = job.work_dir();
    tokio::task::spawn_blocking(move || diagnostics::tails(&directory)).await.unwrap_or_default()
}

/// Builds the `error` event of a failure, with diagnostics.
pub(super) async fn event(job: &Job, outcome: &LoopOutcome<'_>, failure: &LoopFailure) -> LoopEvent {
    let tails = read_tails(job).await;
    let summary = outcome.summary;
    let (usage, by_model) = (summary.ledger.usage(), summary.ledger.by_model());
    let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
    let error = ErrorEvent {
        code: failure.code.clone(),
        message: redact::credentials(&failure.message),
        session_id: summary.session_id.clone(),
        branch_name: outcome.branch_of(job).await,
        token_usage: (!usage.is_zero()).then_some(usage),
        tokens_by_model: (!by_model.is_empty()).then_some(by_model),
        cost: summary.ledger.cost().cloned(),
        log_tail: tails.log,
        stderr_tail: tails.stderr,
        exit_signal: outcome.exit.signal_name().or_else(|| job.run.exit_signal.clone()),
        elapsed_ms: job.run.spawned_at.map(|spawned| now.saturating_sub(spawned)),
        abort_reason: Some(failure.abort_reason),
        diagnostics_version: Some("2".to_owned()),
        api_key_source: summary.api_key_source.clone(),
        result: failure.result.clone(),
        warnings: job.warnings(),
        ..ErrorEvent::default()
    };
    let mut event = LoopEvent::new("error", &error);
    event.members.insert("loopId".to_owned(), json!(job.id));
    event
}

/// Builds the telemetry diagnostics of a loop that failed or was cancelled.
pub(super) fn diagnostics(job: &Job, outcome: &LoopOutcome<'_>, event: &LoopEvent) -> Value {
    // Bytes of this run only: the stream file may begin with the output of earlier runs.
    let read_to = job.transcript.last_observed_jsonl_offset.unwrap_or(job.transcript.stream_start);
    let mut diagnostics = json!({
        "lifecycle": {"command": job.command},
        "diagnosticsVersion": 2,
        "exitCode": outcome.exit.exit_code().or(job.run.exit_code),
        "spawnMeta": job.run.spawn_meta,
        "stdoutBytes": read_to.saturating_sub(job.transcript.stream_start),
        "tokenUsage": outcome.summary.ledger.usage(),
    });
    for name in ["stderrTail", "exitSignal", "elapsedMs", "abortReason", "tokensByModel"] {
        if let Some(member) = event.members.get(name) {
            diagnostics[name] = member.clone();
        }
    }
    let log = event.members.get("logTail").and_then(Value::as_str);
    if let Some(tail) = log.and_then(|text| redact::tail(text, REPORTED_LOG, usize::MAX)) {
        diagnostics["logTail"] = tail.into();
    }
    diagnostics
}

//! Finishes a loop: delivers its work, determines its terminal status, and records and reports it.
//!
//! The terminal status and the event that reports it are stored in one transaction. All earlier steps are
//! idempotent and may be repeated after a crash: stored results, pushed commits and open pull requests are
//! reused.

mod approval;
mod artifacts;
mod commit;
mod completion;
pub(crate) mod contradiction;
mod delivery_text;
pub(crate) mod diagnostics;
mod early_push;
mod evidence;
mod execution;
mod failure;
pub(crate) mod failure_marker;
mod git_delivery;
mod held_back;
mod large_files;
mod outcome;
mod peers;
mod pull_request;
mod push;
mod repository;
mod result;
mod result_file;
mod retry;
mod review_answers;
mod undelivered;

use loopgate_api::assistant_stream::StreamSummary;
use loopgate_api::command::{LoopCommand, Runner};
use loopgate_api::event::{LoopEvent, warning};
use loopgate_api::execution_result::ResultEntry;
use loopgate_api::ids::LoopId;
use loopgate_api::link::{Severity, Trace};
use loopgate_api::names::PLAN_JSON;
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use serde_json::{Value, json};

use crate::commands::bootstrap;
use crate::commands::review;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::store::{MessageKind, OutboxMessage, StoreError};
use crate::jobs::{FinalizationSource, Job};
use crate::reporting::telemetry;
use crate::transcript::state_file;
use failure::LoopFailure;
use result::DeliveryOutcome;

pub(crate) use outcome::{ExitKind, Finalizer, LoopOutcome};

impl Finalizer {
    /// Finishes a loop and stores its terminal status. A no-op for a loop that is finished already.
    ///
    /// # Errors
    /// Fails with [`StoreError`]; the call may be repeated.
    pub async fn finish(
        &self,
        id: LoopId,
        exit: &ExitKind,
        summary: &StreamSummary,
        source: FinalizationSource,
    ) -> Result<(), StoreError> {
        let Some(job) = self.jobs.store.job(id).await? else { return Ok(()) };
        if job.status().is_terminal() {
            // The status was stored before a crash, but its event may not have been sent yet.
            self.outbox.wake(id);
            return Ok(());
        }
        let outcome = LoopOutcome { finalizer: self, id, exit: *exit, summary, source };
        // Boxed: the future of a whole delivery is large.
        Box::pin(outcome.process_exit(job)).await
    }
}

/// Result of an attempt to store the terminal status.
enum StoreResult {
    Stored(Box<Job>),
    /// The user cancelled the loop in the meantime; nothing was stored.
    Cancelled,
}

impl LoopOutcome<'_> {
    async fn process_exit(&self, mut job: Job) -> Result<(), StoreError> {
        // A delivery checks by itself, before its first push.
        let delivers = job.command == LoopCommand::Execute && self.exit.is_success() && !job.is_cancelled();
        if !delivers {
            job = early_push::check_at_end(self, job).await?;
        }
        if job.is_cancelled() {
            return self.cancel(&job, None).await;
        }
        // Check before the exit code: a deleted worktree makes every later step fail with a misleading error.
        if let Some(failure) = failure::detect_deleted_worktree(&job).await {
            return self.fail(&job, failure).await;
        }
        if self.exit.is_success() {
            Box::pin(self.succeed(job)).await
        } else {
            let failure = failure::classify(&job, self).await;
            if failure.is_limit_of_loop() && job.command == LoopCommand::Execute {
                execution::commit_unfinished(self, &job).await;
            }
            self.fail(&job, failure).await
        }
    }

    async fn succeed(&self, mut job: Job) -> Result<(), StoreError> {
        let mut delivered = None;
        if job.command == LoopCommand::Execute {
            // The driver exits with 0 when the assistant asks the user a question. The work is unfinished
            // then.
            if let Some(question) = open_question(&job).await {
                let job = early_push::check_at_end(self, job).await?;
                execution::commit_unfinished(self, &job).await;
                return self.fail(&job, LoopFailure::awaiting_user(question)).await;
            }
            let outcome = Box::pin(execution::deliver(self, &job)).await?;
            // The delivery takes minutes and changes the record. Load it again.
            job = self.finalizer.jobs.store.job(self.id).await?.ok_or(StoreError::NoJob)?;
            if job.is_cancelled() {
                return self.cancel(&job, Some(&outcome)).await;
            }
            if outcome.no_work {
                return self.fail(&job, LoopFailure::no_work()).await;
            }
            let results = outcome.result.as_ref().map(|result| result.results.clone());
            let contradiction = outcome.contradiction.as_deref();
            let failure =
                contradiction.map(|message| LoopFailure::nothing_delivered(message, results.clone()));
            let failed_tests = || Some(LoopFailure::new_test_failures(evidence::failure(&job)?, results));
            if let Some(failure) = failure.or_else(failed_tests) {
                // The failed loop has a result, so its delivery warnings must be reported as well.
                let warnings = self.warnings(&job, Some(&outcome), None).await;
                let warn = |job: &mut Job| warnings.iter().for_each(|code| job.warn(code));
                let job = self.finalizer.jobs.store.update(self.id, warn).await?;
                return self.fail(&job, failure).await;
            }
            delivered = Some(outcome);
        }
        let is_review = review::is_review(&job.command.spec());
        let verdict = if is_review { Some(review::conclude(&job, job.work_dir()).await) } else { None };
        if job.command.spec().runner == Runner::EachRepository {
            bootstrap::conclude(job.work_dir()).await;
        }
        let warnings = self.warnings(&job, delivered.as_ref(), verdict.as_ref()).await;
        let files = artifacts::collect(&job, self).await;
        let mut completed = completion::event(&job, self, delivered.as_ref(), &warnings).await;
        if let Some(verdict) = verdict {
            // Without a verdict the member is null, so that clients cannot mistake the review for an
            // approval.
            completed.members["result"]["verdict"] = verdict.unwrap_or_default();
        }
        match self.store(&job, JobEvent::Completed, Some(files), completed, &warnings, None).await? {
            StoreResult::Stored(job) => {
                let lifecycle = json!({"lifecycle": {"command": job.command}});
                self.report(&job, Severity::Info, self.category(), "loop completed", lifecycle);
                Ok(())
            }
            StoreResult::Cancelled => self.cancel(&job, delivered.as_ref()).await,
        }
    }

    async fn fail(&self, job: &Job, failure: LoopFailure) -> Result<(), StoreError> {
        let mut event = failure::event(job, self, &failure).await;
        completion::add_delivery(&mut event, job, failure.results.as_deref());
        completion::add_answers(&mut event, job, failure.results.as_deref()).await;
        let diagnostics = failure::diagnostics(job, self, &event);
        let uploads_plan = job.command == LoopCommand::Execute;
        let files = if uploads_plan { Some(artifacts::collect(job, self).await) } else { None };
        let activity = failure.live_activity.clone();
        match self.store(job, failure.job_event, files, event, &[], activity).await? {
            StoreResult::Stored(job) => {
                let (severity, category) = failure.report();
                self.report(&job, severity, category, &failure.message, diagnostics);
                Ok(())
            }
            StoreResult::Cancelled => self.cancel(job, None).await,
        }
    }

    /// Cancels the loop. Uploads no artifacts; the event lists the pull requests that were opened already.
    async fn cancel(&self, job: &Job, delivered: Option<&DeliveryOutcome>) -> Result<(), StoreError> {
        let stopped = job.run.stopped_by_person;
        let mut failure = if stopped { LoopFailure::stopped() } else { LoopFailure::cancelled() };
        // A cancelled delivery without a pull request may have left a branch at the code host.
        let pushed =
            delivered.filter(|outcome| outcome.pull_requests().is_none()).map(|it| it.pushed.join(", "));
        if let Some(branches) = pushed.filter(|branches| !branches.is_empty()) {
            let note = format!(
                ". The push had already reached the code host ({branches}); delete the branch there if you do not need it"
            );
            failure.message.push_str(&note);
        }
        let mut event = failure::event(job, self, &failure).await;
        completion::add_delivery(&mut event, job, delivered.and_then(DeliveryOutcome::pull_requests));
        let diagnostics = failure::diagnostics(job, self, &event);
        let (source, spend) = (self.source, Box::new(self.summary.ledger.spend()));
        let job = self
            .finalizer
            .jobs
            .change(self.id, |now| {
                now.apply(failure.job_event)?;
                now.job.report.finalization_source = Some(source);
                now.job.transcript.spend = Some(spend);
                now.job.progress.live_activity = None;
                now.send(OutboxMessage::last(&event));
                Ok(())
            })
            .await?;
        let message = if stopped { "loop stopped" } else { "loop cancelled" };
        self.report(&job, Severity::Info, "job.cancelled", message, diagnostics);
        self.finalizer.workspaces.clean_up(&job).await;
        Ok(())
    }

    /// Stores the terminal status, artifacts and event in one transaction, unless the loop has been
    /// cancelled.
    async fn store(
        &self,
        job: &Job,
        event: JobEvent,
        files: Option<serde_json::Value>,
        last: LoopEvent,
        warnings: &[String],
        activity: Option<String>,
    ) -> Result<StoreResult, StoreError> {
        let mut cancelled = false;
        let session = self.summary.session_id.clone();
        let (source, spend) = (self.source, Box::new(self.summary.ledger.spend()));
        let stored = self
            .finalizer
            .jobs
            .change(job.id, |now| {
                // Checked inside the transaction: a cancellation between this check and the write is
                // impossible.
                if now.job.is_cancelled() {
                    cancelled = true;
                    return Ok(());
                }
                now.apply(event)?;
                warnings.iter().for_each(|code| now.job.warn(code));
                let job = &mut *now.job;
                job.report.final_status_persisted_at = Some(now_iso());
                job.report.finalization_source = Some(source);
                job.progress.live_activity = activity;
                job.transcript.spend = Some(spend);
                job.run.exit_code.get_or_insert(i32::from(event != JobEvent::Completed));
                // A repeated finish after a crash must not upload the artifacts twice.
                let uploaded = job.report.artifacts_uploaded_at.is_some();
                if let Some(files) = files.filter(|_| !uploaded) {
                    now.send(OutboxMessage::new(MessageKind::Artifacts, &files));
                }
                now.send(OutboxMessage::last(&last));
                Ok(())
            })
            .await?;
        if cancelled {
            return Ok(StoreResult::Cancelled);
        }
        tracing::info!(loop_id = %self.id, ?session, status = ?stored.status(), "loop finished");
        self.finalizer.workspaces.clean_up(&stored).await;
        Ok(StoreResult::Stored(Box::new(stored)))
    }

    /// Returns the warning codes of the loop. `verdict` is `Some(None)` for a review without a verdict.
    async fn warnings(
        &self,
        job: &Job,
        delivered: Option<&DeliveryOutcome>,
        verdict: Option<&Option<serde_json::Value>>,
    ) -> Vec<String> {
        let mut warnings = job.warnings();
        let mut add = |code: &str| {
            if !warnings.iter().any(|existing| existing == code) {
                warnings.push(code.to_owned());
            }
        };
        if delivered.is_some_and(|outcome| outcome.incomplete) {
            add(warning::GIT_PUSH_FAILED);
        }
        if delivered.is_some_and(|outcome| outcome.held_back) {
            add(warning::FILES_HELD_BACK);
        }
        let entries = delivered.and_then(|outcome| outcome.result.as_ref()).map(|result| &result.results);
        if entries.is_some_and(|entries| entries.iter().any(|entry| matches!(entry, ResultEntry::Held(_)))) {
            add(warning::PULL_REQUEST_HELD);
        }
        if entries.is_some_and(|entries| entries.iter().any(|entry| !entry.undelivered().is_empty())) {
            add(warning::WORK_NOT_DELIVERED);
        }
        if job
            .delivery
            .iter()
            .any(|delivery| delivery.early_pushes.as_ref().is_some_and(|pushes| !pushes.is_empty()))
        {
            add(warning::PUSHED_BEFORE_DELIVERY);
        }
        evidence::warnings(job).into_iter().for_each(&mut add);
        let (paths, command) = (artifacts::OutputPaths::of(job), job.command);
        // The plan that REQUEST_CHANGES receives is not its result.
        let kept_plan =
            (command == LoopCommand::RequestChanges).then(|| (job.clone(), job.work_dir().join(PLAN_JSON)));
        let missing = tokio::task::spawn_blocking(move || {
            paths.is_output_missing(command)
                || kept_plan.is_some_and(|(job, plan)| !state_file::written_since(&job, &plan))
        });
        if missing.await.unwrap_or(false) || verdict.is_some_and(Option::is_none) {
            add(warning::REQUIRED_OUTPUT_MISSING);
        }
        if let Some(answers) = review_answers::read(job, None).await
            && !answers.missing(&job.launch.review_comments).is_empty()
        {
            add(warning::REVIEW_COMMENTS_UNANSWERED);
        }
        if verdict.is_some() && review::changed_files(&self.finalizer.git, job).await {
            add(warning::REVIEW_CHANGED_FILES);
        }
        warnings
    }

    fn report(
        &self,
        job: &Job,
        severity: Severity,
        category: &str,
        message: &str,
        diagnostics: serde_json::Value,
    ) {
        let trace = Trace { loop_session_id: self.summary.session_id.clone(), ..telemetry::of_job(job) };
        self.finalizer.telemetry.report(trace, severity, category, message, diagnostics);
    }

    fn category(&self) -> &'static str {
        match self.source {
            FinalizationSource::LiveExit => "job.completed",
            _ => "job.recovery.finalize_replayed",
        }
    }
}

/// Returns the question of the assistant if the driver ended because it waits for the user.
async fn open_question(job: &Job) -> Option<String> {
    let job = job.clone();
    tokio::task::spawn_blocking(move || {
        let state = state_file::of_run(&job, &job.work_dir())?;
        let is_waiting = state.get("status")?.as_str()?.eq_ignore_ascii_case("AWAITING_USER");
        let question = state.pointer("/userAction/description").and_then(Value::as_str).map(redact::message);
        let question = question.filter(|text| !text.is_empty());
        is_waiting.then(|| question.unwrap_or_else(|| "The assistant is waiting for your answer.".to_owned()))
    })
    .await
    .ok()
    .flatten()
}

pub(crate) use artifacts::OutputPaths;

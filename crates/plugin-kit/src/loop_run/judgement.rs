//! Evaluates a finished assistant run: the loop continues, waits for its user, completes or fails.

use std::ffi::OsStr;
use std::path::Path;

use loopgate_api::names::PLAN_JSON;
use loopgate_api::names::env::LOOP_ID;
use loopgate_api::redact;

use super::assistant_run::AssistantRun;
use super::child::{self, End};
use super::driver::Driver;
use super::loop_end::LoopEnd;
use super::{failure, pipeline, spurious};
use crate::clock::Span;
use crate::messages::Mailbox;
use crate::plan;
use crate::plan::structure::schema_faults;
use crate::project_git::{ProjectGit, Trees};
use crate::quoting::quote;
use crate::variables as var;

/// Consecutive runs without any answer of the model after which the loop fails.
const MAX_EMPTY_RUNS: u32 = 3;
/// Attempts to let the assistant fix an invalid plan.
const MAX_CORRECTIONS: u32 = 2;
/// Faults of a plan listed in one correction prompt.
const LISTED_FAULTS: usize = 20;
/// Reason of a stalled loop without blocked tasks.
const STALLED: &str = "The last iterations of the loop changed neither the plan nor the files.";
/// End of the prompt that resumes a session with messages of the user.
const CONTINUE_WITH_MESSAGES: &str = "You had already reported the end of the loop. Act on the message, then give your \
    complete final answer again, with the promise if everything is done.";
/// Consecutive equal failures after which a retry is pointless.
const MAX_EQUAL_FAILURES: u32 = 5;

impl Driver {
    /// Evaluates a run. `Some` ends the loop.
    pub(super) async fn evaluate_run(&mut self, run: &AssistantRun, span: &Span) -> Option<LoopEnd> {
        // Settings and plugins are the same in the next iteration.
        if let Some(fault) = run.fault.as_ref().filter(|_| !self.stop.is_cancelled()) {
            self.fail(fault.subcode, &failure::clamp(&redact::message(&fault.message)));
            return Some(self.end_failed("error", span, child::UNKNOWN_EXIT));
        }
        let code = match run.end {
            End::Stopped => return Some(LoopEnd::Interrupted),
            End::Exited(code) => code,
            End::TimedOut => {
                let minutes = self.context.iteration_limit.as_secs() / 60;
                self.journal.progress(&format!("The iteration was ended at its limit of {minutes} minutes"));
                child::UNKNOWN_EXIT
            }
        };
        // Before the exit code: the assistant exits with an error when its budget is exhausted.
        if run.facts.used_up_budget {
            pipeline::run(self).await;
            // The run that exhausted the budget may still have completed the work.
            if run.facts.promised {
                return self.judge_promise(span).await;
            }
            self.perf.iteration(self.state.iteration, span, "spending_limit", Some(code));
            return Some(self.end_at_spending_limit());
        }
        if let Some(known) = run.known_failure(code) {
            self.fail(known.subcode(), &known.message);
            return Some(self.end_failed(known.status(), span, code));
        }
        if code != 0 {
            return self.judge_error(run, span, code).await;
        }
        // An error result with exit code 0 is the final report of the assistant, after its own retries.
        if run.facts.result.as_ref().is_some_and(|result| result.is_error) {
            let message = format!("The assistant reports an error: {}", cause(run, code));
            self.fail("ASSISTANT_ERROR", &message);
            return Some(self.end_failed("error", span, code));
        }
        if let Some(end) = self.judge_silence(run, span) {
            return Some(end);
        }
        pipeline::run(self).await;
        if run.facts.promised && self.has_next_iteration() && self.continue_with_messages() {
            self.record("in_progress");
            self.perf.iteration(self.state.iteration, span, "ok", Some(0));
            return None;
        }
        if run.facts.promised {
            return self.judge_promise(span).await;
        }
        self.record("in_progress");
        self.perf.iteration(self.state.iteration, span, "ok", Some(0));
        // A silent run proves nothing about progress; it is counted as an empty run above.
        if run.facts.has_result_text { self.judge_progress(run.refusals.as_deref()).await } else { None }
    }

    /// Ends a loop that needs its user: all remaining tasks are blocked, or the iterations no longer change
    /// anything.
    async fn judge_progress(&mut self, refusals: Option<&str>) -> Option<LoopEnd> {
        self.settle_tasks();
        // Recorded even when tasks are blocked, so that the comparison of the next iteration is complete.
        let fingerprint = self.fingerprint().await;
        let is_stalled = self.progress.is_stalled(fingerprint);
        // The user has to know what the assistant did not bring back.
        let taken_back = (!self.taken_back.is_empty())
            .then(|| format!("Work was taken back or hidden: {}.", self.taken_back.join("; ")));
        let stalled = || {
            let parts = [Some(STALLED), refusals, taken_back.as_deref()];
            let reason = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let action = format!("{reason} Read the assistant's last answer, and say how to continue.");
            is_stalled.then_some((reason, action))
        };
        let (reason, action) = self.blocked_tasks().or_else(stalled)?;
        Some(self.ask_user(&reason, &action))
    }

    /// Returns the reason and the action of the user when all remaining tasks are blocked.
    fn blocked_tasks(&self) -> Option<(String, String)> {
        let list = plan::all_blocked(&self.state.workdir)?.join("\n");
        Some((
            format!("All remaining tasks are blocked.\n{list}"),
            format!("Say how to unblock these tasks:\n{list}"),
        ))
    }

    fn ask_user(&self, reason: &str, action: &str) -> LoopEnd {
        self.journal.progress(reason);
        self.record("awaiting_user");
        // The control plane waits for the document and cannot answer a question, so waiting would be endless.
        if self.produces_document() {
            self.fail("NO_PROGRESS", &failure::clamp(reason));
            return LoopEnd::Failed;
        }
        if let Err(message) = plan::await_user(&self.state.workdir, reason, action) {
            self.fail("DRIVER_FAILED", &message);
            return LoopEnd::Failed;
        }
        LoopEnd::Waiting
    }

    /// Brings the plan in line with the answers of agents. Returns the reopened tasks. A loop that writes a plan may take
    /// over tasks that its author has ticked.
    fn settle(&self) -> Result<Vec<String>, String> {
        if self.produces_document() {
            return Ok(Vec::new());
        }
        plan::settle(&self.state.workdir, self.agent_results.statements())
    }

    /// Brings the plan in line with the answers of agents, and logs the result.
    pub(super) fn settle_tasks(&self) {
        match self.settle() {
            Ok(reopened) => self.report_reopened(&reopened),
            // The next iteration gets the same message from its plan commands, and repairs the plan.
            Err(message) => self.journal.progress(&message),
        }
    }

    fn report_reopened(&self, tasks: &[String]) {
        if !tasks.is_empty() {
            let tasks = tasks.join(", ");
            self.journal.progress(&format!("Reopened, because no checking agent completed it: {tasks}"));
        }
    }

    /// Returns whether the loop produces a document for the control plane; it cannot wait for an answer of
    /// its user.
    fn produces_document(&self) -> bool {
        let command = self.context.env.get(OsStr::new(var::COMMAND)).and_then(|name| name.to_str());
        !matches!(command, None | Some("EXECUTE" | "interactive"))
    }

    /// Returns whether the loop's result is a plan.
    fn produces_plan(&self) -> bool {
        let command = self.context.env.get(OsStr::new(var::COMMAND)).and_then(|name| name.to_str());
        matches!(command, Some("PLAN" | "REQUEST_CHANGES"))
    }

    async fn judge_error(&mut self, run: &AssistantRun, span: &Span, code: i32) -> Option<LoopEnd> {
        self.display.standard_error(run.stderr.trim_end());
        self.record("error");
        self.empty_runs = 0;
        pipeline::run(self).await;
        self.perf.iteration(self.state.iteration, span, "error", Some(code));
        let failure = cause(run, code);
        // Only consecutive failures with the same text count; any other one may be transient.
        self.failures = match std::mem::take(&mut self.failures) {
            (last, count) if last == failure => (last, count + 1),
            _ => (failure, 1),
        };
        if self.failures.1 < MAX_EQUAL_FAILURES {
            return None;
        }
        let message =
            format!("The assistant failed {MAX_EQUAL_FAILURES} times in the same way: {}", self.failures.0);
        self.fail("REPEATED_FAILURE", &message);
        Some(LoopEnd::Failed)
    }

    /// Evaluates a run without any answer of the model. Fatal at once when the assistant reports why it did
    /// not start.
    fn judge_silence(&mut self, run: &AssistantRun, span: &Span) -> Option<LoopEnd> {
        self.failures = (String::new(), 0);
        if run.facts.has_result_text {
            self.empty_runs = 0;
            return None;
        }
        if let Some(refusal) = &run.facts.refusal {
            self.fail(
                "SETUP_REFUSED",
                &format!("The loop could not be set up: {}", redact::message(refusal)),
            );
            return Some(self.end_failed("error", span, 0));
        }
        self.empty_runs += 1;
        if self.empty_runs < MAX_EMPTY_RUNS {
            return None;
        }
        self.fail("NO_ANSWER", &format!("The assistant returned no answer {MAX_EMPTY_RUNS} times in a row"));
        Some(self.end_failed("ghost_loop_abort", span, 0))
    }

    async fn judge_promise(&mut self, span: &Span) -> Option<LoopEnd> {
        if !self.taken_back.is_empty() {
            return self.judge_taken_back(span);
        }
        // Readers of the control plane require a valid plan; of other loops the plan is only an input.
        let faults = if self.produces_plan() { schema_faults(&self.state.workdir) } else { Vec::new() };
        if !faults.is_empty() {
            return self.judge_invalid_plan(&faults, span);
        }
        let waits = spurious::waits_for_user(&self.state.workdir);
        if !waits && !self.produces_document() && !plan::is_recorded(&self.state.workdir) {
            let message = "The assistant reported completion, but it removed the records of the loop's tasks. Check the \
                           plan, and start the loop again.";
            return Some(self.reject_promise("TASKS_CHANGED_AT_COMPLETION", message, span));
        }
        match self.settle() {
            Ok(reopened) if reopened.is_empty() || waits => self.report_reopened(&reopened),
            Ok(reopened) => return self.judge_unchecked(&reopened, span),
            Err(message) => {
                self.fail("DRIVER_FAILED", &failure::clamp(&message));
                return Some(self.end_failed("error", span, 0));
            }
        }
        if !waits && let Some((reason, action)) = self.blocked_tasks() {
            self.perf.iteration(self.state.iteration, span, "awaiting_user", Some(0));
            return Some(self.ask_user(&reason, &action));
        }
        if let Some(contradiction) = spurious::contradiction(&self.state.workdir) {
            return Some(self.reject_promise(contradiction.subcode, &contradiction.message, span));
        }
        if !waits && self.has_done_nothing().await {
            let tasks = plan::completed_in_loop(&self.state.workdir).join(", ");
            let message = format!(
                "The assistant reports these tasks as done, but no file differs from the start of the loop: {tasks}. Clear \
                 their boxes in plan.md and start the loop again."
            );
            return Some(self.reject_promise("NOTHING_DELIVERED", &failure::clamp(&message), span));
        }
        let (end, status, message) = if waits {
            (LoopEnd::Waiting, "awaiting_user", "Waiting for the user since")
        } else {
            (LoopEnd::Completed, "completed", "Completed in")
        };
        self.journal.progress(&format!("{message} iteration {}", self.state.iteration));
        self.record(status);
        self.perf.iteration(self.state.iteration, span, status, Some(0));
        Some(end)
    }

    /// Fails a loop whose completion contradicts its records.
    fn reject_promise(&self, subcode: &str, message: &str, span: &Span) -> LoopEnd {
        self.fail(subcode, message);
        self.record("spurious_complete");
        self.perf.iteration(self.state.iteration, span, "spurious_complete", Some(0));
        LoopEnd::Failed
    }

    /// Returns whether tasks were completed in the loop although no file of its repositories differs from their start.
    /// Left to the runtime when it delivers, because it also finds work outside of the delivery.
    async fn has_done_nothing(&self) -> bool {
        if var::text(LOOP_ID).is_some() || plan::completed_in_loop(&self.state.workdir).is_empty() {
            return false;
        }
        let mut now = Trees::new();
        for repository in self.repositories() {
            match ProjectGit::at(&repository, &self.context.env, &self.stop).snapshots().await {
                Some(trees) => now.extend(trees),
                // A contradiction must be proven: what git cannot compare counts as changed.
                None => return false,
            }
        }
        now == plan::start_trees(&self.state.workdir)
    }

    /// Lets the next iteration resume the last session with the messages that it has not received. Returns whether there
    /// are any.
    pub(super) fn continue_with_messages(&mut self) -> bool {
        let Some(pending) = Mailbox::of(&self.state.workdir).pending() else { return false };
        self.journal.progress("The loop continues, because a message of the user has arrived");
        self.correction = Some(format!("{}\n\n{CONTINUE_WITH_MESSAGES}", pending.text()));
        // Before the session starts, because its hooks would deliver the messages a second time. If the driver is killed in
        // between, the next session receives them with the earlier ones.
        pending.settle();
        true
    }

    /// Demands the check of tasks that were ticked without one, and fails after the last attempt.
    fn judge_unchecked(&mut self, tasks: &[String], span: &Span) -> Option<LoopEnd> {
        self.report_reopened(tasks);
        self.record("unchecked_tasks");
        self.perf.iteration(self.state.iteration, span, "unchecked_tasks", Some(0));
        let list = tasks.join(", ");
        let message = format!("no checking agent completed these tasks, so they are open again: {list}");
        if self.corrections == MAX_CORRECTIONS {
            self.fail("UNCHECKED_TASKS", &format!("The assistant reported completion, but {message}"));
            return Some(LoopEnd::Failed);
        }
        self.corrections += 1;
        self.correction = Some(format!(
            "The loop is not completed: {message}. Continue with phase 3 for each of them, and report it with \
             `loopgate plan report <task> {}` after `code:task-reviewer` has answered.",
            quote(&self.state.workdir.to_string_lossy())
        ));
        None
    }

    /// Demands work back that was taken back or hidden, and fails after the last attempt.
    fn judge_taken_back(&mut self, span: &Span) -> Option<LoopEnd> {
        if self.corrections == MAX_CORRECTIONS {
            let message = format!(
                "The assistant reported completion, but work was taken back or hidden: {}. To get it back, use `git stash \
                 pop` for a stash, `git cherry-pick <commit>` for a commit, `git config --unset <name>` for a setting, or \
                 `loopgate plan restore <task>` for the files at the start of a task.",
                self.taken_back.join("; ")
            );
            return Some(self.reject_promise("WORK_TAKEN_BACK", &failure::clamp(&message), span));
        }
        self.record("work_taken_back");
        self.perf.iteration(self.state.iteration, span, "work_taken_back", Some(0));
        self.corrections += 1;
        self.correction = Some(self.return_prompt(&self.taken_back));
        None
    }

    /// Lets the next iteration bring back work whose loss was not reported yet.
    pub(super) fn request_return(&mut self) {
        let findings = std::mem::take(&mut self.taken_back);
        let new = self.new_findings(&findings);
        // The correction of a promise names all of them.
        if !new.is_empty() && self.correction.is_none() {
            self.correction = Some(self.return_prompt(&new));
        }
    }

    fn return_prompt(&self, findings: &[String]) -> String {
        let list: String = findings.iter().map(|finding| format!("- {finding}\n")).collect();
        format!(
            "Work of the loop was taken out of its working tree, or is hidden from the delivery:\n\n{list}\nBring it back \
             first:\n\n- a stash: `git stash show -p --binary --include-untracked 'stash@{{N}}' | git apply`\n- a commit: \
             `git cherry-pick COMMIT`, and `git revert COMMIT` if its change is unwanted\n- a setting: `git config --unset \
             NAME`\n- rules in info/exclude: remove them from the file\n- files as at the start of a task: `loopgate plan \
             restore TASK {}`\n\nThen continue with the work of the loop. It is completed only when the work is back.",
            quote(&self.state.workdir.to_string_lossy())
        )
    }

    /// Requests a correction of an invalid plan, and fails after the last attempt.
    fn judge_invalid_plan(&mut self, faults: &[String], span: &Span) -> Option<LoopEnd> {
        self.record("invalid_plan");
        self.perf.iteration(self.state.iteration, span, "invalid_plan", Some(0));
        if self.corrections == MAX_CORRECTIONS {
            let message = format!("The assistant left a plan that cannot be read: {}", faults.join("; "));
            self.fail("INVALID_PLAN", &failure::clamp(&message));
            return Some(LoopEnd::Failed);
        }
        self.corrections += 1;
        self.journal.progress("The plan is invalid; the assistant gets another attempt to fix it");
        self.correction = Some(correction(&self.state.workdir, &self.state.completion_promise, faults));
        None
    }

    fn end_failed(&self, status: &str, span: &Span, code: i32) -> LoopEnd {
        self.record(status);
        self.perf.iteration(self.state.iteration, span, "error", Some(code));
        LoopEnd::Failed
    }
}

fn correction(workdir: &Path, promise: &str, faults: &[String]) -> String {
    let list: String = faults.iter().take(LISTED_FAULTS).map(|fault| format!("- {fault}\n")).collect();
    format!(
        "The file {} is not a valid plan:\n\n{list}\nFix exactly these faults and change nothing else. Check it with \
         `loopgate plan validate {}`. Then end with this line:\n\n<promise>{promise}</promise>",
        workdir.join(PLAN_JSON).display(),
        quote(&workdir.to_string_lossy())
    )
}

/// Returns the cause of a failed run. The assistant's result takes precedence over the last line of standard
/// error.
fn cause(run: &AssistantRun, code: i32) -> String {
    let result = run.facts.result.as_ref().filter(|result| result.is_error).map(|result| result.text.trim());
    let last_line = || run.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    match result.filter(|text| !text.is_empty()).or_else(last_line) {
        Some(words) => format!("{} (exit code {code})", redact::message(words)),
        None => format!("no output (exit code {code})"),
    }
}

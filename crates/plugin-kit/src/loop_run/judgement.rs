//! What a run of the assistant means for the loop.

use std::ffi::OsStr;
use std::path::Path;

use loopgate_api::names::PLAN_JSON;
use loopgate_api::redact;

use super::assistant_run::AssistantRun;
use super::child::{self, End};
use super::driver::Driver;
use super::loop_end::LoopEnd;
use super::{failure, pipeline, spurious};
use crate::clock::Span;
use crate::plan;
use crate::plan::structure::schema_faults;
use crate::quoting::quote;
use crate::variables as var;

/// Empty runs in a row after which nobody seems to be there.
const EMPTY_RUNS: u32 = 3;
/// Times that the assistant is asked to put a plan right.
const CORRECTIONS: u32 = 2;
/// Faults of a plan that it is told of at once.
const TOLD_FAULTS: usize = 20;
/// Why a loop without blocked tasks asks its user.
const STANDSTILL: &str = "The last iterations of the loop changed neither the plan nor the files.";
/// Equal failures in a row after which another try is pointless.
const EQUAL_FAILURES: u32 = 5;

impl Driver {
    /// Decides what a run means; `Some` ends the loop.
    pub(super) async fn evaluate_run(&mut self, run: &AssistantRun, span: &Span) -> Option<LoopEnd> {
        let code = match run.end {
            End::Stopped => return Some(LoopEnd::Interrupted),
            End::Exited(code) => code,
            End::TimedOut => {
                let minutes = self.context.iteration_limit.as_secs() / 60;
                self.journal.progress(&format!("The iteration was ended at its limit of {minutes} minutes"));
                child::UNKNOWN_EXIT
            }
        };
        if run.facts.used_up_budget {
            pipeline::run(self).await;
            // The last answer was paid for, too.
            if run.facts.promised {
                return self.judge_promise(span);
            }
            self.perf.iteration(self.state.iteration, span, "spending_limit", Some(code));
            return Some(self.end_at_spending_limit());
        }
        if let Some(known) = run.known_failure(code) {
            self.fail(known.kind.subcode(), &known.message);
            return Some(self.end_failed(known.kind.status(), span, code));
        }
        if code != 0 {
            return self.judge_error(run, span, code).await;
        }
        if run.facts.result.as_ref().is_some_and(|result| result.is_error) {
            let message = format!("The assistant reports an error: {}", cause(run, code));
            self.fail("ASSISTANT_ERROR", &message);
            return Some(self.end_failed("error", span, code));
        }
        if let Some(end) = self.judge_silence(run, span) {
            return Some(end);
        }
        pipeline::run(self).await;
        if run.facts.promised {
            return self.judge_promise(span);
        }
        self.record("in_progress");
        self.perf.iteration(self.state.iteration, span, "ok", Some(0));
        if run.facts.has_result_text { self.judge_progress().await } else { None }
    }

    /// Ends a loop that only its user can let go on: all that is left is blocked, or its iterations change
    /// nothing any more.
    async fn judge_progress(&mut self) -> Option<LoopEnd> {
        let fingerprint = self.fingerprint().await;
        let stands_still = self.progress.stands_still(fingerprint);
        let (reason, action) = if let Some(blocked) = plan::all_blocked(&self.state.workdir) {
            let list = blocked.join("\n");
            (
                format!("All that is left is blocked.\n{list}"),
                format!("Say how these tasks can go on:\n{list}"),
            )
        } else if stands_still {
            (
                STANDSTILL.to_owned(),
                format!("{STANDSTILL} Look at what it said last, and tell it how to go on."),
            )
        } else {
            return None;
        };
        self.journal.progress(&reason);
        self.record("awaiting_user");
        if self.makes_a_document() {
            self.fail("NO_PROGRESS", &failure::clamp(&reason));
            return Some(LoopEnd::Failed);
        }
        if let Err(message) = plan::await_user(&self.state.workdir, &reason, &action) {
            self.fail("DRIVER_FAILED", &message);
            return Some(LoopEnd::Failed);
        }
        Some(LoopEnd::Waiting)
    }

    /// Whether the loop is there for a document and has nobody to ask.
    fn makes_a_document(&self) -> bool {
        let command = self.context.env.get(OsStr::new(var::COMMAND)).and_then(|name| name.to_str());
        !matches!(command, None | Some("EXECUTE" | "interactive"))
    }

    /// Whether a plan is what the loop is for.
    fn leaves_a_plan(&self) -> bool {
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
        self.failures = match std::mem::take(&mut self.failures) {
            (last, count) if last == failure => (last, count + 1),
            _ => (failure, 1),
        };
        if self.failures.1 < EQUAL_FAILURES {
            return None;
        }
        let message =
            format!("The assistant failed {EQUAL_FAILURES} times in the same way: {}", self.failures.0);
        self.fail("REPEATED_FAILURE", &message);
        Some(LoopEnd::Failed)
    }

    /// A run without any answer of the model: at once fatal when the assistant says why it did not begin.
    fn judge_silence(&mut self, run: &AssistantRun, span: &Span) -> Option<LoopEnd> {
        self.failures = (String::new(), 0);
        if let Some(answer) = &run.facts.unknown_command {
            let message = format!("The assistant has not loaded the plugin of the loop ({answer})");
            self.fail("ASSISTANT_UNKNOWN_SKILL", &message);
            return Some(self.end_failed("error", span, 0));
        }
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
        if self.empty_runs < EMPTY_RUNS {
            return None;
        }
        self.fail("NO_ANSWER", &format!("The assistant has answered nothing {EMPTY_RUNS} times in a row"));
        Some(self.end_failed("ghost_loop_abort", span, 0))
    }

    fn judge_promise(&mut self, span: &Span) -> Option<LoopEnd> {
        let faults = if self.leaves_a_plan() { schema_faults(&self.state.workdir) } else { Vec::new() };
        if !faults.is_empty() {
            return self.judge_invalid_plan(&faults, span);
        }
        if let Some(found) = spurious::contradiction(&self.state.workdir) {
            self.fail(found.subcode, &found.message);
            self.record("spurious_complete");
            self.perf.iteration(self.state.iteration, span, "spurious_complete", Some(0));
            return Some(LoopEnd::Failed);
        }
        self.journal.progress(&format!("Completed in iteration {}", self.state.iteration));
        self.record("completed");
        self.perf.iteration(self.state.iteration, span, "completed", Some(0));
        Some(if spurious::waits_for_user(&self.state.workdir) {
            LoopEnd::Waiting
        } else {
            LoopEnd::Completed
        })
    }

    /// Puts a plan that cannot be read back to the assistant, and gives up when that does not help.
    fn judge_invalid_plan(&mut self, faults: &[String], span: &Span) -> Option<LoopEnd> {
        self.record("invalid_plan");
        self.perf.iteration(self.state.iteration, span, "invalid_plan", Some(0));
        if self.corrections == CORRECTIONS {
            let message = format!("The assistant left a plan that cannot be read: {}", faults.join("; "));
            self.fail("INVALID_PLAN", &failure::clamp(&message));
            return Some(LoopEnd::Failed);
        }
        self.corrections += 1;
        self.journal.progress("The plan cannot be read; the assistant is asked to put it right");
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
    let list: String = faults.iter().take(TOLD_FAULTS).map(|fault| format!("- {fault}\n")).collect();
    format!(
        "The file {} is not a valid plan:\n\n{list}\nPut exactly this right and change nothing else. Check it with \
         `loopgate plan validate {}`. Then end with this line:\n\n<promise>{promise}</promise>",
        workdir.join(PLAN_JSON).display(),
        quote(&workdir.to_string_lossy())
    )
}

/// Why a run failed, in the assistant's own words as far as it has any: its result says more than what it
/// printed last.
fn cause(run: &AssistantRun, code: i32) -> String {
    let said = run.facts.result.as_ref().filter(|result| result.is_error).map(|result| result.text.trim());
    let printed = || run.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    match said.filter(|text| !text.is_empty()).or_else(printed) {
        Some(words) => format!("{} (exit code {code})", redact::message(words)),
        None => format!("it said nothing (exit code {code})"),
    }
}

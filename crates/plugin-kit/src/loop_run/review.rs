//! Reviews of the loop's changes, and fixes of their findings: both run in this process, with the engine of
//! `loopgate code-review`.
//!
//! A review without a verdict is reported as incomplete; only the verdict `approve` is an approval. Reviews
//! never change the outcome of the loop.

use std::io::Write as _;

use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_api::review::VerdictKind;
use loopgate_api::usd::Usd;
use loopgate_code_review::incremental::ReviewExtent;
use loopgate_home::{expand_home, untrusted};

use super::driver::Driver;
use super::exit_code::{FAILED, INTERRUPTED};
use super::journal::JournalActivity;
use crate::clock::Span;
use crate::code_review::fix::{EndedFix, FixOutcome, FixRun};
use crate::code_review::incremental::LOOPS;
use crate::code_review::report::records;
use crate::code_review::run::{EndedReview, ReviewOutcome, ReviewRun};
use crate::code_review::scope::{RequestedChange, RequestedChangeScope};
use crate::code_review::session::ReviewSessionId;
use crate::console::print_error;
use crate::model_calls::LimitWait;
use crate::project_git::ProjectGit;

/// Consecutive failed fixes after which the reviews end.
const MAX_FAILED_FIXES: u32 = 2;

/// Alternates reviews and fixes up to the cycle limit.
pub async fn run(driver: &mut Driver) {
    if let Some(reason) = reason_to_skip(driver).await {
        driver.journal.progress(&format!("Post-loop review skipped: {reason}"));
        return;
    }
    let mut failed_fixes = 0;
    for cycle in 1..=driver.context.review_cycles {
        let Some(session) = review(driver, cycle).await else { return };
        match fix(driver, cycle, session).await {
            FixEnd::Changed => failed_fixes = 0,
            // The next review would repeat the findings.
            FixEnd::Unchanged => return,
            FixEnd::Failed => failed_fixes += 1,
        }
        if failed_fixes == MAX_FAILED_FIXES {
            driver.journal.progress("Post-loop review stopped: two fixes in a row have failed");
            return;
        }
    }
    driver.journal.progress("Post-loop review: the cycle limit is reached, findings may remain");
}

async fn reason_to_skip(driver: &Driver) -> Option<&'static str> {
    let sha = driver.state.start_sha.as_str();
    if sha.is_empty() {
        return Some("the start commit is unknown");
    }
    let git = ProjectGit::at(&driver.context.project_root, &driver.context.env, &driver.stop);
    if git.changed_since(sha).await.is_none_or(|files| files.is_empty()) {
        return Some("nothing has changed");
    }
    // The limit applies to the whole loop, its reviews included.
    if driver.state.has_used_up_budget() {
        return Some("the spending limit is used up");
    }
    if driver.context.review_cycles == 0 {
        return Some("the number of review cycles is 0");
    }
    None
}

/// Runs a review. Returns its session when its findings need a fix.
async fn review(driver: &mut Driver, cycle: u32) -> Option<ReviewSessionId> {
    let session = ReviewSessionId::new();
    driver.journal.progress(&format!("Post-loop review, cycle {cycle}: session {session}"));
    let span = Span::start();
    let context = &driver.context;
    let run = ReviewRun {
        dir: context.project_root.clone(),
        change: RequestedChange {
            scope: RequestedChangeScope::Branch,
            base: Some(driver.state.start_sha.clone()),
        },
        extent: ReviewExtent::Full(LOOPS),
        home: expand_home("~"),
        session: Some(session.clone()),
        is_hygiene_only: false,
        instructions: None,
        limit: driver.state.remaining_budget(),
        assistant: context.assistant.clone(),
        env: context.env.clone(),
        wait: driver.limit_wait(),
        stop: driver.stop.clone(),
    };
    let ended = run.run().await;
    driver.show_review(&session, &ended);
    driver.charge_calls(ended.cost);
    let (name, code) = match &ended.outcome {
        ReviewOutcome::Completed(review) => {
            (review.verdict.as_ref().map_or("incomplete", |verdict| verdict_name(verdict.verdict)), 0)
        }
        ReviewOutcome::Interrupted => ("incomplete", INTERRUPTED),
        ReviewOutcome::Failed(_) => ("error", FAILED),
    };
    driver.perf.review(name, cycle, &span, i32::from(code));
    log(driver, &format!("review_{name}"));
    match &ended.outcome {
        ReviewOutcome::Failed(reason) => {
            driver.journal.progress(&format!("Post-loop review did not complete: {reason}"));
        }
        _ if name == "approve" => driver.journal.progress("Post-loop review: approved"),
        _ if name == "incomplete" => {
            driver.journal.progress("Post-loop review did not complete: there is no verdict");
        }
        ReviewOutcome::Completed(review) => {
            driver.journal.progress(&format!("Post-loop review: {name}, see {}", review.directory.display()));
            return Some(session);
        }
        ReviewOutcome::Interrupted => {}
    }
    None
}

/// Outcome of a fix.
enum FixEnd {
    Changed,
    /// No finding was confirmed or corrected, or the driver is stopping.
    Unchanged,
    Failed,
}

/// Fixes the confirmed findings of a review.
async fn fix(driver: &mut Driver, cycle: u32, session: ReviewSessionId) -> FixEnd {
    let span = Span::start();
    let context = &driver.context;
    let run = FixRun {
        dir: context.project_root.clone(),
        session: Some(session),
        limit: driver.state.remaining_budget(),
        assistant: context.assistant.clone(),
        env: context.env.clone(),
        wait: driver.limit_wait(),
        stop: driver.stop.clone(),
    };
    let EndedFix { cost, outcome } = run.run().await;
    driver.charge_calls(cost);
    let (code, message, end) = match &outcome {
        FixOutcome::Completed(result) if result.confirmed == 0 => {
            (0, "Post-loop fix: no finding is confirmed".to_owned(), FixEnd::Unchanged)
        }
        FixOutcome::Completed(result) => {
            let message =
                format!("Post-loop fix: {} of {} findings are fixed", result.fixed, result.confirmed);
            (0, message, if result.fixed > 0 { FixEnd::Changed } else { FixEnd::Unchanged })
        }
        FixOutcome::Interrupted => {
            (INTERRUPTED, "Post-loop fix was interrupted".to_owned(), FixEnd::Unchanged)
        }
        FixOutcome::Failed(reason) => {
            (FAILED, format!("Post-loop fix did not complete: {reason}"), FixEnd::Failed)
        }
    };
    driver.perf.fix(cycle, &span, i32::from(code));
    log(driver, if code == 0 { "fix_completed" } else { "fix_error" });
    driver.journal.progress(&message);
    end
}

const fn verdict_name(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Approve => "approve",
        VerdictKind::NeedsAttention => "needs_attention",
        VerdictKind::Decline => "decline",
    }
}

fn log(driver: &Driver, status: &str) {
    driver.journal.outcome(
        driver.state.iteration,
        status,
        JournalActivity::CodeReview,
        driver.last_session.as_deref(),
    );
}

impl Driver {
    pub(super) fn limit_wait(&self) -> Option<LimitWait> {
        let workdir = self.state.workdir.clone();
        self.context.wait_for_limits.then_some(LimitWait::in_stream(workdir))
    }

    pub(super) fn charge_calls(&mut self, cost: Usd) {
        #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^52 micros")]
        self.charge(cost.micros() as f64 / 1_000_000.0);
    }

    /// Appends the report to the stream, which the page shows.
    fn show_review(&self, session: &ReviewSessionId, ended: &EndedReview) {
        let lines: String = records(session, ended).iter().map(|record| format!("{record}\n")).collect();
        let path = self.state.workdir.join(ASSISTANT_OUTPUT);
        let written = untrusted::append(&path).and_then(|mut file| file.write_all(lines.as_bytes()));
        // The session directory contains the report as well.
        if let Err(error) = written {
            print_error(format!("Warning: cannot show the review in the output: {error}"));
        }
    }
}

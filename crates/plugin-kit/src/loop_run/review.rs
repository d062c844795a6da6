//! Reviews of the loop's changes, and fixes of their findings.
//!
//! A review without a verdict is reported as incomplete; only the verdict `approve` is an approval. Reviews
//! never change the outcome of the loop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_api::names::STATE_DIR;
use loopgate_api::redact;
use loopgate_home::{EntryKind, untrusted};
use serde_json::Value;

use super::assistant_run::AssistantRun;
use super::child::{End, UNKNOWN_EXIT};
use super::driver::{AssistantTask, Driver, TaskKind};
use super::journal::JournalActivity;
use crate::clock::Span;
use crate::project_git::ProjectGit;
use crate::quoting::quote;

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
        match fix(driver, cycle, &session).await {
            FixEnd::Done => failed_fixes = 0,
            FixEnd::Failed => failed_fixes += 1,
            // Neither a review nor another fix can succeed, for instance without budget.
            FixEnd::Hopeless => return,
        }
        // A failed fix leaves the findings, so the next review would repeat them.
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
    if !driver.context.can_review {
        return Some("the plugin code-review is not installed; the changes are not reviewed");
    }
    None
}

/// Runs a review. Returns the session directory when its findings need a fix.
async fn review(driver: &mut Driver, cycle: u32) -> Option<PathBuf> {
    driver.journal.progress(&format!("Post-loop review, cycle {cycle}"));
    // The command does not report its session, so compare the directories before and after the run.
    let before = sessions(&driver.context.project_root);
    let span = Span::start();
    let prompt = format!("/code-review:start --base {}", driver.state.start_sha);
    let run = run_command(driver, &prompt).await?;
    let session = newest_session(&driver.context.project_root, &before);
    let verdict = session.as_deref().and_then(verdict);
    let name = match (&run.problem, verdict.as_deref()) {
        (Some(_), _) => "error",
        (None, Some(verdict)) => verdict,
        (None, None) => "incomplete",
    };
    driver.perf.review(name, cycle, &span, run.code);
    log(driver, &format!("review_{name}"));
    match (run.problem, name) {
        (Some(problem), _) => {
            driver.journal.progress(&format!("Post-loop review did not complete: {}", problem.reason));
        }
        (None, "approve") => driver.journal.progress("Post-loop review: approved"),
        (None, "incomplete") => {
            driver.journal.progress("Post-loop review did not complete: there is no verdict");
        }
        (None, verdict) => {
            driver.journal.progress(&format!("Post-loop review: {verdict}"));
            return session;
        }
    }
    None
}

/// Outcome of a fix.
enum FixEnd {
    Done,
    Failed,
    /// The fix failed for a reason that later runs would meet too, or the driver is stopping.
    Hopeless,
}

/// Runs a fix of the findings in a session directory.
async fn fix(driver: &mut Driver, cycle: u32, session: &Path) -> FixEnd {
    let span = Span::start();
    let prompt = format!("/code-review:fix {}", quote(&session.to_string_lossy()));
    let Some(run) = run_command(driver, &prompt).await else { return FixEnd::Hopeless };
    driver.perf.fix(cycle, &span, run.code);
    log(driver, if run.problem.is_none() { "fix_completed" } else { "fix_error" });
    let Some(problem) = run.problem else { return FixEnd::Done };
    driver.journal.progress(&format!("Post-loop fix did not complete: {}", problem.reason));
    if problem.is_permanent { FixEnd::Hopeless } else { FixEnd::Failed }
}

/// Result of a command of the review plugin.
struct CommandEnd {
    code: i32,
    problem: Option<Problem>,
}

/// Reason for which a command did not complete.
struct Problem {
    reason: String,
    /// Whether another run would fail for the same reason.
    is_permanent: bool,
}

impl Problem {
    fn of(run: &AssistantRun, code: i32) -> Option<Self> {
        if run.facts.used_up_budget {
            return Some(Self { reason: "the spending limit is used up".to_owned(), is_permanent: true });
        }
        if let Some(known) = run.known_failure(code) {
            return Some(Self { reason: known.message, is_permanent: true });
        }
        let reason = match &run.facts.result {
            _ if matches!(run.end, End::TimedOut) => "it exceeded its time limit".to_owned(),
            Some(result) if result.is_error => format!("the assistant reports an error: {}", result.text),
            _ if code != 0 => format!("exit code {code}"),
            _ => return None,
        };
        Some(Self { reason: redact::message(&reason), is_permanent: false })
    }
}

/// Runs a command of the review plugin. `None` when the driver is stopping.
async fn run_command(driver: &mut Driver, prompt: &str) -> Option<CommandEnd> {
    let task = AssistantTask { kind: TaskKind::Review, session: None, prompt: prompt.to_owned() };
    let run = match driver.assistant(task).await {
        Ok(run) => run,
        Err(error) => {
            let reason = format!("the assistant could not be run: {error}");
            let problem = Some(Problem { reason, is_permanent: true });
            return Some(CommandEnd { code: UNKNOWN_EXIT, problem });
        }
    };
    let code = match run.end {
        End::Exited(code) => code,
        End::TimedOut => UNKNOWN_EXIT,
        End::Stopped => return None,
    };
    Some(CommandEnd { code, problem: Problem::of(&run, code) })
}

fn log(driver: &Driver, status: &str) {
    driver.journal.outcome(
        driver.state.iteration,
        status,
        JournalActivity::CodeReview,
        driver.last_session.as_deref(),
    );
}

/// Lists the session directories with their modification times.
fn sessions(project_root: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let directory = project_root.join(STATE_DIR).join("code-review");
    let sessions = untrusted::entries(&directory).into_iter();
    sessions
        .filter(|entry| entry.name.to_string_lossy().starts_with("cr-") && entry.kind == EntryKind::Directory)
        .map(|entry| directory.join(entry.name))
        .filter_map(|path| {
            let modified = path.symlink_metadata().ok()?.modified().ok()?;
            Some((path, modified))
        })
        .collect()
}

/// Returns the newest session directory that is new or changed. Compared with the earlier listing and not
/// with the clock, because file times may lag behind the clock by milliseconds.
fn newest_session(project_root: &Path, before: &BTreeMap<PathBuf, SystemTime>) -> Option<PathBuf> {
    let changed = sessions(project_root).into_iter();
    let changed = changed.filter(|(path, modified)| before.get(path) != Some(modified));
    changed.max_by_key(|(_, modified)| *modified).map(|(path, _)| path)
}

fn verdict(session: &Path) -> Option<String> {
    let verdict: Value = untrusted::read_json(&session.join("verdict.json"))?;
    let name = verdict.get("verdict")?.as_str()?;
    ["approve", "needs_attention", "decline"].contains(&name).then(|| name.to_owned())
}

//! Reviews of what the loop has changed, and fixes for what they find.
//!
//! A review that did not leave a verdict is reported as not completed; only a verdict that says
//! `approve` is an approval. Nothing here changes the outcome of the loop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_api::names::STATE_DIR;
use loopgate_home::{EntryKind, untrusted};
use serde_json::Value;

use super::child::End;
use super::driver::{AssistantTask, Driver, TaskKind};
use super::journal::JournalActivity;
use crate::clock::Span;
use crate::project_git::ProjectGit;
use crate::quoting::quote;

/// Fixes in a row that may fail.
const FAILED_FIXES: u32 = 2;

/// Reviews and fixes up to the cycle limit.
pub async fn run(driver: &mut Driver) {
    if let Some(reason) = reason_to_skip(driver).await {
        driver.journal.progress(&format!("Post-loop review skipped: {reason}"));
        return;
    }
    let mut failed_fixes = 0;
    for cycle in 1..=driver.context.review_cycles {
        let Some(session) = review(driver, cycle).await else { return };
        if fix(driver, cycle, &session).await {
            failed_fixes = 0;
        } else {
            failed_fixes += 1;
        }
        if driver.stop.is_cancelled() {
            return;
        }
        if failed_fixes == FAILED_FIXES {
            driver.journal.progress("Post-loop review stopped: two fixes in a row have failed");
            return;
        }
    }
    driver.journal.progress("Post-loop review: the cycle limit is reached, findings may be left");
}

async fn reason_to_skip(driver: &Driver) -> Option<&'static str> {
    let sha = driver.state.start_sha.as_str();
    if sha.is_empty() {
        return Some("the commit at the start is not known");
    }
    let git = ProjectGit::at(&driver.context.project_root, &driver.context.env, &driver.stop);
    if git.changed_since(sha).await.is_none_or(|files| files.is_empty()) {
        return Some("nothing has changed");
    }
    if driver.context.review_cycles == 0 {
        return Some("no review cycles are asked for");
    }
    if !driver.context.can_review {
        return Some("the plugin code-review is not there; the changes are not reviewed");
    }
    None
}

/// Runs a review. `Some` is the session that needs a fix.
async fn review(driver: &mut Driver, cycle: u32) -> Option<PathBuf> {
    driver.journal.progress(&format!("Post-loop review, cycle {cycle}"));
    let before = sessions(&driver.context.project_root);
    let span = Span::start();
    let prompt = format!("/code-review:start --base {}", driver.state.start_sha);
    let code = run_command(driver, &prompt).await?;
    let found = newest_session(&driver.context.project_root, &before);
    let verdict = found.as_deref().and_then(verdict);
    let name = if code == 0 { verdict.as_deref().unwrap_or("incomplete") } else { "error" };
    driver.perf.review(name, cycle, &span, code);
    log(driver, &format!("review_{name}"));
    match (code, name) {
        (0, "approve") => driver.journal.progress("Post-loop review: approved"),
        (0, "incomplete") => {
            driver.journal.progress("Post-loop review did not complete: there is no verdict")
        }
        (0, verdict) => {
            driver.journal.progress(&format!("Post-loop review: {verdict}"));
            return found;
        }
        (code, _) => driver.journal.progress(&format!("Post-loop review failed with exit code {code}")),
    }
    None
}

/// Runs a fix; whether it succeeded.
async fn fix(driver: &mut Driver, cycle: u32, session: &Path) -> bool {
    let span = Span::start();
    let prompt = format!("/code-review:fix {}", quote(&session.to_string_lossy()));
    let Some(code) = run_command(driver, &prompt).await else { return false };
    driver.perf.fix(cycle, &span, code);
    log(driver, if code == 0 { "fix_completed" } else { "fix_error" });
    code == 0
}

/// Exit code of the assistant, `None` when the driver is asked to stop.
async fn run_command(driver: &mut Driver, prompt: &str) -> Option<i32> {
    let task = AssistantTask { kind: TaskKind::Review, session: None, prompt: prompt.to_owned() };
    match driver.assistant(task).await {
        Ok(run) => match run.end {
            End::Exited(code) => Some(code),
            End::TimedOut => Some(super::child::UNKNOWN_EXIT),
            End::Stopped => None,
        },
        Err(error) => {
            driver.journal.progress(&format!("The assistant could not be run: {error}"));
            Some(super::child::UNKNOWN_EXIT)
        }
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

/// The session directories, and when each was last changed.
fn sessions(project_root: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let place = project_root.join(STATE_DIR).join("code-review");
    let sessions = untrusted::entries(&place).into_iter();
    sessions
        .filter(|entry| entry.name.to_string_lossy().starts_with("cr-") && entry.kind == EntryKind::Directory)
        .map(|entry| place.join(entry.name))
        .filter_map(|path| {
            let modified = path.symlink_metadata().ok()?.modified().ok()?;
            Some((path, modified))
        })
        .collect()
}

/// The newest session directory among those that have come or changed since. Held against what was
/// there, not against the clock: the times of files may lag behind it by milliseconds.
fn newest_session(project_root: &Path, before: &BTreeMap<PathBuf, SystemTime>) -> Option<PathBuf> {
    let touched = sessions(project_root).into_iter();
    let touched = touched.filter(|(path, modified)| before.get(path) != Some(modified));
    touched.max_by_key(|(_, modified)| *modified).map(|(path, _)| path)
}

fn verdict(session: &Path) -> Option<String> {
    let verdict: Value = untrusted::read_json(&session.join("verdict.json"))?;
    let name = verdict.get("verdict")?.as_str()?;
    ["approve", "needs_attention", "decline"].contains(&name).then(|| name.to_owned())
}

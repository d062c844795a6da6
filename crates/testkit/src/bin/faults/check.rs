//! Invariants that hold at the end of a run, whichever fault was injected.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use serde_json::Value;

use crate::fault::{ExpectedLoopEnd, Fault, Misbehavior, Scenario};
use crate::fixture::{API_KEY, FaultFixture, RUNNER_TOKEN};
use crate::report::{FaultReport, LaunchResult};
use crate::script::{IMPLEMENT, REPOSITORIES, WORK, WRITTEN};

/// Larger files are not searched for secrets: only artificial ones, such as the disk filler, get this large.
const MAX_SCANNED_BYTES: u64 = 32 * 1024 * 1024;

pub async fn check(scenario: &Scenario, fixture: &FaultFixture, report: &FaultReport) -> Result<()> {
    has_one_terminal_event(fixture, report).await?;
    has_expected_end(scenario, fixture, report)?;
    for name in REPOSITORIES {
        is_delivered_once(scenario, fixture, name)?;
        work_is_preserved(scenario, fixture, report, name).with_context(|| format!("in {name}"))?;
    }
    has_one_token_per_key(fixture)?;
    let tokens = fixture.cloud.tokens(fixture.loop_id());
    let mut secrets = vec![API_KEY, RUNNER_TOKEN, fixture.loopgate.gateway_token()];
    secrets.extend(tokens.iter().map(String::as_str));
    let token_file = fixture.loopgate.setup().token_file();
    has_no_secrets(fixture.testbed.home.path(), &token_file, &secrets)?;
    // A panicking task does not end the process, so the log is the only trace.
    let panic = fixture.loopgate.output().lines().find(|line| line.contains("panicked")).map(str::to_owned);
    ensure!(panic.is_none(), "a task of Loopgate panicked: {panic:?}");
    ensure!(fixture.others().is_empty(), "still running: {:?}", fixture.others());
    Ok(())
}

/// Checks that exactly one terminal event was sent, and the desktop's record has a terminal status.
async fn has_one_terminal_event(fixture: &FaultFixture, report: &FaultReport) -> Result<()> {
    let id = fixture.loop_id();
    let count = |kind: &str| fixture.cloud.events(id, kind).len();
    let (started, ends) = (count("started"), count("completed") + count("error"));
    let rejected = matches!(report.answer, LaunchResult::Rejected(..));
    ensure!(started <= 1, "{started} `started` events");
    // A rejected launch request has no loop, and therefore may lack both events and record.
    ensure!(ends == 1 || (rejected && ends == 0), "{ends} terminal events");
    let record = fixture.record().await?;
    if let Some(record) = &record {
        ensure!(!matches!(record.status.as_str(), "Running" | "Starting" | "Queued"), "{record:?}");
    }
    ensure!(record.is_some() || rejected, "the loop has no record");
    Ok(())
}

/// Checks that the loop ended as determined by the fault.
fn has_expected_end(scenario: &Scenario, fixture: &FaultFixture, report: &FaultReport) -> Result<()> {
    // A fault before the assistant's first request also affects the launch, so no particular end is expected.
    let has_worked = !fixture.testbed.model.requests().is_empty();
    if scenario.fault.expected() == ExpectedLoopEnd::Any || !has_worked {
        return Ok(());
    }
    let last = report.last.as_ref().context("no terminal event")?;
    match scenario.fault.expected() {
        ExpectedLoopEnd::Any => {}
        ExpectedLoopEnd::Completed => {
            ensure!(
                last["type"] == "completed" && last["warnings"].is_null(),
                "the loop must complete: {last}"
            );
            let uploads = fixture.cloud.accepted(fixture.loop_id(), "upload-artifacts").len();
            ensure!(uploads > 0, "no artifact was uploaded");
        }
        ExpectedLoopEnd::Error(code, text) => {
            let message = last["message"].as_str().unwrap_or_default();
            ensure!(last["code"] == code && message.contains(text), "the loop must fail with {code}: {last}");
            for name in REPOSITORIES {
                ensure!(!is_pushed(fixture, name)?, "{name} was delivered");
            }
        }
    }
    Ok(())
}

/// Checks that repeated refreshes with one idempotency key returned one token.
fn has_one_token_per_key(fixture: &FaultFixture) -> Result<()> {
    let refreshes = fixture.cloud.accepted(fixture.loop_id(), "refresh-token");
    let keys: std::collections::HashSet<&str> =
        refreshes.iter().map(|received| received.nonce.as_str()).collect();
    let tokens = fixture.cloud.tokens(fixture.loop_id()).len().saturating_sub(1);
    let revivals = fixture.cloud.accepted(fixture.loop_id(), "heartbeat");
    let revivals = revivals.iter().filter(|received| received.token == API_KEY).count();
    ensure!(tokens <= keys.len() + revivals, "{tokens} tokens for {} keys: {refreshes:?}", keys.len());
    Ok(())
}

/// Checks that at most one branch with one commit was pushed, in addition to the assistant's own commit, and
/// at most one pull request opened.
fn is_delivered_once(scenario: &Scenario, fixture: &FaultFixture, name: &str) -> Result<()> {
    let bare = fixture.testbed.remotes.bare(name);
    let branches = git(&bare, &["for-each-ref", "--format=%(refname)", "refs/heads/orchestrator"])?;
    ensure!(branches.lines().count() <= 1, "{name}: {branches}");
    let commits = git(&bare, &["rev-list", "--count", "--branches=orchestrator/*", "--not", "main"])?;
    let is_committed = scenario.fault == Fault::Assistant(Misbehavior::DetachedCommit);
    let max_commits = if is_committed { 2 } else { 1 };
    ensure!(commits.trim().parse::<usize>()? <= max_commits, "{name}: {commits} commits");
    let pulls = fixture.testbed.host.pull_requests(name);
    ensure!(pulls.len() <= 1, "{name}: {pulls:?}");
    Ok(())
}

/// Checks that the assistant's work is on the pushed branch, or still in a worktree and reported as not
/// delivered.
fn work_is_preserved(
    scenario: &Scenario,
    fixture: &FaultFixture,
    report: &FaultReport,
    name: &str,
) -> Result<()> {
    if !scenario.executes {
        return Ok(());
    }
    let results = report.last.as_ref().and_then(|last| last["results"].as_array());
    let entry = results.and_then(|entries| entries.iter().find(|entry| entry["fullName"] == name));
    let status = entry.and_then(|entry| entry["status"].as_str()).unwrap_or("nothing");
    let pushed = is_pushed(fixture, name)?;
    if status == "success" {
        ensure!(pushed, "reported as delivered, but the branch does not contain it");
        let pulls = fixture.testbed.host.pull_requests(name).len();
        ensure!(pulls == 1, "reported as delivered without a pull request");
    }
    let position = REPOSITORIES.iter().position(|repository| *repository == name).unwrap_or_default();
    let is_deleted = position == 0 && scenario.fault == Fault::Assistant(Misbehavior::DeletedWorktree);
    // An assistant whose tool call failed for lack of memory continues with the next step, so the output of
    // the call proves that the file was written.
    let is_written = fixture.has_result(IMPLEMENT, WRITTEN[position]) && !is_deleted;
    if is_written && !pushed {
        ensure!(is_in_a_worktree(fixture, name), "the assistant's work is lost");
        ensure!(status != "skipped", "reported as nothing to deliver");
    }
    let must_deliver = scenario.fault.expected() == ExpectedLoopEnd::Completed && is_written;
    ensure!(
        !must_deliver || status == "success",
        "not delivered: {}",
        report.last.as_ref().unwrap_or(&Value::Null)
    );
    Ok(())
}

fn is_pushed(fixture: &FaultFixture, name: &str) -> Result<bool> {
    let bare = fixture.testbed.remotes.bare(name);
    let log = git(&bare, &["log", "--format=%H", "--branches=orchestrator/*", "--", WORK])?;
    Ok(!log.trim().is_empty())
}

fn is_in_a_worktree(fixture: &FaultFixture, name: &str) -> bool {
    let prefix = format!("{}-loop-", name.rsplit('/').next().unwrap_or_default());
    let entries = std::fs::read_dir(fixture.testbed.sandbox()).into_iter().flatten().flatten();
    let worktrees = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    worktrees.map(|entry| entry.path()).any(|path| path.join(WORK).is_file())
}

/// Checks that no file contains a secret in plain text, except the token file.
fn has_no_secrets(directory: &Path, token_file: &Path, secrets: &[&str]) -> Result<()> {
    let mut pending: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        // Processes may still remove temporary files.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_dir() {
            pending
                .extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if metadata.is_file() && metadata.len() <= MAX_SCANNED_BYTES && path != token_file {
            let bytes = std::fs::read(&path).unwrap_or_default();
            for secret in secrets {
                let has_secret = memchr::memmem::find(&bytes, secret.as_bytes()).is_some();
                ensure!(!has_secret, "{} contains a secret", path.display());
            }
        }
    }
    Ok(())
}

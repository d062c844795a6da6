//! What must hold when a run is over, whatever went wrong in it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use serde_json::Value;

use crate::fault::{ExpectedLoopEnd, Fault, Misbehavior, Scenario};
use crate::fixture::{API_KEY, FaultFixture, RUNNER_TOKEN};
use crate::report::{FaultReport, LaunchResult};
use crate::script::{IMPLEMENT, REPOSITORIES, WORK, WRITTEN};

/// Larger files are not searched for secrets.
const MAX_SEARCHED: u64 = 32 * 1024 * 1024;

/// Checks everything.
pub async fn check(scenario: &Scenario, fixture: &FaultFixture, report: &FaultReport) -> Result<()> {
    ended_once(fixture, report).await?;
    ended_as_expected(scenario, fixture, report)?;
    for name in REPOSITORIES {
        delivered_once(scenario, fixture, name)?;
        nothing_is_lost(scenario, fixture, report, name).with_context(|| format!("in {name}"))?;
    }
    refreshed_once_a_key(fixture)?;
    let tokens = fixture.cloud.tokens(fixture.loop_id());
    let mut secrets = vec![API_KEY, RUNNER_TOKEN, fixture.loopgate.gateway_token()];
    secrets.extend(tokens.iter().map(String::as_str));
    let own = fixture.loopgate.setup().token_file();
    no_secret_below(fixture.testbed.home.path(), &own, &secrets)?;
    let panic = fixture.loopgate.output().lines().find(|line| line.contains("panicked")).map(str::to_owned);
    ensure!(panic.is_none(), "a part of Loopgate panicked: {panic:?}");
    ensure!(fixture.others().is_empty(), "still running: {:?}", fixture.others());
    Ok(())
}

/// One last event, and the desktop's record agrees.
async fn ended_once(fixture: &FaultFixture, report: &FaultReport) -> Result<()> {
    let id = fixture.loop_id();
    let count = |kind: &str| fixture.cloud.events(id, kind).len();
    let (started, ends) = (count("started"), count("completed") + count("error"));
    let refused = matches!(report.answer, LaunchResult::Refused(..));
    ensure!(started <= 1, "{started} `started` events");
    ensure!(ends == 1 || (refused && ends == 0), "{ends} last events");
    let record = fixture.record().await?;
    if let Some(record) = &record {
        ensure!(!matches!(record.status.as_str(), "Running" | "Starting" | "Queued"), "{record:?}");
    }
    ensure!(record.is_some() || refused, "there is no record");
    Ok(())
}

/// The end that the fault determines.
fn ended_as_expected(scenario: &Scenario, fixture: &FaultFixture, report: &FaultReport) -> Result<()> {
    let has_worked = !fixture.testbed.model.requests().is_empty();
    if scenario.fault.expected() == ExpectedLoopEnd::Any || !has_worked {
        return Ok(());
    }
    let last = report.last.as_ref().context("no last event")?;
    match scenario.fault.expected() {
        ExpectedLoopEnd::Any => {}
        ExpectedLoopEnd::Completed => {
            ensure!(last["type"] == "completed" && last["warnings"].is_null(), "it had to complete: {last}");
            let uploads = fixture.cloud.accepted(fixture.loop_id(), "upload-artifacts").len();
            ensure!(uploads > 0, "nothing was uploaded");
        }
        ExpectedLoopEnd::Error(code, text) => {
            let message = last["message"].as_str().unwrap_or_default();
            ensure!(last["code"] == code && message.contains(text), "it had to end with {code}: {last}");
            for name in REPOSITORIES {
                ensure!(!is_pushed(fixture, name)?, "{name} was delivered");
            }
        }
    }
    Ok(())
}

/// The same key got the same token.
fn refreshed_once_a_key(fixture: &FaultFixture) -> Result<()> {
    let refreshes = fixture.cloud.accepted(fixture.loop_id(), "refresh-token");
    let keys: std::collections::HashSet<&str> =
        refreshes.iter().map(|received| received.nonce.as_str()).collect();
    let tokens = fixture.cloud.tokens(fixture.loop_id()).len().saturating_sub(1);
    let revivals = fixture.cloud.accepted(fixture.loop_id(), "heartbeat");
    let revivals = revivals.iter().filter(|received| received.token == API_KEY).count();
    ensure!(tokens <= keys.len() + revivals, "{tokens} tokens for {} keys: {refreshes:?}", keys.len());
    Ok(())
}

/// One branch with one commit besides the assistant's own, one pull request; or none of them.
fn delivered_once(scenario: &Scenario, fixture: &FaultFixture, name: &str) -> Result<()> {
    let bare = fixture.testbed.remotes.bare(name);
    let branches = git(&bare, &["for-each-ref", "--format=%(refname)", "refs/heads/orchestrator"])?;
    ensure!(branches.lines().count() <= 1, "{name}: {branches}");
    let commits = git(&bare, &["rev-list", "--count", "--branches=orchestrator/*", "--not", "main"])?;
    let is_committed = scenario.fault == Fault::Assistant(Misbehavior::DetachedCommit);
    let most = if is_committed { 2 } else { 1 };
    ensure!(commits.trim().parse::<usize>()? <= most, "{name}: {commits} commits");
    let pulls = fixture.testbed.host.pull_requests(name);
    ensure!(pulls.len() <= 1, "{name}: {pulls:?}");
    Ok(())
}

/// What the assistant wrote is on the branch, or still in a worktree and reported as not delivered.
fn nothing_is_lost(
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
        ensure!(pushed, "reported as delivered, but it is not on the branch");
        let pulls = fixture.testbed.host.pull_requests(name).len();
        ensure!(pulls == 1, "reported as delivered without a pull request");
    }
    let position = REPOSITORIES.iter().position(|known| *known == name).unwrap_or_default();
    let is_deleted = position == 0 && scenario.fault == Fault::Assistant(Misbehavior::DeletedWorktree);
    // An assistant that had no memory for its step asks for the next one all the same.
    let written = fixture.has_result(IMPLEMENT, WRITTEN[position]) && !is_deleted;
    if written && !pushed {
        ensure!(is_in_a_worktree(fixture, name), "what the assistant wrote is nowhere");
        ensure!(status != "skipped", "reported as nothing to deliver");
    }
    let must = scenario.fault.expected() == ExpectedLoopEnd::Completed && written;
    ensure!(!must || status == "success", "not delivered: {}", report.last.as_ref().unwrap_or(&Value::Null));
    Ok(())
}

fn is_pushed(fixture: &FaultFixture, name: &str) -> Result<bool> {
    let bare = fixture.testbed.remotes.bare(name);
    let log = git(&bare, &["log", "--format=%H", "--branches=orchestrator/*", "--", WORK])?;
    Ok(!log.trim().is_empty())
}

fn is_in_a_worktree(fixture: &FaultFixture, name: &str) -> bool {
    let of = format!("{}-loop-", name.rsplit('/').next().unwrap_or_default());
    let entries = std::fs::read_dir(fixture.testbed.sandbox()).into_iter().flatten().flatten();
    let worktrees = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&of));
    worktrees.map(|entry| entry.path()).any(|path| path.join(WORK).is_file())
}

/// Secrets are in memory, sealed, or in the one file that is theirs.
fn no_secret_below(directory: &Path, own: &Path, secrets: &[&str]) -> Result<()> {
    let mut left: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_dir() {
            left.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if metadata.is_file() && metadata.len() <= MAX_SEARCHED && path != own {
            let bytes = std::fs::read(&path).unwrap_or_default();
            for secret in secrets {
                let found = memchr::memmem::find(&bytes, secret.as_bytes()).is_some();
                ensure!(!found, "{} holds a secret", path.display());
            }
        }
    }
    Ok(())
}

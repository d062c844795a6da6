//! Baseline and validation: the project's own tests, before the loop changes anything and after its work.

use std::path::{Path, PathBuf};

use loopgate_api::test_evidence::TestOutcome;
use loopgate_evidence::{CompletedRun, compare};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rounds;
use super::test_run::{self, TestJob};
use crate::cache::{CacheArgs, CachedStep};
use crate::clock::now;
use crate::loop_run::FAILED_CHECK;
use crate::project_git::BlockingGit;
use crate::repositories::loop_repositories;
use crate::variables as var;

/// File of the baseline, in the work directory.
const BASELINE: &str = "validation-baseline.json";
/// Failed validations after which the loop asks its user.
const MAX_ROUNDS: u32 = 20;

/// Run of a repository's tests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestCheck {
    repository: PathBuf,
    command: String,
    #[serde(flatten)]
    completed: CompletedRun,
}

/// Runs the tests of each repository before the loop changes anything, and records the results.
///
/// # Errors
/// Returns the line to print.
pub fn baseline(workdir: &Path) -> Result<String, String> {
    let path = workdir.join(BASELINE);
    // The files have changed since, so a second baseline would hide what the loop broke.
    if untrusted::read_json::<Vec<TestCheck>>(&path).is_some() {
        return Ok("BASELINE_RECORDED: by an earlier iteration".to_owned());
    }
    let checks = run_all(workdir, "baseline")?;
    let text = serde_json::to_vec_pretty(&checks).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&path, &text).map_err(|error| format!("Error: cannot write the baseline: {error}"))?;
    if checks.is_empty() {
        return Ok("NO_VALIDATION: no test command was detected".to_owned());
    }
    let line = |check: &TestCheck| {
        let result = if check.completed.run.passed() { "passed" } else { "failed" };
        format!("{}: {result}", check.command)
    };
    Ok(format!("BASELINE_RECORDED\n{}", checks.iter().map(line).collect::<Vec<_>>().join("\n")))
}

/// Runs the tests of each repository and compares them with the baseline. The first line is the result.
///
/// # Errors
/// Returns the line to print.
pub fn validate(workdir: &Path) -> Result<String, String> {
    let cache = CacheArgs::new(CachedStep::Build, workdir);
    if cache.is_hit() {
        return Ok("VALIDATION_PASSED: nothing has changed since the last validation".to_owned());
    }
    let checks = run_all(workdir, "validation")?;
    if checks.is_empty() {
        return Ok("NO_VALIDATION: no test command was detected".to_owned());
    }
    let baseline: Vec<TestCheck> = untrusted::read_json(&workdir.join(BASELINE)).unwrap_or_default();
    let mut lines = Vec::new();
    let mut failed = false;
    for check in &checks {
        let before =
            baseline.iter().find(|old| old.repository == check.repository && old.command == check.command);
        let before = before.map_or_else(|| not_run(&check.completed), |old| old.completed.clone());
        let comparison = compare(&check.command, &before, &check.completed);
        match comparison.outcome {
            TestOutcome::Passed => lines.push(format!("{}: passed", check.command)),
            TestOutcome::FailedBefore => lines.push(format!("{}: failed before", check.command)),
            _ => {
                failed = true;
                lines.push(format!("{}: failed", check.command));
                lines.extend(comparison.new_failures.iter().map(|name| format!("- {name}")));
                lines.push(format!("log: {}", workdir.join(&check.completed.run.log).display()));
                lines.push(test_run::last_lines(workdir, &check.completed));
            }
        }
    }
    record_result(workdir, failed);
    if failed && var::text(var::LEARNINGS_REPO).is_some() {
        // The next run replaces the logs. Best-effort: without the report, nothing is learned from the repair.
        let _ = untrusted::write(&workdir.join(FAILED_CHECK), lines.join("\n").as_bytes());
    }
    if failed {
        lines.push(rounds::next(workdir, "validation", MAX_ROUNDS)?);
        return Ok(format!("VALIDATION_FAILED\n{}", lines.join("\n")));
    }
    cache.stamp()?;
    Ok(format!("VALIDATION_PASSED\n{}", lines.join("\n")))
}

fn run_all(workdir: &Path, name: &str) -> Result<Vec<TestCheck>, String> {
    let (git, stop) = (BlockingGit::new()?, test_run::stop()?);
    let mut checks = Vec::new();
    for repository in loop_repositories(workdir)? {
        let Some(command) = test_run::command_of(&git, &repository.path) else { continue };
        let log = match &repository.name {
            Some(peer) => format!("{name}-{peer}"),
            None => name.to_owned(),
        };
        let tree = git.snapshot(&repository.path).unwrap_or_default();
        let job = TestJob { workdir, dir: &repository.path, command: &command, tree, log, stop: &stop };
        let completed = job.run(&[])?;
        checks.push(TestCheck { repository: repository.path.clone(), command, completed });
    }
    Ok(checks)
}

/// Returns a passed run in place of a missing baseline: what fails now counts as new.
fn not_run(now: &CompletedRun) -> CompletedRun {
    let mut run = now.run.clone();
    (run.exit_code, run.error) = (Some(0), None);
    CompletedRun { run, report: None }
}

/// Records the result for the learnings of the loop. Best-effort: they do without it.
fn record_result(workdir: &Path, failed: bool) {
    let result = json!({
        "status": if failed { "failed" } else { "passed" },
        "timestamp": now(),
        "iteration": var::text(var::ITERATION).unwrap_or_default(),
        "run_id": var::text(var::RUN_ID).unwrap_or_default(),
    });
    let path = workdir.join(".learnings/build-result.json");
    let _ = untrusted::write(&path, result.to_string().as_bytes());
}

//! Evidence about the tests of a delivered repository: test runs at the base and at the head, and changes
//! that weaken the tests. The assistant cannot influence it.
//!
//! A step of the delivery between push and pull request. Evidence is stored in the job record before it is
//! published, so that a restarted runtime reuses it. Only test commands that the user trusts are run.

mod memory;
mod test_run;

use std::path::Path;
use std::time::Duration;

use loopgate_api::event::{LoopEvent, warning};
use loopgate_api::execution_result::{ResultEntry, SuccessEntry};
use loopgate_api::ids::slug;
use loopgate_api::redact;
use loopgate_api::test_evidence::{TestEvidence, TestFileDiff, TestFlag, TestOutcome};
use loopgate_evidence::{
    command_flag, compare, diff_flags, flagged_diffs, markdown, replace_section, run_flags, sentence,
    test_command,
};
use loopgate_home::{Directory, TrustStore};
use loopgate_tools::git::GitError;

use self::memory::BaseRuns;
use self::test_run::{Side, TestResult, TestSite};
use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, inspect};
use super::result::{DeliveryContext, DeliveryOutcome, store_result};
use super::retry::{DeliveryError, ensure_not_cancelled, repeat};
use crate::jobs::store::{OutboxMessage, StoreError};
use crate::jobs::{DeliveryPath, DeliveryStatus, Job};

// Upper bounds for the job record: entries per list, and characters of a test name.
const MAX_ENTRIES: usize = 500;
const MAX_NAME: usize = 300;
const MAX_DIFFS: usize = 20;
// Generous for a diff between two local commits; it only matters for huge repositories or slow disks.
const DIFF_TIME: Duration = Duration::from_secs(30);
// Options that make the output independent of the user's git configuration: the parser expects these
// prefixes, and an external diff program must not run.
const DIFF: [&str; 7] = [
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];
const NOT_TRUSTED: &str = "The tests were not run because the test command is not trusted. \
    Run `loopgate trust` in the clone to review and trust it.";
const NO_TESTS: &str = "No tests were run because no test command was detected. \
    Run `loopgate trust --tests 'COMMAND'` in the clone to set one.";

/// Returns the evidence of the checked-out commit, and stores it in the job record. `None` if it cannot be
/// collected.
pub(super) async fn of_pushed_commit(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
) -> Result<Option<TestEvidence>, DeliveryError> {
    if let Some(recorded) = recorded(outcome).await?.remove(&context.full_name) {
        return Ok(Some(recorded));
    }
    // Boxed: the future of a whole test run is large.
    match Box::pin(collect(outcome, job, part, context)).await {
        Err(error @ (DeliveryError::Store(_) | DeliveryError::Cancelled)) => Err(error),
        Err(error) => {
            tracing::warn!(loop_id = %job.id, %error, "failed to collect test evidence");
            Ok(None)
        }
        Ok(evidence) => {
            record(outcome, &context.full_name, &evidence).await?;
            Ok(Some(evidence))
        }
    }
}

/// Adds test evidence to a reused result, to its pull request and to the job record. Failures are logged and
/// leave the delivery unchanged.
pub(super) async fn attach(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    delivered: DeliveryOutcome,
) -> Result<DeliveryOutcome, StoreError> {
    if delivered.status != DeliveryStatus::Success || delivered.path != DeliveryPath::ArtifactExisting {
        return Ok(delivered);
    }
    // Boxed: the future of a whole test run is large.
    match Box::pin(attach_to_entries(outcome, job, part, delivered.clone())).await {
        Ok(delivered) => Ok(store_result(&part.work_dir, delivered).await),
        Err(DeliveryError::Store(error)) => Err(error),
        // The caller reads the cancellation from the job record.
        Err(DeliveryError::Cancelled) => Ok(delivered),
        Err(error) => {
            tracing::warn!(loop_id = %job.id, %error, "failed to add test evidence to the pull request");
            Ok(delivered)
        }
    }
}

async fn attach_to_entries(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    mut delivered: DeliveryOutcome,
) -> Result<DeliveryOutcome, DeliveryError> {
    let entries = delivered.result.iter_mut().flat_map(|result| &mut result.results);
    let changed = entries.filter_map(|entry| match entry {
        ResultEntry::Success(entry) if entry.has_changes => Some(entry),
        _ => None,
    });
    for entry in changed {
        let recorded_evidence = recorded(outcome).await?.remove(&entry.full_name);
        let is_own = part.full_name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(&entry.full_name));
        let evidence = match recorded_evidence {
            Some(evidence) => evidence,
            None if is_own => {
                let evidence = repository_evidence(outcome, job, part).await?;
                record(outcome, &entry.full_name, &evidence).await?;
                evidence
            }
            // A reused result may list peers as well. They get their evidence in their own delivery.
            None => continue,
        };
        entry.tests = Some(Box::new(evidence.clone()));
        if is_own {
            update_pull_request(outcome, part, entry, &evidence).await;
        }
    }
    Ok(delivered)
}

type Recorded = std::collections::BTreeMap<String, TestEvidence>;

/// Returns the recorded evidence by full repository name.
async fn recorded(outcome: &LoopOutcome<'_>) -> Result<Recorded, StoreError> {
    let job = outcome.finalizer.jobs.store.job(outcome.id).await?.ok_or(StoreError::NoJob)?;
    Ok(job.delivery.map(|delivery| delivery.tests).unwrap_or_default())
}

/// Stores evidence and reports it in the loop's output.
async fn record(
    outcome: &LoopOutcome<'_>,
    full_name: &str,
    evidence: &TestEvidence,
) -> Result<(), StoreError> {
    let text = format!("{full_name}: {}", sentence(evidence));
    let event = LoopEvent::note(&text);
    let change = outcome.finalizer.jobs.change(outcome.id, |now| {
        now.job.progress.live_activity = None;
        if let Some(delivery) = &mut now.job.delivery {
            delivery.tests.insert(full_name.to_owned(), evidence.clone());
        }
        now.send(OutboxMessage::event(&event));
        Ok(())
    });
    change.await.map(drop)
}

/// Replaces the evidence section in the body of the pull request. Best-effort: the evidence is also in the
/// result.
async fn update_pull_request(
    outcome: &LoopOutcome<'_>,
    part: &RepositoryWork,
    entry: &SuccessEntry,
    evidence: &TestEvidence,
) {
    let Some(directory) = part.directory.as_deref() else { return };
    let (host, section) = (&outcome.finalizer.code_host, markdown(evidence));
    let edit = async || {
        let body = host.pr_body(directory, entry.pr_number).await?;
        let edited = replace_section(&body, &section);
        if edited != body {
            host.pr_edit_body(directory, entry.pr_number, &edited).await?;
        }
        Ok(())
    };
    if let Err(error) = repeat(outcome, "adding the test evidence to the pull request", edit).await {
        tracing::warn!(loop_id = %outcome.id, %error, "failed to add test evidence to the pull request");
    }
}

/// Collects the evidence of a repository whose location is not known yet.
async fn repository_evidence(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
) -> Result<TestEvidence, DeliveryError> {
    let context = match inspect(outcome, part).await {
        Ok(context) => context,
        Err(refused) => return Ok(inconclusive(&refused.reason.unwrap_or_default())),
    };
    collect(outcome, job, part, &context).await
}

/// Collects the evidence of one repository. Errors of git and the file system make it inconclusive.
async fn collect(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
) -> Result<TestEvidence, DeliveryError> {
    match run(outcome, job, part, context).await {
        Err(DeliveryError::Git(error)) => Ok(inconclusive(&error.to_string())),
        Err(DeliveryError::Io(error)) => Ok(inconclusive(&error.to_string())),
        collected => collected,
    }
}

fn inconclusive(reason: &str) -> TestEvidence {
    let note = format!("The tests could not be run: {}", redact::cause(reason));
    evidence(TestOutcome::Inconclusive, Some(note))
}

/// Runs the trusted tests of a repository at its base and at the checked-out commit.
async fn run(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
) -> Result<TestEvidence, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let clone = git.repository(directory).await?.clone_root().to_owned();
    let store = TrustStore::new(outcome.finalizer.sandbox.data_dir());
    let (repository, tree) = (clone.clone(), directory.to_owned());
    // The detected command comes from the assistant's tree. It only determines which advice is given and is
    // never run without the user's consent.
    let lookup = tokio::task::spawn_blocking(move || match store.entry(&repository) {
        Some(trusted) if trusted.test_command.is_some() => (Some(trusted), false),
        _ => (None, Directory::of(&tree).is_ok_and(|tree| test_command(&tree).is_some())),
    });
    let (trusted, detected) = lookup.await.map_err(std::io::Error::other)?;
    let trusted_command = trusted.and_then(|trusted| Some((trusted.test_command?, trusted.parts)));
    let Some((command, parts)) = trusted_command else {
        let note = if detected { NOT_TRUSTED } else { NO_TESTS };
        return Ok(evidence(TestOutcome::NotRun, Some(note.to_owned())));
    };
    let head = git.head(directory).await?;
    let base = git.merge_base(directory, &context.base_revision, &head).await?;
    // Compare with the merge base, not the tip of the base branch: commits of others must not count as
    // changes.
    let base =
        base.ok_or_else(|| std::io::Error::other("the branch and its base have no common ancestor"))?;
    // Peers write their logs into the same work directory and need distinct names.
    let peer = part.directory.as_deref() != super::outcome::worktree(job);
    let site = TestSite {
        outcome,
        work_dir: job.work_dir(),
        clone: clone.clone(),
        command: command.clone(),
        suffix: if peer { format!("-{}", slug(&context.full_name)) } else { String::new() },
    };
    let runs = BaseRuns::new(outcome.finalizer.sandbox.data_dir());
    let key = BaseRuns::key(&clone, &base, &command, &parts);
    let before = match runs.load(&key, &site.log(Side::Base)).await {
        Some(cached) => cached,
        None => {
            let run = site.run(Side::Base, &base).await?;
            runs.save(&key, &run, &site.log(Side::Base)).await;
            run
        }
    };
    let after = site.run(Side::Head, &head).await?;
    ensure_not_cancelled(outcome).await?;
    let changes = changes(outcome, directory, [&base, &head], &command, [&before, &after]).await;
    Ok(assemble(command, before, after, changes))
}

fn evidence(outcome: TestOutcome, note: Option<String>) -> TestEvidence {
    TestEvidence {
        outcome,
        command: None,
        base: None,
        head: None,
        new_failures: Vec::new(),
        flags: Vec::new(),
        diffs: Vec::new(),
        note,
    }
}

/// Combines both runs into redacted evidence of bounded size.
fn assemble(
    command: String,
    before: TestResult,
    after: TestResult,
    changes: Result<TestChanges, GitError>,
) -> TestEvidence {
    let verdict = compare(&command, &before.completed, &after.completed);
    let truncate = |name: String| name.chars().take(MAX_NAME).collect::<String>();
    let diff_error = changes.as_ref().err().map(|error| {
        format!("Changes to the tests could not be analyzed: {}", redact::cause(&error.to_string()))
    });
    let TestChanges { flags, diffs } = changes.unwrap_or_default();
    let notes: Vec<String> = verdict.note.into_iter().chain(diff_error).collect();
    let evidence = TestEvidence {
        outcome: verdict.outcome,
        command: Some(command),
        base: Some(before.completed.run),
        head: Some(after.completed.run),
        new_failures: verdict.new_failures.into_iter().take(MAX_ENTRIES).map(truncate).collect(),
        flags: flags.into_iter().take(MAX_ENTRIES).collect(),
        diffs: diffs.into_iter().take(MAX_DIFFS).collect(),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
    };
    // Test names and the command may contain credentials, for example in parameterized tests.
    let redacted = serde_json::to_value(&evidence).map(redact::json);
    redacted.and_then(serde_json::from_value).unwrap_or(evidence)
}

/// Changes that weaken the tests.
#[derive(Default)]
struct TestChanges {
    flags: Vec<TestFlag>,
    diffs: Vec<TestFileDiff>,
}

/// Returns the changes between two commits that weaken the tests, for example deleted or skipped tests.
async fn changes(
    outcome: &LoopOutcome<'_>,
    directory: &Path,
    commits: [&str; 2],
    command: &str,
    [before, after]: [&TestResult; 2],
) -> Result<TestChanges, GitError> {
    let args = [DIFF.as_slice(), &commits, &["--"]].concat();
    let diff = outcome.finalizer.git.text(directory, &args, DIFF_TIME).await?;
    let mut flags = diff_flags(&diff);
    flags.extend(command_flag(command, before.detected.as_ref(), after.detected.as_ref()));
    let run_flags = run_flags(&before.completed, &after.completed, &flags);
    flags.extend(run_flags);
    Ok(TestChanges { diffs: flagged_diffs(&diff, &flags), flags })
}

/// Returns the reason why the loop fails because of new test failures, or `None`.
pub(super) fn failure(job: &Job) -> Option<String> {
    let tests = job.delivery.iter().flat_map(|delivery| &delivery.tests);
    let failures = tests.filter(|(_, evidence)| evidence.outcome == TestOutcome::NewFailures);
    let reasons: Vec<String> = failures
        .map(|(name, evidence)| {
            let log = evidence.head.as_ref().map(|head| head.log.as_str()).unwrap_or_default();
            format!("{name}: {} The output is in {log} in the loop's work directory.", sentence(evidence))
        })
        .collect();
    (!reasons.is_empty()).then(|| reasons.join(" "))
}

/// Returns the warning codes that follow from the test evidence.
pub(super) fn warnings(job: &Job) -> Vec<&'static str> {
    let tests = || job.delivery.iter().flat_map(|delivery| delivery.tests.values());
    let base_run_failed =
        |evidence: &TestEvidence| evidence.base.as_ref().is_some_and(|base| base.error.is_some());
    let mut warnings = Vec::new();
    if tests().any(|evidence| evidence.outcome == TestOutcome::FailedBefore) {
        warnings.push(warning::TESTS_FAILED_BEFORE);
    }
    if tests().any(|evidence| evidence.outcome == TestOutcome::Inconclusive || base_run_failed(evidence)) {
        warnings.push(warning::TESTS_INCONCLUSIVE);
    }
    if tests().any(|evidence| !evidence.flags.is_empty()) {
        warnings.push(warning::TESTS_WEAKENED);
    }
    warnings
}

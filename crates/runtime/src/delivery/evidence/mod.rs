//! Evidence for a delivered repository that is no assistant's word: its own tests at the base and at the head, and
//! what was changed in them.
//!
//! A step of the delivery, after the pull request is open: what it found is in the job's record before it is shown,
//! and a later process takes it from there. Runs nothing that the person did not agree to.

mod memory;
mod test_run;

use std::path::Path;
use std::time::Duration;

use loopgate_api::event::LoopEvent;
use loopgate_api::execution_result::{ResultEntry, SuccessEntry};
use loopgate_api::ids::slug;
use loopgate_api::redact;
use loopgate_api::test_evidence::{TestEvidence, TestFlag, TestOutcome};
use loopgate_evidence::{
    command_flag, compare, diff_flags, markdown, replace_section, run_flags, sentence, test_command,
};
use loopgate_home::{Directory, TrustStore};
use loopgate_tools::git::GitError;
use serde_json::json;

use self::memory::BaseRuns;
use self::test_run::{Side, TestResult, TestSite};
use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, inspect};
use super::result::{DeliveryContext, DeliveryOutcome, stored};
use super::retry::{DeliveryError, ensure_not_cancelled, repeat};
use crate::jobs::store::{OutboxMessage, StoreError};
use crate::jobs::{DeliveryStatus, Job};

/// Names and flags that a record keeps, and characters of a name.
const MAX_ENTRIES: usize = 500;
const MAX_NAME: usize = 300;
/// How long the diff may take.
const DIFF_TIME: Duration = Duration::from_secs(30);
/// The diff that is looked at, whatever the person's configuration says of diffs.
const DIFF: [&str; 7] = [
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];
const NOT_AGREED: &str = "The tests were not run, because nobody has agreed to the command that runs them. \
    `loopgate trust` in the clone shows it and asks.";
const NO_TESTS: &str = "No tests were run, because no command was found that runs them. \
    `loopgate trust --tests 'COMMAND'` in the clone sets one.";

/// Adds evidence to the result of a repository that was delivered, to its pull request and to the record.
pub(super) async fn attach(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    delivered: DeliveryOutcome,
) -> Result<DeliveryOutcome, StoreError> {
    if delivered.status != DeliveryStatus::Success {
        return Ok(delivered);
    }
    // On the heap: the future of a whole run is large.
    match Box::pin(attached(outcome, job, part, delivered.clone())).await {
        Ok(delivered) => Ok(stored(&part.work_dir, delivered).await),
        Err(DeliveryError::Store(error)) => Err(error),
        // The caller sees the cancellation in the record.
        Err(DeliveryError::Cancelled) => Ok(delivered),
        Err(error) => {
            tracing::warn!(loop_id = %job.id, %error, "a pull request has no section about the tests");
            Ok(delivered)
        }
    }
}

async fn attached(
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
        let known = recorded(outcome).await?.remove(&entry.full_name);
        let own = part.full_name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(&entry.full_name));
        let evidence = match known {
            Some(known) => known,
            None if own => {
                let evidence = of_repository(outcome, job, part).await?;
                record(outcome, &entry.full_name, &evidence).await?;
                evidence
            }
            None => continue,
        };
        entry.tests = Some(Box::new(evidence.clone()));
        if own {
            show(outcome, part, entry, &evidence).await;
        }
    }
    Ok(delivered)
}

type Recorded = std::collections::BTreeMap<String, TestEvidence>;

/// What the record has, by repository.
async fn recorded(outcome: &LoopOutcome<'_>) -> Result<Recorded, StoreError> {
    let job = outcome.finalizer.jobs.store.job(outcome.id).await?.ok_or(StoreError::NoJob)?;
    Ok(job.delivery.map(|delivery| delivery.tests).unwrap_or_default())
}

/// Stores evidence, and tells of it on the loop's page.
async fn record(
    outcome: &LoopOutcome<'_>,
    full_name: &str,
    evidence: &TestEvidence,
) -> Result<(), StoreError> {
    let text = format!("{full_name}: {}", sentence(evidence));
    let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
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

/// Puts evidence into the pull request. One that cannot be edited has none; the record has it.
async fn show(
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
    if let Err(error) = repeat(outcome, "writing about the tests in the pull request", edit).await {
        tracing::warn!(loop_id = %outcome.id, %error, "a pull request has no section about the tests");
    }
}

/// The evidence of one repository. A failure of git is evidence of nothing, and says so.
async fn of_repository(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
) -> Result<TestEvidence, DeliveryError> {
    let inconclusive = |reason: &str| {
        evidence(
            TestOutcome::Inconclusive,
            Some(format!("The tests could not be run: {}", redact::cause(reason))),
        )
    };
    let context = match inspect(outcome, part).await {
        Ok(context) => context,
        Err(refused) => return Ok(inconclusive(&refused.reason.unwrap_or_default())),
    };
    match collect(outcome, job, part, &context).await {
        Err(DeliveryError::Git(error)) => Ok(inconclusive(&error.to_string())),
        Err(DeliveryError::Io(error)) => Ok(inconclusive(&error.to_string())),
        collected => collected,
    }
}

async fn collect(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
) -> Result<TestEvidence, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let clone = git.repository(directory).await?.clone_root().to_owned();
    let store = TrustStore::new(outcome.finalizer.sandbox.data_dir());
    let (repository, tree) = (clone.clone(), directory.to_owned());
    let looked = tokio::task::spawn_blocking(move || match store.known(&repository) {
        Some(known) if known.test_command.is_some() => (Some(known), false),
        _ => (None, Directory::of(&tree).is_ok_and(|tree| test_command(&tree).is_some())),
    });
    let (trusted, detected) = looked.await.map_err(std::io::Error::other)?;
    let agreed = trusted.and_then(|trusted| Some((trusted.test_command?, trusted.parts)));
    let Some((command, parts)) = agreed else {
        let note = if detected { NOT_AGREED } else { NO_TESTS };
        return Ok(evidence(TestOutcome::NotRun, Some(note.to_owned())));
    };
    let head = git.head(directory).await?;
    let base = git.merge_base(directory, &context.base_revision, &head).await?;
    let base = base.ok_or_else(|| std::io::Error::other("its branch has nothing in common with the base"))?;
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
        Some(remembered) => remembered,
        None => {
            let run = site.run(Side::Base, &base).await?;
            runs.save(&key, &run, &site.log(Side::Base)).await;
            run
        }
    };
    let after = site.run(Side::Head, &head).await?;
    ensure_not_cancelled(outcome).await?;
    let flags = flags(outcome, directory, [&base, &head], &command, [&before, &after]).await;
    Ok(assemble(command, before, after, flags))
}

fn evidence(outcome: TestOutcome, note: Option<String>) -> TestEvidence {
    TestEvidence {
        outcome,
        command: None,
        base: None,
        head: None,
        new_failures: Vec::new(),
        flags: Vec::new(),
        note,
    }
}

/// The whole of it, clean of credentials and of a bounded size.
fn assemble(
    command: String,
    before: TestResult,
    after: TestResult,
    flags: Result<Vec<TestFlag>, GitError>,
) -> TestEvidence {
    let verdict = compare(&command, &before.completed, &after.completed);
    let cut = |name: String| name.chars().take(MAX_NAME).collect::<String>();
    let unread = flags.as_ref().err().map(|error| {
        format!("Changes to the tests could not be looked at: {}", redact::cause(&error.to_string()))
    });
    let notes: Vec<String> = verdict.note.into_iter().chain(unread).collect();
    let evidence = TestEvidence {
        outcome: verdict.outcome,
        command: Some(command),
        base: Some(before.completed.run),
        head: Some(after.completed.run),
        new_failures: verdict.new_failures.into_iter().take(MAX_ENTRIES).map(cut).collect(),
        flags: flags.unwrap_or_default().into_iter().take(MAX_ENTRIES).collect(),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
    };
    let clean = serde_json::to_value(&evidence).map(redact::json);
    clean.and_then(serde_json::from_value).unwrap_or(evidence)
}

/// Changes that make the tests say less, from one commit to the other.
async fn flags(
    outcome: &LoopOutcome<'_>,
    directory: &Path,
    commits: [&str; 2],
    command: &str,
    [before, after]: [&TestResult; 2],
) -> Result<Vec<TestFlag>, GitError> {
    let args = [DIFF.as_slice(), &commits, &["--"]].concat();
    let diff = outcome.finalizer.git.text(directory, &args, DIFF_TIME).await?;
    let mut flags = diff_flags(&diff);
    flags.extend(command_flag(command, before.detected.as_ref(), after.detected.as_ref()));
    let lost = run_flags(&before.completed, &after.completed, &flags);
    flags.extend(lost);
    Ok(flags)
}

/// Why a loop is not done because of its tests, for a person; `None` when it is.
pub(super) fn failure(job: &Job) -> Option<String> {
    let tests = job.delivery.iter().flat_map(|delivery| &delivery.tests);
    let failures = tests.filter(|(_, evidence)| evidence.outcome == TestOutcome::NewFailures);
    let told: Vec<String> = failures
        .map(|(name, evidence)| {
            let log = evidence.head.as_ref().map(|head| head.log.as_str()).unwrap_or_default();
            format!("{name}: {} Its output is in {log} in the loop's work directory.", sentence(evidence))
        })
        .collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// The warnings that the tests of a loop give.
pub(super) fn warnings(job: &Job) -> Vec<&'static str> {
    let tests = || job.delivery.iter().flat_map(|delivery| delivery.tests.values());
    let base_is_unknown =
        |evidence: &TestEvidence| evidence.base.as_ref().is_some_and(|base| base.error.is_some());
    let mut warnings = Vec::new();
    if tests().any(|evidence| evidence.outcome == TestOutcome::FailedBefore) {
        warnings.push("TESTS_FAILED_BEFORE");
    }
    if tests().any(|evidence| evidence.outcome == TestOutcome::Inconclusive || base_is_unknown(evidence)) {
        warnings.push("TESTS_INCONCLUSIVE");
    }
    if tests().any(|evidence| !evidence.flags.is_empty()) {
        warnings.push("TESTS_WEAKENED");
    }
    warnings
}

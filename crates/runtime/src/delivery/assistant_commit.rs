//! Lets the assistant commit, push and open the pull request.
//!
//! The assistant runs as a second process of the loop under its own shim, so that a restarted runtime can
//! attach to it again.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::assistant_stream::StreamSummary;
use loopgate_api::event::LoopEvent;
use loopgate_api::ledger::Ledger;
use loopgate_api::names::{ASSISTANT_STDERR, COMMIT_OUTPUT, WORK_DIR, env};
use loopgate_tools::shim::{self, Exit, ShimHandle, Spec};
use serde_json::json;

use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use super::{failure, pr_text};
use crate::jobs::store::{OutboxMessage, StoreError};
use crate::jobs::{Job, ProcessKind, ProcessRecord};
use crate::process::spawn;

// The tools needed to commit and to write the result file. `Edit` is left out: sources are final at this
// point.
const TOOLS: &str = "Bash,Read,Write,Glob,Grep";
const GRACE: Duration = Duration::from_secs(5);
const SWEEP_GRACE: Duration = Duration::from_secs(3);

/// Exit of the commit process. Callers verify separately that the push happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommitOutcome {
    /// The assistant exited with code 0.
    Done,
    /// The assistant failed or timed out. Contains the reason.
    Failed(String),
    /// The assistant's account was rejected, for example because the sign-in expired or a usage limit was
    /// reached.
    Auth(String),
    /// The user cancelled or stopped the loop.
    Cancelled,
}

/// Returns the process record of the commit in one repository. Each repository has its own exit file.
pub(super) fn process(outcome: &LoopOutcome<'_>, job: &Job, context: &DeliveryContext) -> ProcessRecord {
    ProcessRecord::new(&outcome.finalizer.shims, job.id, ProcessKind::Commit, &context.work_dir)
}

/// Starts the assistant in the repository and waits until it exits or times out.
pub(super) async fn run(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<CommitOutcome, StoreError> {
    let finalizer = outcome.finalizer;
    let process = process(outcome, job, context);
    let spec = spec(outcome, job, context, &process).await;
    let stdout = spec.stdout.clone();
    // The shim appends to this file. Remove the stream of a previous attempt, because it is searched for
    // account errors later. An error is ignored: the file usually does not exist.
    let _ = tokio::task::spawn_blocking(move || loopgate_home::untrusted::remove(&stdout)).await;
    // Write-ahead: the process is recorded before it is spawned. If Loopgate crashes in between, recovery
    // finds the socket path in the record and can attach to the shim.
    let label = repository_label(job, context);
    let text = format!("Committing the changes {label}and opening a pull request");
    let notice = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
    let recorded = process.clone();
    let now = finalizer
        .jobs
        .change(job.id, |now| {
            if !now.job.is_cancelled() {
                now.job.run.process = Some(recorded);
                now.send(OutboxMessage::event(&notice));
            }
            Ok(())
        })
        .await?;
    if now.is_cancelled() {
        return Ok(CommitOutcome::Cancelled);
    }
    let (shim, state) = match finalizer.shims.spawn(&spec).await {
        Ok(started) => started,
        Err(error) => return Ok(CommitOutcome::Failed(error.to_string())),
    };
    let (work_dir, written) = (job.work_dir(), state.clone());
    // Best-effort: the pid files only help other programs; the runtime uses the job record.
    let _ = tokio::task::spawn_blocking(move || spawn::write_pid_files(&work_dir, &written)).await;
    let now = finalizer
        .jobs
        .change(job.id, |now| {
            now.job.run.pid = Some(state.pid);
            now.job.run.pid_started_at = state.started.map(|started| started.0);
            Ok(())
        })
        .await?;
    // A cancellation that arrived between the two changes found no pid to signal, so the process is
    // terminated here.
    if now.is_cancelled() {
        let _ = shim.kill(GRACE).await;
        return Ok(CommitOutcome::Cancelled);
    }
    Ok(wait(outcome, &shim, &context.work_dir).await)
}

/// Attaches to a commit process that a previous runtime process started, and waits until it exits.
pub(super) async fn resume(outcome: &LoopOutcome<'_>, job: &Job, context: &DeliveryContext) -> CommitOutcome {
    let Some(process) = &job.run.process else {
        return CommitOutcome::Failed("no commit process was recorded".into());
    };
    let (socket, exit_file) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
    if let Some(shim) = shim::attach(&socket, &exit_file).await {
        return wait(outcome, &shim, &context.work_dir).await;
    }
    // The shim has exited. It writes the exit file as its last action, so a missing file means that it was
    // killed; its child may still be running.
    let exit = tokio::task::spawn_blocking(move || Exit::read(&exit_file)).await.ok().flatten();
    match exit {
        Some(exit) => commit_outcome(&exit, &context.work_dir).await,
        None => {
            shim::reap(job.id, SWEEP_GRACE).await;
            CommitOutcome::Failed("the commit process was killed before it finished".into())
        }
    }
}

/// Returns the repository's name for messages of loops with peer repositories.
fn repository_label(job: &Job, context: &DeliveryContext) -> String {
    let several = !job.workspace.additional_worktree_dirs.is_empty();
    if several { format!("of {} ", context.full_name) } else { String::new() }
}

async fn wait(outcome: &LoopOutcome<'_>, shim: &ShimHandle, work_dir: &Path) -> CommitOutcome {
    match tokio::time::timeout(outcome.finalizer.timing.commit, shim.wait()).await {
        Ok(Ok(exit)) => commit_outcome(&exit, work_dir).await,
        Ok(Err(error)) => {
            shim::reap(outcome.id, SWEEP_GRACE).await;
            CommitOutcome::Failed(error.to_string())
        }
        Err(_) => {
            // The commit is repeated with git below, so only the termination matters, not its result.
            let _ = shim.kill(GRACE).await;
            CommitOutcome::Failed("the assistant timed out while committing".into())
        }
    }
}

/// Adds the token usage of all commit processes to the loop's usage.
pub(super) async fn with_spend(summary: &StreamSummary, job: &Job) -> StreamSummary {
    let mut summary = summary.clone();
    let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| Path::new(&peer.dir).join(WORK_DIR));
    let streams: Vec<PathBuf> =
        [job.work_dir()].into_iter().chain(peers).map(|dir| dir.join(COMMIT_OUTPUT)).collect();
    let ledger = summary.ledger.clone();
    let read = tokio::task::spawn_blocking(move || sum_ledgers(ledger, &streams)).await;
    summary.ledger = read.unwrap_or(summary.ledger);
    summary
}

fn sum_ledgers(mut ledger: Box<Ledger>, streams: &[PathBuf]) -> Box<Ledger> {
    for stream in streams {
        let Ok(file) = loopgate_home::untrusted::open(stream) else { continue };
        // Bounded: the stream is written by a process that works in an untrusted repository.
        for line in BufReader::new(file.take(failure::MAX_SCAN)).lines().map_while(Result::ok) {
            if let Ok(record) = serde_json::from_str(&line) {
                ledger.feed(&record);
            }
        }
    }
    ledger
}

async fn commit_outcome(exit: &Exit, work_dir: &Path) -> CommitOutcome {
    if exit.success() {
        return CommitOutcome::Done;
    }
    let stream = work_dir.join(COMMIT_OUTPUT);
    // The exit code does not distinguish an expired sign-in from other errors; only the stream does.
    let auth = tokio::task::spawn_blocking(move || failure::auth_challenge_in(&stream)).await.ok().flatten();
    match auth {
        Some(text) => CommitOutcome::Auth(text),
        None => CommitOutcome::Failed(match exit.signal {
            Some(signal) => format!("the assistant was terminated by signal {signal}"),
            None => format!("the assistant exited with code {}", exit.code.unwrap_or(1)),
        }),
    }
}

async fn spec(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    process: &ProcessRecord,
) -> Spec {
    let finalizer = outcome.finalizer;
    let (mut environment, guard) = finalizer.environment.guarded(&[&context.directory]).await;
    environment.insert(env::WORKDIR.into(), context.work_dir.clone().into());
    environment.insert(env::COMMAND.into(), job.command.as_str().into());
    environment.insert(env::LOOP_ID.into(), job.id.to_string().into());
    spawn::add_committer(&mut environment, job.launch.committer.as_ref());
    let prompt = prompt(job, context);
    let options = ["-p", &prompt, "--allowedTools", TOOLS, "--output-format", "stream-json", "--verbose"];
    let args = guard.args.iter().map(String::as_str).chain(options).map(OsString::from).collect();
    Spec {
        program: PathBuf::from(job.run.assistant_path.as_deref().unwrap_or("claude")),
        args,
        cwd: context.directory.clone(),
        env: environment,
        stdin_file: None,
        stdout: context.work_dir.join(COMMIT_OUTPUT),
        stderr: context.work_dir.join(ASSISTANT_STDERR),
        jsonl: None,
        exit_file: PathBuf::from(&process.exit_file),
        socket: PathBuf::from(&process.socket),
        loop_id: job.id,
    }
}

/// Returns the prompt. All external values in it have a restricted character set (a validated branch name, a
/// repository name, a filtered slug), so that they cannot add instructions.
fn prompt(job: &Job, context: &DeliveryContext) -> String {
    let base = &context.base;
    let prefix = match job.launch.artifact_slug.as_deref().map(plain_slug) {
        Some(slug) if !slug.is_empty() => format!("Begin its subject with `{slug}: `. "),
        _ => String::new(),
    };
    let footer = pr_text::footer(job);
    let push = &context.remotes.push;
    // The program chooses the repository by the names of the remotes, and expects the branch in it.
    let (selected, created) = match (&context.remotes.base_repository, context.remotes.head_owner()) {
        (Some(repository), Some(owner)) => {
            let head = format!("\"{owner}:$(git branch --show-current)\" -R {repository}");
            (format!(" {head}"), format!(" --head {head}"))
        }
        _ => Default::default(),
    };
    format!(
        "The implementation in this repository is finished. Deliver it; change no source file any more.

1. Look at `git status` and `git diff` to see what was done.
2. Stage every change except the directories `.claude` and `.loopgate`, and except `execution-result.json` and \
`pr-body.md` in the root. Leave out what looks like a secret, and dependencies and build output.
3. Commit. Follow `.gitmessage` when the repository has one. {prefix}Say what changed and why. Never bypass hooks; \
when a hook fails, repair what it names and commit again.
4. Push with `git push -u {push} HEAD`.
5. Look with `gh pr view{selected}` whether this branch has an open pull request. If it has, bring its title and text \
up to date with `gh pr edit{selected}`. If it has none, create one with `gh pr create{created} --base {base} \
--label orchestrator`; leave the label out when it does not exist. Use `.github/pull_request_template.md` for the text when it is there, write the \
text to `pr-body.md` and pass it with `--body-file`. End the text with these lines:

{footer}

6. Only after commit and push succeeded, write `execution-result.json` in the root of the repository, exactly of \
this form: {{\"prUrl\": \"<page of the pull request>\", \"prNumber\": <its number>, \"branchName\": \"<branch>\", \
\"commitSha\": \"<full hash of HEAD>\"}}

Then stop."
    )
}

/// Drops all characters of a slug that are not allowed in the prompt.
fn plain_slug(slug: &str) -> String {
    slug.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect()
}

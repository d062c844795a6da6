//! The assistant commits, pushes and opens the pull request: a second process of the loop, under a
//! shim of its own, so that it is found again when this program dies.

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

const TOOLS: &str = "Bash,Read,Write,Glob,Grep";
const GRACE: Duration = Duration::from_secs(5);
const SWEEP_GRACE: Duration = Duration::from_secs(3);

/// How the commit went; whether it is really there is looked at afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommitOutcome {
    /// The assistant ended well.
    Done,
    /// It did not, or not in time.
    Failed(String),
    /// Its account could not be used.
    Auth(String),
    /// A person asked for the loop's end.
    Cancelled,
}

/// The process that commits in a repository: each has its own file for how it ended.
pub(super) fn process(outcome: &LoopOutcome<'_>, job: &Job, context: &DeliveryContext) -> ProcessRecord {
    ProcessRecord::new(&outcome.finalizer.shims, job.id, ProcessKind::Commit, &context.work_dir)
}

/// Starts the assistant and waits for its end.
pub(super) async fn run(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<CommitOutcome, StoreError> {
    let finalizer = outcome.finalizer;
    let process = process(outcome, job, context);
    let spec = spec(outcome, job, context, &process).await;
    let stdout = spec.stdout.clone();
    let _ = tokio::task::spawn_blocking(move || loopgate_home::untrusted::remove(&stdout)).await;
    // Recorded before it is started: a later process must know where to look.
    let noted = LoopEvent::new(
        "output",
        &json!({"data": {"chunk": format!("Committing the changes {}and opening a pull request", whose(job, context))}}),
    );
    let recorded = process.clone();
    let now = finalizer
        .jobs
        .change(job.id, |now| {
            if !now.job.is_cancelled() {
                now.job.run.process = Some(recorded);
                now.send(OutboxMessage::event(&noted));
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
    let (traces, written) = (job.work_dir(), state.clone());
    let _ = tokio::task::spawn_blocking(move || spawn::write_pid_files(&traces, &written)).await;
    let now = finalizer
        .jobs
        .change(job.id, |now| {
            now.job.run.pid = Some(state.pid);
            now.job.run.pid_started_at = state.started.map(|started| started.0);
            Ok(())
        })
        .await?;
    if now.is_cancelled() {
        let _ = shim.kill(GRACE).await;
        return Ok(CommitOutcome::Cancelled);
    }
    Ok(wait(outcome, &shim, &context.work_dir).await)
}

/// Finds a commit that an earlier process had started, and waits for its end.
pub(super) async fn resume(outcome: &LoopOutcome<'_>, job: &Job, context: &DeliveryContext) -> CommitOutcome {
    let Some(process) = &job.run.process else {
        return CommitOutcome::Failed("no commit was started".into());
    };
    let (socket, exit_file) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
    if let Some(shim) = shim::attach(&socket, &exit_file).await {
        return wait(outcome, &shim, &context.work_dir).await;
    }
    let exit = tokio::task::spawn_blocking(move || Exit::read(&exit_file)).await.ok().flatten();
    match exit {
        Some(exit) => commit_outcome(&exit, &context.work_dir).await,
        None => {
            shim::reap(job.id, SWEEP_GRACE).await;
            CommitOutcome::Failed("the commit was interrupted".into())
        }
    }
}

/// Names the repository where there are several.
fn whose(job: &Job, context: &DeliveryContext) -> String {
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
            let _ = shim.kill(GRACE).await;
            CommitOutcome::Failed("the assistant took too long to commit".into())
        }
    }
}

/// What was used, the commits included.
pub(super) async fn with_spend(summary: &StreamSummary, job: &Job) -> StreamSummary {
    let mut summary = summary.clone();
    let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| Path::new(&peer.dir).join(WORK_DIR));
    let streams: Vec<PathBuf> =
        [job.work_dir()].into_iter().chain(peers).map(|dir| dir.join(COMMIT_OUTPUT)).collect();
    let ledger = summary.ledger.clone();
    let read = tokio::task::spawn_blocking(move || add_up(ledger, &streams)).await;
    summary.ledger = read.unwrap_or(summary.ledger);
    summary
}

fn add_up(mut ledger: Box<Ledger>, streams: &[PathBuf]) -> Box<Ledger> {
    for stream in streams {
        let Ok(file) = loopgate_home::untrusted::open(stream) else { continue };
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
    let auth = tokio::task::spawn_blocking(move || failure::auth_challenge_in(&stream)).await.ok().flatten();
    match auth {
        Some(text) => CommitOutcome::Auth(text),
        None => CommitOutcome::Failed(match exit.signal {
            Some(signal) => format!("the assistant was ended by signal {signal}"),
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
    let own = ["-p", &prompt, "--allowedTools", TOOLS, "--output-format", "stream-json", "--verbose"];
    let args = guard.args.iter().chain(&own).map(OsString::from).collect();
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

/// What the assistant is asked to do. Everything in it that came from outside is a name of a
/// restricted alphabet.
fn prompt(job: &Job, context: &DeliveryContext) -> String {
    let base = &context.base;
    let prefix = match job.launch.artifact_slug.as_deref().map(plain_slug) {
        Some(slug) if !slug.is_empty() => format!("Begin its subject with `{slug}: `. "),
        _ => String::new(),
    };
    let footer = pr_text::footer(job);
    format!(
        "The implementation in this repository is finished. Deliver it; change no source file any more.

1. Look at `git status` and `git diff` to see what was done.
2. Stage every change except the directories `.claude` and `.loopgate`, and except `execution-result.json` and \
`pr-body.md` in the root. Leave out what looks like a secret, and dependencies and build output.
3. Commit. Follow `.gitmessage` when the repository has one. {prefix}Say what changed and why. Never bypass hooks; \
when a hook fails, repair what it names and commit again.
4. Push with `git push -u origin HEAD`.
5. Look with `gh pr view` whether this branch has an open pull request. If it has, bring its title and text up to \
date with `gh pr edit`. If it has none, create one with `gh pr create --base {base} --label orchestrator`; leave the \
label out when it does not exist. Use `.github/pull_request_template.md` for the text when it is there, write the \
text to `pr-body.md` and pass it with `--body-file`. End the text with these lines:

{footer}

6. Only after commit and push succeeded, write `execution-result.json` in the root of the repository, exactly of \
this form: {{\"prUrl\": \"<page of the pull request>\", \"prNumber\": <its number>, \"branchName\": \"<branch>\", \
\"commitSha\": \"<full hash of HEAD>\"}}

Then stop."
    )
}

/// The characters of a slug that may be in a prompt.
fn plain_slug(slug: &str) -> String {
    slug.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect()
}

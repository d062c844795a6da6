//! Restores the changes of a merged pull request in the worktree, so that they can be reviewed as uncommitted
//! changes.

use std::path::Path;
use std::time::Duration;

use loopgate_api::ids::{BranchName, TicketId};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::{Git, GitError, time};
use loopgate_tools::process::{Limits, Stdin};
use thiserror::Error;

/// Timeout of a request to the code host.
const CODE_HOST_TIME: Duration = Duration::from_secs(30);
/// Upper bound of a diff in bytes. Larger ones are not restored.
const MAX_DIFF: usize = 10 * 1024 * 1024;

/// Reason for which the changes of a merged pull request were not restored.
#[derive(Debug, Error)]
enum MergedError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    CodeHost(#[from] loopgate_tools::code_host::CodeHostError),
    #[error("the code host's program failed: {0}")]
    Failed(String),
    #[error("git cannot apply the changes")]
    NotApplied,
}

/// Returns the pull request number of a ticket whose id is that number, with or without the prefix `pr-`.
pub(crate) fn pull_request_number(ticket: &TicketId) -> Option<u64> {
    ticket.as_str().trim_start_matches("pr-").parse().ok()
}

/// Restores the changes of a merged pull request in its worktree. Returns whether there are uncommitted
/// changes to review.
pub(crate) async fn restore_merged(
    git: &Git,
    code_host: &CodeHost,
    worktree: &Path,
    ticket: &TicketId,
    base: &BranchName,
) -> bool {
    let Some(number) = pull_request_number(ticket) else { return false };
    match restore(git, code_host, worktree, number, base).await {
        Ok(restored) => restored,
        Err(error) => {
            tracing::info!(%error, number, "failed to restore the changes of a merged pull request, reviewing the worktree as is");
            false
        }
    }
}

async fn restore(
    git: &Git,
    code_host: &CodeHost,
    worktree: &Path,
    number: u64,
    base: &BranchName,
) -> Result<bool, MergedError> {
    let head = git.head(worktree).await?;
    let base = git.remotes(worktree).await?.base_ref(base.as_str());
    let merge_base = git.text(worktree, &["merge-base", "HEAD", &base], time::LOCAL).await?;
    // A worktree with its own commits or with uncommitted changes is reviewed as it is.
    if head != merge_base || !git.changes(worktree).await?.is_empty() {
        return Ok(false);
    }
    let number = number.to_string();
    let diff = code_host_output(code_host, worktree, &["pr", "diff", &number]).await?;
    if diff.is_empty() || diff.len() > MAX_DIFF {
        return Ok(false);
    }
    let view_args = ["pr", "view", &number, "--json", "mergeCommit", "--jq", ".mergeCommit.oid // empty"];
    // Apply the diff to the parent of the merge commit: later commits may have changed the same lines.
    let merge_commit = code_host_output(code_host, worktree, &view_args).await?;
    let merge_commit = String::from_utf8_lossy(&merge_commit).trim().to_owned();
    if !merge_commit.is_empty()
        && let Some(parent) = git.commit_of(worktree, &format!("{merge_commit}^1")).await?
    {
        git.change(worktree, &["checkout", "-q", "--detach", &parent, "--"], time::WORKTREE_ADD).await?;
    }
    // The diff is passed on standard input: a file in the worktree could be replaced by a symlink.
    let command = git.command(worktree).await?.session().args(["apply"]).stdin(Stdin::Bytes(diff));
    let applied = command.run_to_completion(Limits::time(CODE_HOST_TIME)).await;
    if !applied.is_ok_and(|output| output.status.success()) {
        // `git apply` is atomic: nothing of the diff was applied, so only the checkout is reverted.
        git.change(worktree, &["checkout", "-q", "--detach", &head, "--"], time::WORKTREE_ADD).await?;
        return Err(MergedError::NotApplied);
    }
    Ok(true)
}

async fn code_host_output(
    code_host: &CodeHost,
    worktree: &Path,
    args: &[&str],
) -> Result<Vec<u8>, MergedError> {
    let output = code_host.output(worktree, args, CODE_HOST_TIME).await?;
    if !output.status.success() {
        return Err(MergedError::Failed(loopgate_api::redact::cause(&output.stderr_text())));
    }
    Ok(output.stdout)
}

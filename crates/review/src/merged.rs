//! A pull request that was merged already: its changes are put back into the worktree, so that they can be
//! reviewed as changes that are not committed.

use std::path::Path;
use std::time::Duration;

use loopgate_api::ids::{BranchName, TicketId};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::{Git, GitError, time};
use loopgate_tools::process::{Limits, Stdin};
use thiserror::Error;

/// How long the code host may take for one answer.
const CODE_HOST_TIME: Duration = Duration::from_secs(30);
/// Bytes of a diff.
const MAX_DIFF: usize = 10 * 1024 * 1024;

/// Why a merged pull request is reviewed like any other.
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

/// The number of the pull request that a ticket stands for.
pub(crate) fn pull_request_number(ticket: &TicketId) -> Option<u64> {
    ticket.as_str().trim_start_matches("pr-").parse().ok()
}

/// Puts the changes of a merged pull request back into its worktree. Returns whether there is anything that a
/// review of uncommitted changes would see.
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
            tracing::info!(%error, number, "a pull request that seems merged is reviewed as it is");
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
    let merge_base = git
        .text(worktree, &["merge-base", "HEAD", &format!("refs/remotes/origin/{base}")], time::LOCAL)
        .await?;
    if head != merge_base || !git.changes(worktree).await?.is_empty() {
        return Ok(false);
    }
    let number = number.to_string();
    let diff = asked(code_host, worktree, &["pr", "diff", &number]).await?;
    if diff.is_empty() || diff.len() > MAX_DIFF {
        return Ok(false);
    }
    let merged_as = ["pr", "view", &number, "--json", "mergeCommit", "--jq", ".mergeCommit.oid // empty"];
    let merged = asked(code_host, worktree, &merged_as).await?;
    let merged = String::from_utf8_lossy(&merged).trim().to_owned();
    if !merged.is_empty()
        && let Some(parent) = git.commit_of(worktree, &format!("{merged}^1")).await?
    {
        git.change(worktree, &["checkout", "-q", "--detach", &parent, "--"], time::WORKTREE_ADD).await?;
    }
    // From standard input: a file in the worktree could be a link that leads away.
    let command = git.command(worktree).await?.session().args(["apply"]).stdin(Stdin::Bytes(diff));
    let applied = command.run_undisturbed(Limits::time(CODE_HOST_TIME)).await;
    if !applied.is_ok_and(|output| output.status.success()) {
        // Back to where it was: nothing of a patch that does not fit was applied.
        git.change(worktree, &["checkout", "-q", "--detach", &head, "--"], time::WORKTREE_ADD).await?;
        return Err(MergedError::NotApplied);
    }
    Ok(true)
}

async fn asked(code_host: &CodeHost, worktree: &Path, args: &[&str]) -> Result<Vec<u8>, MergedError> {
    let output = code_host.output(worktree, args, CODE_HOST_TIME).await?;
    if !output.status.success() {
        return Err(MergedError::Failed(loopgate_api::redact::cause(&output.stderr_text())));
    }
    Ok(output.stdout)
}

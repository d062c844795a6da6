//! Examines the directory at the path of a worktree, and switches worktrees back to the branch of their loop.

use std::path::Path;

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::{BranchName, LoopId, TicketId};
use loopgate_api::names::WORK_DIR;
use loopgate_home::{SandboxedPath, untrusted};
use loopgate_tools::git::{GitError, is_loop_branch};

use super::{WorktreeError, WorktreeRequest, Worktrees};

/// Returns whether a usable worktree of loops of this repository is at the path. A worktree that git cannot
/// use does not count.
///
/// # Errors
/// Fails when a worktree or clone of the user is at the path: it is never taken over.
pub(super) async fn is_worktree_of_loop(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    dir: &SandboxedPath,
) -> Result<bool, WorktreeError> {
    let place = dir.as_path();
    if place.join(".git").symlink_metadata().is_err() {
        return Ok(false);
    }
    let foreign = |on: &str| {
        let text = format!("a worktree that does not belong to a loop is at its path{on}; move it away");
        Err(WorktreeError::Failed(text))
    };
    match branch_of_worktree(worktrees, request.repository.as_path(), place).await {
        Ok(None) => Ok(true),
        Ok(Some(branch)) if is_loop_branch(&branch) => Ok(true),
        Ok(Some(branch)) if is_of_ticket(request, dir, &branch) || !was_of_loop(worktrees, place).await => {
            foreign(&format!(", on branch {branch}"))
        }
        Ok(Some(_)) => Ok(true),
        Err(_) if place.join(".git").is_dir() && !was_of_loop(worktrees, place).await => foreign(""),
        Err(error) => {
            tracing::info!(worktree = %place.display(), %error, "the worktree of a loop is no longer usable");
            Ok(false)
        }
    }
}

/// Returns the branch of a worktree; `None` with a detached HEAD.
///
/// # Errors
/// Fails with [`GitError`], also when the path is not a usable worktree of the repository.
pub(super) async fn branch_of_worktree(
    worktrees: &Worktrees,
    repository: &Path,
    place: &Path,
) -> Result<Option<String>, GitError> {
    let (location, clone) =
        (worktrees.git.repository(place).await?, worktrees.git.repository(repository).await?);
    // The git directory differs from that of the clone only in a linked worktree.
    if !location.is_root()
        || location.common_dir != clone.common_dir
        || location.git_dir == location.common_dir
    {
        return Err(GitError::Unreadable("rev-parse"));
    }
    worktrees.git.current_branch(place).await
}

/// Returns whether a worktree belongs to a ticket. It may have the same directory name as that of a loop, but
/// its branch differs.
fn is_of_ticket(request: &WorktreeRequest<'_>, dir: &SandboxedPath, branch: &str) -> bool {
    let ticket = branch.strip_prefix("feature").and_then(|rest| rest.strip_prefix(['/', '-']));
    let ticket = ticket.map(|ticket| TicketId::new(ticket).safe());
    ticket.is_some_and(|ticket| dir.base_name() == format!("{}-{ticket}", request.repository.base_name()))
}

/// Returns whether a loop has worked at a path, according to its record or its files.
async fn was_of_loop(worktrees: &Worktrees, place: &Path) -> bool {
    let text = place.to_string_lossy();
    let jobs = worktrees.jobs.store.jobs().await.unwrap_or_default();
    let recorded = jobs.iter().any(|job| job.workspace.worktree_dir.as_deref() == Some(&*text));
    let work_dir = place.join(WORK_DIR);
    recorded
        || tokio::task::spawn_blocking(move || untrusted::directory(&work_dir).is_ok()).await.unwrap_or(false)
}

/// Checks that a branch is not checked out elsewhere, after a worktree could not be switched back to it. A
/// new worktree can then use the branch.
///
/// # Errors
/// Fails with the given error when the branch is checked out.
pub(super) async fn check_branch_free(
    worktrees: &Worktrees,
    request: &WorktreeRequest<'_>,
    error: GitError,
) -> Result<(), WorktreeError> {
    let worktrees = worktrees.git.worktrees(request.repository.as_path()).await;
    let branch = Some(request.naming.branch.as_str());
    match worktrees {
        Ok(all) if !all.iter().any(|one| one.branch.as_deref() == branch) => {
            tracing::info!(%error, "cannot return a worktree to its branch; recreating it");
            Ok(())
        }
        _ => Err(WorktreeError::failed(&error)),
    }
}

/// Returns whether a directory was a worktree of loops and may be renamed. Other directories contain files of
/// the user.
pub(super) async fn is_left_by_loop(worktrees: &Worktrees, place: &Path) -> bool {
    place.join(".git").symlink_metadata().is_ok() || was_of_loop(worktrees, place).await
}

/// Returns whether a delivery created this branch because the remote branch had diverged.
fn is_delivered_branch(branch: &BranchName, other: &str) -> bool {
    let id = other.strip_prefix(branch.as_str()).and_then(|rest| rest.strip_prefix('-'));
    id.is_some_and(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Switches a worktree back to its branch, together with the changes in it. Returns a message for the user,
/// or `None` when the worktree was already on its branch or on a branch that a delivery derived from it.
///
/// # Errors
/// Fails with [`GitError`], also when the branch is checked out in another worktree.
pub(crate) async fn return_to_branch(
    worktrees: &Worktrees,
    worktree: &Path,
    branch: &BranchName,
) -> Result<Option<String>, GitError> {
    let previous = worktrees.git.current_branch(worktree).await?;
    if previous
        .as_deref()
        .is_some_and(|previous| previous == branch.as_str() || is_delivered_branch(branch, previous))
    {
        return Ok(None);
    }
    let saved = worktrees.git.return_to_branch(worktree, branch).await?;
    let previous = previous.map_or_else(|| "no branch".to_owned(), |previous| format!("branch {previous}"));
    let mut note = format!("The worktree was on {previous}; it is on {branch} again, with its changes.");
    for name in saved {
        note.push(' ');
        note.push_str(&super::saved_note(&name));
    }
    tracing::info!(worktree = %worktree.display(), note, "worktree was not on the branch of its loop");
    Ok(Some(note))
}

/// Switches a worktree back to the loop's branch before a delivery, because the assistant may have switched
/// branches. The message goes to the loop's output.
pub(crate) async fn deliver_from_branch(
    worktrees: &Worktrees,
    id: LoopId,
    worktree: &Path,
    branch: &BranchName,
) {
    let event = match return_to_branch(worktrees, worktree, branch).await {
        Ok(None) => return,
        Ok(Some(note)) => LoopEvent::note(&note),
        Err(error) => {
            tracing::warn!(loop_id = %id, %error, "cannot return the worktree to the branch of its loop");
            return;
        }
    };
    if let Err(error) = worktrees.jobs.enqueue_event(id, &event).await {
        tracing::warn!(loop_id = %id, %error, "cannot store a line of the loop's output");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivery_branch_is_distinguished_from_another_documents() {
        let branch: BranchName = "orchestrator/plan-7".parse().unwrap();
        assert!(is_delivered_branch(&branch, "orchestrator/plan-7-0190a5f3"));
        for other in ["orchestrator/plan-7", "orchestrator/plan-7-b", "orchestrator/plan-70190a5f3", "main"] {
            assert!(!is_delivered_branch(&branch, other), "{other}");
        }
    }
}

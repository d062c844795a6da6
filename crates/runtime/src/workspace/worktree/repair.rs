//! What a loop left in the place of a worktree, and bringing it back to the loop's branch.

use std::path::Path;

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::{BranchName, LoopId, TicketId};
use loopgate_api::names::WORK_DIR;
use loopgate_home::{SandboxedPath, untrusted};
use loopgate_tools::git::GitError;
use serde_json::json;

use super::{LOOP_BRANCHES, WorktreeError, WorktreeRequest, Worktrees};

/// Whether a worktree of the repository in which loops work is at a place. What git cannot use there
/// is none.
///
/// # Errors
/// A worktree or a clone that is no loop's is there: work of a person is never taken over.
pub(super) async fn is_worktree_of_loop(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    dir: &SandboxedPath,
) -> Result<bool, WorktreeError> {
    let place = dir.as_path();
    if place.join(".git").symlink_metadata().is_err() {
        return Ok(false);
    }
    let foreign = |on: &str| {
        let text = format!("a worktree that is no loop's lies in its place{on}; move it away");
        Err(WorktreeError::Failed(text))
    };
    match branch_of_worktree(worktrees, wanted.repository.as_path(), place).await {
        Ok(None) => Ok(true),
        Ok(Some(branch)) if branch.starts_with(LOOP_BRANCHES) => Ok(true),
        Ok(Some(branch)) if is_of_ticket(wanted, dir, &branch) || !was_of_loop(worktrees, place).await => {
            foreign(&format!(", on branch {branch}"))
        }
        Ok(Some(_)) => Ok(true),
        Err(_) if place.join(".git").is_dir() && !was_of_loop(worktrees, place).await => foreign(""),
        Err(error) => {
            tracing::info!(worktree = %place.display(), %error, "the worktree of a loop cannot be used any more");
            Ok(false)
        }
    }
}

/// The branch of a worktree of a repository; `None` when it is on none.
///
/// # Errors
/// [`GitError`], also when the place is no worktree of the repository that git can use.
pub(super) async fn branch_of_worktree(
    worktrees: &Worktrees,
    repository: &Path,
    place: &Path,
) -> Result<Option<String>, GitError> {
    let (found, clone) =
        (worktrees.git.repository(place).await?, worktrees.git.repository(repository).await?);
    if !found.is_root() || found.common != clone.common || found.own == found.common {
        return Err(GitError::Unreadable("rev-parse"));
    }
    worktrees.git.current_branch(place).await
}

/// A ticket's worktree may be called what a loop's is called; its branch tells them apart.
fn is_of_ticket(wanted: &WorktreeRequest<'_>, dir: &SandboxedPath, branch: &str) -> bool {
    let ticket = branch.strip_prefix("feature/").map(|ticket| TicketId::new(ticket).safe());
    ticket.is_some_and(|ticket| dir.base_name() == format!("{}-{ticket}", wanted.repository.base_name()))
}

/// Whether a loop has worked at a place, by its record or by its files.
async fn was_of_loop(worktrees: &Worktrees, place: &Path) -> bool {
    let text = place.to_string_lossy();
    let jobs = worktrees.jobs.store.jobs().await.unwrap_or_default();
    let recorded = jobs.iter().any(|job| job.workspace.worktree_dir.as_deref() == Some(&*text));
    let work_dir = place.join(WORK_DIR);
    recorded
        || tokio::task::spawn_blocking(move || untrusted::directory(&work_dir).is_ok()).await.unwrap_or(false)
}

/// After a worktree could not be put on its branch: whether another one can be made on it.
///
/// # Errors
/// The branch is checked out somewhere, which is why it could not.
pub(super) async fn is_branch_free(
    worktrees: &Worktrees,
    wanted: &WorktreeRequest<'_>,
    error: GitError,
) -> Result<(), WorktreeError> {
    let worktrees = worktrees.git.worktrees(wanted.repository.as_path()).await;
    let branch = Some(wanted.naming.branch.as_str());
    match worktrees {
        Ok(all) if !all.iter().any(|one| one.branch.as_deref() == branch) => {
            tracing::info!(%error, "a worktree that cannot go back to its branch is made anew");
            Ok(())
        }
        _ => Err(WorktreeError::failed(&error)),
    }
}

/// Whether what is at a place was a worktree of loops; a person's files are left alone.
pub(super) async fn is_left_by_loop(worktrees: &Worktrees, place: &Path) -> bool {
    place.join(".git").symlink_metadata().is_ok() || was_of_loop(worktrees, place).await
}

/// Whether a delivery created this branch because the remote branch had diverged.
fn is_delivered_branch(branch: &BranchName, other: &str) -> bool {
    let id = other.strip_prefix(branch.as_str()).and_then(|rest| rest.strip_prefix('-'));
    id.is_some_and(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Puts a worktree back on its branch, with the work that is in it. Answers what was done, for the
/// person; `None` when it was on the branch, or on the one that a delivery made of it.
///
/// # Errors
/// [`GitError`], also when the branch is checked out somewhere else.
pub(crate) async fn return_to_branch(
    worktrees: &Worktrees,
    worktree: &Path,
    branch: &BranchName,
) -> Result<Option<String>, GitError> {
    let was = worktrees.git.current_branch(worktree).await?;
    if was.as_deref().is_some_and(|was| was == branch.as_str() || is_delivered_branch(branch, was)) {
        return Ok(None);
    }
    let saved = worktrees.git.return_to_branch(worktree, branch).await?;
    let was = was.map_or_else(|| "no branch".to_owned(), |was| format!("branch {was}"));
    let mut note =
        format!("The worktree was on {was}; it is on {branch} again, with the work that was in it.");
    if let Some(name) = saved {
        note.push(' ');
        note.push_str(&super::saved_note(&name));
    }
    tracing::info!(worktree = %worktree.display(), note, "a worktree was not on the branch of its loop");
    Ok(Some(note))
}

/// Before a delivery: an assistant may have left the branch of its loop, and what it did elsewhere is
/// delivered from that branch. The loop's output says so.
pub(crate) async fn deliver_from_branch(
    worktrees: &Worktrees,
    id: LoopId,
    worktree: &Path,
    branch: &BranchName,
) {
    let event = match return_to_branch(worktrees, worktree, branch).await {
        Ok(None) => return,
        Ok(Some(note)) => LoopEvent::new("output", &json!({"data": {"chunk": note}})),
        Err(error) => {
            tracing::warn!(loop_id = %id, %error, "a worktree stays off the branch of its loop");
            return;
        }
    };
    if let Err(error) = worktrees.jobs.enqueue_event(id, &event).await {
        tracing::warn!(loop_id = %id, %error, "a line of a loop's output was not stored");
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

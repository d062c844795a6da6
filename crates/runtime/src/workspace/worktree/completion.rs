//! Completes a worktree: a checkout by git contains neither submodules nor ignored files that a build may need.

use std::path::Path;

use loopgate_tools::git::Git;

/// Checks out the submodules and copies the files that `.worktreeinclude` names, as far as the clone has them. Returns what
/// is missing or left out, as sentences for the user and the assistant.
pub(crate) async fn complete(git: &Git, worktree: &Path) -> Vec<String> {
    let mut gaps = Vec::new();
    match git.check_out_submodules(worktree).await {
        Ok(missing) => gaps.extend(missing.iter().map(|missing| {
            let (path, reason) = (missing.path.display(), &missing.reason);
            format!("Submodule {path} is not checked out in the worktree: {reason}.")
        })),
        Err(error) => gaps.push(format!("The submodules of the worktree cannot be checked out: {error}.")),
    }
    match git.copy_included_files(worktree).await {
        Ok(skipped) if skipped.is_empty() => {}
        Ok(skipped) => {
            let names: Vec<String> = skipped.iter().map(|path| path.display().to_string()).collect();
            gaps.push(format!(
                "Files that .worktreeinclude names were not copied into the worktree: {}. Only regular files are copied, up to \
                 100 MiB in total.",
                names.join(", ")
            ));
        }
        Err(error) => {
            gaps.push(format!(
                "The files that .worktreeinclude names cannot be copied into the worktree: {error}."
            ));
        }
    }
    if let Ok(instructions) = git.instructions(worktree).await {
        gaps.extend(instructions.report());
    }
    for gap in &gaps {
        tracing::warn!(worktree = %worktree.display(), gap, "worktree is incomplete");
    }
    gaps
}

//! Operations of git that stopped halfway, for example because of a conflict.

use std::fmt;
use std::path::Path;

use super::status::StatusChange;
use super::{Git, GitError, checked, time};

/// Entries of the git directory of a working tree that exist during an operation, with the sub-command that continues
/// it. A stopped rebase may have a `CHERRY_PICK_HEAD` as well.
const STATES: [(&str, &str); 5] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];
/// Conflicts that a message lists.
const MAX_LISTED: usize = 10;

/// An operation that has not finished, or conflicts without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedOperation {
    /// Sub-command of the operation.
    pub command: Option<&'static str>,
    /// Paths with conflicts, invalid UTF-8 replaced.
    pub conflicts: Vec<String>,
}

impl fmt::Display for UnfinishedOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, conflicts } = self;
        if !conflicts.is_empty() {
            write!(f, "conflicts in {}", conflicts[..conflicts.len().min(MAX_LISTED)].join(", "))?;
            if conflicts.len() > MAX_LISTED {
                write!(f, " and {} more", conflicts.len() - MAX_LISTED)?;
            }
            f.write_str(": ")?;
        }
        match command {
            Some(command) => write!(
                f,
                "a {command} in the worktree has not finished, so nothing was committed. Resolve the conflicts there and \
                 run: git {command} --continue (or --abort to undo it)"
            ),
            None => f.write_str(
                "they are not resolved, so nothing was committed. Resolve them in the worktree and run: git add <file>",
            ),
        }
    }
}

impl Git {
    /// Fails when a merge, a rebase, a cherry-pick or a revert has stopped in a working tree, or files have conflicts.
    /// Staging such files would mark their conflicts as resolved.
    ///
    /// # Errors
    /// Fails with [`GitError::Unfinished`], and when git cannot run.
    pub async fn ensure_finished(&self, directory: &Path) -> Result<(), GitError> {
        let args = ["ls-files", "--unmerged", "-z"];
        let output = checked(&args, self.output(directory, &args, time::LOCAL).await?)?;
        self.require_finished(directory, parse_unmerged(&output.stdout)).await
    }

    /// As [`Git::ensure_finished`], with changes that are known.
    pub(super) async fn ensure_no_conflicts(
        &self,
        directory: &Path,
        changes: &[StatusChange],
    ) -> Result<(), GitError> {
        let conflicts = changes.iter().filter(|change| change.is_unmerged()).map(StatusChange::name);
        self.require_finished(directory, conflicts.collect()).await
    }

    async fn require_finished(&self, directory: &Path, conflicts: Vec<String>) -> Result<(), GitError> {
        let git_dir = self.repository(directory).await?;
        let command = tokio::task::spawn_blocking(move || {
            let exists = |(entry, _): &&(&str, &str)| git_dir.handles.git_dir.exists(Path::new(entry));
            STATES.iter().find(exists).map(|(_, command)| *command)
        });
        let command = command.await.unwrap_or_default();
        if command.is_none() && conflicts.is_empty() {
            return Ok(());
        }
        Err(GitError::Unfinished(UnfinishedOperation { command, conflicts }))
    }
}

/// Parses `git ls-files --unmerged -z`, which prints up to three versions of a file.
fn parse_unmerged(printed: &[u8]) -> Vec<String> {
    let entries = printed.split(|byte| *byte == 0).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        Some(String::from_utf8_lossy(&entry[tab + 1..]).into_owned())
    });
    let mut paths: Vec<String> = entries.collect();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_is_listed_once() {
        let printed = b"100644 11 1\ta b\x00100644 22 2\ta b\x00100644 33 3\ta b\x00100644 44 2\tc\0";
        assert_eq!(parse_unmerged(printed), ["a b", "c"]);
    }

    #[test]
    fn message_names_files_and_command() {
        let text = |command, conflicts| UnfinishedOperation { command, conflicts }.to_string();
        let many = (0..12).map(|number| number.to_string()).collect();
        assert!(
            text(Some("rebase"), vec!["a".to_owned()])
                .starts_with("conflicts in a: a rebase in the worktree")
        );
        assert!(text(None, many).starts_with("conflicts in 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more: they"));
        assert!(text(Some("merge"), Vec::new()).contains("git merge --continue"));
    }
}

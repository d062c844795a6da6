//! What changed in a working tree, and committing it.
//!
//! The state directories of Loopgate and of the assistant are never looked at and never staged.

use std::path::Path;
use std::time::Duration;

use loopgate_api::launch::Committer;

use super::{Caller, Git, GitError, finish, time};

/// Everything but the state directories.
const WORK: [&str; 4] = ["--", ".", ":!.claude", ":!.loopgate"];

/// One entry of a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What the index says: a letter of git's short format, a space for nothing.
    pub index: char,
    /// What the working tree says; `?` for a file that git does not know.
    pub tree: char,
    /// Path relative to the root of the working tree; a directory ends with a slash.
    pub path: String,
    /// Path before a rename or copy.
    pub from: Option<String>,
}

/// Reads `git status --porcelain=v1 -z`.
#[must_use]
pub fn parse_changes(printed: &[u8]) -> Vec<Change> {
    let mut fields = printed.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut changes = Vec::new();
    while let Some(field) = fields.next() {
        let mut letters = field.chars();
        let (Some(index), Some(tree), Some(' ')) = (letters.next(), letters.next(), letters.next()) else {
            continue;
        };
        let moved = [index, tree].iter().any(|letter| matches!(letter, 'R' | 'C'));
        let from = if moved { fields.next().map(|from| from.into_owned()) } else { None };
        changes.push(Change { index, tree, path: letters.as_str().to_owned(), from });
    }
    changes
}

impl Git {
    /// What changed since the last commit, outside the state directories.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn changes(&self, directory: &Path) -> Result<Vec<Change>, GitError> {
        let mut args = vec!["status", "--porcelain=v1", "-z"];
        args.extend(WORK);
        let output = super::checked(&args, self.output(directory, &args, time::LOCAL).await?)?;
        Ok(parse_changes(&output.stdout))
    }

    /// Stages every change outside the state directories.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn stage(&self, directory: &Path) -> Result<(), GitError> {
        // A file may vanish between the look and the staging; then both are done again.
        match self.stage_once(directory).await {
            Err(GitError::Failed { .. }) => self.stage_once(directory).await,
            result => result,
        }
    }

    async fn stage_once(&self, directory: &Path) -> Result<(), GitError> {
        // Handing the exclusions to `add` would fail wherever a state directory is ignored.
        let changes = self.changes(directory).await?;
        let unstaged = changes.into_iter().filter(|change| change.tree != ' ');
        let paths: Vec<u8> =
            unstaged.flat_map(|change| change.path.into_bytes().into_iter().chain([0])).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let root = self.text(directory, &["rev-parse", "--show-toplevel"], time::LOCAL).await?;
        let args = ["--literal-pathspecs", "add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.change_with(Path::new(&root), &args, paths).await.map(drop)
    }

    /// Commits what is staged and returns the commit. Hooks run; the committer's name replaces the
    /// configured one when given.
    ///
    /// # Errors
    /// [`GitError`], also when nothing is staged or a hook refuses.
    pub async fn commit(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
        within: Duration,
    ) -> Result<String, GitError> {
        let args = ["commit", "-m", message];
        let mut command = self.command(directory).await.session().args(args);
        for (name, value) in committer.map(committer_variables).into_iter().flatten() {
            command = command.env(name, value);
        }
        let output = finish(&command, &args, within, Caller::MayLeave).await?;
        super::checked(&args, output)?;
        self.head(directory).await
    }

    /// Stages and commits everything outside the state directories; `None` when nothing changed.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn commit_all(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
    ) -> Result<Option<String>, GitError> {
        if self.changes(directory).await?.is_empty() {
            return Ok(None);
        }
        self.stage(directory).await?;
        self.commit(directory, message, committer, time::COMMIT).await.map(Some)
    }

    /// Whether git tracks this path of the working tree.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn tracks(&self, directory: &Path, path: &str) -> Result<bool, GitError> {
        let args = ["--literal-pathspecs", "ls-files", "--error-unmatch", "--", path];
        self.says_yes(directory, &args).await
    }
}

/// The variables with which git takes a name from the environment.
#[must_use]
pub fn committer_variables(committer: &Committer) -> [(&'static str, String); 4] {
    [
        ("GIT_AUTHOR_NAME", committer.name.clone()),
        ("GIT_AUTHOR_EMAIL", committer.email.clone()),
        ("GIT_COMMITTER_NAME", committer.name.clone()),
        ("GIT_COMMITTER_EMAIL", committer.email.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change() -> impl Strategy<Value = Change> {
        let path = "[^\0]{1,20}";
        let plain = ("[ MADU?!T]", "[ MADU?!T]", path).prop_map(|(index, tree, path)| Change {
            index: index.chars().next().unwrap(),
            tree: tree.chars().next().unwrap(),
            path,
            from: None,
        });
        let moved = ("[RC]", "[ MD]", path, path).prop_map(|(index, tree, path, from)| Change {
            index: index.chars().next().unwrap(),
            tree: tree.chars().next().unwrap(),
            path,
            from: Some(from),
        });
        prop_oneof![plain, moved]
    }

    proptest! {
        #[test]
        fn any_path_survives(changes in proptest::collection::vec(change(), 0..10)) {
            let mut printed = String::new();
            for change in &changes {
                printed += &format!("{}{} {}\0", change.index, change.tree, change.path);
                if let Some(from) = &change.from {
                    printed += &format!("{from}\0");
                }
            }
            prop_assert_eq!(parse_changes(printed.as_bytes()), changes);
        }

        #[test]
        fn any_bytes_are_taken(printed in proptest::collection::vec(any::<u8>(), 0..200)) {
            let entries = printed.split(|byte| *byte == 0).count();
            prop_assert!(parse_changes(&printed).len() <= entries);
        }
    }
}

//! Submodule commits that a branch refers to: whether a remote of the submodule has them. Without them, only this machine
//! can check the branch out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::Repository;

use super::{Git, GitError, checked, time};

/// Mode of a submodule in a tree.
const SUBMODULE_MODE: &str = "160000";

/// A commit that a branch refers to, and that no remote of the submodule is known to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpublishedSubmodule {
    /// Relative to the root of the superproject.
    pub path: PathBuf,
    /// Full hash.
    pub commit: String,
    /// Root of a checkout of the submodule; `None` when there is none that Loopgate can query.
    pub checkout: Option<PathBuf>,
}

impl UnpublishedSubmodule {
    /// Describes the problem and the remedy.
    pub(super) fn describe(&self) -> String {
        let (path, commit) = (self.path.display(), self.commit.get(..10).unwrap_or(&self.commit));
        match &self.checkout {
            Some(checkout) => format!(
                "submodule {path} points to commit {commit}, which none of its remotes has, so that others could not \
                 check the branch out. Push the commit first: git -C {} push origin {commit}:refs/heads/<branch>",
                checkout.display()
            ),
            None => format!(
                "submodule {path} points to commit {commit}, and Loopgate cannot tell whether its remote has it, because the \
                 submodule is not initialized. Initialize it first: git submodule update --init {path}"
            ),
        }
    }
}

impl Git {
    /// Fails when HEAD refers to commits of submodules that `base` does not refer to and that no remote has.
    ///
    /// # Errors
    /// Fails with [`GitError::UnpublishedSubmodules`], and when git cannot run.
    pub async fn ensure_submodules_published(&self, directory: &Path, base: &str) -> Result<(), GitError> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--ignore-submodules=none",
            "--end-of-options",
            base,
            "HEAD",
        ];
        let output = checked(&args, self.output(directory, &args, time::LOCAL).await?)?;
        let changed = parse_changed_submodules(&output.stdout);
        if changed.is_empty() {
            return Ok(());
        }
        let repository = self.repository(directory).await?;
        let mut unpublished = Vec::new();
        for (path, commit) in changed {
            let checkout = self.checkout_of(&repository, &path).await;
            let is_published = match &checkout {
                Some(checkout) => self.is_published(&checkout.root, &commit).await?,
                // A commit that was recorded in pushed history before is assumed to exist.
                None => self.is_recorded_on_a_remote(directory, &commit).await?,
            };
            if !is_published {
                let checkout = checkout.map(|checkout| checkout.root.clone());
                unpublished.push(UnpublishedSubmodule { path, commit, checkout });
            }
        }
        if unpublished.is_empty() { Ok(()) } else { Err(GitError::UnpublishedSubmodules(unpublished)) }
    }

    /// Returns the checkout of a submodule in the working tree, else in the clone.
    async fn checkout_of(&self, repository: &Arc<Repository>, path: &Path) -> Option<Arc<Repository>> {
        for root in [repository.root.as_path(), repository.clone_root()] {
            let place = root.join(path);
            if let Ok(checkout) = self.repository(&place).await
                && checkout.root == place
            {
                return Some(checkout);
            }
        }
        None
    }

    async fn is_published(&self, submodule: &Path, commit: &str) -> Result<bool, GitError> {
        if self.is_on_a_remote(submodule, commit).await? {
            return Ok(true);
        }
        // The commit may have been pushed by other means, for example from another clone.
        if let Err(error) = self.fetch(submodule).await {
            tracing::info!(%error, submodule = %submodule.display(), "cannot fetch a submodule");
        }
        self.is_on_a_remote(submodule, commit).await
    }

    /// Returns whether a remote-tracking branch contains a commit.
    async fn is_on_a_remote(&self, directory: &Path, commit: &str) -> Result<bool, GitError> {
        if self.commit_of(directory, commit).await?.is_none() {
            return Ok(false);
        }
        let args = ["rev-list", "-n", "1", commit, "--not", "--remotes"];
        Ok(self.text(directory, &args, time::LOCAL).await?.is_empty())
    }

    async fn is_recorded_on_a_remote(&self, directory: &Path, commit: &str) -> Result<bool, GitError> {
        let object = format!("--find-object={commit}");
        let args = ["log", "--remotes", "-n", "1", "--format=%H", &object];
        Ok(!self.text(directory, &args, time::COMMIT).await?.is_empty())
    }
}

/// Parses the submodules that the raw output of `git diff-tree -z` reports as added or changed, with their new commits.
pub(super) fn parse_changed_submodules(printed: &[u8]) -> Vec<(PathBuf, String)> {
    let mut fields = printed.split(|byte| *byte == 0);
    let mut changed = Vec::new();
    while let (Some(change), Some(path)) = (fields.next(), fields.next()) {
        // `:<old mode> <new mode> <old hash> <new hash> <status>`
        let change = String::from_utf8_lossy(change);
        let parts: Vec<&str> = change.split(' ').collect();
        if let [_, SUBMODULE_MODE, _, commit, _] = parts.as_slice() {
            changed.push((PathBuf::from(OsStr::from_bytes(path)), (*commit).to_owned()));
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_added_submodules_are_found() {
        let printed =
            b":100644 100644 aa bb M\0file\0:160000 160000 aa bb M\0lib\0:160000 000000 aa 00 D\0gone\0\
            :000000 160000 00 cc A\0new one\0";
        let expected = [("lib", "bb"), ("new one", "cc")];
        assert_eq!(
            parse_changed_submodules(printed),
            expected.map(|(path, commit)| (PathBuf::from(path), commit.to_owned()))
        );
    }
}

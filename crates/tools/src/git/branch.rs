//! Branches and commits: where HEAD is, what exists, who is ahead.

use std::path::Path;

use loopgate_api::ids::BranchName;

use super::{CallerPresence, Git, GitError, finish, time};
use crate::process::Stdin;

/// Branches of loops; work that is only here is work that nobody else has.
const LOOP_NAMESPACES: [&str; 2] = ["refs/heads/orchestrator/", "refs/remotes/origin/orchestrator/"];

impl Git {
    /// The branch that is checked out, also when it has no commit yet; `None` when HEAD is detached.
    ///
    /// # Errors
    /// [`GitError`], for example outside a repository.
    pub async fn current_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        // Not the short form: git lengthens that where a tag has the branch's name.
        let args = ["symbolic-ref", "--quiet", "HEAD"];
        let output = self.output(directory, &args, time::LOCAL).await?;
        let full = output.stdout_text();
        match output.status.code() {
            Some(0) => Ok(full.trim().strip_prefix("refs/heads/").map(str::to_owned)),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// The commit that a revision names; `None` when there is none.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn commit_of(&self, directory: &Path, revision: &str) -> Result<Option<String>, GitError> {
        let peeled = format!("{revision}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled];
        let output = self.output(directory, &args, time::LOCAL).await?;
        let hash = output.stdout_text().trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(Some(hash)),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// The commit that is checked out.
    ///
    /// # Errors
    /// [`GitError`], also in a repository without a commit.
    pub async fn head(&self, directory: &Path) -> Result<String, GitError> {
        self.text(directory, &["rev-parse", "--verify", "HEAD"], time::LOCAL).await
    }

    /// The full ref of a branch: the one of `origin`, else the local one; `None` when neither
    /// exists. Tags and hashes do not count.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn base_ref(&self, directory: &Path, branch: &BranchName) -> Result<Option<String>, GitError> {
        for name in [format!("refs/remotes/origin/{branch}"), format!("refs/heads/{branch}")] {
            if self.commit_of(directory, &name).await?.is_some() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The default branch of `origin` as the clone remembers it.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn default_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        let args = ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"];
        let output = self.output(directory, &args, time::LOCAL).await?;
        let text = output.stdout_text();
        Ok(text.trim().strip_prefix("refs/remotes/origin/").map(str::to_owned))
    }

    /// The last common commit of two revisions; `None` when they have none.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn merge_base(
        &self,
        directory: &Path,
        one: &str,
        other: &str,
    ) -> Result<Option<String>, GitError> {
        let args = ["merge-base", "--end-of-options", one, other];
        let output = self.output(directory, &args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout_text().trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// How many commits HEAD has that `base` has not.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn ahead_of(&self, directory: &Path, base: &str) -> Result<u64, GitError> {
        let range = format!("{base}..HEAD");
        let args = ["rev-list", "--count", "--end-of-options", &range];
        let text = self.text(directory, &args, time::LOCAL).await?;
        text.parse().map_err(|_| GitError::Unreadable("rev-list"))
    }

    /// How many commits each of two revisions has that the other has not.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn ahead_behind(
        &self,
        directory: &Path,
        one: &str,
        other: &str,
    ) -> Result<(u64, u64), GitError> {
        let range = format!("{one}...{other}");
        let args = ["rev-list", "--left-right", "--count", "--end-of-options", &range];
        let text = self.text(directory, &args, time::LOCAL).await?;
        let counts = text.split_once(char::is_whitespace);
        let counts = counts.and_then(|(one, other)| Some((one.parse().ok()?, other.trim().parse().ok()?)));
        counts.ok_or(GitError::Unreadable("rev-list"))
    }

    /// Whether HEAD has commits that nobody else has: no remote, and no branch or tag that no
    /// loop made.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn has_unpushed_commits(&self, directory: &Path) -> Result<bool, GitError> {
        let args = ["rev-list", "-n", "1", "HEAD", "--not", "--remotes"];
        let on_a_remote = self.text(directory, &args, time::LOCAL).await?.is_empty();
        Ok(!on_a_remote && !self.head_is_kept_elsewhere(directory).await?)
    }

    /// Whether every commit of HEAD is also on a branch or tag that no loop made. `false` when
    /// there is no such ref to compare with.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn head_is_kept_elsewhere(&self, directory: &Path) -> Result<bool, GitError> {
        let args = ["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags"];
        let listed = self.text(directory, &args, time::LOCAL).await?;
        let of_a_loop = |name: &&str| LOOP_NAMESPACES.iter().any(|prefix| name.starts_with(prefix));
        let kept: Vec<&str> = listed.lines().filter(|name| !of_a_loop(name)).collect();
        if kept.is_empty() {
            return Ok(false);
        }
        let revisions: String = std::iter::once("HEAD\n".to_owned())
            .chain(kept.iter().map(|name| format!("^{name}\n")))
            .collect();
        let args = ["rev-list", "-n", "1", "--stdin"];
        let command = self.reader(directory).await?.args(args).stdin(Stdin::Bytes(revisions.into_bytes()));
        let output = finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?;
        let output = super::checked(&args, output)?;
        Ok(output.stdout.trim_ascii().is_empty())
    }
}

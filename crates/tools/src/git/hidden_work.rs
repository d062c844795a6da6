//! Work that the working tree's status does not show: ignored files, stashes, and commits on other branches.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

use super::changes::WORK;
use super::outgoing::listing;
use super::{DropPolicy, Git, GitError, checked, finish, time};
use crate::process::Stdin;

/// Number of NUL-terminated fields that `git check-ignore --verbose -z` prints per path.
const RULE_FIELDS: usize = 4;
/// Operations of git after which the new HEAD is a commit that they created. `commit` is recorded with variants, such
/// as `commit (amend)`.
const CREATING: [&str; 6] = ["am", "cherry-pick", "merge", "pull", "rebase", "revert"];

/// A movement of HEAD, as its reflog records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadMove {
    /// Full hash of the commit that HEAD moved to.
    pub commit: String,
    /// Operation and subject, for example `commit: Add a page`.
    pub message: String,
}

impl HeadMove {
    /// Returns whether the operation created the commit, in contrast to a checkout or a fast-forward.
    #[must_use]
    pub fn created_commit(&self) -> bool {
        let (operation, subject) = self.message.split_once(": ").unwrap_or((&self.message, ""));
        let is_move = operation.ends_with("(start)") || operation.ends_with("(finish)");
        if is_move || subject.to_lowercase() == "fast-forward" {
            return false;
        }
        let program = operation.split(' ').next().unwrap_or_default();
        program == "commit" || CREATING.contains(&program)
    }
}

/// The rule by which git ignores a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreRule {
    /// File of the rule: relative to the root for a `.gitignore`, else absolute.
    pub source: String,
    /// Line in this file.
    pub line: String,
    pub pattern: String,
}

impl fmt::Display for IgnoreRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.pattern)
    }
}

/// A stash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stash {
    /// Full hash of its commit.
    pub commit: String,
    /// Message, which contains the branch: `WIP on <branch>: …` or `On <branch>: …`.
    pub subject: String,
    /// When it was stored, in seconds since the epoch.
    pub stored_at: i64,
}

/// A local branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchTip {
    /// Name without `refs/heads/`.
    pub name: String,
    /// Full hash of its last commit.
    pub commit: String,
    /// Commit date, in seconds since the epoch.
    pub committed_at: i64,
}

/// A branch or tag of a remote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RemoteRef {
    /// Full name, for example `refs/heads/main`.
    pub name: String,
    /// Full hash of its commit; for an annotated tag, of the commit that it refers to.
    pub commit: String,
}

impl Git {
    /// Returns the ignored files outside the state directories, one by one, relative to the root. A nested repository
    /// is one path that ends with a slash.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a working tree.
    pub async fn ignored_files(&self, directory: &Path) -> Result<Vec<Vec<u8>>, GitError> {
        let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z"];
        let command = self.reader(directory).await?.args(args).args(WORK);
        let printed = listing(command, "ls-files").await?;
        Ok(printed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// Returns the rules that ignore these files.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn ignore_rules(
        &self,
        directory: &Path,
        paths: &[Vec<u8>],
    ) -> Result<HashMap<Vec<u8>, IgnoreRule>, GitError> {
        if paths.is_empty() {
            return Ok(HashMap::new());
        }
        let input: Vec<u8> = paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
        let args = ["check-ignore", "--verbose", "-z", "--stdin"];
        // Not a reading command: those name the git directory by a handle, which would be the file of the rule.
        let command = self.command(directory).await?.args(args).stdin(Stdin::Bytes(input));
        let output = finish(&command, &args, time::COMMIT, DropPolicy::Kill).await?;
        // 1: no path is ignored any more.
        let output = if output.status.code() == Some(1) { output } else { checked(&args, output)? };
        let fields: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
        let rules = fields.chunks_exact(RULE_FIELDS).map(|fields| {
            let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
            let rule =
                IgnoreRule { source: text(fields[0]), line: text(fields[1]), pattern: text(fields[2]) };
            (fields[3].to_vec(), rule)
        });
        Ok(rules.collect())
    }

    /// Returns the movements of HEAD of this working tree, newest first; none without a reflog.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a repository.
    pub async fn head_moves(&self, directory: &Path) -> Result<Vec<HeadMove>, GitError> {
        let args = ["log", "--no-show-signature", "--walk-reflogs", "--format=%H%x00%gs", "HEAD", "--"];
        let output = self.output(directory, &args, time::LOCAL).await?;
        let entry = |line: &str| {
            let (commit, message) = line.split_once('\0')?;
            Some(HeadMove { commit: commit.to_owned(), message: message.to_owned() })
        };
        Ok(output.stdout_text().lines().filter_map(entry).collect())
    }

    /// Returns the stashes of a repository, newest first. All its worktrees share them.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a repository.
    pub async fn stashes(&self, directory: &Path) -> Result<Vec<Stash>, GitError> {
        let args = ["stash", "list", "--no-show-signature", "--date=unix", "--format=%H%x00%gd%x00%gs"];
        let listed = self.text(directory, &args, time::LOCAL).await?;
        let stash = |line: &str| {
            let mut fields = line.splitn(3, '\0');
            let (commit, selector, subject) = (fields.next()?, fields.next()?, fields.next()?);
            let stored_at = selector.strip_prefix("stash@{")?.strip_suffix('}')?.parse().ok()?;
            Some(Stash { commit: commit.to_owned(), subject: subject.to_owned(), stored_at })
        };
        Ok(listed.lines().filter_map(stash).collect())
    }

    /// Returns the local branches.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a repository.
    pub async fn branch_tips(&self, directory: &Path) -> Result<Vec<BranchTip>, GitError> {
        let args =
            ["for-each-ref", "--format=%(refname)%00%(objectname)%00%(committerdate:unix)", "refs/heads"];
        let listed = self.text(directory, &args, time::LOCAL).await?;
        let tip = |line: &str| {
            let mut fields = line.splitn(3, '\0');
            let name = fields.next()?.strip_prefix("refs/heads/")?.to_owned();
            Some(BranchTip {
                name,
                commit: fields.next()?.to_owned(),
                committed_at: fields.next()?.parse().ok()?,
            })
        };
        Ok(listed.lines().filter_map(tip).collect())
    }

    /// Returns the number of commits of a revision that are neither on HEAD nor on a remote.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown revision.
    pub async fn commits_only_on(&self, directory: &Path, revision: &str) -> Result<u64, GitError> {
        let args = ["rev-list", "--count", revision, "--not", "HEAD", "--remotes"];
        let text = self.text(directory, &args, time::LOCAL).await?;
        text.parse().map_err(|_| GitError::Unreadable("rev-list"))
    }

    /// Returns the number of commits of HEAD that no remote has; zero for a repository without remotes or commits.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a repository.
    pub async fn commits_on_no_remote(&self, directory: &Path) -> Result<u64, GitError> {
        let remotes =
            self.text(directory, &["for-each-ref", "--count=1", "refs/remotes"], time::LOCAL).await?;
        if remotes.is_empty() || self.commit_of(directory, "HEAD").await?.is_none() {
            return Ok(0);
        }
        let text =
            self.text(directory, &["rev-list", "--count", "HEAD", "--not", "--remotes"], time::LOCAL).await?;
        text.parse().map_err(|_| GitError::Unreadable("rev-list"))
    }

    /// Returns the branches and tags of all remotes of a repository by the name of the remote, or by the URL that the
    /// remote is pushed to if it differs from the one that is fetched.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when a remote cannot be reached.
    pub async fn remote_refs(&self, directory: &Path) -> Result<Vec<(String, HashSet<RemoteRef>)>, GitError> {
        let remotes = self.text(directory, &["remote"], time::LOCAL).await?;
        let mut all = Vec::new();
        for remote in remotes.lines() {
            let urls = async |push: &[&str]| {
                let args = [["remote", "get-url", "--all"].as_slice(), push, &["--", remote]].concat();
                self.text(directory, &args, time::LOCAL).await
            };
            let (fetched, pushed) = (urls(&[]).await?, urls(&["--push"]).await?);
            let other_urls = pushed.lines().filter(|url| fetched.lines().all(|fetched| fetched != *url));
            for place in std::iter::once(remote).chain(other_urls) {
                let args = ["ls-remote", "--heads", "--tags", "--", place];
                let printed = self.change(directory, &args, time::FETCH).await?;
                all.push((place.to_owned(), parse_remote_refs(&printed.stdout_text())));
            }
        }
        Ok(all)
    }
}

/// Parses the output of `git ls-remote`.
fn parse_remote_refs(printed: &str) -> HashSet<RemoteRef> {
    let entry = |line: &str| {
        let (commit, name) = line.split_once('\t')?;
        // The entry of an annotated tag itself names the tag object; the commit follows with this suffix.
        let name = name.strip_suffix("^{}").unwrap_or(name);
        Some(RemoteRef { name: name.to_owned(), commit: commit.to_owned() })
    };
    printed.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_create_commits_count() {
        let created =
            |message: &str| HeadMove { commit: String::new(), message: message.to_owned() }.created_commit();
        for message in [
            "commit: Add a page",
            "commit (amend): Add a page",
            "commit (initial): First",
            "rebase (pick): Add a page",
            "pull --rebase (pick): Add a page",
            "cherry-pick: Add a page",
            "merge main: Merge made by the 'ort' strategy.",
        ] {
            assert!(created(message), "{message}");
        }
        for message in [
            "checkout: moving from main to work",
            "reset: moving to HEAD~1",
            "pull: Fast-forward",
            "merge origin/main: Fast-forward",
            "cherry-pick: fast-forward",
            "rebase (start): checkout origin/main",
            "rebase (finish): returning to refs/heads/work",
            "clone: from https://example.org/x.git",
            "",
        ] {
            assert!(!created(message), "{message}");
        }
    }

    #[test]
    fn annotated_tag_is_listed_with_its_commit() {
        let printed = "aa\trefs/heads/main\nbb\trefs/tags/v1\ncc\trefs/tags/v1^{}\n";
        let refs = parse_remote_refs(printed);
        let entry = |name: &str, commit: &str| RemoteRef { name: name.to_owned(), commit: commit.to_owned() };
        assert!(
            refs.contains(&entry("refs/heads/main", "aa")) && refs.contains(&entry("refs/tags/v1", "cc"))
        );
    }
}

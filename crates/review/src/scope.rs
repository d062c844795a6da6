//! Validated scope of a review.

use std::fmt;

use loopgate_api::ids::BranchName;
use serde::{Deserialize, Serialize};

use crate::state::ReviewMode;

/// Full or abbreviated commit hash: 7 to 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitHash(String);

impl CommitHash {
    /// Parses a hash; `None` if the text is not valid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_hash = (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Self(text.to_owned()))
    }

    /// Returns the hexadecimal digits as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Changes that a client requests to review. The base branch may still have to be determined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedScope {
    /// Changes that are not committed.
    Uncommitted,
    /// Changes since the merge base with the base branch.
    Base,
    /// Changes of this commit.
    Commit(CommitHash),
}

impl RequestedScope {
    /// Returns the scope with this base branch; `None` if it needs one and there is none.
    pub(crate) fn with_base(&self, base: Option<&BranchName>) -> Option<ReviewScope> {
        Some(match self {
            Self::Uncommitted => ReviewScope::Uncommitted,
            Self::Base => ReviewScope::Base(base?.clone()),
            Self::Commit(commit) => ReviewScope::Commit(commit.clone()),
        })
    }
}

/// Changes that a review covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewScope {
    /// Changes that are not committed.
    Uncommitted,
    /// Changes since the merge base with this branch.
    Base(BranchName),
    /// Changes of this commit.
    Commit(CommitHash),
}

impl ReviewScope {
    /// Returns the mode of this scope.
    #[must_use]
    pub const fn mode(&self) -> ReviewMode {
        match self {
            Self::Uncommitted => ReviewMode::Uncommitted,
            Self::Base(_) => ReviewMode::Base,
            Self::Commit(_) => ReviewMode::Commit,
        }
    }

    /// Returns the flags for the reviewer's `review` command.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &str> {
        let (flag, value) = match self {
            Self::Uncommitted => ("--uncommitted", None),
            Self::Base(branch) => ("--base", Some(branch.as_str())),
            Self::Commit(commit) => ("--commit", Some(commit.as_str())),
        };
        std::iter::once(flag).chain(value)
    }

    /// Describes the scope for a prompt.
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Uncommitted => {
                "the changes in this worktree that are not committed: staged, unstaged and new files"
                    .to_owned()
            }
            Self::Base(branch) => format!(
                "the changes of this worktree since it left the branch {branch}: `git diff {branch}...HEAD`, \
                 with origin/{branch} where there is no local branch"
            ),
            Self::Commit(commit) => format!("the changes of the commit {commit}: `git show {commit}`"),
        }
    }
}

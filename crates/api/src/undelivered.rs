//! Work of a loop outside of its delivery: files and commits that the pull request does not contain, and commits that
//! were pushed before the delivery.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Work of a loop that its delivery does not contain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct UndeliveredWork {
    /// Path of a file, relative to the repository or absolute outside of it; name of a branch; hash of a commit.
    pub name: String,
    /// Where the work is.
    pub place: UndeliveredPlace,
    /// What excludes it: an ignore rule as `<file>:<line>:<pattern>`, the message of a stash, or the number of commits and
    /// of changed files; absent when the place says it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Place of work that is not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UndeliveredPlace {
    /// A file in the working tree that git ignores.
    Ignored,
    /// A stash.
    Stash,
    /// Commits on another branch.
    Branch,
    /// Commits on no branch.
    Detached,
    /// Another worktree of the repository.
    Worktree,
    /// A submodule, or another repository inside of the working tree, with changes or commits that no remote of it has.
    Submodule,
    /// A file outside of the loop's repositories.
    Outside,
}

impl UndeliveredWork {
    /// Returns the description that users see.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { name, place, detail } = self;
        let detail = detail.as_deref().unwrap_or_default();
        let with_detail = |text: String| if detail.is_empty() { text } else { format!("{text} ({detail})") };
        match place {
            UndeliveredPlace::Ignored if detail.is_empty() => format!("{name} is ignored by git"),
            UndeliveredPlace::Ignored => format!("{name} is ignored by {detail}"),
            UndeliveredPlace::Stash => with_detail(format!("stash {name}")),
            UndeliveredPlace::Branch => with_detail(format!("branch {name}")),
            UndeliveredPlace::Detached => with_detail(format!("commit {name} is on no branch")),
            UndeliveredPlace::Worktree => with_detail(format!("worktree {name}")),
            UndeliveredPlace::Submodule => with_detail(format!("submodule {name}")),
            UndeliveredPlace::Outside => format!("{name} is outside the repository"),
        }
    }
}

/// A commit of a loop that a remote had before the loop's delivery.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct EarlyPush {
    /// Name of the remote, or the URL that it is pushed to.
    pub remote: String,
    /// Full name of the branch or tag, for example `refs/heads/main`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Full hash of the commit.
    pub commit: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_names_rule_and_place() {
        let work = |place, detail: Option<&str>| UndeliveredWork {
            name: "notes.txt".to_owned(),
            place,
            detail: detail.map(str::to_owned),
        };
        let ignored = work(UndeliveredPlace::Ignored, Some(".gitignore:1:*.txt"));
        assert_eq!(ignored.describe(), "notes.txt is ignored by .gitignore:1:*.txt");
        assert_eq!(
            work(UndeliveredPlace::Branch, Some("2 commits")).describe(),
            "branch notes.txt (2 commits)"
        );
        assert_eq!(work(UndeliveredPlace::Outside, None).describe(), "notes.txt is outside the repository");
    }
}

//! What `POST /api/gateway/git` answers, one shape an action.

use loopgate_tools::git::{BranchDiff, ChangedFiles, Status, SyncStatus};
use serde::Serialize;
use utoipa::ToSchema;

/// Stands where a branch would when HEAD is detached.
const DETACHED: &str = "HEAD";

/// An answer; its shape follows from the action.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ActionAnswer {
    Status(StatusAnswer),
    Switched(SwitchResponse),
    Committed(CommitResponse),
    Pushed(PushResponse),
    Pulled(PullResponse),
    BranchDiff(BranchDiffAnswer),
    SyncStatus(SyncAnswer),
}

/// `status`: where HEAD is and what changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusAnswer {
    /// The branch; `HEAD` when it is detached.
    current_branch: String,
    has_changes: bool,
    files: StatusFiles,
}

/// Changed paths, relative to the root of the working tree, in git's order. A path may be in
/// several lists. An untracked directory ends with a slash. In a name that is not UTF-8, `U+FFFD`
/// stands for what cannot be shown.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusFiles {
    /// Changed, renamed (the new name), or in conflict.
    modified: Vec<String>,
    /// Added, or not known to git.
    created: Vec<String>,
    deleted: Vec<String>,
    /// Changed in the index.
    staged: Vec<String>,
}

/// `branch`: the branch that is checked out now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Switched)]
pub(crate) struct SwitchResponse {
    success: bool,
    /// The name after unusual characters became `-`.
    branch_name: String,
    message: String,
}

/// `commit`: the new commit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Committed)]
pub(crate) struct CommitResponse {
    success: bool,
    /// Short hash.
    commit: String,
    message: &'static str,
}

/// `push`
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Pushed)]
pub(crate) struct PushResponse {
    success: bool,
    pushed: bool,
    message: String,
}

/// `pull`; closed, because other answers hold its members and more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Pulled)]
pub(crate) struct PullResponse {
    success: bool,
    message: String,
}

/// `branch-diff`: what the branch changed since it left the base branch of `origin`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchDiffAnswer {
    base_branch: String,
    /// The branch; `HEAD` when it is detached.
    current_branch: String,
    files: BranchFiles,
    total_changes: usize,
}

/// Changed paths, relative to the root of the repository; each in one list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BranchFiles {
    /// Changed or renamed (the new name).
    modified: Vec<String>,
    created: Vec<String>,
    deleted: Vec<String>,
}

/// `sync-status`: how far the branch is from `main`, or `master`, of `origin`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncAnswer {
    is_up_to_date: bool,
    behind_by: u64,
    ahead_by: u64,
    /// The branch; `HEAD` when it is detached.
    current_branch: String,
    /// `origin/main` or `origin/master`; null when the remote has neither.
    #[schema(required)]
    tracking_branch: Option<String>,
}

fn shown(branch: Option<String>) -> String {
    branch.unwrap_or_else(|| DETACHED.to_owned())
}

impl ActionAnswer {
    pub(super) fn switched(branch: &str) -> Self {
        let message = format!("Switched to branch '{branch}'");
        Self::Switched(SwitchResponse { success: true, branch_name: branch.to_owned(), message })
    }

    pub(super) fn committed(commit: String) -> Self {
        Self::Committed(CommitResponse { success: true, commit, message: "Committed changes" })
    }

    pub(super) fn pushed(branch: &str) -> Self {
        let message = format!("Pushed branch '{branch}' to remote");
        Self::Pushed(PushResponse { success: true, pushed: true, message })
    }

    pub(super) fn pulled(branch: &str) -> Self {
        Self::Pulled(PullResponse { success: true, message: format!("Pulled latest changes for '{branch}'") })
    }

    pub(super) fn branch_diff(base: String, diff: BranchDiff) -> Self {
        let ChangedFiles { modified, created, deleted, .. } = diff.files;
        Self::BranchDiff(BranchDiffAnswer {
            base_branch: base,
            current_branch: shown(diff.branch),
            total_changes: modified.len() + created.len() + deleted.len(),
            files: BranchFiles { modified, created, deleted },
        })
    }
}

impl From<&Status> for ActionAnswer {
    fn from(status: &Status) -> Self {
        let ChangedFiles { modified, created, deleted, staged } = status.files();
        Self::Status(StatusAnswer {
            has_changes: !status.changes.is_empty(),
            current_branch: shown(status.branch.clone()),
            files: StatusFiles { modified, created, deleted, staged },
        })
    }
}

impl From<SyncStatus> for ActionAnswer {
    fn from(status: SyncStatus) -> Self {
        Self::SyncStatus(SyncAnswer {
            is_up_to_date: status.ahead == 0 && status.behind == 0,
            behind_by: status.behind,
            ahead_by: status.ahead,
            current_branch: shown(status.branch),
            tracking_branch: status.trunk,
        })
    }
}

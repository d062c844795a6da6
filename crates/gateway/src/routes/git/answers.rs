//! Response bodies of `POST /api/gateway/git`, one per action.

use loopgate_tools::git::{BranchDiff, ChangedFiles, Status, SyncStatus};
use serde::Serialize;
use utoipa::ToSchema;

/// Shown in place of the branch name when HEAD is detached.
const DETACHED: &str = "HEAD";

/// Result of a git action; the shape depends on the action.
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

/// `status`: the current branch and the changed files.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusAnswer {
    /// Current branch; `HEAD` when it is detached.
    current_branch: String,
    has_changes: bool,
    files: StatusFiles,
}

/// Changed paths relative to the root of the working tree, in git's order. A path can be in several lists.
/// Untracked directories end with a slash. Bytes that are not UTF-8 are replaced with `U+FFFD`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusFiles {
    /// Modified, renamed (new name) or conflicted files.
    modified: Vec<String>,
    /// Added or untracked files.
    created: Vec<String>,
    deleted: Vec<String>,
    /// Files with changes in the index.
    staged: Vec<String>,
}

/// `branch`: the branch that is now checked out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Switched)]
pub(crate) struct SwitchResponse {
    success: bool,
    /// Name of the branch after characters were replaced.
    branch_name: String,
    message: String,
}

/// `commit`: the commit that was created.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Committed)]
pub(crate) struct CommitResponse {
    success: bool,
    /// Abbreviated hash of the commit.
    commit: String,
    message: &'static str,
}

/// `push`: the branch that was pushed to `origin`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Pushed)]
pub(crate) struct PushResponse {
    success: bool,
    pushed: bool,
    message: String,
}

/// `pull`: the branch that was updated. Unknown members are denied, because this shape is a subset of the
/// other results.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Pulled)]
pub(crate) struct PullResponse {
    success: bool,
    message: String,
}

/// `branch-diff`: changes of the current branch since its merge base with a branch of `origin`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchDiffAnswer {
    base_branch: String,
    /// Current branch; `HEAD` when it is detached.
    current_branch: String,
    files: BranchFiles,
    total_changes: usize,
}

/// Changed paths relative to the root of the repository, each in exactly one list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BranchFiles {
    /// Modified or renamed (new name) files.
    modified: Vec<String>,
    created: Vec<String>,
    deleted: Vec<String>,
}

/// `sync-status`: commits ahead of and behind `main` or `master` of `origin`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncAnswer {
    is_up_to_date: bool,
    behind_by: u64,
    ahead_by: u64,
    /// Current branch; `HEAD` when it is detached.
    current_branch: String,
    /// `origin/main` or `origin/master`; null when neither exists.
    #[schema(required)]
    tracking_branch: Option<String>,
}

fn branch_or_head(branch: Option<String>) -> String {
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
            current_branch: branch_or_head(diff.branch),
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
            current_branch: branch_or_head(status.branch.clone()),
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
            current_branch: branch_or_head(status.branch),
            tracking_branch: status.trunk,
        })
    }
}

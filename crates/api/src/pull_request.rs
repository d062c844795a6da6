//! Standing of a pull request at the code host, as pages show it and as desktops report it to the control plane.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestState {
    /// Open, also as a draft.
    Open,
    /// Its commits are in the base branch.
    Merged,
    /// Closed without being merged.
    Closed,
}

/// Decision of the reviewers of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// All required reviews approve it.
    Approved,
    /// A reviewer requests changes.
    ChangesRequested,
    /// The base branch requires a review that is missing.
    ReviewRequired,
}

/// Outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// Not completed.
    Pending,
    /// Succeeded.
    Passed,
    /// Failed, timed out, or was cancelled.
    Failed,
    /// Not run, or without a verdict.
    Skipped,
}

/// A check of the head commit: a check run, or a commit status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestCheck {
    /// Name of the check run, or context of the status.
    pub name: String,
    /// Status of the code host: of a check run `QUEUED`, `IN_PROGRESS`, `COMPLETED`, …; of a commit status its state.
    pub status: String,
    /// Conclusion of the code host, such as `SUCCESS` or `TIMED_OUT`; null while it is not completed.
    #[schema(required)]
    pub conclusion: Option<String>,
    /// Both in one word.
    pub outcome: CheckOutcome,
    /// HTTP(S) URL of its details; null without one.
    #[schema(required)]
    pub url: Option<String>,
}

/// How commits of a pull request are added to its base branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    /// A merge commit.
    Merge,
    /// One commit with all changes.
    Squash,
    /// Each commit on top of the base branch.
    Rebase,
}

impl MergeMethod {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Merge, Self::Squash, Self::Rebase];

    /// Returns the name in JSON and in the REST API of the code host.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}

/// Why a pull request cannot be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeObstacle {
    /// It is merged or closed.
    NotOpen,
    /// The account cannot push to the repository.
    Permission,
    /// It is a draft.
    Draft,
    /// It conflicts with the base branch.
    Conflicts,
    /// The base branch requires that its newest commits are merged first.
    Behind,
    /// The rules of the base branch are not met: reviews, checks or a merge method.
    Blocked,
    /// The code host has not determined yet whether it can be merged.
    Unknown,
}

/// A reviewer of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestReviewer {
    /// Login of the account; `unknown` when it was deleted.
    pub login: String,
    /// The latest verdict, which later comments do not change.
    pub verdict: PullRequestVerdict,
    /// Time of that review, ISO 8601; null while it is not submitted.
    #[schema(required)]
    pub at: Option<String>,
}

/// What a review says about a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestVerdict {
    /// It approves the changes.
    Approved,
    /// It requests other changes.
    ChangesRequested,
    /// It has comments only.
    Commented,
    /// A maintainer dismissed it.
    Dismissed,
}

/// Standing of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"state": "open", "isDraft": false, "title": "Add a dark theme", "url": "https://github.com/acme/shop/pull/42", "headBranch": "dark-theme", "headSha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "baseBranch": "main", "hasConflicts": false, "reviewDecision": "approved", "reviewers": [{"login": "kim", "verdict": "approved", "at": "2030-01-02T08:30:00Z"}], "checks": [{"name": "test", "status": "COMPLETED", "conclusion": "SUCCESS", "outcome": "passed", "url": "https://github.com/acme/shop/actions/runs/1"}], "checksTruncated": false, "unresolvedThreads": 1, "lastCommentAt": "2030-01-02T08:30:00Z", "settledAt": null, "mergedBy": null, "mergeObstacle": null, "mergeMethods": ["squash", "merge"], "canUpdateBranch": false}))]
pub struct PullRequestStanding {
    /// Whether it is open, merged or closed.
    pub state: PullRequestState,
    /// Whether it is marked as not ready for review.
    pub is_draft: bool,
    /// Its title as text.
    pub title: String,
    /// URL of its page at the code host.
    pub url: String,
    /// Branch with the proposed commits.
    pub head_branch: String,
    /// Full hash of the head commit.
    pub head_sha: String,
    /// Branch to merge into.
    pub base_branch: String,
    /// Whether it conflicts with the base branch; false while the code host has not determined it.
    pub has_conflicts: bool,
    /// Decision of the reviewers; null without one.
    #[schema(required)]
    pub review_decision: Option<ReviewDecision>,
    /// The authors of the newest fifty reviews, with the latest verdict of each.
    pub reviewers: Vec<PullRequestReviewer>,
    /// The first hundred checks of the head commit.
    pub checks: Vec<PullRequestCheck>,
    /// Whether the head commit has more checks.
    pub checks_truncated: bool,
    /// Number of unresolved threads among the newest hundred.
    pub unresolved_threads: u64,
    /// Time of the newest comment or review of another account, ISO 8601; null without one.
    #[schema(required)]
    pub last_comment_at: Option<String>,
    /// Time at which it was merged or closed, ISO 8601; null while it is open.
    #[schema(required)]
    pub settled_at: Option<String>,
    /// Login of the account that merged it; null otherwise.
    #[schema(required)]
    pub merged_by: Option<String>,
    /// Why the account of this machine cannot merge it; null when it can.
    #[schema(required)]
    pub merge_obstacle: Option<MergeObstacle>,
    /// Methods that the repository allows, the account's usual one first.
    pub merge_methods: Vec<MergeMethod>,
    /// Whether the base branch has newer commits, and the account may merge them into the head branch.
    pub can_update_branch: bool,
}

impl PullRequestStanding {
    /// Returns the part that desktops report.
    #[must_use]
    pub fn reported(&self) -> ReportedStanding {
        let count = |outcome| self.checks.iter().filter(|check| check.outcome == outcome).count() as u64;
        ReportedStanding {
            state: self.state,
            is_draft: self.is_draft,
            failing_checks: count(CheckOutcome::Failed),
            pending_checks: count(CheckOutcome::Pending),
            has_conflicts: self.has_conflicts,
            review_decision: self.review_decision,
            unresolved_threads: self.unresolved_threads,
            last_comment_at: self.last_comment_at.clone(),
            settled_at: self.settled_at.clone(),
            merged_by: self.merged_by.clone(),
        }
    }
}

/// Standing of a pull request, as far as it determines the state of its change request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportedStanding {
    /// Whether it is open, merged or closed.
    pub state: PullRequestState,
    /// Whether it is marked as not ready for review.
    pub is_draft: bool,
    /// Number of failed checks of the head commit.
    pub failing_checks: u64,
    /// Number of its checks that are not completed.
    pub pending_checks: u64,
    /// Whether it conflicts with the base branch.
    pub has_conflicts: bool,
    /// Decision of the reviewers; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_decision: Option<ReviewDecision>,
    /// Number of unresolved threads.
    pub unresolved_threads: u64,
    /// Time of the newest comment or review of another account than the desktop's, ISO 8601; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_comment_at: Option<String>,
    /// Time at which it was merged or closed, ISO 8601; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<String>,
    /// Login of the account that merged it; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<String>,
}

/// Report of a desktop about a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestReport {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Number of the pull request.
    pub number: u64,
    /// What the code host says about it.
    #[serde(flatten)]
    pub standing: ReportedStanding,
}

/// A pull request whose standing a desktop reports.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchedPullRequest {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Number of the pull request.
    pub number: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_counts_checks_by_outcome() {
        let check = |outcome| PullRequestCheck {
            name: "test".to_owned(),
            status: "COMPLETED".to_owned(),
            conclusion: None,
            outcome,
            url: None,
        };
        let outcomes =
            [CheckOutcome::Failed, CheckOutcome::Pending, CheckOutcome::Failed, CheckOutcome::Skipped];
        let standing = PullRequestStanding {
            state: PullRequestState::Open,
            is_draft: false,
            title: String::new(),
            url: String::new(),
            head_branch: String::new(),
            head_sha: String::new(),
            base_branch: String::new(),
            has_conflicts: true,
            review_decision: None,
            reviewers: Vec::new(),
            checks: outcomes.map(check).to_vec(),
            checks_truncated: false,
            unresolved_threads: 3,
            last_comment_at: None,
            settled_at: None,
            merged_by: None,
            merge_obstacle: Some(MergeObstacle::Conflicts),
            merge_methods: Vec::new(),
            can_update_branch: false,
        };
        let report =
            PullRequestReport { full_name: "acme/shop".to_owned(), number: 7, standing: standing.reported() };
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!((&json["failingChecks"], &json["pendingChecks"]), (&2.into(), &1.into()));
        assert_eq!(serde_json::from_value::<PullRequestReport>(json).unwrap(), report);
    }

    #[test]
    fn names_of_merge_methods_are_those_in_json() {
        for method in MergeMethod::ALL {
            assert_eq!(serde_json::to_value(method).unwrap(), method.as_str());
        }
    }
}

//! State file of a review, which other programs read as well.

use loopgate_api::provider::ProviderId;
use loopgate_api::review::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Status of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewStatus {
    /// The provider's program is running.
    Running,
    /// The program exited with code 0.
    Completed,
    /// The program failed or timed out.
    Failed,
    /// The user stopped the review, or its program has exited without a recorded exit code.
    Stopped,
}

impl ReviewStatus {
    /// Returns the status as written in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// Changes that a review covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewMode {
    /// Changes that are not committed.
    Uncommitted,
    /// Changes since the merge base with the base branch.
    #[default]
    Base,
    /// Changes of one commit.
    Commit,
}

/// Configuration of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewConfig {
    /// Model name as passed to the provider.
    pub model: String,
    /// Reasoning effort, as the provider's program names it.
    pub reasoning_effort: String,
    /// Changes that the review covers.
    pub review_mode: ReviewMode,
    /// Branch with which the changes are compared.
    pub base_branch: String,
    /// Hash of the reviewed commit; present in mode `commit` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The user's instructions to the reviewer; absent if none were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// State of a review by one provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewState {
    /// Current status of the review.
    pub status: ReviewStatus,
    /// Pid of the provider's program; retained after its exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Start time of the program: ISO 8601, UTC.
    pub started_at: String,
    /// End time of the review: ISO 8601, UTC; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Exit code of the program; 1 if it was killed by a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Provider that executes the review.
    pub provider: ProviderId,
    /// Session id of the program; set when it has exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Configuration with which the review was started.
    pub config: ReviewConfig,
    /// Verdict on the reviewed change; absent until it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether the control plane has the number of findings after the end of this review.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub findings_reported: bool,
}

impl ReviewState {
    /// Sets the status to stopped. No-op if the review has ended.
    pub(crate) fn stop(&mut self) {
        if self.status == ReviewStatus::Running {
            self.status = ReviewStatus::Stopped;
            self.completed_at = Some(loopgate_api::time::now_iso());
        }
    }

    /// Records the exit of the program. The status of a stopped review is not changed.
    pub(crate) fn end(&mut self, success: bool, exit_code: i32, session_id: Option<String>) {
        if self.status != ReviewStatus::Stopped {
            self.status = if success { ReviewStatus::Completed } else { ReviewStatus::Failed };
            self.completed_at = Some(loopgate_api::time::now_iso());
        }
        self.exit_code = Some(exit_code);
        self.session_id = session_id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> ReviewState {
        let config = ReviewConfig {
            model: "m-1".to_owned(),
            reasoning_effort: "medium".to_owned(),
            review_mode: ReviewMode::Base,
            base_branch: "main".to_owned(),
            commit: None,
            instructions: None,
        };
        ReviewState {
            status: ReviewStatus::Running,
            pid: Some(7),
            started_at: "2030-01-01T00:00:00.000Z".to_owned(),
            completed_at: None,
            exit_code: None,
            provider: ProviderId::REVIEWER,
            session_id: None,
            config,
            verdict: None,
            findings_reported: false,
        }
    }

    #[test]
    fn only_a_running_review_can_be_stopped() {
        let mut state = running();
        state.stop();
        let stopped_at = state.completed_at.clone();
        assert!(state.status == ReviewStatus::Stopped && stopped_at.is_some());
        // The exit of the terminated program is recorded, but the status remains.
        state.end(false, 1, Some("s".to_owned()));
        assert_eq!((state.status, state.exit_code), (ReviewStatus::Stopped, Some(1)));
        assert_eq!(state.completed_at, stopped_at);
        let mut state = running();
        state.end(true, 0, None);
        state.stop();
        assert_eq!(state.status, ReviewStatus::Completed);
    }
}
